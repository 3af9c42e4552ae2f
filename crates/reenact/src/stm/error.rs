//! How a transaction is left before its end.

use std::{error::Error, fmt};

/// Why a transaction does not go on. Not an error: pass it on with `?`, and [`atomically`](super::atomically) sees to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StmError {
    /// What was read is no longer what is there: it begins again.
    Failure,
    /// It asked to [`retry`](super::retry): it begins again when something that it read has changed.
    Retry,
}

/// What a step of a transaction gives.
pub type StmResult<T> = Result<T, StmError>;

/// Why a transaction that may fail does not go on; see [`atomically_or_err`](super::atomically_or_err).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TxError<E> {
    /// It fails for a reason of its own: nothing that it wrote takes effect, and the reason is returned.
    Abort(E),
    /// As any transaction may.
    Stm(StmError),
}

impl<E> From<StmError> for TxError<E> {
    fn from(error: StmError) -> TxError<E> {
        TxError::Stm(error)
    }
}

impl fmt::Display for StmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StmError::Failure => "what the transaction read has changed",
            StmError::Retry => "the transaction waits for what it read to change",
        })
    }
}

impl<E: fmt::Display> fmt::Display for TxError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TxError::Abort(error) => error.fmt(f),
            TxError::Stm(error) => error.fmt(f),
        }
    }
}

impl Error for StmError {}
impl<E: Error> Error for TxError<E> {}
