//! Running a transaction until it commits.

use std::{
    cell::Cell,
    mem::ManuallyDrop,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    ptr,
};

use crossbeam_epoch::{self as epoch, Guard};
use reenact_engine::{Access, Turn, begin_attempt, end_attempt, is_attempting};

use super::{
    Transaction,
    contention::Contention,
    error::{StmError, TxError},
    ops,
    transaction::CLOCK,
};

/// Runs `body` until it has been run as if nobody else were there.
#[inline(always)]
#[track_caller]
pub(super) fn run<R, E>(body: impl Fn(&mut Transaction) -> Result<R, TxError<E>>) -> Result<R, E> {
    assert!(
        !is_attempting(),
        "a transaction cannot begin within another: give the inner one its `tx`, and it is part of the outer one"
    );
    let mut turn = CLOCK.begin(ops::TRANSACTION);
    let mut contention = Contention::default();
    loop {
        let mut attempt = Attempt::begin();
        match attempt.run(turn, &body) {
            Ok(result) => {
                if attempt.commit(turn, &contention) {
                    if let Some(promised) = attempt.transaction.promised() {
                        drop(attempt);
                        contention.relent();
                        keep(promised);
                    }
                    return Ok(result);
                }
            }
            Err(TxError::Abort(error)) => {
                if attempt.end_without_effect(turn) {
                    return Err(error);
                }
            }
            Err(TxError::Stm(StmError::Retry)) => {
                contention.relent();
                turn = attempt.wait(turn);
                continue;
            }
            Err(TxError::Stm(StmError::Failure)) => {}
        }
        drop(attempt);
        contention.failed();
    }
}

/// Does what was to be done after the commit.
#[cold]
fn keep(promised: Vec<Box<dyn FnOnce()>>) {
    promised.into_iter().for_each(|action| action());
}

thread_local! {
    static SPARE: Spare = const { Spare(Cell::new(ptr::null_mut())) };
}

/// What a transaction leaves for the next one: room for its reads and writes. Null while one runs.
struct Spare(Cell<*mut Transaction>);

impl Spare {
    #[inline(always)]
    fn take() -> Box<Transaction> {
        let spare = SPARE.try_with(|spare| spare.0.replace(ptr::null_mut()));
        match spare {
            // SAFETY: It came from a box, and is not in there any more.
            Ok(spare) if !spare.is_null() => unsafe { Box::from_raw(spare) },
            _ => Box::default(),
        }
    }

    #[inline(always)]
    fn give(transaction: Box<Transaction>) {
        let transaction = Box::into_raw(transaction);
        let left_over = SPARE
            .try_with(|spare| spare.0.replace(transaction))
            .unwrap_or(transaction);
        if !left_over.is_null() {
            // SAFETY: It came from a box, and is nowhere else.
            drop(unsafe { Box::from_raw(left_over) });
        }
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        let spare = self.0.replace(ptr::null_mut());
        if !spare.is_null() {
            // SAFETY: It came from a box, and is not in there any more.
            drop(unsafe { Box::from_raw(spare) });
        }
    }
}

/// One run of a body. As long as it lasts, nothing is freed that it can have seen.
struct Attempt {
    transaction: ManuallyDrop<Box<Transaction>>,
    guard: Guard,
}

impl Attempt {
    #[inline(always)]
    fn begin() -> Attempt {
        // First, since it may drop values that are due, and those may do anything.
        let guard = epoch::pin();
        let transaction = ManuallyDrop::new(Spare::take());
        begin_attempt();
        Attempt { transaction, guard }
    }

    /// Runs the body. One that panics has seen what it saw at some place in the order, or else it has not panicked.
    #[inline(always)]
    #[track_caller]
    fn run<R, E>(
        &mut self,
        turn: Turn,
        body: &impl Fn(&mut Transaction) -> Result<R, TxError<E>>,
    ) -> Result<R, TxError<E>> {
        match catch_unwind(AssertUnwindSafe(|| body(&mut self.transaction))) {
            Ok(result) => result,
            Err(panic) => {
                if self.end_without_effect(turn) {
                    resume_unwind(panic);
                }
                Err(StmError::Failure.into())
            }
        }
    }

    /// What the body did takes effect, if it can.
    #[inline(always)]
    #[track_caller]
    fn commit(&mut self, turn: Turn, contention: &Contention) -> bool {
        let stepped = !self.transaction.is_read_only();
        if turn.is_asked() {
            self.transaction.tell(ops::COMMIT, true);
        }
        let op = if stepped {
            contention.give_way();
            if !self.transaction.commit(turn, &self.guard) {
                return false;
            }
            ops::COMMIT
        } else {
            if !self.transaction.place(turn) {
                return false;
            }
            ops::READ_ONLY
        };
        CLOCK.end(turn, op, stepped);
        true
    }

    /// Nothing of what the body did takes effect, but what it saw may.
    #[cold]
    #[track_caller]
    fn end_without_effect(&mut self, turn: Turn) -> bool {
        if turn.is_asked() {
            self.transaction.tell(ops::READ_ONLY, false);
        }
        let placed = self.transaction.place(turn);
        if placed {
            CLOCK.end(turn, ops::READ_ONLY, false);
        }
        placed
    }

    /// Sleeps until something changes that was read.
    #[cold]
    #[track_caller]
    fn wait(self, turn: Turn) -> Turn {
        if turn.is_controlled() {
            return self.give_back(turn);
        }
        let waiting = self.transaction.await_change();
        drop(self);
        match waiting {
            Some(waiting) => waiting.sleep(),
            None => std::thread::yield_now(),
        }
        turn
    }

    /// Has another turn when something may have changed that was read.
    #[cold]
    #[track_caller]
    fn give_back(self, turn: Turn) -> Turn {
        let seen = self.transaction.seen();
        let read = seen.touches(Access::Read);
        // So that what was read stays.
        let _pinned = epoch::pin();
        drop(self);
        let has_changed = || seen.has_changed();
        CLOCK.give_back(turn, ops::RETRY, &read, &has_changed)
    }
}

impl Drop for Attempt {
    #[inline(always)]
    fn drop(&mut self) {
        end_attempt();
        // SAFETY: Not used afterwards.
        let mut transaction = unsafe { ManuallyDrop::take(&mut self.transaction) };
        // Here, since what was written may do anything when it is dropped.
        transaction.clear();
        Spare::give(transaction);
    }
}
