//! Where an activity is in its part of the trace, and what it knows there.

use std::{
    collections::VecDeque,
    sync::atomic::Ordering::{Acquire, Relaxed},
};

use reenact_trace::{Event, EventStream, Item, Kind, TraceError};

use super::{external::is_external, quiet::Quiet, reception::Reception, transaction::Expected};
use crate::{
    Map,
    captured::is_of_library,
    record::{Block, of_exit},
    views::Views,
};

/// What stands after the silent operations.
#[derive(Clone, Copy)]
pub(super) enum Next {
    /// A surprise.
    Event(Event),
    /// A check.
    Tick { hash: u32 },
    /// The activity's code ends, or it ends the process.
    End { hash: u32 },
    /// The recording ends. The hash is missing where the recorded process was killed between an event and its counting.
    Cut { hash: Option<u32> },
}

/// What an observation is to others, once it has been made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Observation {
    /// Nothing: nobody waits for it.
    Silent,
    /// The first operation on the entity, and so a take.
    First,
    /// An event, and so a look.
    Look,
}

pub(super) struct Cursor {
    stream: EventStream,
    /// Of a foreign thread: what it asked the C library for, which is not in `stream` then.
    library: Option<EventStream>,
    /// Items that were read to see what comes after them.
    ahead: VecDeque<(Item, u64)>,
    /// Operations that the items so far stand for.
    position: u64,
    /// Operations that go as predicted before `next`, and the hash; shared with the fast path of this thread.
    quiet: Box<Quiet>,
    pub(super) next: Next,
    pub(super) views: Views,
    /// Values that this activity last saw or wrote, by entity.
    pub(super) seen: Map<u64, u64>,
    /// How many changes it knows of, by entity. For the log.
    pub(super) places: Map<u64, u64>,
    /// How many entities it was the first to use.
    pub(super) entities: u32,
    /// Numbers for its light children.
    pub(super) block: Block,
    /// What the observation in progress counts as.
    pub(super) observation: Observation,
    /// What the trace says of the transaction in progress.
    pub(super) transaction: Option<Expected>,
}

impl Cursor {
    /// Nothing is loaded yet.
    pub(super) fn new(stream: EventStream) -> Cursor {
        Cursor::with(stream, Quiet::default())
    }

    /// The same for a foreign thread, from two streams of all that it did.
    pub(super) fn foreign(stream: EventStream, library: EventStream) -> Cursor {
        Cursor {
            library: Some(library),
            ..Cursor::new(stream)
        }
    }

    /// The same for a light activity.
    pub(super) fn light(stream: EventStream, reception: Reception) -> Cursor {
        Cursor::with(stream, Quiet::light(reception))
    }

    fn with(stream: EventStream, quiet: Quiet) -> Cursor {
        Cursor {
            stream,
            library: None,
            ahead: VecDeque::new(),
            position: 0,
            quiet: Box::new(quiet),
            next: Next::Cut { hash: None },
            views: Views::default(),
            seen: Map::default(),
            places: Map::default(),
            entities: 0,
            block: Block::default(),
            observation: Observation::Silent,
            transaction: None,
        }
    }

    /// Takes the next item from the trace.
    pub(super) fn load(&mut self) -> Result<(), TraceError> {
        let item = match self.ahead.pop_front() {
            Some((item, position)) => {
                self.position = position;
                item
            }
            None => {
                let item = self.read()?;
                self.position = self.stream.position();
                item
            }
        };
        let (silent, next) = match item {
            Item::Event(event) => (event.silent, Next::Event(event)),
            Item::Tick { silent, hash } => (silent, Next::Tick { hash }),
            Item::End { silent, hash } => (silent, Next::End { hash }),
            Item::Cut { silent, hash } => (silent, Next::Cut { hash }),
        };
        self.quiet.left.store(silent, Relaxed);
        self.next = next;
        Ok(())
    }

    /// The next item of the trace, which ends with its cut.
    fn read(&mut self) -> Result<Item, TraceError> {
        let mut skipped = 0;
        loop {
            let mut item = self.stream.next().transpose()?.unwrap_or(Item::Cut {
                silent: 0,
                hash: None,
            });
            match &mut item {
                Item::Event(event) if self.library.is_some() && is_of_library(event.kind) => {
                    skipped += event.silent;
                    continue;
                }
                Item::Event(Event { silent, .. })
                | Item::Tick { silent, .. }
                | Item::End { silent, .. }
                | Item::Cut { silent, .. } => *silent += skipped,
            }
            return Ok(item);
        }
    }

    /// Of a foreign thread: what it was told when it next asked the C library for this; none if it did not.
    pub(super) fn recall(&mut self, kind: Kind) -> Option<Event> {
        self.library.as_mut()?.find_map(|item| match item {
            Ok(Item::Event(event)) if event.kind == kind => Some(event),
            _ => None,
        })
    }

    /// The event of the operation that follows everything that came from outside, from the next item on; none if that goes
    /// as predicted, or if the trace ends before it.
    pub(super) fn event_after_outside(&mut self) -> Result<Option<Event>, TraceError> {
        let mut seen = 0;
        loop {
            if seen == self.ahead.len() {
                let item = self.read()?;
                self.ahead.push_back((item, self.stream.position()));
            }
            match self.ahead[seen].0 {
                Item::Event(event) if event.silent > 0 => return Ok(None),
                Item::Event(event) if !is_external(event) => return Ok(Some(event)),
                Item::Event(_) | Item::Tick { silent: 0, .. } => seen += 1,
                _ => return Ok(None),
            }
        }
    }

    /// What the fast path may use until the next item.
    pub(super) fn quiet(&self) -> &Quiet {
        &self.quiet
    }

    pub(super) fn silent_left(&self) -> u32 {
        self.quiet.left.load(Acquire)
    }

    /// One silent operation is done.
    pub(super) fn count_down(&self) {
        let left = self.silent_left();
        self.quiet.left.store(left - 1, Relaxed);
    }

    pub(super) fn count(&self, tag: u64) {
        self.quiet.count(tag);
    }

    /// Whether the operations so far are those of the recorded run, as far as a hash that comes next can tell.
    pub(super) fn agrees(&self) -> bool {
        let so_far = self.quiet.hash();
        match self.next {
            Next::Event(_) => true,
            Next::Tick { hash } => hash == so_far,
            Next::End { hash } => hash == so_far || hash == of_exit(so_far),
            Next::Cut { hash } => hash.is_none_or(|hash| hash == so_far),
        }
    }

    /// Whether the activity ends the process next.
    pub(super) fn exits(&self) -> bool {
        matches!(self.next, Next::End { hash } if hash == of_exit(self.quiet.hash()))
    }

    /// Operations done.
    pub(super) fn position(&self) -> u64 {
        let event = u64::from(matches!(self.next, Next::Event(_)));
        self.position
            .saturating_sub(u64::from(self.silent_left()) + event)
    }

    /// Whether no more surprises come. Silent operations may: they are the activity's alone.
    pub(super) fn is_consumed(&self) -> bool {
        matches!(self.next, Next::Cut { .. }) && self.silent_left() == 0
    }

    /// What the trace has next, for people.
    pub(super) fn describe(&self) -> String {
        let next = match self.next {
            Next::Event(event) if event.kind.has_two_numbers() => {
                format!("{} {} after {}", event.kind, event.number, event.second)
            }
            Next::Event(event) => format!("{} {}", event.kind, event.number),
            Next::Tick { .. } => "a check of what was done so far".to_owned(),
            Next::End { .. } if self.exits() => "the end of the process".to_owned(),
            Next::End { .. } => "the end of the activity".to_owned(),
            Next::Cut { .. } => "the end of the recording".to_owned(),
        };
        match self.silent_left() {
            0 => next,
            silent => format!("{silent} more operations that go as predicted, then {next}"),
        }
    }
}
