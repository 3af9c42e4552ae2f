//! Meetings: operations that two activities do together, such as a rendezvous.
//!
//! The activity that comes first waits; the second one completes the meeting for both. It also records it for both,
//! under the lock of the object and before the first one continues: so if the process is killed, either the meeting is
//! recorded for both or neither has done anything after it. If each recorded for itself, one of them could have
//! continued, and affected others, with the other's part missing in the trace.
//!
//! In a controlled process there is nothing to record, and each announces its own part
//! ([`Ends::arrive`](crate::Ends::arrive)).

use std::hint::cold_path;

use crate::{
    ActivitySlot, Object, Op,
    activity::{HOT, Hot, NOBODY, aside, with_recording},
    mode::{self, Mode},
    record::{self, RecorderState, check_after_long_silence, count_without_check},
};

/// An activity that waits to be met, as the activity that meets it sees it.
#[derive(Clone, Copy)]
pub struct Party {
    token: u32,
    word: *mut u64,
    slot: *const ActivitySlot,
    recorder_state: *mut RecorderState,
}

impl Party {
    /// An activity that is not recorded.
    pub const NOBODY: Party = Party {
        token: NOBODY,
        word: std::ptr::null_mut(),
        slot: std::ptr::null(),
        recorder_state: std::ptr::null_mut(),
    };

    /// The calling activity, which is about to wait.
    #[inline]
    pub fn here() -> Party {
        if mode::byte() != Mode::Record as u8 {
            return Party::NOBODY;
        }
        let here = Party::running();
        if here.word.is_null() {
            return Party::registered();
        }
        here
    }

    /// The activity that the calling thread runs.
    #[inline(always)]
    fn running() -> Party {
        HOT.with(|hot| Party {
            token: hot.token.get(),
            word: hot.word.get(),
            slot: hot.slot.get(),
            recorder_state: hot.recorder_state.get(),
        })
    }

    /// Like [`Party::running`], with a counter. Called by the activity itself: while it sleeps on its thread, no other
    /// activity can pass that thread its counter.
    #[cold]
    fn registered() -> Party {
        if let Some(slot) = Hot::slot() {
            slot.word_for_sure();
        } else {
            with_recording(|_| ());
        }
        match Party::running() {
            here if here.word.is_null() => Party::NOBODY,
            here => here,
        }
    }

    /// Runs `what` as if the calling thread ran the party.
    fn impersonate(&self, what: impl FnOnce()) {
        aside(|| {
            // SAFETY: The party waits until the caller has released a lock or woken it, so its state exists and no
            // other thread accesses it.
            match unsafe { self.slot.as_ref() } {
                Some(slot) => slot.sit_in(),
                None => HOT.with(|hot| {
                    hot.token.set(self.token);
                    hot.word.set(self.word);
                    hot.guest.set(self.recorder_state);
                }),
            }
            what();
        });
    }
}

impl Object {
    /// Notes that the calling activity, which holds the object's lock, has taken the object.
    #[inline]
    pub fn taken(&self, op: Op) {
        let mode = mode::byte();
        if mode == Mode::Off as u8 {
            return;
        }
        cold_path();
        if mode == Mode::Record as u8 {
            self.note_take(op);
        } else if mode == Mode::Stopped as u8 {
            self.mark_unrecorded();
        }
    }

    /// Notes that this party, which waits, has taken the object. The calling activity holds the object's lock.
    #[inline]
    pub fn taken_by(&self, op: Op, party: &Party) {
        let mode = mode::byte();
        if mode == Mode::Off as u8 {
            return;
        }
        cold_path();
        if mode != Mode::Record as u8 || !self.is_last(party.token) || party.token == NOBODY {
            self.note_taken_by(op, party);
            return;
        }
        self.one_more();
        // SAFETY: An activity that has taken an object has a counter, and the party waits.
        if unsafe { count_without_check(party.word, self.tag(op)) } {
            party.impersonate(check_after_long_silence);
        }
    }

    #[inline(never)]
    fn note_taken_by(&self, op: Op, party: &Party) {
        if mode::byte() == Mode::Record as u8 && party.token != NOBODY {
            party.impersonate(|| record::take(self, op));
        } else if !mode::is_controlled() {
            self.mark_unrecorded();
        }
    }
}

/// Records the answer to a question for the calling activity, or for a party that waits.
#[inline]
pub fn chose(op: Op, predicted: u64, answer: u64, party: Option<&Party>) {
    if mode::byte() != Mode::Record as u8 {
        return;
    }
    match party {
        None => record::choice(op, predicted, answer),
        Some(party) if party.token == NOBODY => {}
        Some(party) => party.impersonate(|| record::choice(op, predicted, answer)),
    }
}
