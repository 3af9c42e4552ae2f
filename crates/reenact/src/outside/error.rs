//! I/O errors that can be written to a trace.

use std::io::{self, ErrorKind};

use reenact_engine::Reply;
use serde::{Deserialize, Serialize};

use super::answer::structure;

/// An [`io::Error`] that can be written to a trace.
#[derive(Clone, Serialize, Deserialize, Debug, PartialEq, Eq)]
pub(crate) enum RecordedError {
    /// An error code of the operating system.
    Code(i32),
    /// An error that does not come from the operating system.
    Other {
        /// Index into [`KINDS`].
        kind: u8,
        /// The message, if it is not the standard one of this kind.
        message: Option<String>,
    },
}

/// Tags in the low two bits of a number: an error code of the system, or the kind of another error.
const CODE: u64 = 1;
const KIND: u64 = 2;

impl RecordedError {
    pub(crate) fn of(error: &io::Error) -> RecordedError {
        match error.raw_os_error() {
            Some(code) => RecordedError::Code(code),
            None => {
                let message = error.to_string();
                RecordedError::Other {
                    kind: number_of(error.kind()),
                    message: (message != error.kind().to_string()).then_some(message),
                }
            }
        }
    }

    /// Returns the error for the trace. Where bytes are data (`has_room` is false), there is no room for a message.
    pub(super) fn reply<'a>(self, has_room: bool) -> Reply<'a> {
        match self {
            RecordedError::Code(code) => Reply::Number(u64::from(code.cast_unsigned()) << 2 | CODE),
            RecordedError::Other { .. } if has_room => structure::<()>(Err(self)),
            RecordedError::Other { kind, .. } => Reply::Number(u64::from(kind) << 2 | KIND),
        }
    }

    pub(super) fn from_number(number: u64) -> Option<RecordedError> {
        match number & 3 {
            CODE => Some(RecordedError::Code(
                u32::try_from(number >> 2).ok()?.cast_signed(),
            )),
            KIND => Some(RecordedError::Other {
                kind: u8::try_from(number >> 2).ok()?,
                message: None,
            }),
            _ => None,
        }
    }
}

impl From<RecordedError> for io::Error {
    fn from(error: RecordedError) -> io::Error {
        match error {
            RecordedError::Code(code) => io::Error::from_raw_os_error(code),
            RecordedError::Other { kind, message } => match message {
                Some(message) => io::Error::new(kind_of(kind), message),
                None => kind_of(kind).into(),
            },
        }
    }
}

/// Error kinds by number. Traces contain these numbers: append new kinds at the end.
const KINDS: &[ErrorKind] = &[
    ErrorKind::NotFound,
    ErrorKind::PermissionDenied,
    ErrorKind::ConnectionRefused,
    ErrorKind::ConnectionReset,
    ErrorKind::HostUnreachable,
    ErrorKind::NetworkUnreachable,
    ErrorKind::ConnectionAborted,
    ErrorKind::NotConnected,
    ErrorKind::AddrInUse,
    ErrorKind::AddrNotAvailable,
    ErrorKind::NetworkDown,
    ErrorKind::BrokenPipe,
    ErrorKind::AlreadyExists,
    ErrorKind::WouldBlock,
    ErrorKind::NotADirectory,
    ErrorKind::IsADirectory,
    ErrorKind::DirectoryNotEmpty,
    ErrorKind::ReadOnlyFilesystem,
    ErrorKind::StaleNetworkFileHandle,
    ErrorKind::InvalidInput,
    ErrorKind::InvalidData,
    ErrorKind::TimedOut,
    ErrorKind::WriteZero,
    ErrorKind::StorageFull,
    ErrorKind::NotSeekable,
    ErrorKind::QuotaExceeded,
    ErrorKind::FileTooLarge,
    ErrorKind::ResourceBusy,
    ErrorKind::ExecutableFileBusy,
    ErrorKind::Deadlock,
    ErrorKind::CrossesDevices,
    ErrorKind::TooManyLinks,
    ErrorKind::InvalidFilename,
    ErrorKind::ArgumentListTooLong,
    ErrorKind::Interrupted,
    ErrorKind::Unsupported,
    ErrorKind::UnexpectedEof,
    ErrorKind::OutOfMemory,
    ErrorKind::Other,
];

fn number_of(kind: ErrorKind) -> u8 {
    let place = KINDS.iter().position(|&known| known == kind);
    place.map_or(u8::MAX, |place| place as u8)
}

fn kind_of(number: u8) -> ErrorKind {
    let known = KINDS.get(usize::from(number)).copied();
    // The kind for errors without a stable name in the standard library can be obtained only this way.
    known.unwrap_or_else(|| io::Error::from_raw_os_error(i32::MAX).kind())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_the_same_after_being_written_down() {
        let errors = [
            io::Error::from_raw_os_error(2),
            io::Error::from(ErrorKind::TimedOut),
            io::Error::new(ErrorKind::InvalidInput, "not like this"),
            io::Error::new(
                io::Error::from_raw_os_error(i32::MAX).kind(),
                "failed to look it up",
            ),
        ];
        for error in errors {
            let again = io::Error::from(RecordedError::of(&error));
            assert_eq!(again.kind(), error.kind());
            assert_eq!(again.to_string(), error.to_string());
            assert_eq!(again.raw_os_error(), error.raw_os_error());
        }
    }

    #[test]
    fn where_bytes_are_data_an_error_is_a_number() {
        for error in [
            io::Error::from_raw_os_error(11),
            ErrorKind::UnexpectedEof.into(),
        ] {
            let Reply::Number(number) = RecordedError::of(&error).reply(false) else {
                panic!("{error} is no number");
            };
            let again = io::Error::from(RecordedError::from_number(number).unwrap());
            assert_eq!(again.to_string(), error.to_string());
        }
        assert_eq!(RecordedError::from_number(u64::MAX), None);
    }
}
