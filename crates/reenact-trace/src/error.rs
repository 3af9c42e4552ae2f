//! Errors in a trace, with messages that say where the error is and what to do.

use std::{io, path::PathBuf};

use crate::layout::{FORMAT_VERSION, OLDEST_VERSION};

/// Why a trace could not be written, opened or read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The operating system refused an operation on the file.
    #[error("{action} {path}: {source}")]
    Io {
        /// What was being done, as in "cannot open".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file does not begin like a trace.
    #[error("{path} is not a Reenact trace (it does not begin with REENACT)")]
    NotATrace {
        /// The file.
        path: PathBuf,
    },
    /// The file has a format version that this library does not read.
    #[error(
        "{path} is a trace of format version {found}; this reenact reads versions {OLDEST_VERSION} to \
         {FORMAT_VERSION}: use the reenact it was recorded with"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u16,
    },
    /// Bytes of the file are missing or changed.
    #[error("{path}: {damage}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where and what the damage is.
        damage: Damage,
    },
    /// The trace has no data with this id.
    #[error("{path} has no data with the id {id}")]
    NoData {
        /// The file.
        path: PathBuf,
        /// The id that was asked for.
        id: u64,
    },
    /// The trace contained data with this id, or may have, but some of their bytes are missing or changed.
    #[error("{path}: the data with the id {id} are not whole: {damage}")]
    BrokenData {
        /// The file.
        path: PathBuf,
        /// The id that was asked for.
        id: u64,
        /// Where and what the damage is.
        damage: Damage,
    },
}

/// A place in a trace file from which on it cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Byte offset in the file.
    pub offset: u64,
    /// What is wrong there.
    pub what: &'static str,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at byte {}", self.what, self.offset)
    }
}

impl TraceError {
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| TraceError::Io {
            action,
            path,
            source,
        }
    }
}
