//! System calls: the common part of [`fs`](crate::fs), [`net`](crate::net), [`process`](crate::process) and
//! [`external`](crate::external).
//!
//! A [`SystemCall`] says what is called and what of it a replay compares. A closure performs the call; only [`answer`]
//! knows how its result is written to the trace and read back.

mod answer;
mod error;
mod external;
mod forward;
mod handle;
pub(crate) mod ops;

use std::{
    fmt,
    io::{self, Write},
};

use reenact_engine::{Asked, Op, is_played, pool::about_to_block, really_writes, untracked};
use serde::{Serialize, de::DeserializeOwned};

use self::answer::{Append, Bytes, Encoding, Fill, Number, RecordedCall, Structured};
pub use self::external::external;
pub(crate) use self::{
    answer::{decode_value, encode_value},
    error::RecordedError,
    forward::{forward, readable, writable},
    handle::{Handle, HandleName, nothing_real},
};

/// A call of the program to the system.
#[must_use = "nothing is called yet"]
pub(crate) struct SystemCall<'a> {
    op: Op,
    /// Its target, for messages.
    about: &'a dyn fmt::Display,
    /// Its named target, for a replay to compare.
    whom: Asked,
    hands_out: HandsOut<'a>,
    withheld: bool,
}

/// The data that the program hands out. It is turned into an [`Asked`] only when it is compared.
enum HandsOut<'a> {
    This(Asked),
    Bytes(&'a [u8]),
    Parts(&'a [&'a [u8]]),
}

impl<'a> SystemCall<'a> {
    /// Creates a call about `about`.
    pub(crate) fn new(op: Op, about: &'a dyn fmt::Display) -> SystemCall<'a> {
        SystemCall {
            op,
            about,
            whom: Asked::NOTHING,
            hands_out: HandsOut::This(Asked::NOTHING),
            withheld: false,
        }
    }

    /// Creates a call on something that is open.
    pub(crate) fn on(op: Op, name: &'a HandleName) -> SystemCall<'a> {
        SystemCall {
            whom: name.asked(),
            withheld: name.is_withheld(),
            ..SystemCall::new(op, name)
        }
    }

    /// Adds the bytes that the call hands out.
    pub(crate) fn with(mut self, bytes: &'a [u8]) -> SystemCall<'a> {
        self.hands_out = HandsOut::Bytes(bytes);
        self
    }

    /// Adds the bytes that the call hands out, in several parts.
    pub(crate) fn with_parts(mut self, parts: &'a [&'a [u8]]) -> SystemCall<'a> {
        self.hands_out = HandsOut::Parts(parts);
        self
    }

    /// Adds what the call hands out.
    pub(crate) fn asking(mut self, asked: Asked) -> SystemCall<'a> {
        self.hands_out = HandsOut::This(asked);
        self
    }

    fn what(&self) -> String {
        format!("{} {}", self.op.name(), self.about)
            .trim_end()
            .to_owned()
    }

    fn asked(&self) -> Asked {
        let asked = match self.hands_out {
            HandsOut::This(asked) => asked,
            HandsOut::Bytes(bytes) => Asked::bytes(bytes),
            HandsOut::Parts(parts) => Asked::parts(parts.iter().copied()),
        };
        asked.to(self.whom)
    }

    #[track_caller]
    fn ask<F: Encoding>(
        self,
        encoding: F,
        ask: &mut dyn FnMut(&mut F) -> io::Result<F::Value>,
    ) -> io::Result<F::Value> {
        reenact_engine::external(self.op, RecordedCall::new(self, encoding, ask))
    }

    /// Asks for something to be done.
    #[track_caller]
    pub(crate) fn done(self, mut ask: impl FnMut() -> io::Result<()>) -> io::Result<()> {
        self.number(|| ask().map(|()| 0)).map(drop)
    }

    /// Performs a change of the outside. A replay that really writes performs it as well.
    #[track_caller]
    pub(crate) fn change(self, change: impl Fn() -> io::Result<()>) -> io::Result<()> {
        self.done(&change)?;
        also(change);
        Ok(())
    }

    /// Asks for a number.
    #[track_caller]
    pub(crate) fn number(self, mut ask: impl FnMut() -> io::Result<u64>) -> io::Result<u64> {
        self.ask(Number, &mut |_| ask())
    }

    /// Asks for a structured value.
    #[track_caller]
    pub(crate) fn value<T: Serialize + DeserializeOwned>(
        self,
        mut ask: impl FnMut() -> io::Result<T>,
    ) -> io::Result<T> {
        self.ask(Structured::default(), &mut |_| ask())
    }

    /// Asks for bytes to be put into a buffer.
    #[track_caller]
    pub(crate) fn fill(
        self,
        buffer: &mut [u8],
        mut ask: impl FnMut(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        self.ask(Fill(buffer), &mut |fill| ask(fill.0))
    }

    /// Asks for bytes as one answer.
    #[track_caller]
    pub(crate) fn bytes(self, mut ask: impl FnMut() -> io::Result<Vec<u8>>) -> io::Result<Vec<u8>> {
        self.ask(Bytes, &mut |_| ask())
    }
}

/// Reads to the end: `call` asks for the remaining bytes, `read` reads from the system.
///
/// The bytes before an error are an answer of their own, and so is the end of the input.
#[track_caller]
pub(crate) fn read_to_end<'a>(
    call: impl Fn() -> SystemCall<'a>,
    buffer: &mut Vec<u8>,
    mut read: impl FnMut(&mut Vec<u8>) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut total = 0;
    loop {
        let encoding = Append::to(buffer);
        let count = call().ask(encoding, &mut |append| append.append(&mut read))?;
        if count == 0 {
            return Ok(total);
        }
        total += count;
    }
}

/// Reads text to the end, where `read_to_end` reads the bytes.
pub(crate) fn read_to_string(
    text: &mut String,
    read_to_end: impl FnOnce(&mut Vec<u8>) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut bytes = Vec::new();
    let read = read_to_end(&mut bytes);
    match String::from_utf8(bytes) {
        Ok(more) => {
            text.push_str(&more);
            read
        }
        Err(_) => read.and(Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "stream did not contain valid UTF-8",
        ))),
    }
}

/// [`Write::write_all`], recorded with the caller's source location.
#[track_caller]
pub(crate) fn write_all(writer: &mut impl Write, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match writer.write(bytes) {
            Ok(0) => {
                return Err(io::Error::new(
                    io::ErrorKind::WriteZero,
                    "failed to write whole buffer",
                ));
            }
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Performs an output in a replay that really writes, after the trace has said that it succeeded.
pub(crate) fn also<R>(action: impl FnOnce() -> io::Result<R>) -> Option<R> {
    if !really_writes() || !is_played() {
        return None;
    }
    // Whether this succeeds must not affect the program, which has got the recorded result.
    untracked(action).ok()
}

/// Runs an action that may block in the system for long: if the caller is a worker, another worker takes over its
/// queue.
pub(crate) fn blocking<R>(action: impl FnOnce() -> R) -> R {
    let _blocked = about_to_block();
    action()
}
