//! Software transactional memory: variables that are read and written together, in isolation from other activities.
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
//! # Transactions
//!
//! The body of [`atomically`] reads and writes [`TVar`]s through its `tx`, and composes with others by passing `tx` on;
//! `atomically` within a transaction panics. It sees the memory as it was at one instant, even in an attempt that will
//! not commit, and others see all of its writes at one instant or never. It may run more than once before it commits,
//! so it must have no other effects: those go into [`Transaction::after_commit`]. Locks, messages and the like within a
//! body are a bug in the program, and make its replay diverge.
//!
//! [`retry`] starts the transaction again when a variable that it read has changed. [`Transaction::or_else`] tries an
//! alternative instead of waiting. [`atomically_or_err`] is for transactions that may fail: none of their writes take
//! effect then. The same holds for a body that panics.
//!
//! Reading takes no lock and writes no shared memory. A transaction that only reads writes nothing at all, unless it is
//! recorded.
//!
//! # Nondeterminism
//!
//! - *What can go more than one way*: the order in which transactions take effect. The program cannot observe how often
//!   a body ran before it committed, or whether it slept in between.
//! - *What is recorded*: a transaction's position in the order of commits; the prediction is that the last commit was
//!   by the same activity. A transaction that only read, failed or panicked has a position between two commits: the
//!   next commit records how many there were.
//! - *What replay waits for*: that position, before the body runs; a commit also waits for all transactions that read
//!   the state before it. So the body runs once, and a transaction that retried in the recording only waits for its
//!   turn.
//! - *What exploration branches on*: which transaction is next. A whole transaction is one step. So is one that
//!   retries, which is like one that only reads; it continues in another step, when a variable that it read has
//!   changed. Any other operation within a transaction ends the execution with a panic that says so.
//! - *What is dependent*: transactions of which one has written what the other has read or written. A transaction that
//!   has not run yet is dependent on all others.
//!
//! Overwritten values are dropped later, by an arbitrary thread. A value whose `Drop` has effects is a side effect like
//! any other.

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

/// Runs `body` as one transaction, isolated from all others.
///
/// # Panics
///
/// Panics within another transaction. Pass on its `tx` instead, which makes both one transaction.
#[inline]
#[track_caller]
pub fn atomically<R>(body: impl Fn(&mut Transaction) -> StmResult<R>) -> R {
    match run::run(|tx| body(tx).map_err(TxError::<Infallible>::Stm)) {
        Ok(result) => result,
    }
}

/// Runs `body` as [`atomically`] does, for a transaction that may fail. If it returns [`TxError::Abort`], none of its
/// writes take effect, and the error is returned.
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

/// Restarts the transaction when a variable that it has read changes. A transaction that has read nothing sleeps
/// forever.
pub fn retry<R>() -> StmResult<R> {
    Err(StmError::Retry)
}

/// Continues if the condition holds, and [retries](retry) otherwise.
pub fn guard(condition: bool) -> StmResult<()> {
    if condition { Ok(()) } else { retry() }
}

/// Aborts the transaction with an error, in the body of [`atomically_or_err`].
pub fn abort<R, E>(error: E) -> Result<R, TxError<E>> {
    Err(TxError::Abort(error))
}
