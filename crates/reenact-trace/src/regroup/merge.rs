//! Reading chunks so that the items of every activity come in its own order.
//!
//! A chunk contains the entries of one thread in order; an activity that moved between threads is in several chunks. So
//! chunks are read side by side: a chunk that reaches an activity which is not yet at the position that the chunk names
//! waits until another chunk has brought it there. In a sound trace some chunk can always go on, since recording did.
//!
//! Chunks are started in the order of their sequence numbers. A chunk that waits although all with lower numbers have
//! been started was still being written when the next number was assigned: so no more chunks wait than threads wrote at
//! once.

use super::{
    NotRegrouped,
    activities::{Activities, Activity},
};
use crate::{
    Kind,
    contents::{ChunkLocation, Contents},
    entry::{Entry, Run, decode, take_short_forms},
    event::Item,
    family::Children,
    hashing::SeededMap,
    position::TracePosition,
};

/// Maximum number of waiting chunks in a sound trace: a live file does not have more.
const MAX_WAITING: usize = 1 << 16;

/// What a chunk contains of an activity.
pub(super) enum Content<'a> {
    /// Items of an activity, as encoded in the chunk.
    Items(&'a [u8]),
    Start {
        origin: u64,
        index: u64,
        name: &'a [u8],
    },
    Children(Children),
}

/// Receives the contents of the chunks.
pub(super) trait Visitor {
    /// Receives the next contents of an activity.
    fn visit(
        &mut self,
        activity: u32,
        state: &mut Activity,
        content: Content<'_>,
    ) -> Result<(), NotRegrouped>;
    /// Receives activities that ended quietly, without other items.
    fn visit_run(&mut self, run: Run) -> Result<(), NotRegrouped>;
}

/// Passes the contents of all chunks to a visitor; `activities` are the activities known before, and all of them
/// afterwards.
pub(super) fn merge(
    contents: &Contents,
    activities: &mut Activities,
    visitor: &mut impl Visitor,
) -> Result<(), NotRegrouped> {
    let mut merge = Merge {
        activities,
        waiting: SeededMap::default(),
        ready: Vec::new(),
    };
    for (chunk, sequence) in contents.chunks.iter().zip(0..) {
        if chunk.section.sequence != sequence {
            return Err(NotRegrouped);
        }
        if chunk.is_data() {
            continue;
        }
        let mut next = Some(OpenChunk::read(contents, chunk)?);
        while let Some(chunk) = next {
            merge.read_on(chunk, visitor)?;
            next = merge.ready.pop();
        }
        if merge.waiting.len() > MAX_WAITING {
            return Err(NotRegrouped);
        }
    }
    if merge.waiting.is_empty() {
        Ok(())
    } else {
        Err(NotRegrouped)
    }
}

struct Merge<'a> {
    activities: &'a mut Activities,
    /// Waiting chunks by the activity and the position that it must reach.
    waiting: SeededMap<(u32, u64, u16), OpenChunk>,
    /// Chunks that waited for a position that has been reached.
    ready: Vec<OpenChunk>,
}

/// A chunk that has been read up to some point.
struct OpenChunk {
    version: u16,
    sequence: u64,
    is_structured: bool,
    payload: Vec<u8>,
    read: usize,
    activity: u32,
    claim: Claim,
}

/// Where the current activity of a chunk must be.
#[derive(Clone, Copy)]
enum Claim {
    At {
        position: u64,
        still: u16,
    },
    /// Where this chunk left it.
    Here,
}

impl OpenChunk {
    fn read(contents: &Contents, chunk: &ChunkLocation) -> Result<OpenChunk, NotRegrouped> {
        let mut payload = Vec::new();
        let whole = 0..chunk.section.length;
        chunk.read(&contents.file, contents.live.as_ref(), whole, &mut payload)?;
        chunk.verify(&payload).map_err(|_| NotRegrouped)?;
        Ok(OpenChunk {
            version: contents.version,
            sequence: chunk.section.sequence,
            is_structured: chunk.is_structured(),
            payload,
            read: 0,
            activity: chunk.section.activity,
            claim: Claim::At {
                position: chunk.section.position,
                still: 0,
            },
        })
    }
}

impl Merge<'_> {
    /// Reads a chunk to its end, or to where it must wait.
    fn read_on(
        &mut self,
        mut chunk: OpenChunk,
        visitor: &mut impl Visitor,
    ) -> Result<(), NotRegrouped> {
        loop {
            let mut rest = &chunk.payload[chunk.read..];
            if rest.is_empty() {
                return Ok(());
            }
            let entry = decode(&mut rest, chunk.version).map_err(|_| NotRegrouped)?;
            let after = chunk.payload.len() - rest.len();
            match entry {
                Entry::Item(_) => {}
                _ if !chunk.is_structured => return Err(NotRegrouped),
                Entry::Start { .. } => {}
                Entry::Switch {
                    activity,
                    position,
                    still,
                } => {
                    chunk.activity = activity;
                    chunk.claim = Claim::At { position, still };
                    chunk.read = after;
                    continue;
                }
                Entry::Return { difference } => {
                    chunk.activity = chunk.activity.wrapping_add_signed(difference.into());
                    chunk.claim = Claim::Here;
                    chunk.read = after;
                    continue;
                }
                Entry::Run(run) => {
                    visitor.visit_run(run)?;
                    chunk.read = after;
                    continue;
                }
            }
            let state = self.activities.get(chunk.activity);
            let place = &state.place;
            match chunk.claim {
                Claim::At { position, still } => {
                    if (position, still) != (place.position(), place.still()) {
                        let key = (chunk.activity, position, still);
                        return match self.waiting.insert(key, chunk) {
                            None => Ok(()),
                            Some(_) => Err(NotRegrouped),
                        };
                    }
                }
                Claim::Here if place.is_in(chunk.sequence) => {}
                Claim::Here => return Err(NotRegrouped),
            }
            chunk.claim = Claim::Here;
            chunk.visit(state, visitor)?;
            if !self.waiting.is_empty() {
                let place = &state.place;
                let key = (chunk.activity, place.position(), place.still());
                self.ready.extend(self.waiting.remove(&key));
            }
        }
    }
}

impl OpenChunk {
    /// Reads the entries of the current activity, up to one that is not an item or start.
    fn visit(
        &mut self,
        state: &mut Activity,
        visitor: &mut impl Visitor,
    ) -> Result<(), NotRegrouped> {
        state.place.enter(self.sequence);
        // The beginning of items that have been read but not passed to the visitor.
        let mut from = self.read;
        let length = self.payload.len();
        let mut rest = &self.payload[from..];
        while !rest.is_empty() {
            // Most entries of most traces have a short form.
            let operations = take_short_forms(&mut rest);
            if operations > 0 {
                advance(&mut state.place, operations)?;
                continue;
            }
            let at = length - rest.len();
            match decode(&mut rest, self.version).map_err(|_| NotRegrouped)? {
                Entry::Item(item) => {
                    if let Item::Event(event) = item
                        && event.kind == Kind::CHILDREN
                    {
                        if !self.is_structured {
                            return Err(NotRegrouped);
                        }
                        let children = Children::new(self.activity, event.number, event.second);
                        if let Some(children) = children {
                            visitor.visit(self.activity, state, Content::Children(children))?;
                        }
                    }
                    advance(&mut state.place, item.operations())?;
                }
                Entry::Start {
                    origin,
                    index,
                    name,
                } => {
                    // Readers of chunks do not look for a start in an unstructured one.
                    if !self.is_structured {
                        return Err(NotRegrouped);
                    }
                    let items = &self.payload[from..at];
                    visitor.visit(self.activity, state, Content::Items(items))?;
                    from = length - rest.len();
                    let start = Content::Start {
                        origin,
                        index,
                        name,
                    };
                    visitor.visit(self.activity, state, start)?;
                    advance(&mut state.place, 0)?;
                }
                _ => {
                    rest = &self.payload[at..];
                    break;
                }
            }
        }
        self.read = length - rest.len();
        let items = &self.payload[from..self.read];
        visitor.visit(self.activity, state, Content::Items(items))
    }
}

/// Advances a place; fails if the position or `still` would overflow.
fn advance(place: &mut TracePosition, operations: u64) -> Result<(), NotRegrouped> {
    let stays = operations == 0 && place.still() == u16::MAX;
    if stays || place.position().checked_add(operations).is_none() {
        return Err(NotRegrouped);
    }
    place.advance(operations);
    Ok(())
}
