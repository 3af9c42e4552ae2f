//! Activities that say known things, through the writer, and what must be read of them.

use std::path::Path;

use reenact_trace::{Appender, Event, Item, Kind, Program, Slot, Stop, Storage, Writer};

use crate::reading::Stream;

pub(crate) fn program() -> Program {
    Program {
        executable: "/bin/app".into(),
        build_id: 7,
        arguments: vec!["app".into(), "--fast".into()],
        directory: "/tmp".into(),
        environment: vec![("LANG".into(), "C".into())],
    }
}

/// A writer that is not expected to stop by itself.
pub(crate) fn writer(path: &Path) -> Writer {
    fn on_stop(why: Stop) {
        assert_eq!(why, Stop::Asked, "recording stopped by itself");
    }
    Writer::create(path, &program(), Storage::File, on_stop).unwrap()
}

pub(crate) fn event(silent: u32, kind: Kind, number: u64) -> Event {
    Event {
        silent,
        kind,
        number,
        second: 0,
    }
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
pub(crate) struct Speaker {
    pub(crate) number: u32,
    slot: Option<Slot>,
    /// Operations that its items stand for.
    position: u64,
    /// The counter, which runs ahead by the silent ones.
    counted: u64,
    hash: u32,
    said: Vec<Item>,
}

impl Speaker {
    /// Says its start and takes a slot.
    pub(crate) fn start(writer: &Writer, appender: &mut Appender, number: u32) -> Speaker {
        assert!(appender.start(number, 0, 0, ""));
        Speaker::started(writer, number)
    }

    /// One that has said its start.
    pub(crate) fn started(writer: &Writer, number: u32) -> Speaker {
        Speaker {
            number,
            slot: Some(writer.slot(number).unwrap()),
            position: 0,
            counted: 0,
            hash: 0,
            said: Vec::new(),
        }
    }

    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// How many operations were as predicted since its last item.
    fn silent(&self) -> u32 {
        (self.counted - self.position) as u32
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
        let said = appender.event(self.number, self.position, &event);
        if said {
            self.position += u64::from(event.silent) + 1;
            self.said.push(Item::Event(event));
        }
        said
    }

    #[must_use]
    pub(crate) fn tick(&mut self, appender: &mut Appender) -> bool {
        let (silent, hash) = (self.silent(), self.hash);
        let said = appender.tick(self.number, self.position, silent, hash);
        if said {
            self.position += u64::from(silent);
            self.said.push(Item::Tick { silent, hash });
        }
        said
    }

    #[must_use]
    pub(crate) fn end(&mut self, appender: &mut Appender) -> bool {
        let (silent, hash) = (self.silent(), self.hash);
        let said = appender.end(self.number, self.position, silent, hash);
        if said {
            self.position += u64::from(silent);
            self.said.push(Item::End { silent, hash });
        }
        said
    }

    /// Gives the slot back.
    pub(crate) fn leave(&mut self) {
        self.slot = None;
    }

    /// What must be read of it.
    pub(crate) fn expected(&self) -> Stream {
        let mut items = self.said.clone();
        let uncounted = self.counted < self.position;
        let (silent, hash) = match &self.slot {
            Some(_) if !uncounted => (self.silent(), Some(self.hash)),
            _ => (0, None),
        };
        items.push(Item::Cut { silent, hash });
        Stream {
            items,
            error: None,
            position: self.position + u64::from(silent),
        }
    }
}
