//! Recording: what is written when an operation did not go as predicted.
//!
//! An operation that went as predicted only passes through [`count`]: two loads, a multiplication and a store to memory
//! that survives the process. Everything else in here is the exception.

mod environment;
mod notes;
mod outside;
mod printed;
mod recorder_state;
mod start;

use std::{
    ptr::NonNull,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{
            AtomicU32,
            Ordering::{Acquire, Relaxed},
        },
    },
};

use reenact_trace::{Appender, Kind, Origin, Slot, StopReason, Writer};

pub(crate) use self::{
    environment::note as note_variable,
    notes::{note_name, note_read, note_thread},
    outside::{Reading, clock, clock_briefly, external, random, waited, write_kept},
    printed::{printed, printed_in_part},
    recorder_state::{Block, Me, RecorderState},
    start::{start, start_from_environment},
};
use crate::{
    Map, Object, Op,
    activity::{Hot, self_origin, with_recording},
    mode::{self, Mode},
    object::tag,
};

/// The recording of this process.
pub(crate) struct Recorder {
    writer: Writer,
    next_number: AtomicU32,
    /// The number of foreign threads of each name.
    foreign: Mutex<Map<String, u64>>,
    /// What is not recorded.
    notes: notes::Notes,
}

/// One per process: recording does not begin again once it has ended.
static RECORDER: OnceLock<Arc<Recorder>> = OnceLock::new();

crate::operations! {
    pub(crate) BIRTH = 0xff Create "spawn";
    pub(crate) LIGHT_BIRTH = 0xfe Create "spawn a task";
}

/// The number of events of an activity after which its hash is written.
const EVENTS_PER_TICK: u32 = 64;

/// A child that its parent has announced.
pub(crate) struct AnnouncedChild {
    pub(crate) number: u32,
    origin: Origin,
    index: u64,
    name: String,
}

/// What a thread needs to record: its appender, and its own activity if it has one. A worker has none.
pub(crate) struct Recording {
    recorder: Arc<Recorder>,
    appender: Appender,
    own: Option<Own>,
}

/// The activity of a thread.
struct Own {
    recorder_state: RecorderState,
    /// Returned when the thread ends.
    slot: Option<Slot>,
    /// Whether its own code has ended.
    has_ended: bool,
}

impl Recording {
    /// For a thread that has no activity of its own, or none yet.
    pub(crate) fn of_thread() -> Option<Box<Recording>> {
        let recorder = Arc::clone(RECORDER.get()?);
        let thread = rustix::thread::gettid().as_raw_nonzero().get() as u32;
        let appender = recorder.writer.appender(thread)?;
        Some(Box::new(Recording {
            recorder,
            appender,
            own: None,
        }))
    }

    /// Registers the calling thread as the announced activity, or as one that was not announced.
    pub(crate) fn register(&mut self, newborn: Option<AnnouncedChild>) -> bool {
        let newborn = newborn.unwrap_or_else(|| self.recorder.unannounced());
        let mut recorder_state = RecorderState::new(newborn.number, std::ptr::null_mut());
        recorder_state.is_foreign = newborn.origin == Origin::Foreign;
        let written = self.appender.start(
            &mut recorder_state.place,
            newborn.number,
            newborn.origin.code(),
            newborn.index,
            &newborn.name,
        );
        let slot = written
            .then(|| self.appender.slot(newborn.number))
            .flatten();
        let Some(slot) = slot else {
            return false;
        };
        recorder_state.word = slot.word().as_ptr();
        self.own = Some(Own {
            recorder_state,
            slot: Some(slot),
            has_ended: false,
        });
        true
    }

    /// Returns whether the thread's own activity can record.
    pub(crate) fn is_registered(&self) -> bool {
        matches!(&self.own, Some(own) if own.slot.is_some())
    }

    /// Returns the thread's own activity.
    pub(crate) fn me(&mut self) -> Option<Me<'_>> {
        let own = self.own.as_mut()?;
        Some(Me {
            recorder: &self.recorder,
            appender: &mut self.appender,
            recorder_state: &mut own.recorder_state,
        })
    }

    /// Returns the light activity with this recorder state.
    pub(crate) fn light<'a>(&'a mut self, recorder_state: &'a mut RecorderState) -> Me<'a> {
        Me {
            recorder: &self.recorder,
            appender: &mut self.appender,
            recorder_state,
        }
    }

    /// Gives a light activity a counter.
    pub(crate) fn slot(&mut self, number: u32) -> Option<*mut u64> {
        Some(self.appender.slot(number)?.word().as_ptr())
    }

    /// Ends a light activity. One for which everything went as predicted has no recorder state.
    pub(crate) fn end_light(
        &mut self,
        number: u32,
        word: *mut u64,
        recorder_state: Option<&mut RecorderState>,
    ) {
        let recording = mode::byte() == Mode::Record as u8;
        match recorder_state {
            Some(recorder_state) => self.light(recorder_state).write_end(|hash| hash),
            None if recording => {
                let counted = if word.is_null() {
                    0
                } else {
                    // SAFETY: It is mapped while the activity has it, and only this thread, which ends the activity,
                    // uses it.
                    unsafe { word.read_volatile() }
                };
                let hash = (counted >> 32) as u32;
                let _ = self.appender.quiet_end(number, counted as u32, hash);
            }
            None => {}
        }
        if recording && let Some(word) = NonNull::new(word) {
            // SAFETY: It came from `slot`, and what it counted is in the trace.
            self.appender.give_back(unsafe { Slot::at(word) });
        }
    }

    /// Notes that the code of the thread's own activity has ended.
    pub(crate) fn end(&mut self) {
        if let Some(own) = &mut self.own {
            own.has_ended = true;
        }
        if let Some(mut me) = self.me() {
            me.write_end(|hash| hash);
        }
    }

    /// The thread exits, or ends the process: writes what it counted since its last event, and returns the slot. A
    /// foreign activity ends with its thread; any other that has not ended before ends the process. One that has may do
    /// so too, in a destructor of a thread-local.
    pub(crate) fn leave_thread(&mut self, ends_process: bool) {
        let Some(own) = &self.own else {
            return;
        };
        match (own.has_ended, own.recorder_state.is_foreign) {
            (false, true) => self.end(),
            (has_ended, false) if !has_ended || ends_process => self
                .me()
                .into_iter()
                .for_each(|mut me| me.write_end(of_exit)),
            _ => {
                if mode::byte() == Mode::Record as u8 && own.recorder_state.unwritten().0 > 0 {
                    self.me().into_iter().for_each(|mut me| me.tick());
                }
            }
        }
        let slot = self.own.as_mut().and_then(|own| {
            own.recorder_state.word = std::ptr::null_mut();
            own.slot.take()
        });
        if let Some(slot) = slot
            && !self.recorder.writer.has_stopped()
        {
            self.appender.give_back(slot);
        }
    }
}

impl Recorder {
    /// Allocates consecutive activity numbers and returns the first.
    fn new_numbers(&self, count: u32) -> u32 {
        let first = self.next_number.fetch_add(count, Relaxed);
        if first > u32::MAX / 2 - Block::MOST {
            // The other half of the numbers has another use, and this half is used up.
            self.writer.stop(StopReason::NoRoom);
        }
        first
    }

    fn unannounced(&self) -> AnnouncedChild {
        let (origin, name) = self_origin();
        let index = match origin {
            Origin::Foreign => {
                let mut foreign = self.foreign.lock().unwrap_or_else(PoisonError::into_inner);
                let count = foreign.entry(name.clone()).or_default();
                *count += 1;
                *count - 1
            }
            _ => 0,
        };
        AnnouncedChild {
            number: self.new_numbers(1),
            origin,
            index,
            name,
        }
    }
}

/// Returns the token by which objects know an activity. Never 0, which means none.
pub(crate) fn token_of(number: u32) -> u32 {
    number + 1
}

/// Returns the key of the n-th object that an activity was the first to use.
pub(crate) fn key_of(number: u32, nth: u32) -> u64 {
    u64::from(token_of(number)) << 32 | u64::from(nth)
}

/// Returns the counter and hash after one more operation. The lower half is the count. The upper half is a polynomial
/// in a constant whose coefficients are the tags; it does not depend on the counter, which also counts operations that
/// are not in the hash. A sum of tags times their positions would not do: it cannot distinguish the orders a b b a and
/// b a a b.
#[inline(always)]
pub(crate) fn counted(word: u64, tag: u64) -> u64 {
    const BASE: u64 = 0x5851_f42b;
    let hash = (word & !0xffff_ffff).wrapping_mul(BASE).wrapping_add(tag);
    hash.wrapping_add(word & 0xffff_ffff).wrapping_add(1)
}

/// Returns the hash for the end of an activity that ends the process, which differs from that of one whose code ends.
pub(crate) fn of_exit(hash: u32) -> u32 {
    !hash
}

/// Counts an operation that went as predicted.
#[inline(always)]
pub(crate) fn count(tag: u64) {
    // SAFETY: A token that an object knows belongs to a registered thread, whose word is mapped; and only such threads
    // write events.
    unsafe { count_at(Hot::word(), tag) };
}

/// Counts an operation that is not in the hash.
fn count_without_trace() {
    let word = Hot::word();
    // SAFETY: Only registered threads write events, and their word is mapped.
    unsafe { word.write_volatile(word.read().wrapping_add(1)) };
}

/// Like [`count`], for an activity whose counter is at `word`.
///
/// # Safety
///
/// `word` is the counter of an activity that the calling thread runs.
#[inline(always)]
pub(crate) unsafe fn count_at(word: *mut u64, tag: u64) {
    // SAFETY: The caller guarantees that `word` is the counter of an activity that this thread runs.
    if unsafe { count_without_check(word, tag) } {
        check_after_long_silence();
    }
}

/// Like [`count_at`], for an activity that the calling thread need not run. Returns whether it is time to [write a
/// check](check_after_long_silence).
///
/// # Safety
///
/// `word` is the counter of an activity, and no other thread runs that activity meanwhile.
#[inline(always)]
pub(crate) unsafe fn count_without_check(word: *mut u64, tag: u64) -> bool {
    // SAFETY: The caller guarantees that `word` is a counter that no other thread uses now.
    let next = unsafe {
        let next = counted(word.read(), tag);
        word.write_volatile(next);
        next
    };
    next as u16 == 0
}

/// Writes the count and hash of the activity that the calling thread runs.
#[cold]
pub(crate) fn check_after_long_silence() {
    // If the activity is already borrowed, it is writing an event, which does as well.
    with_recording(|me| me.tick());
}

/// Runs `write` for this thread's activity. If nothing could be written about the object, marks it, so that other
/// activities know.
fn or_mark(object: &Object, write: impl FnOnce(&mut Me<'_>) -> bool) {
    if object.is_untracked() {
        return;
    }
    let unrecorded = object.last.load(Relaxed) == Object::UNRECORDED;
    if unrecorded || !with_recording(write).unwrap_or(false) {
        if let Some(recorder) = RECORDER.get() {
            recorder.writer.stop(StopReason::Asked);
        }
        object.mark_unrecorded();
    }
}

/// Records a take by another activity than the last one, or the first of all.
#[cold]
pub(crate) fn take(object: &Object, op: Op) {
    or_mark(object, |me| taken(me, object, op, Kind::TAKE));
}

/// Records a timed wait that timed out and has taken the object again.
#[cold]
pub(crate) fn time_out(object: &Object, op: Op) {
    or_mark(object, |me| taken(me, object, op, Kind::TIMED_OUT));
}

fn taken(me: &mut Me<'_>, object: &Object, op: Op, kind: Kind) -> bool {
    let version = object.version.load(Relaxed);
    let position = object.position();
    if object.last.load(Relaxed) == 0 && kind == Kind::TAKE {
        me.name(object);
        object.version.store(version + 1, Relaxed);
        count(object.tag(op));
        return true;
    }
    let key = object.key.load(Relaxed);
    let distance = position.wrapping_sub(me.recorder_state.deltas.get(key).unwrap_or(0));
    let looks = object.looks.load(Relaxed) & !Object::BY_OTHERS;
    let kind = if looks > 0 && kind == Kind::TAKE {
        Kind::TAKE_AFTER_LOOKS
    } else {
        kind
    };
    let second = if kind.has_two_numbers() {
        looks.into()
    } else {
        0
    };
    me.recorder_state.deltas.set(key, position + 1);
    object.version.store(version + 1, Relaxed);
    object.looks.store(0, Relaxed);
    object.last.store(me.token(), Relaxed);
    me.write(kind, distance, second, object.tag(op))
}

/// Records a look. The caller holds the lock that keeps takes out.
pub(crate) fn look(object: &Object, op: Op) {
    or_mark(object, |me| {
        if object.last.load(Acquire) == 0 {
            // Several activities may look at once, but only one can be the first.
            object.begin_update();
            let is_first = object.last.load(Relaxed) == 0;
            if is_first {
                object.version.store(1 | Object::FLAG, Relaxed);
                me.name(object);
                object.looks.store(1, Relaxed);
                // Before others see the version: the process may be killed at any instant, and no event may refer to an
                // operation that is not in the trace.
                count(object.tag(op));
            }
            object.end_update();
            if is_first {
                return true;
            }
        }
        let mut version = object.version.load(Acquire);
        while version & Object::FLAG != 0 {
            std::thread::yield_now();
            version = object.version.load(Acquire);
        }
        let key = object.key.load(Relaxed);
        if object.last.load(Relaxed) == me.token() {
            object.looks.fetch_add(1, Relaxed);
            count(tag(key, op));
            return true;
        }
        object.looks.fetch_or(Object::BY_OTHERS, Relaxed);
        object.looks.fetch_add(1, Relaxed);
        looked(me, key, version, op)
    });
}

/// Records a look by another activity than the last one. The object's flag is set.
#[cold]
pub(crate) fn look_at(object: &Object, op: Op) {
    or_mark(object, |me| {
        looked(me, object.key.load(Relaxed), object.position(), op)
    });
}

/// Writes a look, unless this activity has already seen the object at this version.
fn looked(me: &mut Me<'_>, key: u64, version: u64, op: Op) -> bool {
    let seen = me.recorder_state.deltas.get(key);
    if seen == Some(version) {
        count(tag(key, op));
        return true;
    }
    me.recorder_state.deltas.set(key, version);
    me.write(
        Kind::LOOK,
        version.wrapping_sub(seen.unwrap_or(0)),
        0,
        tag(key, op),
    )
}

/// Reads a value. As long as no other activity has changed it since this one last changed or saw it, the read is
/// predicted: nothing shared is written to, and a replay gives the activity the value that it knows.
pub(crate) fn observe(object: &Object, op: Op, read: impl Fn() -> u64) -> u64 {
    let (version, value, last) = object.read_consistently(&read);
    if last == Hot::token() {
        count(object.tag(op));
        return value;
    }
    let key = object.key.load(Relaxed);
    let known = last != 0
        && last != Object::UNRECORDED
        && with_recording(|me| {
            me.recorder_state.deltas.get(key) == Some(version) && looked(me, key, version, op)
        }) == Some(true);
    if known {
        return value;
    }
    object.begin_update();
    let value = read();
    or_mark(object, |me| {
        if object.last.load(Relaxed) == 0 {
            me.name(object);
            object.version.store(1 | Object::FLAG, Relaxed);
            count(object.tag(op));
            return true;
        }
        let version = object.version.load(Relaxed) & !Object::FLAG;
        let key = object.key.load(Relaxed);
        if object.last.load(Relaxed) == me.token()
            || me.recorder_state.deltas.get(key) == Some(version)
        {
            count(object.tag(op));
            return true;
        }
        let looks = object.looks.load(Relaxed);
        object.looks.store((looks + 1) | Object::BY_OTHERS, Relaxed);
        looked(me, key, version, op)
    });
    object.end_update();
    value
}

/// Records a try operation that failed.
#[cold]
pub(crate) fn decline(op: Op) {
    with_recording(|me| me.write(Kind::DECLINED, 0, 0, tag(0, op)));
}

/// Records an answer that depends on timing.
pub(crate) fn choice(op: Op, predicted: u64, answer: u64) {
    with_recording(|me| {
        if answer == predicted {
            count(tag(0, op));
        } else {
            me.write(Kind::CHOICE, answer, 0, tag(0, op));
        }
    });
}
