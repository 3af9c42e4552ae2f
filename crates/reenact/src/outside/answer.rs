//! Encodes answers from outside for the trace, and decodes them. Only this module knows the format.
//!
//! | answer | in the trace |
//! |---|---|
//! | a number, or nothing | the number, times four |
//! | bytes that were read | the bytes; if there are none, the number 0 |
//! | a structured value | `Ok` of it, in postcard |
//! | an error of the system | its code, times four, plus 1 |
//! | another error | `Err` of its kind and message, in postcard; its kind, times four, plus 2, where there is no room for that |

use std::{borrow::Cow, io, marker::PhantomData};

use reenact_engine::{Asked, External, Reply};
use serde::{Serialize, de::DeserializeOwned};

use super::{SystemCall, error::RecordedError};

/// A call together with the closure that performs it.
///
/// Calls with one encoding have one type, because there are many closures and few encodings.
pub(super) struct RecordedCall<'a, 'b, F: Encoding> {
    call: SystemCall<'a>,
    encoding: F,
    ask: &'b mut dyn FnMut(&mut F) -> io::Result<F::Value>,
}

impl<'a, 'b, F: Encoding> RecordedCall<'a, 'b, F> {
    pub(super) fn new(
        call: SystemCall<'a>,
        encoding: F,
        ask: &'b mut dyn FnMut(&mut F) -> io::Result<F::Value>,
    ) -> RecordedCall<'a, 'b, F> {
        RecordedCall {
            call,
            encoding,
            ask,
        }
    }
}

impl<F: Encoding> External for RecordedCall<'_, '_, F> {
    type Answer = io::Result<F::Value>;

    fn what(&self) -> String {
        self.call.what()
    }

    fn asked(&self) -> Asked {
        self.call.asked()
    }

    /// Rebuilds an error that is not the system's, as a replay does: the standard library can create errors whose
    /// `Debug` output no other error has.
    fn ask(&mut self) -> Self::Answer {
        (self.ask)(&mut self.encoding).map_err(|error| match error.raw_os_error() {
            None if !F::IS_DATA => RecordedError::of(&error).into(),
            _ => error,
        })
    }

    fn reply<'a>(&'a self, answer: &'a Self::Answer) -> Reply<'a> {
        match answer {
            Ok(value) => match self.encoding.reply(value) {
                Reply::Bytes(_) if F::IS_DATA && self.call.withheld => Reply::Withheld,
                reply => reply,
            },
            Err(error) => RecordedError::of(error).reply(!F::IS_DATA),
        }
    }

    fn hear(&mut self, reply: Reply<'_>) -> Option<Self::Answer> {
        match reply {
            Reply::Number(number) => match number & 3 {
                0 => self.encoding.hear_number(number >> 2).map(Ok),
                _ => RecordedError::from_number(number).map(|error| Err(error.into())),
            },
            Reply::Bytes(bytes) => self.encoding.hear_bytes(bytes),
            _ => None,
        }
    }
}

/// How an answer is written to the trace and read back.
pub(super) trait Encoding {
    type Value;

    /// Whether bytes are exactly what was read.
    const IS_DATA: bool;

    fn reply<'a>(&'a self, value: &'a Self::Value) -> Reply<'a>;

    fn hear_number(&mut self, number: u64) -> Option<Self::Value>;

    fn hear_bytes(&mut self, bytes: Cow<'_, [u8]>) -> Option<io::Result<Self::Value>>;
}

fn number<'a>(number: u64) -> Option<Reply<'a>> {
    (number <= u64::MAX >> 2).then_some(Reply::Number(number << 2))
}

/// A number.
pub(super) struct Number;

impl Encoding for Number {
    type Value = u64;
    const IS_DATA: bool = false;

    fn reply<'a>(&'a self, value: &'a u64) -> Reply<'a> {
        number(*value).unwrap_or_else(|| structure(Ok(value)))
    }

    fn hear_number(&mut self, number: u64) -> Option<u64> {
        Some(number)
    }

    fn hear_bytes(&mut self, bytes: Cow<'_, [u8]>) -> Option<io::Result<u64>> {
        structure_again(&bytes)
    }
}

/// A structured value.
pub(super) struct Structured<T>(PhantomData<T>);

impl<T> Default for Structured<T> {
    fn default() -> Self {
        Structured(PhantomData)
    }
}

impl<T: Serialize + DeserializeOwned> Encoding for Structured<T> {
    type Value = T;
    const IS_DATA: bool = false;

    fn reply<'a>(&'a self, value: &'a T) -> Reply<'a> {
        structure(Ok(value))
    }

    fn hear_number(&mut self, _number: u64) -> Option<T> {
        None
    }

    fn hear_bytes(&mut self, bytes: Cow<'_, [u8]>) -> Option<io::Result<T>> {
        structure_again(&bytes)
    }
}

/// Bytes at the beginning of a buffer of the program. They are written to the trace unchanged.
pub(super) struct Fill<'b>(pub(super) &'b mut [u8]);

impl Encoding for Fill<'_> {
    type Value = usize;
    const IS_DATA: bool = true;

    fn reply<'a>(&'a self, &count: &'a usize) -> Reply<'a> {
        data(&self.0[..count.min(self.0.len())])
    }

    fn hear_number(&mut self, number: u64) -> Option<usize> {
        (number == 0).then_some(0)
    }

    fn hear_bytes(&mut self, bytes: Cow<'_, [u8]>) -> Option<io::Result<usize>> {
        self.0.get_mut(..bytes.len())?.copy_from_slice(&bytes);
        Some(Ok(bytes.len()))
    }
}

/// Bytes at the end of a growing buffer.
pub(super) struct Append<'b> {
    buffer: &'b mut Vec<u8>,
    from: usize,
}

impl Append<'_> {
    pub(super) fn to(buffer: &mut Vec<u8>) -> Append<'_> {
        let from = buffer.len();
        Append { buffer, from }
    }

    /// Appends what `read` reads. It is no failure if it reads anything.
    pub(super) fn append(
        &mut self,
        read: impl FnOnce(&mut Vec<u8>) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let result = read(self.buffer);
        match self.buffer.len() - self.from {
            0 => result,
            count => Ok(count),
        }
    }
}

impl Encoding for Append<'_> {
    type Value = usize;
    const IS_DATA: bool = true;

    fn reply<'a>(&'a self, _count: &'a usize) -> Reply<'a> {
        data(&self.buffer[self.from..])
    }

    fn hear_number(&mut self, number: u64) -> Option<usize> {
        (number == 0).then_some(0)
    }

    fn hear_bytes(&mut self, bytes: Cow<'_, [u8]>) -> Option<io::Result<usize>> {
        self.buffer.extend_from_slice(&bytes);
        Some(Ok(bytes.len()))
    }
}

/// Bytes as one answer.
pub(super) struct Bytes;

impl Encoding for Bytes {
    type Value = Vec<u8>;
    const IS_DATA: bool = true;

    fn reply<'a>(&'a self, value: &'a Vec<u8>) -> Reply<'a> {
        data(value)
    }

    fn hear_number(&mut self, number: u64) -> Option<Vec<u8>> {
        (number == 0).then(Vec::new)
    }

    fn hear_bytes(&mut self, bytes: Cow<'_, [u8]>) -> Option<io::Result<Vec<u8>>> {
        Some(Ok(bytes.into_owned()))
    }
}

fn data(bytes: &[u8]) -> Reply<'_> {
    match bytes {
        [] => Reply::Number(0),
        bytes => Reply::Bytes(Cow::Borrowed(bytes)),
    }
}

/// Encodes a structured value for the trace.
pub(super) fn structure<'a, T: Serialize>(answer: Result<&T, RecordedError>) -> Reply<'a> {
    match encode(&answer) {
        Ok(bytes) => Reply::Bytes(Cow::Owned(bytes)),
        // None of our own calls has such an answer. Decoding it fails, and is reported.
        Err(_) => Reply::Bytes(Cow::Borrowed(&[])),
    }
}

fn structure_again<T: DeserializeOwned>(bytes: &[u8]) -> Option<io::Result<T>> {
    decode::<Result<T, RecordedError>>(bytes).map(|answer| answer.map_err(io::Error::from))
}

/// Encodes a value of the program. `what` names it for messages.
pub(crate) fn encode_value<'a, T: Serialize>(
    value: &T,
    what: impl FnOnce() -> String,
) -> Reply<'a> {
    match encode(value) {
        Ok(bytes) => Reply::Bytes(Cow::Owned(bytes)),
        Err(error) => {
            eprintln!(
                "reenact: {} cannot be written down ({error}): a replay will end there",
                what()
            );
            Reply::Number(0)
        }
    }
}

/// Decodes a value, if the reply is one of this type.
pub(crate) fn decode_value<T: DeserializeOwned>(reply: &Reply<'_>) -> Option<T> {
    match reply {
        Reply::Bytes(bytes) => decode(bytes),
        _ => None,
    }
}

fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, postcard::Error> {
    postcard::to_extend(value, reenact_engine::buffer())
}

/// Decodes a value, if the bytes are exactly one.
fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Some(value),
        _ => None,
    }
}
