//! Input from outside the program: what a program asks, and the answers.
//!
//! A call to the outside is an operation without an object: it involves no other activity. Its answer cannot be
//! predicted, so it is always recorded, and in a replay it comes from the trace; the outside is not asked. What the
//! program hands out (the bytes of a write, the path of a file) is not kept but checked: its length and a hash of it
//! are recorded.
//!
//! The calls that the program makes belong to it; those of reenact, or of the standard library on its behalf, do not.
//! So everything that the engine does between two operations of the program is untracked ([`untracked`]).

use std::{borrow::Cow, cell::Cell, panic::Location};

use xxhash_rust::xxh3::xxh3_64;

use crate::{
    Access, Announcement, Op, Question,
    activity::{HOT, with_controlled},
    mode::{self, Mode},
    record, seeds,
};

/// An answer from outside, as recorded in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// A number, which takes the least space in the trace.
    Number(u64),
    /// Bytes. Equal bytes are in the trace once, however often they come.
    Bytes(Cow<'a, [u8]>),
    /// An answer that the user asked to keep out of the trace. A replay that needs it ends with a report.
    Withheld,
}

/// What a program hands out, as far as a replay checks it: its length and a hash.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Asked(u64);

impl Asked {
    /// Nothing to check.
    pub const NOTHING: Asked = Asked(0);

    /// Hands out these bytes.
    pub fn bytes(bytes: &[u8]) -> Asked {
        Asked::of(bytes.len(), xxh3_64(bytes))
    }

    /// Hands out these bytes, one part after the other. The boundaries between parts matter.
    pub fn parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Asked {
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        let (length, hash) = parts.into_iter().fold((0, 0u64), |(length, hash), part| {
            // Most parts are short: hashing each at once is faster than hashing them as a stream.
            let own = xxh3_64(part) ^ part.len() as u64;
            let hash = (hash.rotate_left(29) ^ own).wrapping_mul(SPREAD);
            (length + part.len(), hash)
        });
        Asked::of(length, hash >> 32)
    }

    /// Adds the recipient to what is handed out. The length stays that of what is handed out.
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
        // Never equal to `NOTHING`.
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

/// A call to the outside.
pub trait External {
    /// The type of the answer.
    type Answer;

    /// Describes the call, for people: `read of orders.csv`.
    fn what(&self) -> String;

    /// Returns what the program hands out, to be checked in a replay.
    fn asked(&self) -> Asked {
        Asked::NOTHING
    }

    /// Makes the call. It must not do an operation of the program: in a replay it is not made.
    fn ask(&mut self) -> Self::Answer;

    /// Returns the part of the answer that is recorded.
    fn reply<'a>(&'a self, answer: &'a Self::Answer) -> Reply<'a>;

    /// Restores the answer from what was recorded; none if that does not fit this call.
    fn hear(&mut self, reply: Reply<'_>) -> Option<Self::Answer>;
}

/// Makes the call, or takes the answer from the trace in a replay. An [untracked](untracked) call is always made.
#[track_caller]
pub fn external<E: External>(op: Op, mut call: E) -> E::Answer {
    match mode::settled() {
        Mode::Off => call.ask(),
        _ if is_apart() => call.ask(),
        Mode::Record => {
            // Maps that are created during the call are not counted.
            let maps = seeds::pause();
            let answer = untracked(|| call.ask());
            seeds::resume(maps);
            let reply = call.reply(&answer);
            record::external(op, call.asked(), &reply);
            if let Reply::Bytes(Cow::Owned(buffer)) = reply {
                give_back(buffer);
            }
            answer
        }
        Mode::Replay | Mode::Controlled => {
            let mut answer = None;
            play(op, &mut (&mut call, &mut answer));
            answer.unwrap_or_else(|| untracked(|| call.ask()))
        }
        _ => call.ask(),
    }
}

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Returns an empty buffer for a reply. The bytes of a [`Reply`] that has been recorded come back here, so that there
/// is no need to allocate one each time.
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

/// A call that a controller may answer, whatever the type of its answer.
trait Playable {
    fn what(&self) -> String;

    fn asked(&self) -> Asked;

    /// Keeps the answer. Returns whether it fits the call.
    fn hear(&mut self, reply: Reply<'_>) -> bool;
}

impl<E: External> Playable for (&mut E, &mut Option<E::Answer>) {
    fn what(&self) -> String {
        self.0.what()
    }

    fn asked(&self) -> Asked {
        self.0.asked()
    }

    fn hear(&mut self, reply: Reply<'_>) -> bool {
        *self.1 = self.0.hear(reply);
        self.1.is_some()
    }
}

/// Passes the controller's answer to the call, if it plays the outside.
#[track_caller]
fn play(op: Op, call: &mut dyn Playable) {
    let site = Location::caller();
    with_controlled(|me| {
        let (what, asked) = (call.what(), call.asked());
        let question = Question::Call {
            announcement: &Announcement {
                site,
                ..Announcement::new(op, Access::Outside)
            },
            what: &what,
            asked,
            hear: &mut |reply| untracked(|| call.hear(reply)),
        };
        me.controller.outside(&me.activity, question);
    });
}

/// Returns whether input from outside comes from a trace.
pub fn is_played() -> bool {
    mode::is_controlled()
        && crate::controller::current().is_some_and(|(controller, _)| controller.plays())
}

/// Returns whether a replay is to perform output all the same: write files, send to sockets.
pub fn really_writes() -> bool {
    static REALLY: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *REALLY.get_or_init(|| std::env::var_os("REENACT_REALLY_WRITE").is_some())
}

/// Runs `action` untracked, as something that is not part of the program: the clocks it reads are not recorded.
#[inline]
pub fn untracked<R>(action: impl FnOnce() -> R) -> R {
    let _before = Depth::set(Depth::get() + 1);
    action()
}

/// Runs `action` tracked, as part of the program, in the middle of something untracked.
pub(crate) fn tracked<R>(action: impl FnOnce() -> R) -> R {
    let _before = Depth::set(0);
    action()
}

/// How deeply untracked calls were nested on the calling thread; dropping it restores that.
///
/// Every call of [`untracked`] is compiled for its own closure. What does not depend on the closure is here.
struct Depth(u32);

impl Depth {
    #[inline]
    fn get() -> u32 {
        HOT.with(|hot| hot.untracked.get())
    }

    #[inline]
    fn set(depth: u32) -> Depth {
        HOT.with(|hot| Depth(hot.untracked.replace(depth)))
    }
}

impl Drop for Depth {
    #[inline]
    fn drop(&mut self) {
        HOT.with(|hot| hot.untracked.set(self.0));
    }
}

/// Returns whether the calling thread is untracked now.
fn is_apart() -> bool {
    Depth::get() > 0
}

/// Makes the calling thread untracked from now on: it belongs to a library that brings input into the program. Only
/// what it does as a [source](crate::Source) is part of the program.
pub fn stay_untracked() {
    HOT.with(|hot| hot.untracked.set(hot.untracked.get() + 1));
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
        let panicked = std::panic::catch_unwind(|| untracked(|| panic!("on purpose")));
        assert!(panicked.is_err());
        assert_eq!(HOT.with(|hot| hot.untracked.get()), 0);
    }
}
