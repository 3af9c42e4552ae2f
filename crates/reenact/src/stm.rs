//! Software transactional memory: variables that are read and written together, as if nobody else were there.
//!
//! ```
//! use reenact::stm::{TVar, atomically, guard};
//!
//! let (checking, savings) = (TVar::new(100), TVar::new(0));
//! // Waits until there is enough; then moves it, in one instant for everybody else.
//! atomically(|tx| {
//!     let balance = checking.read(tx)?;
//!     guard(balance >= 30)?;
//!     checking.write(tx, balance - 30)?;
//!     savings.modify(tx, |balance| balance + 30)
//! });
//! assert_eq!(savings.read_atomic(), 30);
//! ```
//!
//! The names are those of the crate `stm`, so that porting is a change of imports.
//!
//! # What a transaction is
//!
//! The body of [`atomically`] reads and writes [`TVar`]s through its `tx`, and composes with others by handing `tx` on;
//! `atomically` within a transaction panics. It sees the memory as it was at one instant, even in an attempt that will
//! not commit, and its writes are seen by all others in one instant or never. It may run more than once before it
//! commits, so it does nothing else: what has effects elsewhere goes into [`Transaction::after_commit`]. Locks, messages
//! and the like within a body are a mistake of the program, of which a replay can make nothing: it will differ.
//!
//! [`retry`] begins again when something has changed that the transaction read. [`Transaction::or_else`] tries something
//! else in place of waiting. [`atomically_or_err`] is for transactions that may fail: nothing that was written takes
//! effect then. The same goes for a body that panics.
//!
//! Reading takes no lock and writes to nothing that is shared. A transaction that only reads writes nothing at all, as
//! long as it is not recorded.
//!
//! # Nondeterminism
//!
//! - *What can go more than one way*: in which order transactions take effect. How often a body ran before it did, and
//!   whether it slept in between, nobody can tell.
//! - *What is recorded*: a transaction's place in the order of commits; predicted is that the last one was of the same
//!   activity. One that only read, failed or panicked has its place too, between two commits: the one that comes after
//!   says how many there were.
//! - *What replay waits for*: before the body runs, for that place; a commit also for all who read what was before it. So
//!   the body runs once, and who retried in the recording only waits for its turn.
//! - *What exploration branches on*: which transaction is next. They are steps as a whole. One that retries is a step as
//!   well, as one that only reads; it goes on in another, when something that it read has changed. Other operations
//!   within a transaction end the execution with a panic that says so.
//! - *What is dependent*: transactions of which one has written what the other has read or written. Before one has run it is
//!   dependent on all others.
//!
//! Values that were overwritten are dropped later, by a thread that happens to pass by. That a value has an effect when
//! it is dropped is a side effect as any other.

mod cell;
mod contention;
mod error;
mod ops;
mod run;
mod transaction;
mod tvar;
mod waiters;
mod writes;

use std::convert::Infallible;

pub use self::{
    error::{StmError, StmResult, TxError},
    transaction::Transaction,
    tvar::TVar,
};

/// Runs `body` as one transaction: it reads and writes as if nobody else were there.
///
/// # Panics
///
/// Within another transaction. Hand on its `tx` instead, and both are one.
#[inline]
#[track_caller]
pub fn atomically<R>(body: impl Fn(&mut Transaction) -> StmResult<R>) -> R {
    match run::run(|tx| body(tx).map_err(TxError::<Infallible>::Stm)) {
        Ok(result) => result,
    }
}

/// As [`atomically`], for a transaction that may fail. If it returns [`TxError::Abort`], nothing that it wrote takes
/// effect, and the error is returned.
///
/// ```
/// use reenact::stm::{TVar, abort, atomically_or_err};
///
/// let balance = TVar::new(10);
/// let withdrawn = atomically_or_err(|tx| {
///     let now = balance.read(tx)?;
///     balance.write(tx, now - 30)?;
///     if now < 30 { abort("not enough") } else { Ok(30) }
/// });
/// assert_eq!(withdrawn, Err("not enough"));
/// assert_eq!(balance.read_atomic(), 10);
/// ```
#[inline]
#[track_caller]
pub fn atomically_or_err<R, E>(
    body: impl Fn(&mut Transaction) -> Result<R, TxError<E>>,
) -> Result<R, E> {
    run::run(body)
}

/// The transaction cannot go on with what it has read: it begins again when some of that has changed. One that has read
/// nothing sleeps forever.
pub fn retry<R>() -> StmResult<R> {
    Err(StmError::Retry)
}

/// Goes on if the condition holds, and [retries](retry) otherwise.
pub fn guard(condition: bool) -> StmResult<()> {
    if condition { Ok(()) } else { retry() }
}

/// The transaction fails: for bodies of [`atomically_or_err`].
pub fn abort<R, E>(error: E) -> Result<R, TxError<E>> {
    Err(TxError::Abort(error))
}
