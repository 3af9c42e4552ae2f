//! The state of an activity that records, and how it writes.

use std::sync::atomic::Ordering::Relaxed;

use reenact_trace::{Appender, Event, Kind, Origin, TracePosition};

use super::{
    AnnouncedChild, BIRTH, EVENTS_PER_TICK, LIGHT_BIRTH, Reading, Recorder, count,
    count_without_trace, key_of, token_of,
};
use crate::{
    Object, Op,
    arrivals::{Arrival, Arrivals, SourceId, name_of, zigzag},
    captured::{self, CLOCKS},
    delta_cache::DeltaCache,
    mode::{self, Mode},
    object::tag,
    printed::{Printing, STREAMS, is_print},
};

/// The state of an activity that records. A light activity has none until its first unpredicted event.
pub(crate) struct RecorderState {
    pub(super) number: u32,
    /// Whether it belongs to a thread that was not announced. What such a thread asks the C library for is recorded,
    /// but not part of its hash: see [`crate::captured`].
    pub(super) is_foreign: bool,
    /// Its counter and hash in the live file; null if it has none any more.
    pub(super) word: *mut u64,
    pub(super) place: TracePosition,
    pub(super) events_since_tick: u32,
    pub(super) objects: u32,
    pub(super) children: u64,
    /// Numbers for light children.
    pub(super) block: Block,
    /// The number of messages sent to promises.
    pub(super) tickets: u64,
    pub(super) deltas: DeltaCache,
    /// Its last reading of each clock.
    pub(super) clocks: [Reading; CLOCKS],
    /// What it has printed to each stream.
    pub(super) printed: [Printing; STREAMS],
    pub(crate) arrivals: Option<Box<Arrivals>>,
}

/// Numbers that are reserved for the next light children of an activity.
#[derive(Clone, Copy, Default)]
pub(crate) struct Block {
    pub(crate) next: u32,
    pub(crate) left: u32,
    /// The size of the block. Each is larger than the last, so that few requests are made and few numbers wasted.
    pub(super) size: u32,
}

impl Block {
    pub(super) const MOST: u32 = 1024;

    pub(crate) fn take(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        self.next += 1;
        Some(self.next - 1)
    }

    pub(super) fn next_size(&self) -> u32 {
        (self.size * 2).clamp(1, Block::MOST)
    }

    pub(crate) fn refill(&mut self, first: u32, size: u32) {
        *self = Block {
            next: first,
            left: size,
            size,
        };
    }
}

/// The activity that the calling thread runs, about to write.
pub(crate) struct Me<'a> {
    pub(super) recorder: &'a Recorder,
    pub(crate) appender: &'a mut Appender,
    pub(crate) recorder_state: &'a mut RecorderState,
}

impl RecorderState {
    pub(crate) fn new(number: u32, word: *mut u64) -> RecorderState {
        RecorderState {
            number,
            is_foreign: false,
            word,
            place: TracePosition::default(),
            events_since_tick: 0,
            objects: 0,
            children: 0,
            block: Block::default(),
            tickets: 0,
            deltas: DeltaCache::default(),
            clocks: [Reading::default(); CLOCKS],
            printed: Default::default(),
            arrivals: None,
        }
    }

    /// Returns whether it belongs to a thread that was not announced.
    pub(crate) fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// Returns the address of its counter; null if it has none any more.
    pub(crate) fn word(&self) -> *mut u64 {
        self.word
    }

    /// Returns the counter and hash.
    pub(super) fn counted(&self) -> u64 {
        if self.word.is_null() {
            return 0;
        }
        // SAFETY: It is mapped while the activity has it, and only the thread that runs the activity writes to it.
        unsafe { self.word.read_volatile() }
    }

    /// Returns the number of silent operations since the last item, and the current hash.
    pub(super) fn unwritten(&self) -> (u32, u32) {
        let word = self.counted();
        (
            (word as u32).wrapping_sub(self.place.position() as u32),
            (word >> 32) as u32,
        )
    }
}

impl Me<'_> {
    pub(crate) fn number(&self) -> u32 {
        self.recorder_state.number
    }

    pub(super) fn token(&self) -> u32 {
        token_of(self.recorder_state.number)
    }

    pub(crate) fn child(&mut self, name: &str) -> AnnouncedChild {
        count(tag(0, BIRTH));
        let index = self.recorder_state.children;
        self.recorder_state.children += 1;
        AnnouncedChild {
            number: self.recorder.new_numbers(1),
            origin: Origin::Child(self.recorder_state.number),
            index,
            name: name.to_owned(),
        }
    }

    /// Registers a light child and returns its number.
    pub(crate) fn light_child(&mut self) -> u32 {
        if let Some(number) = self.recorder_state.block.take() {
            count(tag(0, LIGHT_BIRTH));
            return number;
        }
        let size = self.recorder_state.block.next_size();
        let first = self.recorder.new_numbers(size);
        self.recorder_state.block.refill(first, size);
        self.write(
            Kind::CHILDREN,
            first.into(),
            size.into(),
            tag(0, LIGHT_BIRTH),
        );
        self.recorder_state.block.take().unwrap_or(first)
    }

    /// Returns the number of a message to a promise.
    pub(crate) fn ticket(&mut self) -> u64 {
        self.recorder_state.tickets += 1;
        self.recorder_state.tickets - 1
    }

    /// Writes the end of the activity, unless recording has stopped: then the trace does not contain its end.
    pub(super) fn write_end(&mut self, mark: fn(u32) -> u32) {
        if mode::byte() != Mode::Record as u8 {
            return;
        }
        let (silent, hash) = self.recorder_state.unwritten();
        let number = self.recorder_state.number;
        let _ = self
            .appender
            .end(&mut self.recorder_state.place, number, silent, mark(hash));
    }

    pub(super) fn tick(&mut self) {
        let (silent, hash) = self.recorder_state.unwritten();
        let number = self.recorder_state.number;
        if self
            .appender
            .tick(&mut self.recorder_state.place, number, silent, hash)
        {
            self.recorder_state.events_since_tick = 0;
        }
    }

    /// Writes an event and counts its operation, in this order: if the process is killed in between, the event is
    /// there, and a reader sees that it was not counted yet. Returns false if recording has stopped.
    pub(crate) fn write(&mut self, kind: Kind, number: u64, second: u64, tag: u64) -> bool {
        let (silent, _) = self.recorder_state.unwritten();
        let event = Event {
            silent,
            kind,
            number,
            second,
        };
        let me = self.recorder_state.number;
        if !self
            .appender
            .event(&mut self.recorder_state.place, me, &event)
        {
            return false;
        }
        if is_print(kind) || self.recorder_state.is_foreign && captured::is_of_library(kind) {
            count_without_trace();
        } else {
            count(tag);
        }
        self.recorder_state.events_since_tick += 1;
        if self.recorder_state.events_since_tick >= EVENTS_PER_TICK {
            self.tick();
        }
        true
    }

    /// Gives a new object its name.
    pub(super) fn name(&mut self, object: &Object) {
        self.recorder_state.objects += 1;
        object.key.store(
            key_of(self.recorder_state.number, self.recorder_state.objects),
            Relaxed,
        );
        object.looks.store(0, Relaxed);
        object.last.store(self.token(), Relaxed);
    }

    /// Records a message that is sent to the activity with this key, as its n-th, where senders record.
    pub(crate) fn sent(&mut self, key: u64, position: u64, op: Op) -> bool {
        let expected = self.recorder_state.deltas.get(key).unwrap_or(0);
        self.recorder_state.deltas.set(key, position + 1);
        if expected == position {
            count(tag(key, op));
            return true;
        }
        self.write(Kind::TAKE, position.wrapping_sub(expected), 0, tag(key, op))
    }

    /// Records the arrival of a message that is not known to be the predicted one.
    pub(crate) fn received(&mut self, first: SourceId, arrival: Arrival, tag: u64) -> bool {
        let arrivals = self
            .recorder_state
            .arrivals
            .get_or_insert_with(|| Box::new(Arrivals::new(first)));
        if arrivals.predicted() == arrival {
            arrivals.came(arrival);
            count(tag);
            return true;
        }
        let name = name_of(arrival.source, token_of(self.recorder_state.number));
        let number = arrivals.number_from(arrival.source);
        arrivals.came(arrival);
        match arrival.number.wrapping_sub(number) {
            0 => self.write(Kind::RECEIVE, name, 0, tag),
            ahead => self.write(Kind::PIPELINED, name, zigzag(ahead), tag),
        }
    }
}
