//! Notes in the trace of what is not recorded.
//!
//! They are bounded: what happens at the same line is one note, and only so many are kept apart. A note is stored again
//! when it has changed, but more and more rarely as its number grows. So a kill loses nothing but how often exactly.

use std::sync::{Mutex, PoisonError};

use reenact_trace::Writer;

use super::RECORDER;
use crate::{
    activity::{Hot, NOBODY},
    external::untracked,
    site,
    unrecorded::{Code, MOST_NAMES, Note, Noted, Uncaptured, Who},
};

/// How many notes are kept apart. What comes after them is noted without the place.
const MOST: usize = 32;
/// Up to this number, a note is stored each time it has changed; from then on, whenever the number has doubled.
const EACH: u64 = 16;

#[derive(Default)]
pub(super) struct Notes(Mutex<Vec<Note>>);

impl Notes {
    /// Adds to a note, or makes a new one. Returns its index.
    fn add(&self, writer: &Writer, what: Noted, who: Who, code: Code) -> usize {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = notes.len() >= MOST;
        let found = notes.iter().position(|note| {
            // Where the place is not known, it is a matter of who.
            let is_here = note.code == code && (code != Code::Unknown || note.who == who);
            note.what.is_like(&what) && is_here
        });
        // The last ones have no place.
        let rest = || {
            let is_rest = |note: &Note| note.number as usize >= MOST && note.what.is_like(&what);
            notes.iter().position(is_rest)
        };
        let index = match found.or_else(|| is_full.then(rest).flatten()) {
            Some(index) => index,
            None => {
                let code = if is_full { Code::Unknown } else { code };
                let number = notes.len() as u32;
                notes.push(Note {
                    number,
                    what,
                    who,
                    code,
                    count: 0,
                    is_exact: true,
                });
                notes.len() - 1
            }
        };
        let note = &mut notes[index];
        note.count += 1;
        note.is_exact = note.count <= EACH;
        if note.is_exact || note.count.is_power_of_two() {
            store(writer, note);
        }
        index
    }

    fn name(&self, writer: &Writer, index: usize, name: &str) {
        let end = name.find(|letter: char| letter.is_ascii_digit());
        let name = match end {
            Some(end) => format!("{}*", &name[..end]),
            None => name.to_owned(),
        };
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(note) = notes.get_mut(index)
            && let Noted::Threads { names } = &mut note.what
            && names.len() <= MOST_NAMES
            && !names.contains(&name)
        {
            names.push(name);
            names.sort();
            store(writer, note);
        }
    }

    /// Stores how often what is noted has happened, at the end of the process.
    pub(super) fn finish(&self, writer: &Writer) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for note in notes.iter_mut().filter(|note| !note.is_exact) {
            note.is_exact = true;
            store(writer, note);
        }
    }
}

fn store(writer: &Writer, note: &Note) {
    if let Ok(bytes) = postcard::to_stdvec(note) {
        writer.note(thread(), &bytes);
    }
}

fn thread() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}

/// Returns who the calling thread is.
fn who() -> Who {
    match Hot::token() {
        // See `token_of`.
        token if token != NOBODY && token != 0 => Who::Activity(token - 1),
        _ if rustix::thread::gettid() == rustix::process::getpid() => Who::Main,
        _ => {
            let name = rustix::thread::name().unwrap_or_default();
            Who::Thread(name.to_string_lossy().into_owned())
        }
    }
}

fn note(what: Noted) -> Option<usize> {
    let recorder = RECORDER.get()?;
    let who = who();
    untracked(|| {
        let code = site::code_of_caller();
        Some(recorder.notes.add(&recorder.writer, what, who, code))
    })
}

/// Notes that the calling code starts a thread without Reenact. Returns the index of the note.
pub(crate) fn note_thread() -> Option<usize> {
    note(Noted::Threads { names: Vec::new() })
}

/// Notes that the calling code reads something that is not captured.
pub(crate) fn note_read(what: Uncaptured) {
    note(Noted::Read(what));
}

/// Adds the name of a thread to the note about it.
pub(crate) fn note_name(index: usize, name: &str) {
    if let Some(recorder) = RECORDER.get() {
        untracked(|| recorder.notes.name(&recorder.writer, index, name));
    }
}
