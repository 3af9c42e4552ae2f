//! The world outside: what a program asks of it, and what it answers.
//!
//! A call to the outside is an operation without an entity: it meets nobody of the program. Its answer is nobody's
//! prediction, so it is always written down, and in a replay it comes from the trace; the world is not touched. What the
//! program hands out (the bytes of a write, the path of a file) is not kept but checked: its length and a hash of it are.
//!
//! What a program asks of the outside is its own; what reenact asks, or the standard library on its behalf, is not. So
//! everything that we do between two operations of the program is done [`apart`].

use std::{borrow::Cow, cell::Cell, panic::Location};

use xxhash_rust::xxh3::xxh3_64;

use crate::{
    Access, Announcement, Op, Question,
    activity::{HOT, with_controlled},
    mode::{self, Mode},
    record, seeds,
};

/// An answer from outside, as a trace has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// A number, which costs the trace least.
    Number(u64),
    /// Bytes. The same bytes are in the trace once, however often they come.
    Bytes(Cow<'a, [u8]>),
    /// What the user asked to keep out of the trace. A replay that needs it ends, and says so.
    Withheld,
}

/// What a program hands out, as far as a replay checks it: its length and a hash.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Asked(u64);

impl Asked {
    /// Nothing that would have to be checked.
    pub const NOTHING: Asked = Asked(0);

    /// These bytes.
    pub fn bytes(bytes: &[u8]) -> Asked {
        Asked::of(bytes.len(), xxh3_64(bytes))
    }

    /// These bytes, one part after the other. Where one ends and the next begins matters.
    pub fn parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Asked {
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        let (length, hash) = parts.into_iter().fold((0, 0u64), |(length, hash), part| {
            // Most are short, and hashed at once faster than together.
            let own = xxh3_64(part) ^ part.len() as u64;
            let hash = (hash.rotate_left(29) ^ own).wrapping_mul(SPREAD);
            (length + part.len(), hash)
        });
        Asked::of(length, hash >> 32)
    }

    /// The same, handed to somebody in particular. The length stays that of what is handed out.
    #[must_use]
    pub fn to(self, whom: Asked) -> Asked {
        match (self, whom) {
            (asked, Asked::NOTHING) | (Asked::NOTHING, asked) => asked,
            (Asked(code), Asked(whom)) => Asked(code ^ (whom & 0xffff_ffff) | 1),
        }
    }

    fn of(length: usize, hash: u64) -> Asked {
        let length =
            u64::try_from(length).map_or(u32::MAX.into(), |length| length.min(u32::MAX.into()));
        // Never that of nothing.
        Asked(length << 32 | hash & 0xffff_ffff | 1)
    }

    pub(crate) fn code(self) -> u64 {
        self.0
    }

    pub(crate) fn from_code(code: u64) -> Asked {
        Asked(code)
    }
}

impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Asked::NOTHING => f.write_str("nothing"),
            Asked(code) => write!(f, "{} bytes with hash {:08x}", code >> 32, code as u32),
        }
    }
}

impl std::fmt::Debug for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// A call to the world outside.
pub trait External {
    /// What comes back.
    type Answer;

    /// What it is, for people: `read of orders.csv`.
    fn what(&self) -> String;

    /// What the program hands out, to be checked in a replay.
    fn asked(&self) -> Asked {
        Asked::NOTHING
    }

    /// Does it. Nothing in here may be an operation of the program: in a replay it is not done.
    fn ask(&mut self) -> Self::Answer;

    /// What of the answer is to be written down.
    fn tell<'a>(&'a self, answer: &'a Self::Answer) -> Reply<'a>;

    /// The answer again, from what was written down; none if that cannot be one to this call.
    fn hear(&mut self, reply: Reply<'_>) -> Option<Self::Answer>;
}

/// Asks the world outside, or, in a replay, the trace. What is done [`apart`] asks the world.
#[track_caller]
pub fn external<E: External>(op: Op, mut call: E) -> E::Answer {
    match mode::settled() {
        Mode::Off => call.ask(),
        _ if is_apart() => call.ask(),
        Mode::Record => {
            // The maps that are made for it are not counted.
            let maps = seeds::pause();
            let answer = apart(|| call.ask());
            seeds::resume(maps);
            let reply = call.tell(&answer);
            record::external(op, call.asked(), &reply);
            if let Reply::Bytes(Cow::Owned(buffer)) = reply {
                give_back(buffer);
            }
            answer
        }
        Mode::Replay | Mode::Controlled => {
            play(op, &mut call).unwrap_or_else(|| apart(|| call.ask()))
        }
        _ => call.ask(),
    }
}

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// An empty buffer for what is to be written down. The bytes of a [`Reply`] that is recorded come back here, so that there is
/// no need to make one every time.
pub fn buffer() -> Vec<u8> {
    BUFFER.try_with(Cell::take).unwrap_or_default()
}

fn give_back(mut buffer: Vec<u8>) {
    const MOST: usize = 64 << 10;
    if buffer.capacity() <= MOST {
        buffer.clear();
        let _ = BUFFER.try_with(|spare| spare.set(buffer));
    }
}

/// The answer that the controller has, if it plays what is outside.
#[track_caller]
fn play<E: External>(op: Op, call: &mut E) -> Option<E::Answer> {
    let site = Location::caller();
    with_controlled(|me| {
        let (what, asked) = (call.what(), call.asked());
        let mut answer = None;
        let question = Question::Call {
            announcement: &Announcement {
                site,
                ..Announcement::new(op, Access::Outside)
            },
            what: &what,
            asked,
            hear: &mut |reply| {
                answer = apart(|| call.hear(reply));
                answer.is_some()
            },
        };
        me.controller.outside(&me.activity, question);
        answer
    })
    .flatten()
}

/// Whether what is outside comes from a trace.
pub fn is_played() -> bool {
    mode::is_controlled()
        && crate::controller::current().is_some_and(|(controller, _)| controller.plays())
}

/// Whether a replay is to do what goes out of the program all the same: write files, send to sockets.
pub fn really_writes() -> bool {
    static REALLY: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *REALLY.get_or_init(|| std::env::var_os("REENACT_REALLY_WRITE").is_some())
}

/// Does what is not part of the program: the clocks it reads are not recorded.
#[inline]
pub fn apart<R>(action: impl FnOnce() -> R) -> R {
    with_apart(|depth| depth + 1, action)
}

/// Does what is part of the program again, in the middle of what is not.
pub(crate) fn not_apart<R>(action: impl FnOnce() -> R) -> R {
    with_apart(|_| 0, action)
}

#[inline]
fn with_apart<R>(depth: impl FnOnce(u32) -> u32, action: impl FnOnce() -> R) -> R {
    struct Back(u32);
    impl Drop for Back {
        #[inline]
        fn drop(&mut self) {
            HOT.with(|hot| hot.apart.set(self.0));
        }
    }
    let _back = HOT.with(|hot| Back(hot.apart.replace(depth(hot.apart.get()))));
    action()
}

/// Whether the calling thread does what is not part of the program.
fn is_apart() -> bool {
    HOT.with(|hot| hot.apart.get()) > 0
}

/// The calling thread is not part of the program, from now on: it belongs to a library that brings something into it
/// from outside. Only what it does as a [source](crate::Source) is.
pub fn stay_apart() {
    HOT.with(|hot| hot.apart.set(hot.apart.get() + 1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_is_told_apart_by_length_content_and_parts() {
        assert_eq!(Asked::bytes(b"abc"), Asked::bytes(b"abc"));
        assert_ne!(Asked::bytes(b"abc"), Asked::bytes(b"abd"));
        assert_ne!(Asked::bytes(b""), Asked::NOTHING);
        let parts = |parts: [&'static [u8]; 2]| Asked::parts(parts);
        assert_ne!(parts([b"ab", b"c"]), parts([b"a", b"bc"]));
        let to = |whom: &[u8]| Asked::bytes(b"abc").to(Asked::bytes(whom));
        assert_ne!(to(b"me"), to(b"you"));
        assert_eq!(to(b"me").0 >> 32, 3);
        assert_eq!(Asked::NOTHING.to(Asked::bytes(b"me")), Asked::bytes(b"me"));
        assert!(
            Asked::bytes(b"abc")
                .to_string()
                .starts_with("3 bytes with hash")
        );
    }

    #[test]
    fn what_panics_apart_is_not_apart_afterwards() {
        let panicked = std::panic::catch_unwind(|| apart(|| panic!("on purpose")));
        assert!(panicked.is_err());
        assert_eq!(HOT.with(|hot| hot.apart.get()), 0);
    }
}
