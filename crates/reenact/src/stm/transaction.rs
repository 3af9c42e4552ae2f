//! A running transaction: what it has read and written.
//!
//! It sees the memory as of one time. A variable that was written later is no reason to start again if everything read
//! before is unchanged: then that time is moved to now. So everything a transaction sees, even one that will never
//! commit, existed together at one instant.

use std::collections::BTreeSet;

use crossbeam_epoch::Guard;
use reenact_engine::{Access, Clock, Op, Touch, TransactionTurn};

use super::{
    cell::{Cell, LOCKED, ReadValue, VarCore, time_of},
    contention::Backoff,
    error::{StmError, StmResult},
    ops,
    waiters::{self, Waiting},
    writes::Writes,
};

/// The order of all commits of this process.
pub(super) static CLOCK: Clock = Clock::new(1);

/// The handle through which a body of [`atomically`](super::atomically) reads and writes.
#[derive(Default)]
pub struct Transaction {
    /// Everything read was current at this time. For a transaction that has read nothing, the time of the previous one
    /// on this thread, so that it need not read the clock as long as no other thread writes the same variables.
    time: u64,
    reads: Vec<Read>,
    writes: Writes,
    after_commit: Vec<Box<dyn FnOnce()>>,
    /// The addresses of written variables with waiters, to wake after the commit; empty otherwise.
    awaited: Vec<usize>,
}

struct Read {
    core: *const VarCore,
    /// The word, which was not locked.
    word: u64,
}

impl Transaction {
    /// Runs `first`, and if that calls [`retry`](super::retry), runs `second` instead.
    ///
    /// The writes of `first`, and its actions for after the commit, are discarded then. If `second` retries as well,
    /// the transaction sleeps until a variable changes that either of them has read.
    pub fn or_else<R>(
        &mut self,
        first: impl FnOnce(&mut Transaction) -> StmResult<R>,
        second: impl FnOnce(&mut Transaction) -> StmResult<R>,
    ) -> StmResult<R> {
        let outer = self.writes.enter();
        let promised = self.after_commit.len();
        let result = first(self);
        if matches!(result, Err(StmError::Retry)) {
            self.writes.give_up(outer);
            self.after_commit.truncate(promised);
            return second(self);
        }
        self.writes.join(outer);
        result
    }

    /// Runs `action` after this transaction has committed, once, on this thread; never if it does not commit.
    ///
    /// Put everything here that is not reading or writing a [`TVar`](super::TVar): a transaction may run several times
    /// before it commits. Actions run in the order in which they were registered, and may use transactions.
    pub fn after_commit(&mut self, action: impl FnOnce() + 'static) {
        self.after_commit.push(Box::new(action));
    }

    /// Reads a variable.
    #[inline(always)]
    pub(super) fn read_with<T: Send + 'static, R>(
        &mut self,
        cell: &Cell<T>,
        look: impl FnOnce(&T) -> R,
    ) -> StmResult<R> {
        if let Some(written) = self.writes.get(cell) {
            return Ok(look(written));
        }
        let word = cell.core().version_and_lock();
        let (word, seen) = if word & LOCKED == 0
            && time_of(word) <= self.time
            // SAFETY: The word is not locked, as was just checked. `atomically` has pinned the thread until the end of the
            // transaction.
            && let Some(seen) = unsafe { cell.read(word) }
        {
            (word, seen)
        } else {
            self.read_late(cell)?
        };
        self.reads.push(Read {
            core: cell.core(),
            word,
        });
        Ok(look(seen.value()))
    }

    /// Reads a variable that was written after the time of this transaction, or is being written.
    #[cold]
    fn read_late<'a, T: 'a>(&mut self, cell: &Cell<T>) -> StmResult<(u64, ReadValue<'a, T>)> {
        let mut backoff = Backoff::long();
        loop {
            let word = cell.core().version_and_lock();
            if word & LOCKED == 0 {
                if time_of(word) > self.time {
                    self.catch_up()?;
                }
                if time_of(word) <= self.time
                    // SAFETY: The loop comes here only with a word that is not locked; for the pin, see `read`.
                    && let Some(seen) = unsafe { cell.read(word) }
                {
                    return Ok((word, seen));
                }
            }
            if !backoff.wait() {
                return Err(StmError::Failure);
            }
        }
    }

    /// Moves the time of this transaction to now, if everything it has read is unchanged.
    fn catch_up(&mut self) -> StmResult<()> {
        let now = CLOCK.now();
        if !self.is_valid(false) {
            return Err(StmError::Failure);
        }
        self.time = now;
        Ok(())
    }

    /// Whether everything read is unchanged and not locked; except by this transaction itself, if it has locked what it
    /// writes.
    fn is_valid(&self, has_locked: bool) -> bool {
        self.reads.iter().all(|read| {
            // SAFETY: Each read stored the address of a live cell, and `Cell::release` defers freeing it while the thread
            // of this transaction is pinned.
            let word = unsafe { &*read.core }.version_and_lock();
            word == read.word
                || has_locked
                    && word == read.word | LOCKED
                    && self.writes.before(read.core).is_some()
        })
    }

    /// Writes a variable.
    #[inline(always)]
    pub(super) fn write<T: Send + 'static>(&mut self, cell: &Cell<T>, value: T) {
        self.writes.set(cell, value);
    }

    /// Whether there is nothing to commit.
    #[inline(always)]
    pub(super) fn is_read_only(&self) -> bool {
        self.writes.is_empty()
    }

    /// Makes all writes visible at once, if everything read is unchanged.
    #[inline(always)]
    #[track_caller]
    pub(super) fn commit(&mut self, turn: TransactionTurn, guard: &Guard) -> bool {
        if !self.writes.lock() {
            return false;
        }
        let step = CLOCK.step(turn, ops::COMMIT, self.time, || self.is_valid(true));
        let Some(time) = step else {
            self.writes.unlock();
            return false;
        };
        self.time = time;
        self.writes.publish(time, guard, &mut self.awaited);
        if !self.awaited.is_empty() {
            self.awaited.drain(..).for_each(waiters::wake);
        }
        true
    }

    /// Takes a position in the order of commits for a transaction without effects, if everything read is unchanged.
    #[inline(always)]
    #[track_caller]
    pub(super) fn place(&self, turn: TransactionTurn) -> bool {
        CLOCK.look(turn, ops::READ_ONLY, self.time, || self.is_valid(false))
    }

    /// Reports the variables that it has accessed, which determine its dependencies; writes only if they take effect.
    #[cold]
    #[track_caller]
    pub(super) fn report(&self, op: Op, with_writes: bool) {
        CLOCK.footprint(op, &|| {
            // In the order of first access, which is the same in every run.
            let mut met: BTreeSet<*const VarCore> = BTreeSet::new();
            let reads = self.reads.iter().map(|read| read.core);
            let writes = self.writes.cores().filter(|_| with_writes);
            let cores = reads.chain(writes).filter(|&core| met.insert(core));
            let touches = cores.map(|core| {
                let access = match with_writes && self.writes.has(core) {
                    true => Access::Write,
                    false => Access::Read,
                };
                // SAFETY: The transaction has read or written this cell, and is still pinned: the cell is not freed yet.
                Touch::new(unsafe { &(*core).name }, access)
            });
            touches.collect()
        });
    }

    /// Takes the actions registered for after the commit.
    #[inline(always)]
    pub(super) fn promised(&mut self) -> Option<Vec<Box<dyn FnOnce()>>> {
        if self.after_commit.is_empty() {
            return None;
        }
        Some(std::mem::take(&mut self.after_commit))
    }

    /// Returns what was read, for checking it later.
    pub(super) fn seen(&self) -> Reads {
        let reads = self.reads.iter();
        Reads(reads.map(|read| (read.core, read.word)).collect())
    }

    /// Registers a wait for a change of what was read; none if it has changed.
    pub(super) fn await_change(&self) -> Option<Waiting> {
        // SAFETY: The transaction that asks to wait has not been unpinned, so the cells that it read are not freed yet.
        // Once it sleeps, only their addresses are kept.
        Waiting::for_change_of(
            self.reads
                .iter()
                .map(|read| (unsafe { &*read.core }, read.word)),
        )
    }

    /// Discards everything.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.reads.clear();
        self.writes.clear();
        if !self.after_commit.is_empty() {
            self.after_commit.clear();
        }
    }
}

/// What a transaction has read. Valid while it runs, or while its thread is pinned: cells live that long.
pub(super) struct Reads(Vec<(*const VarCore, u64)>);

impl Reads {
    pub(super) fn touches(&self, access: Access) -> Vec<Touch<'_>> {
        // SAFETY: A `Reads` exists only while the thread is pinned, since before the cell was read. So it is not freed, and
        // the name is borrowed no longer than `self`.
        let names = self.0.iter().map(|&(core, _)| unsafe { &(*core).name });
        names.map(|name| Touch::new(name, access)).collect()
    }

    /// Whether any of it has changed.
    pub(super) fn has_changed(&self) -> bool {
        // SAFETY: For the pin, see `touches`. Others may write the word meanwhile, which is atomic.
        let is_changed =
            |&(core, word): &(*const VarCore, u64)| unsafe { (*core).version_and_lock() != word };
        self.0.iter().any(is_changed)
    }
}

impl std::fmt::Debug for Transaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transaction").finish_non_exhaustive()
    }
}
