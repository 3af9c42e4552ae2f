//! Activities that record known events, through the writer, and what must be read of them.

use std::path::{Path, PathBuf};

use reenact_trace::{
    Appender, Event, Item, Kind, Program, Slot, StopReason, Storage, TracePosition, Writer,
};

use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use crate::reading::Stream;

pub(crate) fn program() -> Program {
    Program {
        executable: "/bin/app".into(),
        build_id: 7,
        arguments: vec!["app".into(), "--fast".into()],
        directory: "/tmp".into(),
        environment: vec![("LANG".into(), "C".into())],
        withheld: vec!["env:TOKEN".into()],
    }
}

/// A writer that is not expected to stop by itself.
pub(crate) fn writer(path: &Path) -> Writer {
    fn on_stop(why: StopReason) {
        assert_eq!(why, StopReason::Asked, "recording stopped by itself");
    }
    Writer::create(path, &program(), Storage::File, on_stop).unwrap()
}

/// A writer, and the path of its trace in a directory that is removed when the test ends.
pub(crate) fn temporary() -> (TempDir, PathBuf, Writer) {
    let (directory, path) = crate::in_directory("trace.reenact");
    let writer = writer(&path);
    (directory, path, writer)
}

pub(crate) fn event(silent: u32, kind: Kind, number: u64) -> Event {
    Event {
        silent,
        kind,
        number,
        second: 0,
    }
}

/// So many bytes that are the same for the same seed, and for no other.
pub(crate) fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state = state.wrapping_mul(0x2545_f491_4f6c_dd1d).rotate_left(29) ^ seed;
        bytes.extend(state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// An event whose encoding is about as long as one can be: 22 bytes.
pub(crate) fn long_event(number: u64) -> Event {
    Event {
        silent: 0,
        kind: Kind::TAKE_AFTER_LOOKS,
        number: u64::MAX - number,
        second: u64::MAX,
    }
}

/// One activity, as the engine would keep it: its slot, how far it is, and what it said so far.
pub(crate) struct Recorder {
    pub(crate) number: u32,
    slot: Option<Slot>,
    place: TracePosition,
    /// The counter, which runs ahead by the silent ones.
    counted: u64,
    hash: u32,
    said: Vec<Item>,
}

impl Recorder {
    /// Says its start and takes a slot.
    pub(crate) fn start(appender: &mut Appender, number: u32) -> Recorder {
        Recorder::start_as(appender, number, 0, 0, "")
    }

    /// Says where it comes from and takes a slot.
    pub(crate) fn start_as(
        appender: &mut Appender,
        number: u32,
        origin: u64,
        index: u64,
        name: &str,
    ) -> Recorder {
        let mut place = TracePosition::default();
        assert!(appender.start(&mut place, number, origin, index, name));
        Recorder {
            place,
            ..Recorder::quiet(appender, number)
        }
    }

    /// Takes a slot and says nothing: it is in a block of its parent.
    pub(crate) fn quiet(appender: &mut Appender, number: u32) -> Recorder {
        Recorder {
            number,
            slot: Some(appender.slot(number).unwrap()),
            place: TracePosition::default(),
            counted: 0,
            hash: 0,
            said: Vec::new(),
        }
    }

    pub(crate) fn position(&self) -> u64 {
        self.place.position()
    }

    /// How many operations were as predicted since its last item.
    fn silent(&self) -> u32 {
        (self.counted - self.position()) as u32
    }

    /// Does operations that go as predicted.
    pub(crate) fn be_silent(&mut self, operations: u32) {
        for _ in 0..operations {
            self.count();
        }
    }

    fn count(&mut self) {
        self.counted += 1;
        self.hash = self.hash.wrapping_mul(31).wrapping_add(7);
        let word = u64::from(self.hash) << 32 | self.counted & 0xffff_ffff;
        let slot = self.slot.as_ref().expect("only who records counts");
        // SAFETY: The slot is ours, and mapped as long as we have it.
        unsafe { slot.word().as_ptr().write_volatile(word) };
    }

    /// Says an event, after as many silent operations as it says, and counts its operation. False, and nothing has
    /// happened, if recording has stopped.
    #[must_use]
    pub(crate) fn say(&mut self, appender: &mut Appender, event: Event) -> bool {
        let said = self.say_uncounted(appender, event);
        if said {
            self.count();
        }
        said
    }

    /// Says an event and does not come to count it.
    #[must_use]
    pub(crate) fn say_uncounted(&mut self, appender: &mut Appender, event: Event) -> bool {
        self.be_silent(event.silent);
        let event = Event {
            silent: self.silent(),
            ..event
        };
        let said = appender.event(&mut self.place, self.number, &event);
        if said {
            self.said.push(Item::Event(event));
        }
        said
    }

    /// Stores data and says an event that refers to them, with a hash of them: what [`reading`](crate::reading) finds in the
    /// trace must have it.
    #[must_use]
    pub(crate) fn say_data(&mut self, appender: &mut Appender, bytes: &[u8]) -> bool {
        let Some(id) = appender.data(bytes) else {
            return false;
        };
        let event = Event {
            second: xxh3_64(bytes),
            ..event(0, Kind::DATA, id)
        };
        self.say(appender, event)
    }

    #[must_use]
    pub(crate) fn tick(&mut self, appender: &mut Appender) -> bool {
        let (silent, hash) = (self.silent(), self.hash);
        let said = appender.tick(&mut self.place, self.number, silent, hash);
        if said {
            self.said.push(Item::Tick { silent, hash });
        }
        said
    }

    #[must_use]
    pub(crate) fn end(&mut self, appender: &mut Appender) -> bool {
        let (silent, hash) = (self.silent(), self.hash);
        let said = appender.end(&mut self.place, self.number, silent, hash);
        if said {
            self.said.push(Item::End { silent, hash });
        }
        said
    }

    /// Whether nothing has been written of it.
    pub(crate) fn is_quiet(&self) -> bool {
        self.place == TracePosition::default()
    }

    /// Whether it has said its end.
    pub(crate) fn has_ended(&self) -> bool {
        self.said
            .iter()
            .any(|item| matches!(item, Item::End { .. }))
    }

    /// Ends without having said anything, and gives the slot back.
    #[must_use]
    pub(crate) fn end_quietly(&mut self, appender: &mut Appender) -> bool {
        assert!(self.said.is_empty());
        let (silent, hash) = (self.silent(), self.hash);
        let said = appender.quiet_end(self.number, silent, hash);
        if said {
            self.said.push(Item::End { silent, hash });
            self.leave(appender);
        }
        said
    }

    /// Gives the slot back.
    pub(crate) fn leave(&mut self, appender: &mut Appender) {
        if let Some(slot) = self.slot.take() {
            appender.give_back(slot);
        }
    }

    /// What must be read of it.
    pub(crate) fn expected(&self) -> Stream {
        let mut items = self.said.clone();
        let uncounted = self.counted < self.position();
        let (silent, hash) = match &self.slot {
            Some(_) if !uncounted => (self.silent(), Some(self.hash)),
            _ => (0, None),
        };
        items.push(Item::Cut { silent, hash });
        let operations = |item: &Item| match *item {
            Item::Event(event) => u64::from(event.silent) + 1,
            Item::Tick { silent, .. } | Item::End { silent, .. } | Item::Cut { silent, .. } => {
                silent.into()
            }
        };
        Stream {
            position: items.iter().map(operations).sum(),
            items,
            error: None,
        }
    }
}
