//! Questions to the world outside: what [`fs`](crate::fs), [`net`](crate::net), [`process`](crate::process) and
//! [`external`](crate::external) have in common.
//!
//! A [`Question`] says what is asked and what of it a replay checks. The world is asked by a closure; how its answer is
//! written down and read again is known to [`answer`] alone.

mod answer;
mod failure;
mod forward;
mod name;
mod named;
pub(crate) mod ops;

use std::{
    fmt,
    io::{self, Write},
};

use reenact_engine::{Asked, Op, apart, is_played, pool::about_to_block, really_writes};
use serde::{Serialize, de::DeserializeOwned};

use self::answer::{Append, Call, Fill, Form, Number, Value, Whole};
pub use self::named::external;
pub(crate) use self::{
    answer::{hear_value, tell_value},
    failure::Failure,
    forward::forward,
    name::Name,
};

/// What the program asks.
#[must_use = "nothing is asked yet"]
pub(crate) struct Question<'a> {
    op: Op,
    /// Whom or what it is about.
    about: &'a dyn fmt::Display,
    /// The same for a replay to compare, where it has a name.
    whom: Asked,
    hands_out: HandsOut<'a>,
    withheld: bool,
}

/// What the program hands out. Made into something to compare where there is somebody to compare it.
enum HandsOut<'a> {
    This(Asked),
    Bytes(&'a [u8]),
    Parts(&'a [&'a [u8]]),
}

impl<'a> Question<'a> {
    /// This question about `about`.
    pub(crate) fn new(op: Op, about: &'a dyn fmt::Display) -> Question<'a> {
        Question {
            op,
            about,
            whom: Asked::NOTHING,
            hands_out: HandsOut::This(Asked::NOTHING),
            withheld: false,
        }
    }

    /// This question to something that has a name.
    pub(crate) fn to(op: Op, name: &'a Name) -> Question<'a> {
        Question {
            whom: name.asked(),
            withheld: name.is_withheld(),
            ..Question::new(op, name)
        }
    }

    /// It hands out these bytes.
    pub(crate) fn with(mut self, bytes: &'a [u8]) -> Question<'a> {
        self.hands_out = HandsOut::Bytes(bytes);
        self
    }

    /// It hands out these bytes, one part after the other.
    pub(crate) fn with_parts(mut self, parts: &'a [&'a [u8]]) -> Question<'a> {
        self.hands_out = HandsOut::Parts(parts);
        self
    }

    /// It hands out this.
    pub(crate) fn asking(mut self, asked: Asked) -> Question<'a> {
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
    fn ask<F: Form>(
        self,
        form: F,
        ask: impl FnMut(&mut F) -> io::Result<F::Value>,
    ) -> io::Result<F::Value> {
        reenact_engine::external(self.op, Call::new(self, form, ask))
    }

    /// Asks for something to be done.
    #[track_caller]
    pub(crate) fn done(self, mut ask: impl FnMut() -> io::Result<()>) -> io::Result<()> {
        self.number(|| ask().map(|()| 0)).map(drop)
    }

    /// Asks for a number.
    #[track_caller]
    pub(crate) fn number(self, mut ask: impl FnMut() -> io::Result<u64>) -> io::Result<u64> {
        self.ask(Number, |_| ask())
    }

    /// Asks for something that has a structure.
    #[track_caller]
    pub(crate) fn value<T: Serialize + DeserializeOwned>(
        self,
        mut ask: impl FnMut() -> io::Result<T>,
    ) -> io::Result<T> {
        self.ask(Value::default(), |_| ask())
    }

    /// Asks for bytes to be put into a buffer.
    #[track_caller]
    pub(crate) fn fill(
        self,
        buffer: &mut [u8],
        mut ask: impl FnMut(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        self.ask(Fill(buffer), |form| ask(form.0))
    }

    /// Asks for bytes that belong together.
    #[track_caller]
    pub(crate) fn bytes(self, mut ask: impl FnMut() -> io::Result<Vec<u8>>) -> io::Result<Vec<u8>> {
        self.ask(Whole, |_| ask())
    }
}

/// Reads to the end: `question` asks for all there is, `read` reads from the world.
///
/// What is there before an error is an answer of its own, as is that there is no more.
#[track_caller]
pub(crate) fn read_to_end<'a>(
    question: impl Fn() -> Question<'a>,
    buffer: &mut Vec<u8>,
    mut read: impl FnMut(&mut Vec<u8>) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut total = 0;
    loop {
        let form = Append::to(buffer);
        let count = question().ask(form, |form| form.append(&mut read))?;
        if count == 0 {
            return Ok(total);
        }
        total += count;
    }
}

/// The same for text: `read_to_end` reads bytes.
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

/// [`Write::write_all`], but who is said to have written is the caller.
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

/// In a replay that is to really write: does what goes out, after the trace has said that it went well.
pub(crate) fn also<R>(action: impl FnOnce() -> io::Result<R>) -> Option<R> {
    if !really_writes() || !is_played() {
        return None;
    }
    // Whether it works is not the program's business: it has been told what was recorded.
    apart(action).ok()
}

/// The real thing behind a handle. There is none behind one that was made by a replay.
pub(crate) fn real<T>(inner: &Option<T>) -> io::Result<&T> {
    inner.as_ref().ok_or_else(nothing_real)
}

/// The same, to be changed.
pub(crate) fn real_mut<T>(inner: &mut Option<T>) -> io::Result<&mut T> {
    inner.as_mut().ok_or_else(nothing_real)
}

fn nothing_real() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "this was opened by a replay, which does not touch the world",
    )
}

/// Does what may block in the system for long: if the caller is a worker, another one looks after its queue.
pub(crate) fn blocking<R>(action: impl FnOnce() -> R) -> R {
    let _blocked = about_to_block();
    action()
}
