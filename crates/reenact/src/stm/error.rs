//! How a transaction is left before its end.

use std::{error::Error, fmt};

/// Why a transaction stops. Not an error for the program: pass it on with `?`, and [`atomically`](super::atomically)
/// handles it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StmError {
    /// A variable that was read has changed: the transaction starts again.
    Failure,
    /// The transaction called [`retry`](super::retry): it starts again when a variable that it read has changed.
    Retry,
}

/// The result of an operation of a transaction.
pub type StmResult<T> = Result<T, StmError>;

/// Why a transaction that may fail stops; see [`atomically_or_err`](super::atomically_or_err).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TxError<E> {
    /// The transaction aborts with an error of its own: none of its writes take effect, and the error is returned.
    Abort(E),
    /// The reasons that any transaction has to stop.
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
