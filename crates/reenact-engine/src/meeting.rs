//! Meetings: operations that two activities do together, such as a rendezvous.
//!
//! Who comes first waits, who comes second completes the meeting, for both. It also records it for both, under the lock
//! of the entity and before the first one goes on: so a process that is killed has recorded the meeting for both, or
//! nobody has done anything after it. If each recorded for itself, one of them could have gone on, and told others, with
//! the other's part missing in the trace.
//!
//! In a controlled process there is nothing to record, and each asks for itself ([`Ends::arrive`](crate::Ends::arrive)).

use std::hint::cold_path;

use crate::{
    Entity, Op, Seat,
    activity::{HOT, Hot, NOBODY, aside, with_recording},
    mode::{self, Mode},
    record::{self, Diary, check_after_long_silence, count_without_check},
};

/// An activity that waits for somebody to meet it, as that one will know it.
#[derive(Clone, Copy)]
pub struct Party {
    token: u32,
    word: *mut u64,
    seat: *const Seat,
    diary: *mut Diary,
}

impl Party {
    /// Nobody that anything is recorded of.
    pub const NOBODY: Party = Party {
        token: NOBODY,
        word: std::ptr::null_mut(),
        seat: std::ptr::null(),
        diary: std::ptr::null_mut(),
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

    /// What the calling thread runs.
    #[inline(always)]
    fn running() -> Party {
        HOT.with(|hot| Party {
            token: hot.token.get(),
            word: hot.word.get(),
            seat: hot.seat.get(),
            diary: hot.diary.get(),
        })
    }

    /// The same, with a counter. By who runs it: where it sleeps on its thread, nobody else can tell that one which counter
    /// it has.
    #[cold]
    fn registered() -> Party {
        if let Some(seat) = Hot::seat() {
            seat.word_for_sure();
        } else {
            with_recording(|_| ());
        }
        match Party::running() {
            here if here.word.is_null() => Party::NOBODY,
            here => here,
        }
    }

    /// Lets the calling thread do this as if it were the party.
    fn impersonate(&self, what: impl FnOnce()) {
        aside(|| {
            // SAFETY: The party waits, until the caller has let go of a lock or woken it; so nobody else touches what is
            // the party's, and it is there.
            match unsafe { self.seat.as_ref() } {
                Some(seat) => seat.sit_in(),
                None => HOT.with(|hot| {
                    hot.token.set(self.token);
                    hot.word.set(self.word);
                    hot.guest.set(self.diary);
                }),
            }
            what();
        });
    }
}

impl Entity {
    /// The calling activity has taken the entity, whose lock it has.
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

    /// This party, which waits, has taken the entity; the calling activity, which has its lock, says so.
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
        // SAFETY: Who has taken an entity has a counter; and the party waits.
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

/// The question has this answer for the calling activity, or for a party that waits.
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
