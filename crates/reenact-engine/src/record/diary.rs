//! What an activity remembers to record, and how it writes.

use std::sync::atomic::Ordering::Relaxed;

use reenact_trace::{Appender, Event, Kind, Origin, Place};

use super::{
    BIRTH, EVENTS_PER_TICK, LIGHT_BIRTH, Newborn, Reading, Recorder, count, count_without_trace,
    key_of, token_of,
};
use crate::{
    Entity, Op,
    arrivals::{Arrival, Arrivals, Source, name_of, zigzag},
    captured::{self, CLOCKS},
    entity::tag,
    mode::{self, Mode},
    views::Views,
};

/// What an activity has to remember to record. A light one has none until something surprising happens to it.
pub(crate) struct Diary {
    pub(super) number: u32,
    /// Whether it is of a thread that nobody announced. What such a thread asks the C library for is kept, but does not count
    /// as what it did: see [`crate::captured`].
    pub(super) is_foreign: bool,
    /// Its counter and hash in the live file; null if it has none any more.
    pub(super) word: *mut u64,
    pub(super) place: Place,
    pub(super) events_since_tick: u32,
    pub(super) entities: u32,
    pub(super) children: u64,
    /// Numbers for light children.
    pub(super) block: Block,
    /// Messages sent to promises.
    pub(super) tickets: u64,
    pub(super) views: Views,
    /// What each of the clocks said when it last read it.
    pub(super) clocks: [Reading; CLOCKS],
    pub(crate) arrivals: Option<Box<Arrivals>>,
}

/// Numbers that an activity has for its next light children.
#[derive(Clone, Copy, Default)]
pub(crate) struct Block {
    pub(crate) next: u32,
    pub(crate) left: u32,
    /// How many the next block has, so that few have to be asked for and few are wasted.
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
    pub(crate) diary: &'a mut Diary,
}

impl Diary {
    pub(crate) fn new(number: u32, word: *mut u64) -> Diary {
        Diary {
            number,
            is_foreign: false,
            word,
            place: Place::default(),
            events_since_tick: 0,
            entities: 0,
            children: 0,
            block: Block::default(),
            tickets: 0,
            views: Views::default(),
            clocks: [Reading::default(); CLOCKS],
            arrivals: None,
        }
    }

    /// Whether it is of a thread that nobody announced.
    pub(crate) fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// Where its counter is; null if it has none any more.
    pub(crate) fn word(&self) -> *mut u64 {
        self.word
    }

    /// The counter and hash.
    pub(super) fn counted(&self) -> u64 {
        if self.word.is_null() {
            return 0;
        }
        // SAFETY: It is mapped while the activity has it, and only the thread that runs the activity writes to it.
        unsafe { self.word.read_volatile() }
    }

    /// Silent operations since the last item, and the hash now.
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
        self.diary.number
    }

    pub(super) fn token(&self) -> u32 {
        token_of(self.diary.number)
    }

    pub(crate) fn child(&mut self, name: &str) -> Newborn {
        count(tag(0, BIRTH));
        let index = self.diary.children;
        self.diary.children += 1;
        Newborn {
            number: self.recorder.new_numbers(1),
            origin: Origin::Child(self.diary.number),
            index,
            name: name.to_owned(),
        }
    }

    /// A light child: its number.
    pub(crate) fn light_child(&mut self) -> u32 {
        if let Some(number) = self.diary.block.take() {
            count(tag(0, LIGHT_BIRTH));
            return number;
        }
        let size = self.diary.block.next_size();
        let first = self.recorder.new_numbers(size);
        self.diary.block.refill(first, size);
        self.write(
            Kind::CHILDREN,
            first.into(),
            size.into(),
            tag(0, LIGHT_BIRTH),
        );
        self.diary.block.take().unwrap_or(first)
    }

    /// The number of a message to a promise.
    pub(crate) fn ticket(&mut self) -> u64 {
        self.diary.tickets += 1;
        self.diary.tickets - 1
    }

    /// After recording has stopped, this is not where the trace of the activity ends.
    pub(super) fn write_end(&mut self, mark: fn(u32) -> u32) {
        if mode::byte() != Mode::Record as u8 {
            return;
        }
        let (silent, hash) = self.diary.unwritten();
        let number = self.diary.number;
        let _ = self
            .appender
            .end(&mut self.diary.place, number, silent, mark(hash));
    }

    pub(super) fn tick(&mut self) {
        let (silent, hash) = self.diary.unwritten();
        let number = self.diary.number;
        if self
            .appender
            .tick(&mut self.diary.place, number, silent, hash)
        {
            self.diary.events_since_tick = 0;
        }
    }

    /// Writes an event and counts its operation, in this order: a process that is killed in between has the event, and
    /// a reader sees that it was not counted yet. False if recording has stopped.
    pub(crate) fn write(&mut self, kind: Kind, number: u64, second: u64, tag: u64) -> bool {
        let (silent, _) = self.diary.unwritten();
        let event = Event {
            silent,
            kind,
            number,
            second,
        };
        let me = self.diary.number;
        if !self.appender.event(&mut self.diary.place, me, &event) {
            return false;
        }
        if self.diary.is_foreign && captured::is_of_library(kind) {
            count_without_trace();
        } else {
            count(tag);
        }
        self.diary.events_since_tick += 1;
        if self.diary.events_since_tick >= EVENTS_PER_TICK {
            self.tick();
        }
        true
    }

    /// Gives a new entity its name.
    pub(super) fn name(&mut self, entity: &Entity) {
        self.diary.entities += 1;
        entity
            .key
            .store(key_of(self.diary.number, self.diary.entities), Relaxed);
        entity.looks.store(0, Relaxed);
        entity.last.store(self.token(), Relaxed);
    }

    /// A message is sent to the activity with this key, as its n-th: the strategy that records with the sender.
    pub(crate) fn sent(&mut self, key: u64, position: u64, op: Op) -> bool {
        let expected = self.diary.views.get(key).unwrap_or(0);
        self.diary.views.set(key, position + 1);
        if expected == position {
            count(tag(key, op));
            return true;
        }
        self.write(Kind::TAKE, position.wrapping_sub(expected), 0, tag(key, op))
    }

    /// A message has come that is not known to be the predicted one.
    pub(crate) fn received(&mut self, first: Source, arrival: Arrival, tag: u64) -> bool {
        let arrivals = self
            .diary
            .arrivals
            .get_or_insert_with(|| Box::new(Arrivals::new(first)));
        if arrivals.predicted() == arrival {
            arrivals.came(arrival);
            count(tag);
            return true;
        }
        let name = name_of(arrival.source, token_of(self.diary.number));
        let number = arrivals.number_from(arrival.source);
        arrivals.came(arrival);
        match arrival.number.wrapping_sub(number) {
            0 => self.write(Kind::RECEIVE, name, 0, tag),
            ahead => self.write(Kind::PIPELINED, name, zigzag(ahead), tag),
        }
    }
}
