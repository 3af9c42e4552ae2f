//! Recording: what is written when an operation did not go as predicted.
//!
//! An operation that went as predicted passes through [`count`] alone: two loads, a multiplication and a store to
//! memory that survives the process. Everything else in here is the exception.

use std::{
    collections::HashMap,
    fs::OpenOptions,
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{
            AtomicU32,
            Ordering::{Acquire, Relaxed},
        },
    },
};

use reenact_trace::{
    Appender, Event, Kind, Origin, Place, Program, Slot, Stop, Storage, TraceError, Writer,
};

use crate::{
    Entity, Op, OpInfo,
    activity::{Hot, self_origin, with_recording},
    entity::tag,
    mode::{self, Mode},
    views::Views,
};

/// The recording of this process.
pub(crate) struct Recorder {
    writer: Writer,
    next_number: AtomicU32,
    /// How many foreign threads of each name there were.
    foreign: Mutex<HashMap<String, u64>>,
}

/// One per process: recording does not begin again once it has ended.
static RECORDER: OnceLock<Arc<Recorder>> = OnceLock::new();

/// Having a child is counted as an operation, so that a replay in which there is another one, or one less, differs.
pub(crate) const BIRTH: Op = Op::new(&OpInfo {
    code: 0xff,
    name: "birth",
});

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
    program
        .environment
        .retain(|(name, _)| !name.to_string_lossy().starts_with("REENACT"));
    // The thread that ends the process says so, even if that is all it has to say. Any other that is running then was
    // cut off.
    extern "C" fn at_exit() {
        if mode::byte() == Mode::Record as u8 {
            with_recording(|_| ());
            crate::activity::leave();
        }
    }
    let recorder = Arc::new(Recorder {
        writer: Writer::create(path, &program, storage, on_stop)?,
        next_number: AtomicU32::new(0),
        foreign: Mutex::new(HashMap::new()),
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

/// An activity that records.
pub(crate) struct Recording {
    recorder: Arc<Recorder>,
    number: u32,
    is_foreign: bool,
    appender: Appender,
    /// Given back when the thread ends.
    slot: Option<Slot>,
    place: Place,
    events_since_tick: u32,
    /// Whether its own code has ended.
    has_ended: bool,
    entities: u32,
    children: u64,
    views: Views,
}

impl Recording {
    /// Makes the calling thread an activity: the announced one, or one that nobody announced.
    pub(crate) fn register(newborn: Option<Newborn>) -> Option<Box<Recording>> {
        let recorder = Arc::clone(RECORDER.get()?);
        let newborn = newborn.unwrap_or_else(|| recorder.unannounced());
        let thread = rustix::thread::gettid().as_raw_nonzero().get() as u32;
        let mut appender = recorder.writer.appender(thread)?;
        let mut place = Place::default();
        let written = appender.start(
            &mut place,
            newborn.number,
            newborn.origin.code(),
            newborn.index,
            &newborn.name,
        );
        let slot = written.then(|| appender.slot(newborn.number)).flatten()?;
        Some(Box::new(Recording {
            recorder,
            number: newborn.number,
            is_foreign: newborn.origin == Origin::Foreign,
            appender,
            slot: Some(slot),
            place,
            events_since_tick: 0,
            has_ended: false,
            entities: 0,
            children: 0,
            views: Views::default(),
        }))
    }

    pub(crate) fn is_current(&self) -> bool {
        self.slot.is_some()
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    pub(crate) fn token(&self) -> u32 {
        token_of(self.number)
    }

    pub(crate) fn word(&self) -> *mut u64 {
        match &self.slot {
            Some(slot) => slot.word().as_ptr(),
            None => std::ptr::null_mut(),
        }
    }

    pub(crate) fn child(&mut self, name: &str) -> Newborn {
        count(tag(0, BIRTH));
        let index = self.children;
        self.children += 1;
        Newborn {
            number: self.recorder.new_number(),
            origin: Origin::Child(self.number),
            index,
            name: name.to_owned(),
        }
    }

    /// The activity's own code has ended.
    pub(crate) fn end(&mut self) {
        self.has_ended = true;
        self.write_end(|hash| hash);
    }

    /// After recording has stopped, this is not where the trace of the activity ends.
    fn write_end(&mut self, mark: fn(u32) -> u32) {
        if mode::byte() != Mode::Record as u8 {
            return;
        }
        let (silent, hash) = self.unwritten();
        let hash = mark(hash);
        // If it cannot be written, recording has stopped.
        let _ = self
            .appender
            .end(&mut self.place, self.number, silent, hash);
    }

    /// The thread is going: what it counted since its last event is written, and the slot given back. A foreign activity
    /// ends with its thread; any other that has not ended before ends the process.
    pub(crate) fn leave_thread(&mut self) {
        match (self.has_ended, self.is_foreign) {
            (false, true) => self.end(),
            (false, false) => self.write_end(of_exit),
            (true, _) => {
                if mode::byte() == Mode::Record as u8 && self.unwritten().0 > 0 {
                    self.tick();
                }
            }
        }
        if let Some(slot) = self.slot.take() {
            self.appender.give_back(slot);
        }
    }

    /// The counter and hash.
    fn counted(&self) -> u64 {
        match &self.slot {
            // SAFETY: The slot is mapped while we have it, and only this thread writes to it.
            Some(slot) => unsafe { slot.word().as_ptr().read_volatile() },
            None => 0,
        }
    }

    /// Silent operations since the last item, and the hash now.
    fn unwritten(&self) -> (u32, u32) {
        let word = self.counted();
        (
            (word as u32).wrapping_sub(self.place.position() as u32),
            (word >> 32) as u32,
        )
    }

    fn tick(&mut self) {
        let (silent, hash) = self.unwritten();
        if self
            .appender
            .tick(&mut self.place, self.number, silent, hash)
        {
            self.events_since_tick = 0;
        }
    }

    /// Writes an event and counts its operation, in this order: a process that is killed in between has the event, and
    /// a reader sees that it was not counted yet. False if recording has stopped.
    fn write(&mut self, kind: Kind, number: u64, second: u64, tag: u64) -> bool {
        let (silent, _) = self.unwritten();
        let event = Event {
            silent,
            kind,
            number,
            second,
        };
        if !self.appender.event(&mut self.place, self.number, &event) {
            return false;
        }
        count(tag);
        self.events_since_tick += 1;
        if self.events_since_tick >= EVENTS_PER_TICK {
            self.tick();
        }
        true
    }

    /// Gives a new entity its name.
    fn name(&mut self, entity: &Entity) {
        self.entities += 1;
        entity
            .key
            .store(key_of(self.number, self.entities), Relaxed);
        entity.looks.store(0, Relaxed);
        entity.last.store(self.token(), Relaxed);
    }
}

impl Recorder {
    fn new_number(&self) -> u32 {
        self.next_number.fetch_add(1, Relaxed)
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
            number: self.new_number(),
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
/// constant whose coefficients are the tags. A sum of tags times their places would not do: it cannot tell the order
/// a b b a from b a a b.
#[inline(always)]
pub(crate) fn counted(word: u64, tag: u64) -> u64 {
    const BASE: u64 = 0x5851_f42b;
    let hash = (word.wrapping_mul(BASE) & !0xffff_ffff).wrapping_add(tag);
    hash.wrapping_add(word & 0xffff_ffff).wrapping_add(1)
}

/// The hash of the end of an activity that ends the process: other than that of one whose code ends.
pub(crate) fn of_exit(hash: u32) -> u32 {
    !hash
}

/// An operation went as predicted.
#[inline(always)]
pub(crate) fn count(tag: u64) {
    let word = Hot::word();
    // SAFETY: A token that an entity knows belongs to a thread that is registered, whose word is mapped; and events
    // are written only by such threads.
    let next = unsafe {
        let next = counted(word.read(), tag);
        word.write_volatile(next);
        next
    };
    if next as u16 == 0 {
        tick_after_long_silence();
    }
}

#[cold]
fn tick_after_long_silence() {
    // Where the activity is in use already, it is writing an event, which does as well.
    with_recording(Recording::tick);
}

/// Runs `write` for this thread's activity. An entity about which nothing could be written is marked, so that others
/// know.
fn or_mark(entity: &Entity, write: impl FnOnce(&mut Recording) -> bool) {
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

fn taken(me: &mut Recording, entity: &Entity, op: Op, kind: Kind) -> bool {
    let version = entity.version.load(Relaxed);
    let position = version & !Entity::FLAG;
    if entity.last.load(Relaxed) == 0 && kind == Kind::TAKE {
        me.name(entity);
        entity.version.store(version + 1, Relaxed);
        count(entity.tag(op));
        return true;
    }
    let key = entity.key.load(Relaxed);
    let distance = position.wrapping_sub(me.views.get(key).unwrap_or(0));
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
    me.views.set(key, position + 1);
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

/// Writes a look, unless this activity knows the entity to be as it is.
fn looked(me: &mut Recording, key: u64, version: u64, op: Op) -> bool {
    let seen = me.views.get(key);
    if seen == Some(version) {
        count(tag(key, op));
        return true;
    }
    me.views.set(key, version);
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
        && with_recording(|me| me.views.get(key) == Some(version) && looked(me, key, version, op))
            == Some(true);
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
        if entity.last.load(Relaxed) == me.token() || me.views.get(key) == Some(version) {
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

/// A number from outside.
pub(crate) fn outside(op: Op, answer: u64) {
    with_recording(|me| me.write(Kind::OUTSIDE, answer, 0, tag(0, op)));
}
