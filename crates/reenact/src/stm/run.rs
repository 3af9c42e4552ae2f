//! Running a transaction until it commits.

use std::{
    cell::Cell,
    mem::ManuallyDrop,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    ptr,
};

use crossbeam_epoch::{self as epoch, Guard};
use reenact_engine::{Access, TransactionTurn, begin_attempt, end_attempt, is_attempting};

use super::{
    Transaction,
    contention::Contention,
    error::{StmError, TxError},
    ops,
    transaction::CLOCK,
};

/// Runs `body` until an attempt takes effect in isolation.
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

/// Runs the actions registered for after the commit.
#[cold]
fn keep(promised: Vec<Box<dyn FnOnce()>>) {
    promised.into_iter().for_each(|action| action());
}

thread_local! {
    static SPARE: Spare = const { Spare(Cell::new(ptr::null_mut())) };
}

/// The transaction that is reused by the next one, for its allocated memory. Null while one runs.
struct Spare(Cell<*mut Transaction>);

impl Spare {
    #[inline(always)]
    fn take() -> Box<Transaction> {
        let spare = SPARE.try_with(|spare| spare.0.replace(ptr::null_mut()));
        match spare {
            // SAFETY: The pointer came from a box, and has been taken out of the cell.
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
            // SAFETY: The pointer came from a box, and is stored nowhere else.
            drop(unsafe { Box::from_raw(left_over) });
        }
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        let spare = self.0.replace(ptr::null_mut());
        if !spare.is_null() {
            // SAFETY: The pointer came from a box, and has been taken out of the cell.
            drop(unsafe { Box::from_raw(spare) });
        }
    }
}

/// One run of a body. While it exists, nothing that it may have seen is freed.
struct Attempt {
    transaction: ManuallyDrop<Box<Transaction>>,
    guard: Guard,
}

impl Attempt {
    #[inline(always)]
    fn begin() -> Attempt {
        // Pinned first, since that may drop deferred values, whose destructors may do anything.
        let guard = epoch::pin();
        let transaction = ManuallyDrop::new(Spare::take());
        begin_attempt();
        Attempt { transaction, guard }
    }

    /// Runs the body. A panic counts only if what the body saw has a position in the order of commits.
    #[inline(always)]
    #[track_caller]
    fn run<R, E>(
        &mut self,
        turn: TransactionTurn,
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

    /// Commits the attempt, if possible.
    #[inline(always)]
    #[track_caller]
    fn commit(&mut self, turn: TransactionTurn, contention: &Contention) -> bool {
        let stepped = !self.transaction.is_read_only();
        if turn.is_asked() {
            self.transaction.report(ops::COMMIT, true);
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

    /// Ends the attempt without effects, if what it saw has a position in the order of commits.
    #[cold]
    #[track_caller]
    fn end_without_effect(&mut self, turn: TransactionTurn) -> bool {
        if turn.is_asked() {
            self.transaction.report(ops::READ_ONLY, false);
        }
        let placed = self.transaction.place(turn);
        if placed {
            CLOCK.end(turn, ops::READ_ONLY, false);
        }
        placed
    }

    /// Sleeps until a variable that was read changes.
    #[cold]
    #[track_caller]
    fn wait(self, turn: TransactionTurn) -> TransactionTurn {
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

    /// Gives the turn back, and gets another when a variable that was read may have changed.
    #[cold]
    #[track_caller]
    fn give_back(self, turn: TransactionTurn) -> TransactionTurn {
        let seen = self.transaction.seen();
        let read = seen.touches(Access::Read);
        // Keeps the cells that were read alive.
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
        // SAFETY: The field is not used afterwards.
        let mut transaction = unsafe { ManuallyDrop::take(&mut self.transaction) };
        // Cleared here, after the attempt has ended, since destructors of written values may do anything.
        transaction.clear();
        Spare::give(transaction);
    }
}
