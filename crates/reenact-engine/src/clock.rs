//! Clocks: the order in which whole groups of changes take effect.
//!
//! What an [`Object`] is to one lock, a clock is to all transactional variables together. Its version is the time, also
//! when off. A transaction that changes something makes a step; one that has only read is placed between two steps.
//! When off nothing needs that place, so such a transaction writes nothing. When recording it is needed: in a replay,
//! the next step waits for all looks at the state before it.
//!
//! Which of the two a transaction is is known only at its end, so a controller is asked for either at its beginning
//! ([`Access::Transact`]), and informed at its end which it was.

use std::{
    hint::cold_path,
    sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
};

use crate::{
    Access, Announcement, Object, Op, Outcome, Touch,
    activity::Hot,
    attempt,
    mode::{self, Mode},
    object::{announce, done},
    record,
    replay::fast_path,
};

/// A time that advances in steps, each made by one activity.
///
/// Static, one for a whole process: its name does not depend on the activity that uses it first. On a cache line of its
/// own.
///
/// # State
///
/// | field of the object | off | recording | controlled |
/// |---|---|---|---|
/// | `version` | the time | the time; bit 63 while an activity steps or looks | the time |
/// | `last` | | token of the activity that stepped last; `UNTOUCHED` before the first | the same |
/// | `looks` | | looks since the last step; bit 31 if one was not by `last` | looks that have ended |
/// | `wanted` | | the time at which recording began | as for any object |
///
/// # Invariants
///
/// 1. When recording, everything but `version` is written only with bit 63 set, and an event is written before the bit
///    is cleared. So an activity with a later place in the order came after the event, even if the process is killed.
/// 2. An activity makes a step only after it has locked what it changes. So a transaction that starts at that time or
///    later sees the changes of the step, or that they are locked.
/// 3. When controlled, the time advances when the changes become visible.
#[repr(align(128))]
pub struct Clock {
    pub(crate) object: Object,
}

/// A transaction's turn, from [`Clock::begin`] to [`Clock::end`].
#[derive(Clone, Copy, Debug)]
pub struct TransactionTurn(TransactionKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TransactionKind {
    /// Not recorded.
    Off,
    /// It will be recorded.
    Recorded,
    /// A replay lets it continue without asking.
    FastPath,
    /// A controller was asked.
    Asked,
}

impl TransactionTurn {
    /// Returns whether a controller was asked, and wants to know which objects the transaction has
    /// [used](Clock::footprint).
    #[inline(always)]
    pub fn is_asked(self) -> bool {
        self.0 == TransactionKind::Asked
    }

    /// Returns whether a controller decides when it happens. A transaction that cannot continue before another activity
    /// steps then [gives it back](Clock::give_back), instead of waiting in its own way.
    #[inline]
    pub fn is_controlled(self) -> bool {
        matches!(self.0, TransactionKind::Asked | TransactionKind::FastPath)
    }
}

impl Clock {
    /// The maximum number of looks that are counted between two steps: the next one becomes a step.
    pub(crate) const MOST_LOOKS: u32 = 1 << 30;

    /// An unused clock, the n-th of the process, from 1.
    pub const fn new(number: u32) -> Clock {
        assert!(number > 0, "0 is the key of an object without a name");
        Clock {
            object: Object::with_key(number as u64),
        }
    }

    /// Returns the time.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        // Acquire: pairs with the Release of a step.
        self.object.version.load(Acquire) & !Object::FLAG
    }

    /// Begins a transaction. If there is a controller, it is asked, and no other activity steps until [`Clock::end`].
    #[inline(always)]
    #[track_caller]
    pub fn begin(&self, op: Op) -> TransactionTurn {
        let mode = mode::byte();
        if mode == Mode::Off as u8 {
            return TransactionTurn(TransactionKind::Off);
        }
        if mode == Mode::Record as u8 {
            return TransactionTurn(TransactionKind::Recorded);
        }
        cold_path();
        self.begin_noted(op)
    }

    #[inline(never)]
    #[track_caller]
    fn begin_noted(&self, op: Op) -> TransactionTurn {
        TransactionTurn(match mode::settled() {
            Mode::Off | Mode::Stopped | Mode::Unknown => TransactionKind::Off,
            Mode::Record => TransactionKind::Recorded,
            Mode::Replay if fast_path::may_take(&self.object) => TransactionKind::FastPath,
            Mode::Replay | Mode::Controlled => {
                self.object.arrive(op, Access::Transact);
                TransactionKind::Asked
            }
        })
    }

    /// Makes a step, if what was read at `at` has not changed, and returns the new time; otherwise returns `None`. The
    /// caller has locked what it will change. `valid` returns whether what was read is unchanged and not locked by
    /// another activity; it must not wait.
    #[inline(always)]
    #[track_caller]
    pub fn step(
        &self,
        turn: TransactionTurn,
        op: Op,
        at: u64,
        valid: impl FnOnce() -> bool,
    ) -> Option<u64> {
        let mode = mode::byte();
        if mode == Mode::Off as u8 {
            // Acquire: earlier steps have locked their changes before. Release: as this one has.
            let now = self.object.version.fetch_add(1, AcqRel);
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

    /// Completes a step that has been made from `now`, after other steps since `at`. If it fails, nothing happened at
    /// that time.
    fn step_later(&self, mut now: u64, valid: impl FnOnce() -> bool) -> Option<u64> {
        while now & Object::FLAG != 0 {
            // Recording is just beginning, and the thread that has set the flag overwrites this step.
            std::thread::yield_now();
            now = self.object.version.fetch_add(1, AcqRel);
        }
        valid().then_some(now + 1)
    }

    #[inline(never)]
    #[track_caller]
    fn step_noted(
        &self,
        turn: TransactionTurn,
        op: Op,
        at: u64,
        valid: impl FnOnce() -> bool,
    ) -> Option<u64> {
        match (mode::settled(), turn.0) {
            (Mode::Stopped, _) => {
                let now = self.hold(at, valid)?;
                self.object.mark_unrecorded();
                self.let_go(now + 1);
                Some(now + 1)
            }
            (
                Mode::Replay | Mode::Controlled,
                TransactionKind::Asked | TransactionKind::FastPath,
            ) => {
                let now = self.now();
                if now != at && !valid() {
                    return None;
                }
                self.turns_out(turn, op, Access::Take);
                Some(now + 1)
            }
            _ => self.step_later(self.object.version.fetch_add(1, AcqRel), valid),
        }
    }

    /// Places a transaction that has changed nothing in the order, if what it read at `at` has not changed; see
    /// [`Clock::step`]. Writes nothing when off.
    #[inline(always)]
    #[track_caller]
    pub fn look(
        &self,
        turn: TransactionTurn,
        op: Op,
        at: u64,
        valid: impl FnOnce() -> bool,
    ) -> bool {
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

    /// Ends a transaction whose changes are visible now, and lets the next one continue. `stepped` says whether it
    /// stepped or looked.
    #[inline(always)]
    #[track_caller]
    pub fn end(&self, turn: TransactionTurn, op: Op, stepped: bool) {
        if matches!(turn.0, TransactionKind::FastPath | TransactionKind::Asked) {
            cold_path();
            self.end_controlled(turn, op, stepped);
        }
    }

    #[track_caller]
    fn end_controlled(&self, turn: TransactionTurn, op: Op, stepped: bool) {
        let object = &self.object;
        if turn.0 == TransactionKind::FastPath {
            fast_path::count(object, op);
        }
        if stepped {
            object.looks.store(0, Relaxed);
            object.version.fetch_add(1, SeqCst);
        } else {
            object.looks.fetch_add(1, SeqCst);
        }
        match (turn.0, stepped) {
            (TransactionKind::FastPath, _) => fast_path::wake_next(object),
            (_, true) => object.controlled_leave(op, Access::Take, None),
            (_, false) => object.controlled_leave(op, Access::Look, None),
        }
    }

    /// Gives back the turn, which is [controlled](TransactionTurn::is_controlled), of a transaction that cannot continue
    /// before another activity steps. Returns with a new turn. `read` is what it has read, with [`Access::Read`];
    /// `has_changed` returns whether any of that has changed since.
    #[track_caller]
    pub fn give_back(
        &self,
        turn: TransactionTurn,
        op: Op,
        read: &[Touch<'_>],
        has_changed: &dyn Fn() -> bool,
    ) -> TransactionTurn {
        if turn.0 == TransactionKind::FastPath {
            self.object.arrive(op, Access::Transact);
        }
        self.footprint(op, &|| read.to_vec());
        self.turns_out(
            TransactionTurn(TransactionKind::Asked),
            op,
            Access::Transact,
        );
        self.object.controlled_leave(op, Access::Transact, None);
        announce(&Announcement {
            object: Some(&self.object),
            touches: read,
            ready: Some(has_changed),
            ..Announcement::new(op, Access::Transact)
        });
        TransactionTurn(TransactionKind::Asked)
    }

    /// Reports the objects that a transaction whose turn was [asked for](TransactionTurn::is_asked) has used, before it
    /// ends: with [`Access::Read`] or [`Access::Write`].
    #[track_caller]
    pub fn footprint<'a>(&self, op: Op, met: &'a dyn Fn() -> Vec<Touch<'a>>) {
        let announcement = Announcement {
            object: Some(&self.object),
            ..Announcement::new(op, Access::Transact)
        };
        done(&announcement, Outcome::Footprint(met));
    }

    /// Sets the flag if what was read at `at` has not changed, and returns the time.
    #[inline(always)]
    fn hold(&self, at: u64, valid: impl FnOnce() -> bool) -> Option<u64> {
        // Acquire: pairs with the Release in `let_go`.
        let held = self
            .object
            .version
            .compare_exchange(at, at | Object::FLAG, Acquire, Relaxed);
        match held {
            Ok(_) => Some(at),
            Err(now) => self.hold_later(now, valid),
        }
    }

    #[inline(never)]
    fn hold_later(&self, mut now: u64, valid: impl FnOnce() -> bool) -> Option<u64> {
        let version = &self.object.version;
        loop {
            if now & Object::FLAG != 0 {
                self.wait_until_let_go();
                now = version.load(Relaxed) & !Object::FLAG;
            }
            // Acquire: pairs with the Release in `let_go`.
            match version.compare_exchange(now, now | Object::FLAG, Acquire, Relaxed) {
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
        while self.object.version.load(Relaxed) & Object::FLAG != 0 {
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
        // Release: pairs with the Acquire in `now`, `hold` and `hold_later`.
        self.object.version.store(time, Release);
    }

    /// Records a step. The flag is set.
    #[inline(always)]
    fn note_step(&self, op: Op, now: u64) {
        let object = &self.object;
        if object.last.load(Relaxed) == Hot::token()
            && object.looks.load(Relaxed) & Object::BY_OTHERS == 0
        {
            object.looks.store(0, Relaxed);
            record::count(object.tag(op));
        } else {
            self.note_beginning(now);
            record::take(object, op);
        }
    }

    /// Records a look and returns the time afterwards. The flag is set.
    #[inline(always)]
    fn note_look(&self, op: Op, now: u64) -> u64 {
        let object = &self.object;
        let looks = object.looks.load(Relaxed);
        if looks & !Object::BY_OTHERS == Clock::MOST_LOOKS {
            record::take(object, op);
            object.looks.store(1, Relaxed);
            return now + 1;
        }
        if object.last.load(Relaxed) == Hot::token() {
            object.looks.store(looks + 1, Relaxed);
            record::count(object.tag(op));
        } else {
            self.note_beginning(now);
            object.looks.store((looks + 1) | Object::BY_OTHERS, Relaxed);
            record::look_at(object, op);
        }
        now
    }

    /// Notes where recording began, from which positions in the order are counted.
    fn note_beginning(&self, now: u64) {
        if self.object.last.load(Relaxed) == Object::UNTOUCHED {
            self.object.wanted.store(now, Relaxed);
        }
    }

    #[track_caller]
    fn turns_out(&self, turn: TransactionTurn, op: Op, access: Access) {
        if turn.0 != TransactionKind::Asked {
            return;
        }
        let announcement = Announcement {
            object: Some(&self.object),
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

/// Returns the name of a clock, for people, if this is the key of one.
pub(crate) fn name_of(key: u64) -> Option<String> {
    match key {
        1 => Some("the commit order".to_owned()),
        _ if is_clock(key) => Some(format!("the commit order/{key}")),
        _ => None,
    }
}

/// Returns whether this is the key of a clock: its upper half, the activity, is zero.
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
        assert_eq!(clock.object.looks.load(Relaxed), 0);
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
        assert!(size_of::<Object>() <= 64);
    }
}
