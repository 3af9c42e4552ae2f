//! Clocks: the order in which whole groups of changes take effect.
//!
//! What an [`Entity`] is to one lock, a clock is to all variables of transactions together. Its version is the time, and
//! it is so when off as well. A transaction that changes something makes a step; one that has only read is placed
//! between two steps, which when off nobody needs to know, so that it touches nothing. When recorded it has to be known:
//! in a replay, the next step waits until all have looked who saw what was before it.
//!
//! Which of the two a transaction is shows only at its end, so a controller is asked at its beginning for either
//! ([`Access::Transact`]) and told at its end which it was.

use std::{
    hint::cold_path,
    sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
};

use crate::{
    Access, Announcement, Entity, Op, Outcome, Touch,
    activity::Hot,
    attempt,
    entity::{announce, done},
    mode::{self, Mode},
    record,
    replay::quiet,
};

/// A time that moves on by steps, each of them made by one activity.
///
/// Static, one for a whole process: its name is not that of who uses it first. On a cache line of its own.
///
/// # State
///
/// | field of the entity | off | recording | controlled |
/// |---|---|---|---|
/// | `version` | the time | the time; bit 63 while someone steps or looks | the time |
/// | `last` | | token of who stepped last; `UNTOUCHED` before the first | the same |
/// | `looks` | | looks since the last step; bit 31 if one was not by `last` | looks that have ended |
/// | `wanted` | | the time at which recording began | as for any entity |
///
/// # Invariants
///
/// 1. When recording, everything but `version` is written only with bit 63 set; and an event is written before the bit
///    is cleared. So whoever has a later place in the order came after the event, even if the process is killed.
/// 2. A step is made by who has locked what it changes. So who starts at a time or later sees the changes of the step
///    to it, or that they are locked.
/// 3. When controlled, the time moves when the changes can be seen.
#[repr(align(128))]
pub struct Clock {
    pub(crate) entity: Entity,
}

/// A transaction's turn, from [`Clock::begin`] to [`Clock::end`].
#[derive(Clone, Copy, Debug)]
pub struct Turn(Kind);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Not recorded.
    Off,
    /// It will be written down.
    Recorded,
    /// A replay lets it go on without asking.
    Quiet,
    /// A controller was asked.
    Asked,
}

impl Turn {
    /// Whether a controller was asked for it, and wants to know what the transaction has [met](Clock::footprint).
    #[inline(always)]
    pub fn is_asked(self) -> bool {
        self.0 == Kind::Asked
    }

    /// Whether a controller decides when it is: who can do nothing before somebody else steps [gives it back](Clock::give_back),
    /// instead of waiting in its own way.
    #[inline]
    pub fn is_controlled(self) -> bool {
        matches!(self.0, Kind::Asked | Kind::Quiet)
    }
}

impl Clock {
    /// More looks than this between two steps are not counted: the next one is a step.
    pub(crate) const MOST_LOOKS: u32 = 1 << 30;

    /// A clock that nobody has used, the n-th of the process, from 1.
    pub const fn new(number: u32) -> Clock {
        assert!(number > 0, "0 is the key of an entity without a name");
        Clock {
            entity: Entity::with_key(number as u64),
        }
    }

    /// The time.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        // Acquire: pairs with the Release of a step.
        self.entity.version.load(Acquire) & !Entity::FLAG
    }

    /// A transaction begins. Where there is a controller, it is asked, and nobody else steps until [`Clock::end`].
    #[inline(always)]
    #[track_caller]
    pub fn begin(&self, op: Op) -> Turn {
        let mode = mode::byte();
        if mode == Mode::Off as u8 {
            return Turn(Kind::Off);
        }
        if mode == Mode::Record as u8 {
            return Turn(Kind::Recorded);
        }
        cold_path();
        self.begin_noted(op)
    }

    #[inline(never)]
    #[track_caller]
    fn begin_noted(&self, op: Op) -> Turn {
        Turn(match mode::settled() {
            Mode::Off | Mode::Stopped | Mode::Unknown => Kind::Off,
            Mode::Record => Kind::Recorded,
            Mode::Replay if quiet::may_take(&self.entity) => Kind::Quiet,
            Mode::Replay | Mode::Controlled => {
                self.entity.arrive(op, Access::Transact);
                Kind::Asked
            }
        })
    }

    /// Makes a step, if what was read at `at` is what is there still: the new time, or none. The caller has locked what
    /// it will change, and `valid` says whether what it has read has not changed and is locked by nobody else; `valid`
    /// must not wait for anyone.
    #[inline(always)]
    #[track_caller]
    pub fn step(&self, turn: Turn, op: Op, at: u64, valid: impl FnOnce() -> bool) -> Option<u64> {
        let mode = mode::byte();
        if mode == Mode::Off as u8 {
            // Acquire: whoever stepped before has locked its changes before. Release: as we have.
            let now = self.entity.version.fetch_add(1, AcqRel);
            if now == at {
                return Some(now + 1);
            }
            return self.step_later(now, valid);
        }
        if mode == Mode::Record as u8 {
            let now = self.hold(at, valid)?;
            attempt::write_kept();
            self.note_step(op, now);
            self.let_go(now + 1);
            return Some(now + 1);
        }
        cold_path();
        self.step_noted(turn, op, at, valid)
    }

    /// A step has been made from `now`, where others have been since. If it comes to nothing, that is a time at which
    /// nothing happened.
    fn step_later(&self, mut now: u64, valid: impl FnOnce() -> bool) -> Option<u64> {
        while now & Entity::FLAG != 0 {
            // Recording begins just now, and whoever has set the flag overwrites this step.
            std::thread::yield_now();
            now = self.entity.version.fetch_add(1, AcqRel);
        }
        valid().then_some(now + 1)
    }

    #[inline(never)]
    #[track_caller]
    fn step_noted(&self, turn: Turn, op: Op, at: u64, valid: impl FnOnce() -> bool) -> Option<u64> {
        match (mode::settled(), turn.0) {
            (Mode::Stopped, _) => {
                let now = self.hold(at, valid)?;
                self.entity.mark_unrecorded();
                self.let_go(now + 1);
                Some(now + 1)
            }
            (Mode::Replay | Mode::Controlled, Kind::Asked | Kind::Quiet) => {
                let now = self.now();
                if now != at && !valid() {
                    return None;
                }
                self.turns_out(turn, op, Access::Take);
                Some(now + 1)
            }
            _ => self.step_later(self.entity.version.fetch_add(1, AcqRel), valid),
        }
    }

    /// Places a transaction that has changed nothing in the order, if what it read at `at` is what is there still; see
    /// [`Clock::step`]. Where nobody needs to know, it touches nothing.
    #[inline(always)]
    #[track_caller]
    pub fn look(&self, turn: Turn, op: Op, at: u64, valid: impl FnOnce() -> bool) -> bool {
        let mode = mode::byte();
        if mode == Mode::Off as u8 {
            return true;
        }
        if mode == Mode::Record as u8 {
            let held = self.hold(at, valid);
            if let Some(now) = held {
                attempt::write_kept();
                let then = self.note_look(op, now);
                self.let_go(then);
            }
            return held.is_some();
        }
        cold_path();
        self.turns_out(turn, op, Access::Look);
        true
    }

    /// What the transaction did can be seen, and whoever is next may go. `stepped` as opposed to looked.
    #[inline(always)]
    #[track_caller]
    pub fn end(&self, turn: Turn, op: Op, stepped: bool) {
        if matches!(turn.0, Kind::Quiet | Kind::Asked) {
            cold_path();
            self.end_controlled(turn, op, stepped);
        }
    }

    #[track_caller]
    fn end_controlled(&self, turn: Turn, op: Op, stepped: bool) {
        let entity = &self.entity;
        if turn.0 == Kind::Quiet {
            quiet::count(entity, op);
        }
        if stepped {
            entity.looks.store(0, Relaxed);
            entity.version.fetch_add(1, SeqCst);
        } else {
            entity.looks.fetch_add(1, SeqCst);
        }
        match (turn.0, stepped) {
            (Kind::Quiet, _) => quiet::wake_next(entity),
            (_, true) => entity.controlled_leave(op, Access::Take, None),
            (_, false) => entity.controlled_leave(op, Access::Look, None),
        }
    }

    /// The transaction can do nothing before somebody else steps: it gives its turn, which is [controlled](Turn::is_controlled),
    /// back and has another when this returns. `read` is what it has read, with [`Access::Read`], and `has_changed` whether any
    /// of it has changed since.
    #[track_caller]
    pub fn give_back(
        &self,
        turn: Turn,
        op: Op,
        read: &[Touch<'_>],
        has_changed: &dyn Fn() -> bool,
    ) -> Turn {
        if turn.0 == Kind::Quiet {
            self.entity.arrive(op, Access::Transact);
        }
        self.footprint(op, &|| read.to_vec());
        self.turns_out(Turn(Kind::Asked), op, Access::Transact);
        self.entity.controlled_leave(op, Access::Transact, None);
        announce(&Announcement {
            entity: Some(&self.entity),
            touches: read,
            ready: Some(has_changed),
            ..Announcement::new(op, Access::Transact)
        });
        Turn(Kind::Asked)
    }

    /// What a transaction has met whose turn was [asked for](Turn::is_asked), before it ends: with [`Access::Read`] or
    /// [`Access::Write`].
    #[track_caller]
    pub fn footprint<'a>(&self, op: Op, met: &'a dyn Fn() -> Vec<Touch<'a>>) {
        let announcement = Announcement {
            entity: Some(&self.entity),
            ..Announcement::new(op, Access::Transact)
        };
        done(&announcement, Outcome::Footprint(met));
    }

    /// Sets the flag if what was read at `at` is what is there still: the time.
    #[inline(always)]
    fn hold(&self, at: u64, valid: impl FnOnce() -> bool) -> Option<u64> {
        // Acquire: pairs with the Release in `let_go`.
        let held = self
            .entity
            .version
            .compare_exchange(at, at | Entity::FLAG, Acquire, Relaxed);
        match held {
            Ok(_) => Some(at),
            Err(now) => self.hold_later(now, valid),
        }
    }

    #[inline(never)]
    fn hold_later(&self, mut now: u64, valid: impl FnOnce() -> bool) -> Option<u64> {
        let version = &self.entity.version;
        loop {
            if now & Entity::FLAG != 0 {
                self.wait_until_let_go();
                now = version.load(Relaxed) & !Entity::FLAG;
            }
            // Acquire: as in `hold`.
            match version.compare_exchange(now, now | Entity::FLAG, Acquire, Relaxed) {
                Ok(_) => break,
                Err(later) => now = later,
            }
        }
        if valid() {
            return Some(now);
        }
        self.let_go(now);
        None
    }

    #[cold]
    fn wait_until_let_go(&self) {
        let mut spins = 0u32;
        while self.entity.version.load(Relaxed) & Entity::FLAG != 0 {
            spins += 1;
            if spins < 100 {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }

    /// Sets the time and clears the flag.
    #[inline(always)]
    fn let_go(&self, time: u64) {
        // Release: pairs with the Acquire in `now` and of whoever steps or looks next.
        self.entity.version.store(time, Release);
    }

    /// Records a step. With the flag set.
    #[inline(always)]
    fn note_step(&self, op: Op, now: u64) {
        let entity = &self.entity;
        if entity.last.load(Relaxed) == Hot::token()
            && entity.looks.load(Relaxed) & Entity::BY_OTHERS == 0
        {
            entity.looks.store(0, Relaxed);
            record::count(entity.tag(op));
        } else {
            self.note_beginning(now);
            record::take(entity, op);
        }
    }

    /// Records a look. With the flag set; the time afterwards.
    #[inline(always)]
    fn note_look(&self, op: Op, now: u64) -> u64 {
        let entity = &self.entity;
        let looks = entity.looks.load(Relaxed);
        if looks & !Entity::BY_OTHERS == Clock::MOST_LOOKS {
            record::take(entity, op);
            entity.looks.store(1, Relaxed);
            return now + 1;
        }
        if entity.last.load(Relaxed) == Hot::token() {
            entity.looks.store(looks + 1, Relaxed);
            record::count(entity.tag(op));
        } else {
            self.note_beginning(now);
            entity.looks.store((looks + 1) | Entity::BY_OTHERS, Relaxed);
            record::look_at(entity, op);
        }
        now
    }

    /// Places in the order count from where recording began.
    fn note_beginning(&self, now: u64) {
        if self.entity.last.load(Relaxed) == Entity::UNTOUCHED {
            self.entity.wanted.store(now, Relaxed);
        }
    }

    #[track_caller]
    fn turns_out(&self, turn: Turn, op: Op, access: Access) {
        if turn.0 != Kind::Asked {
            return;
        }
        let announcement = Announcement {
            entity: Some(&self.entity),
            ..Announcement::new(op, access)
        };
        done(&announcement, Outcome::Placed);
    }
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Clock").finish_non_exhaustive()
    }
}

/// The name of a clock, for people, if this is the key of one.
pub(crate) fn name_of(key: u64) -> Option<String> {
    match key {
        1 => Some("the commit order".to_owned()),
        _ if is_clock(key) => Some(format!("the commit order/{key}")),
        _ => None,
    }
}

/// Whether this is the key of a clock: no activity's.
pub(crate) fn is_clock(key: u64) -> bool {
    key != 0 && key >> 32 == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpInfo, OperationKind};

    const OP: Op = Op::new(&OpInfo {
        code: 1,
        name: "test",
        kind: OperationKind::TransactionCommit,
        object: "",
        values: crate::Values::Hidden,
        part: None,
    });

    fn never() -> bool {
        unreachable!("nobody else has stepped")
    }

    #[test]
    fn a_step_from_now_needs_no_check() {
        let clock = Clock::new(7);
        let turn = clock.begin(OP);
        assert_eq!(clock.now(), 0);
        assert_eq!(clock.step(turn, OP, 0, never), Some(1));
        assert_eq!(clock.step(turn, OP, 1, never), Some(2));
        clock.end(turn, OP, true);
        assert_eq!(clock.now(), 2);
    }

    #[test]
    fn a_step_from_an_earlier_time_is_made_only_if_nothing_has_changed() {
        let clock = Clock::new(7);
        let turn = clock.begin(OP);
        assert_eq!(clock.step(turn, OP, 0, never), Some(1));
        assert_eq!(clock.step(turn, OP, 0, || false), None);
        let time = clock.step(turn, OP, 0, || true).expect("it is valid");
        assert!(time > 1, "later than the one before: {time}");
        assert_eq!(clock.now(), time);
    }

    #[test]
    fn a_look_that_nobody_wants_to_know_of_touches_nothing() {
        let clock = Clock::new(7);
        let turn = clock.begin(OP);
        assert!(clock.look(turn, OP, 0, never));
        clock.end(turn, OP, false);
        assert_eq!(clock.now(), 0);
        assert_eq!(clock.entity.looks.load(Relaxed), 0);
        assert!(!turn.is_controlled(), "nobody to give it back to");
    }

    /// ```text
    /// 0 … 3 ── step ── at another time than anybody else ──┐
    ///   └────────────────── 5000 times ────────────────────┘
    /// ```
    #[test]
    fn no_two_steps_are_at_the_same_time() {
        let clock = Clock::new(7);
        let turn = clock.begin(OP);
        let mut times: Vec<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        (0..5000)
                            .filter_map(|_| clock.step(turn, OP, clock.now(), || true))
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            let all = threads
                .into_iter()
                .flat_map(|thread| thread.join().unwrap());
            all.collect()
        });
        times.sort_unstable();
        let count = times.len();
        times.dedup();
        assert_eq!((times.len(), count), (20_000, 20_000));
        assert_eq!(clock.now(), 20_000);
    }

    #[test]
    fn clocks_have_names_and_entities_of_activities_do_not_have_theirs() {
        assert_eq!(name_of(1).as_deref(), Some("the commit order"));
        assert_eq!(name_of(2).as_deref(), Some("the commit order/2"));
        assert_eq!(name_of(0), None);
        assert_eq!(name_of(crate::record::key_of(0, 1)), None);
    }

    #[test]
    fn the_time_and_who_stepped_last_are_on_one_cache_line_of_their_own() {
        assert_eq!(align_of::<Clock>(), 128);
        assert!(size_of::<Entity>() <= 64);
    }
}
