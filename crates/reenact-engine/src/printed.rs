//! What a program prints: the text that it writes to standard output and standard error.
//!
//! Each write is recorded with its place in the order of its stream, and compared in a replay. It is no operation that
//! a replay waits for: the standard library holds a lock of its own while it writes, so an activity that waited there
//! for its turn could keep the one whose turn it is from printing. A replay holds the text back instead; see
//! `replay/printed.rs`.
//!
//! Two things are printed that are not the program's, and are not compared: the ids of threads in the messages of
//! panics, with the numbers of workers, and the frames of backtraces, whose addresses differ from run to run and which have frames of reenact.

use std::{
    borrow::Cow,
    ffi::c_int,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use reenact_trace::Kind;
use xxhash_rust::xxh3::xxh3_64;

use crate::withheld;

/// The environment variable by which a trace says that it has what the program printed: part of a trace.
pub(crate) const VARIABLE: &str = "REENACT_PRINTED";

/// How many bytes of text of each stream a trace has at most. Of what exceeds them, it has hashes.
const MOST_TEXT: usize = 1 << 20;

/// A stream that a program prints to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

pub(crate) const STREAMS: usize = 2;

impl Stream {
    pub(crate) const ALL: [Stream; STREAMS] = [Stream::Output, Stream::Error];

    /// Returns the stream that this descriptor is, if any.
    #[inline(always)]
    pub(crate) fn of(file: c_int) -> Option<Stream> {
        match file {
            libc::STDOUT_FILENO => Some(Stream::Output),
            libc::STDERR_FILENO => Some(Stream::Error),
            _ => None,
        }
    }

    pub(crate) fn file(self) -> c_int {
        match self {
            Stream::Output => libc::STDOUT_FILENO,
            Stream::Error => libc::STDERR_FILENO,
        }
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self == Stream::Error)
    }

    /// Whether its text is to be kept out of the trace: a program may print any input that is.
    fn is_withheld(self) -> bool {
        let name = match self {
            Stream::Output => "stdout",
            Stream::Error => "stderr",
        };
        let is_input = |entry: &String| !entry.starts_with("output:");
        withheld::list().iter().any(is_input) || withheld::is_withheld("output", name)
    }
}

impl std::fmt::Display for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Stream::Output => "standard output",
            Stream::Error => "standard error",
        })
    }
}

/// Returns whether events of this kind are about what was printed.
pub(crate) fn is_print(kind: Kind) -> bool {
    matches!(kind, Kind::PRINTED | Kind::PRINTED_HASH | Kind::WRITTEN)
}

/// Returns the first number of an event: the stream, and how many writes of others to it came before.
pub(crate) fn number_of(stream: Stream, ahead: u64) -> u64 {
    ahead << 1 | stream.index() as u64
}

/// Returns what [`number_of`] has encoded.
pub(crate) fn from_number(number: u64) -> (Stream, u64) {
    (Stream::ALL[(number & 1) as usize], number >> 1)
}

/// Returns the length of a text and its hash, as one number.
pub(crate) fn hash_of(text: &[u8]) -> u64 {
    const BITS: u32 = 28;
    (text.len() as u64) << BITS | xxh3_64(text) >> (64 - BITS)
}

/// The order of what is printed to a stream, in a recording.
pub(crate) struct Order {
    /// How many writes there have been.
    pub(crate) next: u64,
    /// How many more bytes of text the trace takes.
    room: usize,
}

impl Order {
    /// Returns whether the trace takes this text.
    pub(crate) fn has_room(&mut self, stream: Stream, text: &[u8]) -> bool {
        if self.next == 0 && stream.is_withheld() {
            self.room = 0;
        }
        match self.room.checked_sub(text.len()) {
            Some(room) => {
                self.room = room;
                true
            }
            None => false,
        }
    }
}

static ORDER: [Mutex<Order>; STREAMS] = [const {
    Mutex::new(Order {
        next: 0,
        room: MOST_TEXT,
    })
}; STREAMS];

/// Locks the order of a stream: whoever has it is the one that writes.
pub(crate) fn order(stream: Stream) -> MutexGuard<'static, Order> {
    ORDER[stream.index()]
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

/// Whether the trace that is replayed has what the program printed.
static IS_COMPARED: AtomicBool = AtomicBool::new(false);

/// Notes that this replay compares what is printed.
pub(crate) fn compare() {
    IS_COMPARED.store(true, Relaxed);
}

/// Returns whether this is a replay that compares what is printed.
pub(crate) fn is_compared() -> bool {
    IS_COMPARED.load(Relaxed)
}

/// What an activity has printed to a stream.
#[derive(Clone, Copy, Default)]
pub(crate) struct Printing {
    /// The place in the order of the stream that comes after the activity's last write.
    pub(crate) next: u64,
    pub(crate) comparison: Comparison,
    /// The state of the comparison before the activity's last write.
    pub(crate) before: Comparison,
}

/// Finds the part of a text that is compared, write by write.
#[derive(Clone, Copy, Default)]
pub(crate) struct Comparison {
    line: Line,
    is_backtrace: bool,
}

/// Before a backtrace. The library `anyhow` begins with a capital.
const HEADER: &[u8] = b"stack backtrace:";
/// Before the name and the id of a thread that panics or overflows its stack.
const THREAD: &[u8] = b"thread '";
/// The beginning of the name of a worker of ours, before its number: which of them runs an actor is not recorded.
const WORKER: &[u8] = b"worker-";
/// Between its name and its id.
const BEFORE_ID: &[u8] = b"' (";

/// Where a text is in its line.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Line {
    #[default]
    Start,
    /// After so many bytes of [`HEADER`].
    Header(u8),
    /// After so many bytes of [`THREAD`].
    Thread(u8),
    /// In the name of a thread, after so many bytes of [`WORKER`].
    Worker(u8),
    /// In the number of a worker.
    Number,
    /// In the name of a thread, after so many bytes of [`BEFORE_ID`].
    Name(u8),
    /// In the id of a thread.
    Id,
    /// In a frame of a backtrace.
    Frame,
    /// Nothing more in this line matters.
    Other,
}

impl Comparison {
    /// Returns the part that is compared of the next text that is written. Allocates nothing if that is all of it or
    /// nothing.
    pub(crate) fn of<'a>(&mut self, text: &'a [u8]) -> Cow<'a, [u8]> {
        // `None` while all so far is compared.
        let mut kept: Option<Vec<u8>> = None;
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let length = match self.line {
                Line::Other | Line::Frame => line_end(rest).unwrap_or(rest.len() - 1) + 1,
                _ => 1,
            };
            let is_compared = self.step(rest[0], rest[length - 1]);
            match (&mut kept, is_compared) {
                (Some(kept), true) => kept.extend_from_slice(&rest[..length]),
                (None, false) => kept = Some(text[..at].to_vec()),
                _ => {}
            }
            at += length;
        }
        kept.map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// Goes on by some bytes, of which these are the first and the last. Returns whether they are compared.
    fn step(&mut self, first: u8, last: u8) -> bool {
        let matches = |pattern: &[u8], at: u8| {
            pattern
                .get(usize::from(at))
                .is_some_and(|byte| byte.eq_ignore_ascii_case(&first))
        };
        let next = match self.line {
            Line::Start if self.is_backtrace && first == b' ' => Line::Frame,
            Line::Start => {
                self.is_backtrace = false;
                match first {
                    _ if matches(HEADER, 0) => Line::Header(1),
                    _ if matches(THREAD, 0) => Line::Thread(1),
                    _ => Line::Other,
                }
            }
            Line::Header(at) if matches(HEADER, at) => Line::Header(at + 1),
            Line::Header(at) => {
                self.is_backtrace = usize::from(at) == HEADER.len() && first == b'\n';
                Line::Other
            }
            Line::Thread(at) if matches(THREAD, at) => match usize::from(at) + 1 == THREAD.len() {
                true => Line::Worker(0),
                false => Line::Thread(at + 1),
            },
            Line::Worker(at) if matches(WORKER, at) => match usize::from(at) + 1 == WORKER.len() {
                true => Line::Number,
                false => Line::Worker(at + 1),
            },
            Line::Number if first.is_ascii_digit() => Line::Number,
            Line::Name(at) if matches(BEFORE_ID, at) => {
                match usize::from(at) + 1 == BEFORE_ID.len() {
                    true => Line::Id,
                    false => Line::Name(at + 1),
                }
            }
            Line::Name(_) | Line::Worker(_) | Line::Number => {
                Line::Name(u8::from(first == BEFORE_ID[0]))
            }
            Line::Id if first.is_ascii_digit() => Line::Id,
            Line::Frame => Line::Frame,
            _ => Line::Other,
        };
        let is_number = first.is_ascii_digit() && matches!(next, Line::Id | Line::Number);
        let is_compared = next != Line::Frame && !is_number;
        self.line = match last {
            b'\n' => Line::Start,
            _ => next,
        };
        is_compared
    }
}

/// Returns the offset of the first end of a line.
fn line_end(text: &[u8]) -> Option<usize> {
    // SAFETY: The range is that of the slice.
    let found = unsafe { libc::memchr(text.as_ptr().cast(), b'\n'.into(), text.len()) };
    (!found.is_null()).then(|| found.addr() - text.as_ptr().addr())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is compared of a text, after checking that it does not matter how the text is divided into writes.
    fn compared(text: &str) -> String {
        let of = |size: usize| {
            let mut comparison = Comparison::default();
            let parts = text.as_bytes().chunks(size);
            let kept: Vec<u8> = parts
                .flat_map(|part| comparison.of(part).into_owned())
                .collect();
            String::from_utf8(kept).unwrap()
        };
        let whole = of(text.len());
        for size in 1..text.len() {
            assert_eq!(of(size), whole, "in parts of {size} bytes");
        }
        whole
    }

    #[test]
    fn ordinary_text_is_compared_as_a_whole() {
        for text in [
            "one\ntwo",
            "\n\n thread\n",
            "thread 'worker' (idle)\nthread '\n",
            "stack backtrace: none\n  0: main\n",
            "  stack backtrace:\n  0: main\n",
            "it's (3)\n",
        ] {
            assert_eq!(compared(text), text);
        }
        assert!(matches!(
            Comparison::default().of(b"some text"),
            Cow::Borrowed(_)
        ));
    }

    #[test]
    fn the_id_of_a_thread_that_panics_is_not_compared() {
        assert_eq!(
            compared("\nthread 'it's (mine)' (4711) panicked at src/main.rs:2:5:\n(12)\n"),
            "\nthread 'it's (mine)' () panicked at src/main.rs:2:5:\n(12)\n"
        );
    }

    #[test]
    fn the_number_of_a_worker_that_panics_is_not_compared() {
        assert_eq!(
            compared("thread 'worker-12' (4711) panicked at src/main.rs:2:5:\n"),
            "thread 'worker-' () panicked at src/main.rs:2:5:\n"
        );
        for text in [
            "thread 'work-1' (idle)\n",
            "thread 'worker' panicked\n",
            "worker-1\n",
        ] {
            assert_eq!(compared(text), text);
        }
    }

    #[test]
    fn the_frames_of_a_backtrace_are_not_compared() {
        let text = "no\nstack backtrace:\n   0:     0x55d4 - main\n             at src/main.rs:1\n\
                    note: Some details are omitted\n  more\n";
        assert_eq!(
            compared(text),
            "no\nstack backtrace:\nnote: Some details are omitted\n  more\n"
        );
        assert_eq!(
            compared("Stack backtrace:\n   0: main\n\n  more\n"),
            "Stack backtrace:\n\n  more\n"
        );
    }
}
