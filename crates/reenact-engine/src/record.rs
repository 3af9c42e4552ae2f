//! Recording: what is written when an operation did not go as predicted.
//!
//! An operation that went as predicted passes through [`count`] alone: two loads, a multiplication and a store to
//! memory that survives the process. Everything else in here is the exception.

mod diary;
mod outside;

use std::{
    fs::OpenOptions,
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    ptr::NonNull,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{
            AtomicU32,
            Ordering::{Acquire, Relaxed},
        },
    },
};

use reenact_trace::{Appender, Kind, Origin, Program, Slot, Stop, Storage, TraceError, Writer};

pub(crate) use self::{
    diary::{Block, Diary, Me},
    outside::{Reading, clock, clock_briefly, external, random, write_kept},
};
use crate::{
    Entity, Map, Op,
    activity::{Hot, self_origin, with_recording},
    captured,
    entity::tag,
    mode::{self, Mode},
    seeds,
    withheld::{self, is_withheld},
};

/// The recording of this process.
pub(crate) struct Recorder {
    writer: Writer,
    next_number: AtomicU32,
    /// How many foreign threads of each name there were.
    foreign: Mutex<Map<String, u64>>,
}

/// One per process: recording does not begin again once it has ended.
static RECORDER: OnceLock<Arc<Recorder>> = OnceLock::new();

crate::operations! {
    pub(crate) BIRTH = 0xff Create "spawn";
    pub(crate) LIGHT_BIRTH = 0xfe Create "spawn a task";
}

/// Every so many events of an activity its hash is written too.
const EVENTS_PER_TICK: u32 = 64;

/// Begins recording because the environment says so; off, with a line on standard error, if that cannot be.
pub(crate) fn start_from_environment(path: &Path) -> Mode {
    match claim(path).and_then(|path| start(&path)) {
        Ok(()) => Mode::Record,
        Err(error) => {
            eprintln!("reenact: {error}: running unrecorded");
            Mode::Off
        }
    }
}

/// Makes the trace file ours. If another process has it already, one beside it: `bug.reenact`, `bug.2.reenact`, ….
fn claim(path: &Path) -> Result<PathBuf, TraceError> {
    let mut candidate = path.to_owned();
    let mut number = 1u32;
    loop {
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&candidate)
        {
            Ok(_) => return Ok(candidate),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                number += 1;
                candidate = path.with_extension(match path.extension() {
                    Some(extension) => format!("{number}.{}", extension.to_string_lossy()),
                    None => number.to_string(),
                });
            }
            Err(source) => {
                return Err(TraceError::Io {
                    action: "cannot create",
                    path: candidate,
                    source,
                });
            }
        }
    }
}

/// Sets up the trace. The mode is the caller's to change.
pub(crate) fn start(path: &Path) -> Result<(), TraceError> {
    let storage = match std::env::var_os("REENACT_DISCARD") {
        Some(_) => Storage::Discard,
        None => Storage::File,
    };
    let mut program = Program::current();
    program.environment.retain(|(name, _)| {
        let name = name.to_string_lossy();
        (!name.starts_with("REENACT") || name == mode::STRATEGY) && !is_withheld("env", &name)
    });
    program.withheld = withheld::list().to_vec();
    let keys = seeds::set_new();
    if !seeds::is_found() {
        eprintln!(
            "reenact: this standard library keeps the seeds of HashMap elsewhere: maps may iterate differently in a replay"
        );
    }
    program
        .environment
        .push((seeds::VARIABLE.into(), seeds::to_text(keys).into()));
    let process = rustix::process::getpid().as_raw_nonzero().to_string();
    program
        .environment
        .push((captured::identity::VARIABLE.into(), process.into()));
    captured::link();
    // The thread that ends the process says so, even if that is all it has to say. Any other that is running then was
    // cut off.
    extern "C" fn at_exit() {
        // A program that has done nothing has nothing to say.
        let is_anybody = RECORDER
            .get()
            .is_some_and(|recorder| recorder.next_number.load(Relaxed) > 0);
        if mode::byte() == Mode::Record as u8 && is_anybody {
            with_recording(|_| ());
            crate::activity::leave();
        }
    }
    let recorder = Arc::new(Recorder {
        writer: Writer::create(path, &program, storage, on_stop)?,
        next_number: AtomicU32::new(0),
        foreign: Mutex::new(Map::default()),
    });
    RECORDER
        .set(recorder)
        .map_err(|_| ())
        .expect("recording begins once");
    // SAFETY: The handler may do what a program may do at its exit.
    unsafe { libc::atexit(at_exit) };
    Ok(())
}

fn on_stop(why: Stop) {
    mode::stop_recording();
    eprintln!("reenact: recording ends here, the program goes on: {why}");
}

/// A child that its parent has announced.
pub(crate) struct Newborn {
    pub(crate) number: u32,
    origin: Origin,
    index: u64,
    name: String,
}

/// What a thread needs to record: where it appends, and its own activity if it has one. A worker has none.
pub(crate) struct Recording {
    recorder: Arc<Recorder>,
    appender: Appender,
    own: Option<Own>,
}

/// The activity of a thread.
struct Own {
    diary: Diary,
    /// Given back when the thread ends.
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

    /// Makes the calling thread an activity: the announced one, or one that nobody announced.
    pub(crate) fn register(&mut self, newborn: Option<Newborn>) -> bool {
        let newborn = newborn.unwrap_or_else(|| self.recorder.unannounced());
        let mut diary = Diary::new(newborn.number, std::ptr::null_mut());
        diary.is_foreign = newborn.origin == Origin::Foreign;
        let written = self.appender.start(
            &mut diary.place,
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
        diary.word = slot.word().as_ptr();
        self.own = Some(Own {
            diary,
            slot: Some(slot),
            has_ended: false,
        });
        true
    }

    /// Whether the thread's own activity can record.
    pub(crate) fn is_registered(&self) -> bool {
        matches!(&self.own, Some(own) if own.slot.is_some())
    }

    /// The thread's own activity.
    pub(crate) fn me(&mut self) -> Option<Me<'_>> {
        let own = self.own.as_mut()?;
        Some(Me {
            recorder: &self.recorder,
            appender: &mut self.appender,
            diary: &mut own.diary,
        })
    }

    /// The light activity that this diary is of.
    pub(crate) fn light<'a>(&'a mut self, diary: &'a mut Diary) -> Me<'a> {
        Me {
            recorder: &self.recorder,
            appender: &mut self.appender,
            diary,
        }
    }

    /// Gives a light activity a counter.
    pub(crate) fn slot(&mut self, number: u32) -> Option<*mut u64> {
        Some(self.appender.slot(number)?.word().as_ptr())
    }

    /// A light activity has ended. One that was never surprised has no diary.
    pub(crate) fn end_light(&mut self, number: u32, word: *mut u64, diary: Option<&mut Diary>) {
        let recording = mode::byte() == Mode::Record as u8;
        match diary {
            Some(diary) => self.light(diary).write_end(|hash| hash),
            None if recording => {
                let counted = if word.is_null() {
                    0
                } else {
                    // SAFETY: As in `Diary::counted`.
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

    /// The own activity's code has ended.
    pub(crate) fn end(&mut self) {
        if let Some(own) = &mut self.own {
            own.has_ended = true;
        }
        if let Some(mut me) = self.me() {
            me.write_end(|hash| hash);
        }
    }

    /// The thread is going: what it counted since its last event is written, and the slot given back. A foreign activity
    /// ends with its thread; any other that has not ended before ends the process.
    pub(crate) fn leave_thread(&mut self) {
        let Some(own) = &self.own else {
            return;
        };
        match (own.has_ended, own.diary.is_foreign) {
            (false, true) => self.end(),
            (false, false) => self
                .me()
                .into_iter()
                .for_each(|mut me| me.write_end(of_exit)),
            (true, _) => {
                if mode::byte() == Mode::Record as u8 && own.diary.unwritten().0 > 0 {
                    self.me().into_iter().for_each(|mut me| me.tick());
                }
            }
        }
        let slot = self.own.as_mut().and_then(|own| {
            own.diary.word = std::ptr::null_mut();
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
    /// So many numbers for activities; the first.
    fn new_numbers(&self, count: u32) -> u32 {
        let first = self.next_number.fetch_add(count, Relaxed);
        if first > u32::MAX / 2 - Block::MOST {
            // Half of all numbers are needed for something else, and these are used up.
            self.writer.stop(Stop::NoRoom);
        }
        first
    }

    fn unannounced(&self) -> Newborn {
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
        Newborn {
            number: self.new_numbers(1),
            origin,
            index,
            name,
        }
    }
}

/// By which an entity knows an activity: not 0, which is nobody.
pub(crate) fn token_of(number: u32) -> u32 {
    number + 1
}

/// The name of the n-th entity that an activity was the first to use.
pub(crate) fn key_of(number: u32, nth: u32) -> u64 {
    u64::from(token_of(number)) << 32 | u64::from(nth)
}

/// The counter and hash after one more operation: the count is the lower half; the upper half is a polynomial in a
/// constant whose coefficients are the tags; it does not depend on the counter, which also counts what is in no hash. A sum of tags times their places would not do: it cannot tell the order
/// a b b a from b a a b.
#[inline(always)]
pub(crate) fn counted(word: u64, tag: u64) -> u64 {
    const BASE: u64 = 0x5851_f42b;
    let hash = (word & !0xffff_ffff).wrapping_mul(BASE).wrapping_add(tag);
    hash.wrapping_add(word & 0xffff_ffff).wrapping_add(1)
}

/// The hash of the end of an activity that ends the process: other than that of one whose code ends.
pub(crate) fn of_exit(hash: u32) -> u32 {
    !hash
}

/// An operation went as predicted.
#[inline(always)]
pub(crate) fn count(tag: u64) {
    // SAFETY: A token that an entity knows belongs to a thread that is registered, whose word is mapped; and events
    // are written only by such threads.
    unsafe { count_at(Hot::word(), tag) };
}

/// An operation that is not in the hash.
fn count_without_trace() {
    let word = Hot::word();
    // SAFETY: As in `count`.
    unsafe { word.write_volatile(word.read().wrapping_add(1)) };
}

/// As [`count`], for an activity whose counter is at `word`.
///
/// # Safety
///
/// It is, and the calling thread runs that activity.
#[inline(always)]
pub(crate) unsafe fn count_at(word: *mut u64, tag: u64) {
    // SAFETY: The caller's.
    if unsafe { count_without_check(word, tag) } {
        check_after_long_silence();
    }
}

/// As [`count_at`], for an activity that the calling thread need not run, as long as nobody else does. Whether it is time to
/// [write a check](check_after_long_silence).
///
/// # Safety
///
/// See there.
#[inline(always)]
pub(crate) unsafe fn count_without_check(word: *mut u64, tag: u64) -> bool {
    // SAFETY: The caller's.
    let next = unsafe {
        let next = counted(word.read(), tag);
        word.write_volatile(next);
        next
    };
    next as u16 == 0
}

/// Writes what the activity that the calling thread runs has counted.
#[cold]
pub(crate) fn check_after_long_silence() {
    // Where the activity is in use already, it is writing an event, which does as well.
    with_recording(|me| me.tick());
}

/// Runs `write` for this thread's activity. An entity about which nothing could be written is marked, so that others
/// know.
fn or_mark(entity: &Entity, write: impl FnOnce(&mut Me<'_>) -> bool) {
    let unrecorded = entity.last.load(Relaxed) == Entity::UNRECORDED;
    if unrecorded || !with_recording(write).unwrap_or(false) {
        if let Some(recorder) = RECORDER.get() {
            recorder.writer.stop(Stop::Asked);
        }
        entity.mark_unrecorded();
    }
}

/// A take by another activity than the last one, or the first of all.
#[cold]
pub(crate) fn take(entity: &Entity, op: Op) {
    or_mark(entity, |me| taken(me, entity, op, Kind::TAKE));
}

/// A timed wait that ran out; it has the entity again.
#[cold]
pub(crate) fn time_out(entity: &Entity, op: Op) {
    or_mark(entity, |me| taken(me, entity, op, Kind::TIMED_OUT));
}

fn taken(me: &mut Me<'_>, entity: &Entity, op: Op, kind: Kind) -> bool {
    let version = entity.version.load(Relaxed);
    let position = entity.position();
    if entity.last.load(Relaxed) == 0 && kind == Kind::TAKE {
        me.name(entity);
        entity.version.store(version + 1, Relaxed);
        count(entity.tag(op));
        return true;
    }
    let key = entity.key.load(Relaxed);
    let distance = position.wrapping_sub(me.diary.views.get(key).unwrap_or(0));
    let looks = entity.looks.load(Relaxed) & !Entity::BY_OTHERS;
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
    me.diary.views.set(key, position + 1);
    entity.version.store(version + 1, Relaxed);
    entity.looks.store(0, Relaxed);
    entity.last.store(me.token(), Relaxed);
    me.write(kind, distance, second, entity.tag(op))
}

/// A look, for as long as the caller holds the lock that keeps takers out.
pub(crate) fn look(entity: &Entity, op: Op) {
    or_mark(entity, |me| {
        if entity.last.load(Acquire) == 0 {
            // Several may look at once, but only one can be the first.
            entity.begin_update();
            if entity.last.load(Relaxed) == 0 {
                entity.version.store(1 | Entity::FLAG, Relaxed);
                me.name(entity);
            }
            entity.end_update();
        }
        let mut version = entity.version.load(Acquire);
        while version & Entity::FLAG != 0 {
            std::thread::yield_now();
            version = entity.version.load(Acquire);
        }
        let key = entity.key.load(Relaxed);
        if entity.last.load(Relaxed) == me.token() {
            entity.looks.fetch_add(1, Relaxed);
            count(tag(key, op));
            return true;
        }
        entity.looks.fetch_or(Entity::BY_OTHERS, Relaxed);
        entity.looks.fetch_add(1, Relaxed);
        looked(me, key, version, op)
    });
}

/// A look by another activity than the last one, with the entity's flag set.
#[cold]
pub(crate) fn look_at(entity: &Entity, op: Op) {
    or_mark(entity, |me| {
        looked(me, entity.key.load(Relaxed), entity.position(), op)
    });
}

/// Writes a look, unless this activity knows the entity to be as it is.
fn looked(me: &mut Me<'_>, key: u64, version: u64, op: Op) -> bool {
    let seen = me.diary.views.get(key);
    if seen == Some(version) {
        count(tag(key, op));
        return true;
    }
    me.diary.views.set(key, version);
    me.write(
        Kind::LOOK,
        version.wrapping_sub(seen.unwrap_or(0)),
        0,
        tag(key, op),
    )
}

/// Reads a value. As long as nobody has changed it since this activity last did or saw, that is no meeting: nothing
/// shared is written to, and a replay gives the activity the value that it knows.
pub(crate) fn observe(entity: &Entity, op: Op, read: impl Fn() -> u64) -> u64 {
    let (version, value, last) = entity.read_consistently(&read);
    if last == Hot::token() {
        count(entity.tag(op));
        return value;
    }
    let key = entity.key.load(Relaxed);
    let known = last != 0
        && last != Entity::UNRECORDED
        && with_recording(|me| {
            me.diary.views.get(key) == Some(version) && looked(me, key, version, op)
        }) == Some(true);
    if known {
        return value;
    }
    entity.begin_update();
    let value = read();
    or_mark(entity, |me| {
        if entity.last.load(Relaxed) == 0 {
            me.name(entity);
            entity.version.store(1 | Entity::FLAG, Relaxed);
            count(entity.tag(op));
            return true;
        }
        let version = entity.version.load(Relaxed) & !Entity::FLAG;
        let key = entity.key.load(Relaxed);
        if entity.last.load(Relaxed) == me.token() || me.diary.views.get(key) == Some(version) {
            count(entity.tag(op));
            return true;
        }
        let looks = entity.looks.load(Relaxed);
        entity.looks.store((looks + 1) | Entity::BY_OTHERS, Relaxed);
        looked(me, key, version, op)
    });
    entity.end_update();
    value
}

/// A try that failed.
#[cold]
pub(crate) fn decline(op: Op) {
    with_recording(|me| me.write(Kind::DECLINED, 0, 0, tag(0, op)));
}

/// An answer that depends on timing.
pub(crate) fn choice(op: Op, predicted: u64, answer: u64) {
    with_recording(|me| {
        if answer == predicted {
            count(tag(0, op));
        } else {
            me.write(Kind::CHOICE, answer, 0, tag(0, op));
        }
    });
}
