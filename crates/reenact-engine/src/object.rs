//! Objects, at which activities meet, and the operations on them.
//!
//! Every method here has the same shape. Off: the operation, and a branch. Recording: the operation, then a check of
//! which activity used the object last; if it was this one, a counter moves, otherwise an event is written. Controlled:
//! ask first. The mode is read *after* the attempt, between the two locked instructions of a lock and its release,
//! where a load is free; before the attempt it would cost a third of what a lock costs.

mod questions;

use std::{hint::cold_path, panic::Location};

pub(crate) use self::questions::choose_as;
pub use self::questions::{choose, choose_at, outside, settled};
use crate::{
    Access, Announcement, Change, Decision, Named, Op, Outcome, Touch,
    activity::{Hot, with_controlled},
    explore,
    external::untracked,
    loom::{
        AtomicU32, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
        fence,
    },
    mode::{self, Mode},
    record,
    replay::fast_path,
};

crate::operations! {
    QUEUE = 0xfa Lock "wait for those who share it";
}

/// An object at which activities meet. Lives inside the lock, channel or other primitive that it stands for; 40 bytes
/// that are not touched when off.
///
/// # State
///
/// | field | recording | replaying |
/// |---|---|---|
/// | `version` | takes so far; bit 63 while an update is in progress | takes that have ended |
/// | `key` | name: number of the activity that used it first, and its index among the objects named by that activity | the same |
/// | `last` | token of its last taker; 0 new, `UNRECORDED` after recording stopped, `UNTOUCHED` a new clock, `UNTRACKED` one of the allocator | the same |
/// | `looks` | looks since the last take; bit 31 if one was not by `last` | looks that have ended |
/// | `made_at` | the line of the program that created it, never changed | the same |
/// | `wanted` | the version at which recording began: 0, except for a clock | bits 0 to 39: one more than the lowest version that an activity waits for, 0 if none waits; bits 40 to 63: its number in the log, 0 if it has none |
///
/// # Invariants
///
/// 1. All fields are written only by the holder of the object: under the lock it belongs to, or with bit 63 of
///    `version` set. The one exception is that concurrent looks add to `looks`.
/// 2. The first operation on an object, whatever it is, counts as a take. So all other activities wait for it in a
///    replay, and the key, which the first operation assigns, is the same there.
pub struct Object {
    pub(crate) version: AtomicU64,
    pub(crate) key: AtomicU64,
    pub(crate) last: AtomicU32,
    pub(crate) looks: AtomicU32,
    pub(crate) wanted: AtomicU64,
    pub(crate) made_at: &'static Location<'static>,
}

// Every lock and every atomic contains one.
const _: () = assert!(size_of::<Object>() <= 40 || cfg!(loom));

impl Default for Object {
    #[track_caller]
    fn default() -> Object {
        Object::new()
    }
}

impl Object {
    /// Bit 63 of `version`: an update is in progress.
    pub(crate) const FLAG: u64 = 1 << 63;
    /// Bit 31 of `looks`: a look was by another activity than `last`.
    pub(crate) const BY_OTHERS: u32 = 1 << 31;
    /// The bits of `wanted` that in a replay hold the awaited version. The others are the number in the log.
    pub(crate) const WISH: u64 = (1 << 40) - 1;
    /// Value of `last`: an activity used the object without recording it, so nothing more can be recorded about it.
    pub(crate) const UNRECORDED: u32 = u32::MAX - 1;
    /// Value of `last`: the object is not the program's; see [`Object::mode`].
    pub(crate) const UNTRACKED: u32 = u32::MAX - 3;
    /// Value of `last`: not used yet, but it already has a name.
    pub(crate) const UNTOUCHED: u32 = u32::MAX - 2;

    /// An unused object, created at the caller's line. People know it by that line.
    #[track_caller]
    pub const fn new() -> Object {
        Object::made_at(Location::caller(), 0, 0)
    }

    /// Another unused object, created at the same line.
    #[must_use]
    pub const fn another(&self) -> Object {
        Object::made_at(self.made_at, 0, 0)
    }

    /// An unused object that has its name from the beginning. The first operation on it is not special.
    #[track_caller]
    pub(crate) const fn with_key(key: u64) -> Object {
        Object::made_at(Location::caller(), key, Self::UNTOUCHED)
    }

    const fn made_at(made_at: &'static Location<'static>, key: u64, last: u32) -> Object {
        Object {
            version: AtomicU64::new(0),
            key: AtomicU64::new(key),
            last: AtomicU32::new(last),
            looks: AtomicU32::new(0),
            wanted: AtomicU64::new(0),
            made_at,
        }
    }

    /// Takes the object: `attempt` does so without blocking; if it fails, `block` does. `undo` reverses an attempt that
    /// came too early.
    ///
    /// The fastest way, for objects at which no activity [looks](Object::look).
    #[inline(always)]
    #[track_caller]
    pub fn take<R>(
        &self,
        op: Op,
        attempt: impl FnOnce() -> Option<R>,
        block: impl FnOnce() -> R,
        undo: impl FnOnce(R),
    ) -> R {
        match attempt() {
            Some(taken) => {
                let mode = mode::byte();
                if mode == Mode::Off as u8 {
                    return taken;
                }
                cold_path();
                if mode == Mode::Record as u8 {
                    self.note_take(op);
                    return taken;
                }
                if mode == Mode::Replay as u8 && fast_path::take(self, op) {
                    return taken;
                }
                self.enter(op, Access::Take, false, Some(taken), block, undo)
            }
            None => {
                cold_path();
                self.enter(op, Access::Take, false, None, block, undo)
            }
        }
    }

    /// Like [`Object::take`], for an object that others may share.
    #[inline(always)]
    #[track_caller]
    pub fn take_from_sharers<R>(
        &self,
        op: Op,
        attempt: impl FnOnce() -> Option<R>,
        block: impl FnOnce() -> R,
        undo: impl FnOnce(R),
    ) -> R {
        self.attempt_or_enter(op, Access::Take, true, attempt, block, undo)
    }

    /// Goes from taking the object to sharing it, without releasing it in between; `convert` does that.
    #[track_caller]
    pub fn downgrade<R>(&self, op: Op, convert: impl FnOnce() -> R) -> R {
        let looking = convert();
        match self.mode() {
            Mode::Record => record::look(self, op),
            Mode::Replay | Mode::Controlled => done(
                &Announcement {
                    object: Some(self),
                    ..Announcement::new(op, Access::Look)
                },
                Outcome::Downgraded,
            ),
            _ => {}
        }
        looking
    }

    /// Takes the object if `attempt` succeeds. `block` is used instead where it is known to be this activity's turn.
    #[inline(always)]
    #[track_caller]
    pub fn try_take<R>(
        &self,
        op: Op,
        attempt: impl FnOnce() -> Option<R>,
        block: impl FnOnce() -> R,
    ) -> Option<R> {
        self.try_enter(op, Access::TryTake, attempt, block)
    }

    /// Shares the object until [`Object::leave`] with [`Access::Look`]; otherwise like [`Object::take`].
    #[inline(always)]
    #[track_caller]
    pub fn look<R>(
        &self,
        op: Op,
        attempt: impl FnOnce() -> Option<R>,
        block: impl FnOnce() -> R,
        undo: impl FnOnce(R),
    ) -> R {
        self.attempt_or_enter(op, Access::Look, false, attempt, block, undo)
    }

    /// Shares the object if `attempt` succeeds; otherwise like [`Object::try_take`].
    #[inline(always)]
    #[track_caller]
    pub fn try_look<R>(
        &self,
        op: Op,
        attempt: impl FnOnce() -> Option<R>,
        block: impl FnOnce() -> R,
    ) -> Option<R> {
        self.try_enter(op, Access::TryLook, attempt, block)
    }

    /// Ends what [`Object::take`] or [`Object::look`] began: calls `release`, and lets the next activity continue.
    #[inline(always)]
    #[track_caller]
    pub fn leave(&self, op: Op, access: Access, release: impl FnOnce()) {
        let controlled = mode::is_controlled();
        release();
        if controlled {
            cold_path();
            self.left(op, access);
        }
    }

    /// Out of line, so that dropping a guard stays small enough to be inlined: a call between two locked instructions
    /// costs more than all of recording.
    #[inline(never)]
    #[track_caller]
    fn left(&self, op: Op, access: Access) {
        if self.is_untracked() {
            return;
        }
        if mode::byte() == Mode::Replay as u8 && access == Access::Take {
            fast_path::leave(self);
        } else {
            self.controlled_leave(op, access, None);
        }
    }

    /// Waits for a notification of `condition` while holding the object: `block` releases it, waits and takes it again,
    /// and returns whether it was notified. Under a controller, which decides when the wait ends, `release` and
    /// `retake` are used instead. Beginning to wait is one operation and continuing is another; these are the two
    /// `Op`s.
    #[track_caller]
    pub fn wait(
        &self,
        [op, wake]: [Op; 2],
        condition: &Object,
        timed: bool,
        block: impl FnOnce() -> bool,
        release: impl FnOnce(),
        retake: impl FnOnce(),
    ) -> bool {
        match self.mode() {
            Mode::Off | Mode::Unknown => block(),
            Mode::Record => {
                let signalled = untracked(block);
                if signalled {
                    self.note_take(wake);
                } else {
                    record::time_out(self, wake);
                }
                signalled
            }
            Mode::Stopped => {
                let signalled = block();
                self.mark_unrecorded();
                signalled
            }
            Mode::Replay | Mode::Controlled => {
                let site = Location::caller();
                let announcement = |op, access, touches| Announcement {
                    object: Some(self),
                    touches,
                    site,
                    ..Announcement::new(op, access)
                };
                condition.announce(op, Access::Wait);
                release();
                // The release is part of the same step.
                let left = announcement(op, Access::Wait, &[]);
                done(&left, Outcome::Left(None));
                let access = Access::Wake { timed };
                let wakes = [
                    Touch::new(condition, access),
                    Touch::new(self, Access::Take),
                ];
                let decision = announce(&announcement(wake, access, &wakes));
                retake();
                decision != Decision::Decline
            }
        }
    }

    /// Changes the value that the object guards, atomically. `change` returns its result and the value afterwards, or
    /// the whole [`Change`].
    #[inline(always)]
    #[track_caller]
    pub fn update<R, C: Into<Change>>(&self, op: Op, change: impl FnOnce() -> (R, C)) -> R {
        if mode::byte() == Mode::Off as u8 {
            return change().0;
        }
        cold_path();
        self.update_noted(op, None, change)
    }

    /// Like [`Object::update`], if `is_due` says that there is something to change. Otherwise `change` only reads.
    #[inline(always)]
    #[track_caller]
    pub fn update_if<R, C: Into<Change>>(
        &self,
        op: Op,
        is_due: impl Fn() -> bool,
        change: impl FnOnce() -> (R, C),
    ) -> R {
        if mode::byte() == Mode::Off as u8 {
            return change().0;
        }
        cold_path();
        self.update_noted(op, Some(&is_due), change)
    }

    #[track_caller]
    fn update_noted<R, C: Into<Change>>(
        &self,
        op: Op,
        is_due: Option<&dyn Fn() -> bool>,
        change: impl FnOnce() -> (R, C),
    ) -> R {
        match self.mode() {
            Mode::Off | Mode::Unknown => change().0,
            Mode::Record => {
                self.begin_update();
                let result = change().0;
                self.note_shared_take(op);
                self.end_update();
                result
            }
            Mode::Stopped => {
                self.begin_update();
                let result = change().0;
                self.mark_unrecorded();
                self.end_update();
                result
            }
            Mode::Replay | Mode::Controlled => {
                match is_due {
                    None => self.arrive(op, Access::Write),
                    Some(_) => announce(&Announcement {
                        object: Some(self),
                        changes: is_due,
                        ..Announcement::new(op, Access::Write)
                    }),
                };
                let (result, value) = change();
                self.controlled_leave(op, Access::Write, Some(value.into()));
                result
            }
        }
    }

    /// Reads the value that the object guards, atomically.
    #[inline(always)]
    #[track_caller]
    pub fn observe(&self, op: Op, read: impl Fn() -> u64) -> u64 {
        if mode::byte() == Mode::Off as u8 {
            return read();
        }
        cold_path();
        self.observe_noted(op, read)
    }

    #[track_caller]
    fn observe_noted(&self, op: Op, read: impl Fn() -> u64) -> u64 {
        match self.mode() {
            Mode::Off | Mode::Stopped | Mode::Unknown => read(),
            Mode::Record => record::observe(self, op, read),
            Mode::Replay | Mode::Controlled => match self.arrive(op, Access::Read) {
                Decision::Answer(value) => value,
                _ => {
                    let value = read();
                    self.controlled_leave(op, Access::Read, Some(value.into()));
                    value
                }
            },
        }
    }

    /// Announces an operation that is not recorded: a replay need not wait for it, but an exploration or a log has to
    /// know that it happens.
    #[inline]
    #[track_caller]
    pub fn announce(&self, op: Op, access: Access) {
        announce_at(op, self, access);
    }

    #[inline(always)]
    #[track_caller]
    fn attempt_or_enter<R>(
        &self,
        op: Op,
        access: Access,
        from_sharers: bool,
        attempt: impl FnOnce() -> Option<R>,
        block: impl FnOnce() -> R,
        undo: impl FnOnce(R),
    ) -> R {
        match attempt() {
            Some(taken) if mode::byte() == Mode::Off as u8 => taken,
            taken => {
                cold_path();
                self.enter(op, access, from_sharers, taken, block, undo)
            }
        }
    }

    #[inline(never)]
    #[track_caller]
    fn enter<R>(
        &self,
        op: Op,
        access: Access,
        from_sharers: bool,
        taken: Option<R>,
        block: impl FnOnce() -> R,
        undo: impl FnOnce(R),
    ) -> R {
        match self.mode() {
            Mode::Off | Mode::Unknown => taken.unwrap_or_else(block),
            Mode::Record => {
                let taken = taken.unwrap_or_else(|| untracked(block));
                self.note(op, access);
                taken
            }
            Mode::Stopped => {
                let taken = taken.unwrap_or_else(block);
                self.mark_unrecorded();
                taken
            }
            Mode::Replay | Mode::Controlled => {
                if let Some(taken) = taken {
                    undo(taken);
                }
                if from_sharers {
                    self.announce(QUEUE, Access::Queue);
                }
                self.arrive(op, access);
                untracked(block)
            }
        }
    }

    #[inline(always)]
    #[track_caller]
    fn try_enter<R>(
        &self,
        op: Op,
        access: Access,
        attempt: impl FnOnce() -> Option<R>,
        block: impl FnOnce() -> R,
    ) -> Option<R> {
        if mode::byte() == Mode::Off as u8 {
            return attempt();
        }
        cold_path();
        match self.mode() {
            Mode::Off | Mode::Unknown => attempt(),
            Mode::Record => {
                let taken = attempt();
                match taken {
                    Some(_) => self.note(op, access),
                    None => record::decline(op),
                }
                taken
            }
            Mode::Stopped => {
                let taken = attempt();
                if taken.is_some() {
                    self.mark_unrecorded();
                }
                taken
            }
            Mode::Replay | Mode::Controlled => match self.arrive(op, access) {
                Decision::Decline => None,
                // It is this activity's turn. One that took the object too early releases it at once.
                _ => Some(block()),
            },
        }
    }

    fn note(&self, op: Op, access: Access) {
        match access {
            Access::Look | Access::TryLook => record::look(self, op),
            _ => self.note_shared_take(op),
        }
    }

    /// Returns the mode in which an operation on this object happens.
    ///
    /// Operations on the objects of an allocator simply happen: the engine allocates too, more or less often when it
    /// records than when it replays, and cannot record an operation in the middle of recording another. They are the
    /// objects that are used before the mode is known, when nothing but the engine runs
    /// ([`captured::learn`](crate::captured::learn)).
    #[inline]
    fn mode(&self) -> Mode {
        match mode::settled() {
            Mode::Unknown => {
                self.last.store(Self::UNTRACKED, Relaxed);
                Mode::Off
            }
            _ if self.is_untracked() => Mode::Off,
            mode => mode,
        }
    }

    /// Returns whether operations on the object are not the program's.
    #[inline]
    pub(crate) fn is_untracked(&self) -> bool {
        self.last.load(Relaxed) == Self::UNTRACKED
    }

    /// Returns whether the activity with this token took it last.
    #[inline(always)]
    pub(crate) fn is_last(&self, token: u32) -> bool {
        self.last.load(Relaxed) == token
    }

    /// Counts a take.
    #[inline(always)]
    pub(crate) fn one_more(&self) {
        let version = self.version.load(Relaxed);
        self.version.store(version + 1, Relaxed);
    }

    /// Records a take of an object that no activity shares.
    #[inline(always)]
    pub(crate) fn note_take(&self, op: Op) {
        if self.is_last(Hot::token()) {
            self.one_more();
            record::count(self.tag(op));
        } else {
            record::take(self, op);
        }
    }

    /// Records a take of an object that others may have shared. Looks by the activity that took it last matter to every
    /// other activity: a replay waits until they have ended.
    fn note_shared_take(&self, op: Op) {
        let mine = self.last.load(Relaxed) == Hot::token();
        if mine && self.looks.load(Relaxed) & Self::BY_OTHERS == 0 {
            self.looks.store(0, Relaxed);
            self.note_take(op);
        } else {
            record::take(self, op);
        }
    }

    /// Returns what an operation on this object adds to the hash: odd, in the upper half.
    #[inline(always)]
    pub(crate) fn tag(&self, op: Op) -> u64 {
        tag(self.key.load(Relaxed), op)
    }

    pub(crate) fn mark_unrecorded(&self) {
        self.last.store(Self::UNRECORDED, Relaxed);
    }

    /// Sets the flag in `version`, waiting while another thread has it set, and returns the version.
    pub(crate) fn begin_update(&self) -> u64 {
        let mut spins = 0u32;
        loop {
            let version = self.version.load(Relaxed) & !Self::FLAG;
            // Acquire: pairs with the Release in `end_update`.
            if self
                .version
                .compare_exchange_weak(version, version | Self::FLAG, Acquire, Relaxed)
                .is_ok()
            {
                return version;
            }
            spins += 1;
            if spins < 100 {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }

    pub(crate) fn end_update(&self) {
        self.version
            .store(self.version.load(Relaxed) & !Self::FLAG, Release);
    }

    /// Returns the version while `read` ran, its value, and the token of the activity that took the object last then.
    /// Changes nothing.
    pub(crate) fn read_consistently(&self, read: &impl Fn() -> u64) -> (u64, u64, u32) {
        let mut spins = 0u32;
        loop {
            let version = self.version.load(Acquire);
            if version & Self::FLAG == 0 {
                let value = read();
                let last = self.last.load(Relaxed);
                fence(Acquire);
                if self.version.load(Relaxed) == version {
                    return (version, value, last);
                }
            }
            spins += 1;
            if spins < 100 {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }

    #[track_caller]
    pub(crate) fn arrive(&self, op: Op, access: Access) -> Decision {
        if let Some(execution) = explore::here() {
            return execution.arrives_at(self, op, access, Location::caller());
        }
        arrive(op, access, Some(self), 0)
    }

    /// While recording: returns the version, counted from where recording began.
    pub(crate) fn position(&self) -> u64 {
        let version = self.version.load(Relaxed) & !Self::FLAG;
        version.wrapping_sub(self.wanted.load(Relaxed))
    }

    #[inline]
    #[track_caller]
    pub(crate) fn controlled_leave(&self, op: Op, access: Access, value: Option<Change>) {
        if let Some(execution) = explore::here() {
            return execution.leave_with(op, access, self, value, Location::caller());
        }
        let announcement = Announcement {
            object: Some(self),
            ..Announcement::new(op, access)
        };
        done(&announcement, Outcome::Left(value));
    }
}

impl std::fmt::Debug for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Object").finish_non_exhaustive()
    }
}

#[inline(always)]
pub(crate) fn tag(key: u64, op: Op) -> u64 {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (u64::from(op.code()) << 33) | 1 << 32)
        & !0xffff_ffff
}

#[track_caller]
pub(crate) fn arrive(op: Op, access: Access, object: Option<&Object>, predicted: u64) -> Decision {
    announce(&Announcement {
        object,
        predicted,
        ..Announcement::new(op, access)
    })
}

/// Announces an operation to the controller, and waits for its decision. Without a controller the operation goes on.
///
/// Inlined: each return from a function after a switch of stacks is mispredicted.
#[inline(always)]
pub(crate) fn announce(announcement: &Announcement<'_>) -> Decision {
    // An execution knows whose turn it is, so it is asked without finding out which activity runs; that would take as
    // long as the answer.
    if let Some(execution) = explore::here() {
        return execution.decide(announcement);
    }
    with_controlled(|me| me.controller.operate(&me.activity, announcement)).unwrap_or(Decision::Go)
}

/// Reports the outcome of an operation to the controller.
#[inline]
pub(crate) fn done(announcement: &Announcement<'_>, outcome: Outcome<'_>) {
    if let Some(execution) = explore::here() {
        return execution.conclude(announcement, outcome);
    }
    with_controlled(|me| me.controller.done(&me.activity, announcement, outcome));
}

/// Like [`Object::announce`], for an operation whose order no object keeps.
#[inline]
#[track_caller]
pub fn announce_at(op: Op, object: &impl Named, access: Access) {
    if mode::is_observed() {
        cold_path();
        announce(&Announcement {
            touches: &[Touch::new(object, access)],
            ..Announcement::new(op, access)
        });
    }
}
