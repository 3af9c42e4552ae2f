//! The position of an activity in its part of the trace, and what it knows there.

use std::{
    collections::VecDeque,
    sync::atomic::Ordering::{Acquire, Relaxed},
};

use reenact_trace::{Event, EventStream, Item, Kind, TraceError};

use super::{
    external::is_external, fast_path::FastPath, printed::Begun, reception::MessageOrder,
    report::Difference, transaction::Expected,
};
use crate::{
    Map,
    arrivals::{unzigzag, zigzag},
    captured::{CLOCK_KINDS, CLOCKS, is_of_library},
    delta_cache::DeltaCache,
    printed::{Printing, STREAMS, is_print},
    record::{Block, of_exit},
};

/// What follows the silent operations.
#[derive(Clone, Copy)]
pub(super) enum Next {
    /// An operation that did not go as predicted.
    Event(Event),
    /// A checkpoint of the hash.
    Tick { hash: u32 },
    /// The activity's code ends, or the activity ends the process.
    End { hash: u32 },
    /// The recording ends. The hash is missing if the recorded process was killed between writing an event and counting
    /// it.
    Cut { hash: Option<u32> },
}

/// What an observation counts as for other activities, once it has been made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ObservedAs {
    /// Nothing: no activity waits for it.
    Silent,
    /// The first operation on the object, and so a take.
    First,
    /// An event, and so a look.
    Look,
}

/// How far to look ahead for a call of the C library, so that what is read ahead takes little memory.
const MOST_AHEAD: usize = 256;

/// How an activity's calls to the C library since its last operation fit the trace; see [`super::library`].
#[derive(Default)]
pub(super) struct LibraryCalls {
    /// The first reading of a clock that the trace does not have, if that is a divergence.
    pub(super) doubt: Option<Box<Difference>>,
    /// How many readings the trace does not have.
    pub(super) extra: u32,
    /// Silent operations that are kept from the fast path while there is a doubt.
    held: u32,
}

/// Whether an event is of what an activity does besides its operations.
fn is_of_calls(kind: Kind) -> bool {
    is_of_library(kind) || is_print(kind)
}

pub(super) struct Cursor {
    stream: EventStream,
    /// Items that were read ahead, each with the stream's position after it.
    ahead: VecDeque<(Item, u64)>,
    /// The number of operations up to and including the current item.
    position: u64,
    /// The number of silent operations before `next`, and the hash; shared with the fast path of this thread.
    fast_path: Box<FastPath>,
    pub(super) next: Next,
    /// How the activity's calls to the C library since its last operation fit the trace.
    pub(super) library: LibraryCalls,
    /// How far the readings of each clock that were skipped had advanced it.
    skipped: [u64; CLOCKS],
    /// What it has printed to each stream.
    pub(super) printed: [Printing; STREAMS],
    /// Texts that it has printed in part.
    pub(super) begun: [Option<Box<Begun>>; STREAMS],
    pub(super) deltas: DeltaCache,
    /// The values that this activity last saw or wrote, by object.
    pub(super) seen: Map<u64, u64>,
    /// How many changes this activity knows of, by object. For the log.
    pub(super) places: Map<u64, u64>,
    /// How many objects this activity was the first to use.
    pub(super) objects: u32,
    /// Numbers for its light children.
    pub(super) block: Block,
    /// What the observation in progress counts as.
    pub(super) observation: ObservedAs,
    /// What the trace says about the transaction in progress.
    pub(super) transaction: Option<Expected>,
}

impl Cursor {
    /// Creates a cursor with nothing loaded.
    pub(super) fn new(stream: EventStream) -> Cursor {
        Cursor::with(stream, FastPath::default())
    }

    /// Creates a cursor for a light activity.
    pub(super) fn light(stream: EventStream, reception: MessageOrder) -> Cursor {
        Cursor::with(stream, FastPath::light(reception))
    }

    fn with(stream: EventStream, fast_path: FastPath) -> Cursor {
        Cursor {
            stream,
            library: LibraryCalls::default(),
            skipped: [0; CLOCKS],
            printed: Default::default(),
            begun: Default::default(),
            ahead: VecDeque::new(),
            position: 0,
            fast_path: Box::new(fast_path),
            next: Next::Cut { hash: None },
            deltas: DeltaCache::default(),
            seen: Map::default(),
            places: Map::default(),
            objects: 0,
            block: Block::default(),
            observation: ObservedAs::Silent,
            transaction: None,
        }
    }

    /// Loads the next item of the trace.
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
        self.fast_path.left.store(silent, Relaxed);
        let event = u64::from(matches!(next, Next::Event(_)));
        self.fast_path
            .end
            .store(self.position.saturating_sub(event), Relaxed);
        self.next = next;
        Ok(())
    }

    /// Reads the next item of the trace; `Item::Cut` at its end.
    fn read(&mut self) -> Result<Item, TraceError> {
        Ok(self.stream.next().transpose()?.unwrap_or(Item::Cut {
            silent: 0,
            hash: None,
        }))
    }

    /// Returns the next item if it is a call of the C library, or something printed.
    pub(super) fn next_library(&self) -> Option<Event> {
        match self.next {
            Next::Event(event) if self.silent_left() == 0 && is_of_calls(event.kind) => Some(event),
            _ => None,
        }
    }

    /// Looks ahead for a call of a wanted kind to the C library before the activity's next operation. The search ends at
    /// calls of the kinds that `ends` selects.
    pub(super) fn is_in_reach(
        &mut self,
        is_wanted: impl Fn(Kind) -> bool,
        ends: impl Fn(Kind) -> bool,
    ) -> Result<bool, TraceError> {
        let Some(next) = self.next_library() else {
            return Ok(false);
        };
        let mut found = next.kind;
        let mut seen = 0;
        loop {
            if is_wanted(found) || ends(found) {
                return Ok(is_wanted(found));
            }
            found = loop {
                if seen == MOST_AHEAD {
                    return Ok(false);
                }
                if seen == self.ahead.len() {
                    let item = self.read()?;
                    self.ahead.push_back((item, self.stream.position()));
                }
                seen += 1;
                match self.ahead[seen - 1].0 {
                    Item::Event(event) if event.silent == 0 && is_of_calls(event.kind) => {
                        break event.kind;
                    }
                    Item::Tick { silent: 0, .. } => {}
                    _ => return Ok(false),
                }
            };
        }
    }

    /// Notes that a reading of a clock is skipped: the next one is recorded as the difference to it.
    pub(super) fn skip_reading(&mut self, event: Event) {
        if let Some(index) = CLOCK_KINDS.iter().position(|&kind| kind == event.kind) {
            let skipped = &mut self.skipped[index];
            *skipped = skipped.wrapping_add(unzigzag(event.number));
        }
    }

    /// Returns the difference, zigzag-encoded, of a reading of a clock to the last one that was not skipped.
    pub(super) fn elapsed(&mut self, event: Event) -> u64 {
        match CLOCK_KINDS.iter().position(|&kind| kind == event.kind) {
            Some(index) => {
                let skipped = std::mem::take(&mut self.skipped[index]);
                zigzag(skipped.wrapping_add(unzigzag(event.number)))
            }
            None => event.number,
        }
    }

    /// Whether the trace contains no further operation, given the position at which its last operation ends: nothing but
    /// calls to the C library.
    pub(super) fn has_only_library(&self, last_operation: u64) -> bool {
        self.next_library().is_some() && self.position > last_operation
    }

    /// Looks ahead for the event of the operation that follows all external events. Returns `None` if that operation
    /// goes as predicted, or if the trace ends before it.
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

    /// Returns the state that the fast path may use until the next item.
    pub(super) fn fast_path(&self) -> &FastPath {
        &self.fast_path
    }

    pub(super) fn silent_left(&self) -> u32 {
        self.fast_path.left.load(Acquire) + self.library.held
    }

    /// Keeps the activity from continuing on the fast path, for an operation that has to be checked first.
    pub(super) fn hold(&mut self) {
        self.library.held += self.fast_path.left.swap(0, Relaxed);
    }

    /// Undoes [`Cursor::hold`].
    pub(super) fn release(&mut self) {
        let held = std::mem::take(&mut self.library.held);
        let left = self.fast_path.left.load(Relaxed);
        self.fast_path.left.store(left + held, Relaxed);
    }

    /// Counts one silent operation as done.
    pub(super) fn count_down(&self) {
        let left = self.silent_left();
        self.fast_path.left.store(left - 1, Relaxed);
    }

    pub(super) fn count(&self, tag: u64) {
        self.fast_path.count(tag);
    }

    /// Whether the operations so far are the recorded ones, as far as the hash of the next item shows.
    pub(super) fn agrees(&self) -> bool {
        let so_far = self.fast_path.hash();
        match self.next {
            Next::Event(_) => true,
            Next::Tick { hash } => hash == so_far,
            Next::End { hash } => hash == so_far || hash == of_exit(so_far),
            Next::Cut { hash } => hash.is_none_or(|hash| hash == so_far),
        }
    }

    /// Whether the next item is this activity ending the process.
    pub(super) fn exits(&self) -> bool {
        matches!(self.next, Next::End { hash } if hash == of_exit(self.fast_path.hash()))
    }

    /// The number of operations done.
    pub(super) fn position(&self) -> u64 {
        let event = u64::from(matches!(self.next, Next::Event(_)));
        self.position
            .saturating_sub(u64::from(self.silent_left()) + event)
    }

    /// Whether the trace contains nothing more for this activity.
    pub(super) fn is_consumed(&self) -> bool {
        matches!(self.next, Next::Cut { .. })
            && self.silent_left() == 0
            && self.begun.iter().all(Option::is_none)
    }

    /// Describes the next item of the trace, for reports.
    pub(super) fn describe(&self) -> String {
        let next = match self.next {
            Next::Event(event) if is_print(event.kind) => "something that is printed".to_owned(),
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
