//! What a program did while it was recorded that the trace does not contain.
//!
//! It is noted in the trace when it happens ([`crate::record`]), in few words and few notes, however often it happens:
//! a note is replaced by a later one of the same number. What is noted is what may make a replay differ. An exploration
//! finds the same things and reports them as gaps.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
};

use reenact_trace::Trace;
use serde::{Deserialize, Serialize};

/// Something that a recording does not contain, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unrecorded {
    /// What it is, and where in the program, if that is known.
    pub what: String,
    /// What that means for a replay.
    pub consequence: &'static str,
    /// What the program, or its user, can do about it.
    pub remedy: &'static str,
}

impl fmt::Display for Unrecorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unrecorded {
            what,
            consequence,
            remedy,
        } = self;
        write!(f, "{what}: {consequence}; {remedy}")
    }
}

/// Returns what the program noted in this trace while it was recorded.
pub fn unrecorded(trace: &Trace) -> Vec<Unrecorded> {
    let mut latest = BTreeMap::new();
    for note in trace.notes() {
        // A note of a later version of Reenact, or of a damaged trace, is left out.
        if let Ok(note) = postcard::from_bytes::<Note>(&note) {
            latest.insert(note.number, note);
        }
    }
    latest.values().map(|note| note.describe(trace)).collect()
}

/// Returns whether the program started threads without Reenact, as far as this trace says.
pub(crate) fn has_threads(trace: &Trace) -> bool {
    let notes = trace.notes();
    let mut notes = notes
        .iter()
        .filter_map(|note| postcard::from_bytes::<Note>(note).ok());
    notes.any(|note| matches!(note.what, Noted::Threads { .. }))
}

/// What a program can read that is neither recorded nor the same in every execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Uncaptured {
    /// Random numbers, from a device.
    RandomDevice,
    /// How long threads have run, from functions of the C library other than those that read clocks.
    ProcessorTime,
}

impl Uncaptured {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Uncaptured::RandomDevice => "random numbers, from /dev/urandom",
            Uncaptured::ProcessorTime => "its processor time",
        }
    }
}

/// Says that somebody started threads without Reenact.
pub(crate) fn started_threads(who: &str, count: u64, is_exact: bool) -> String {
    match (count, is_exact) {
        (1, true) => format!("{who} started a thread without Reenact"),
        (count, true) => format!("{who} started {count} threads without Reenact"),
        (count, false) => format!("{who} started {count} or more threads without Reenact"),
    }
}

/// Who did what is noted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Who {
    /// The activity of this number.
    Activity(u32),
    /// The main thread, before its first operation.
    Main,
    /// A thread that is no activity, with its name.
    Thread(String),
}

impl Who {
    fn describe(&self, trace: &Trace) -> String {
        match self {
            Who::Activity(number) => trace.family_name(*number),
            Who::Main => "main".to_owned(),
            Who::Thread(name) => format!("the thread {}", quoted(name)),
        }
    }
}

/// The code that did what is noted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Code {
    /// A line of the program or of a library.
    Line(String),
    /// A function, where lines are not known.
    Function(String),
    /// The harness of tests.
    Harness,
    Unknown,
}

/// What is noted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Noted {
    Threads {
        /// The names of some of them. What follows the first digit of a name is replaced by `*`.
        names: Vec<String>,
    },
    Read(Uncaptured),
}

impl Noted {
    pub(crate) fn is_like(&self, other: &Noted) -> bool {
        match (self, other) {
            (Noted::Threads { .. }, Noted::Threads { .. }) => true,
            (Noted::Read(one), Noted::Read(other)) => one == other,
            _ => false,
        }
    }
}

/// A note in a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    /// A later note of the same number replaces this one.
    pub(crate) number: u32,
    pub(crate) what: Noted,
    /// Who did it first.
    pub(crate) who: Who,
    pub(crate) code: Code,
    /// How often it happened.
    pub(crate) count: u64,
    /// Whether it can have happened more often.
    pub(crate) is_exact: bool,
}

/// How many names of threads are noted.
pub(crate) const MOST_NAMES: usize = 4;

impl Note {
    fn describe(&self, trace: &Trace) -> Unrecorded {
        let who = self.who.describe(trace);
        let who = match (&self.what, &self.code) {
            (Noted::Threads { .. }, Code::Harness) => "the test harness".to_owned(),
            // Others may have done the same at the same line.
            _ => who,
        };
        let mut what = match self.what {
            Noted::Threads { .. } => started_threads(&who, self.count, self.is_exact),
            Noted::Read(what) => format!("{who} read {}", what.name()),
        };
        match &self.code {
            Code::Line(line) => drop(write!(what, ", at {}", plain(line))),
            Code::Function(function) => drop(write!(what, ", in {}", plain(function))),
            Code::Harness | Code::Unknown => {}
        }
        if let Noted::Threads { names } = &self.what
            && !names.is_empty()
        {
            let shown: Vec<_> = names.iter().take(MOST_NAMES).map(|n| quoted(n)).collect();
            let more = if names.len() > MOST_NAMES {
                ", …"
            } else {
                ""
            };
            let _ = write!(what, " ({}{more})", shown.join(", "));
        }
        let (consequence, remedy) = match (&self.what, &self.code) {
            (Noted::Threads { .. }, Code::Harness) => (
                "what happens between tests is not recorded",
                "run one test, or with --test-threads=1",
            ),
            (Noted::Threads { .. }, _) => (
                "only what they do with Reenact's objects is recorded, and a replay knows them by their names alone",
                "start them with reenact::thread",
            ),
            (Noted::Read(Uncaptured::RandomDevice), _) => (
                "a replay reads others",
                "read them with reenact::fs, or use getrandom, as the crate rand does",
            ),
            (Noted::Read(Uncaptured::ProcessorTime), _) => (
                "a replay reads another",
                "ask through reenact::external, or for the time with std::time",
            ),
        };
        Unrecorded {
            what,
            consequence,
            remedy,
        }
    }
}

/// Returns a text without the characters that control a terminal: a trace may come from anybody.
fn plain(text: &str) -> String {
    text.chars()
        .map(|letter| match letter.is_control() {
            true => '\u{fffd}',
            false => letter,
        })
        .collect()
}

fn quoted(name: &str) -> String {
    format!("`{}`", plain(name))
}
