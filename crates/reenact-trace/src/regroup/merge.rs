//! Walking through chunks so that every activity is heard in its own order.
//!
//! A chunk has what was said on one thread, one after the other; an activity that moved between threads is in several.
//! So chunks are read side by side: one that comes to an activity which is not yet where the chunk says waits until it
//! has come there by another. In a sound trace somebody can always go on, since recording did.
//!
//! Chunks are begun in the order of their numbers. One that waits although all with lower numbers have been begun was
//! still being written when the next number was given out: so no more of them wait than threads wrote at once.

use super::{
    Unfit,
    speakers::{Speaker, Speakers},
};
use crate::{
    Kind,
    contents::{Chunk, Contents},
    entry::{Entry, Run, decode, take_short_forms},
    event::Item,
    family::Children,
    hashing::Map,
    place::Place,
};

/// More chunks than this do not wait in a sound trace: there are not so many in a live file.
const MAX_WAITING: usize = 1 << 16;

/// What chunks say.
pub(super) enum Said<'a> {
    /// Items of an activity, as they are in the chunk.
    Items(&'a [u8]),
    Start {
        origin: u64,
        index: u64,
        name: &'a [u8],
    },
    Children(Children),
}

/// Who listens to what the chunks say.
pub(super) trait Listener {
    /// The next thing that an activity says.
    fn hear(&mut self, activity: u32, speaker: &mut Speaker, said: Said<'_>) -> Result<(), Unfit>;
    /// Activities have ended quietly.
    fn hear_run(&mut self, run: Run) -> Result<(), Unfit>;
}

/// Has a listener hear all that the chunks say; `speakers` are those known before, and all of them afterwards.
pub(super) fn merge(
    contents: &Contents,
    speakers: &mut Speakers,
    listener: &mut impl Listener,
) -> Result<(), Unfit> {
    let mut merge = Merge {
        speakers,
        waiting: Map::default(),
        ready: Vec::new(),
    };
    for (chunk, sequence) in contents.chunks.iter().zip(0..) {
        if chunk.section.sequence != sequence {
            return Err(Unfit);
        }
        if chunk.is_data() {
            continue;
        }
        let mut next = Some(OpenChunk::read(contents, chunk)?);
        while let Some(chunk) = next {
            merge.read_on(chunk, listener)?;
            next = merge.ready.pop();
        }
        if merge.waiting.len() > MAX_WAITING {
            return Err(Unfit);
        }
    }
    if merge.waiting.is_empty() {
        Ok(())
    } else {
        Err(Unfit)
    }
}

struct Merge<'a> {
    speakers: &'a mut Speakers,
    /// By the activity and where it must have come to.
    waiting: Map<(u32, u64, u16), OpenChunk>,
    /// Those that waited for what has come.
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

/// Where the activity must be that a chunk goes on to speak of.
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
    fn read(contents: &Contents, chunk: &Chunk) -> Result<OpenChunk, Unfit> {
        let mut payload = Vec::new();
        let whole = 0..chunk.section.length;
        chunk.read(&contents.file, contents.live.as_ref(), whole, &mut payload)?;
        chunk.verify(&payload).map_err(|_| Unfit)?;
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
    fn read_on(&mut self, mut chunk: OpenChunk, listener: &mut impl Listener) -> Result<(), Unfit> {
        loop {
            let mut rest = &chunk.payload[chunk.read..];
            if rest.is_empty() {
                return Ok(());
            }
            let entry = decode(&mut rest, chunk.version).map_err(|_| Unfit)?;
            let after = chunk.payload.len() - rest.len();
            match entry {
                Entry::Item(_) => {}
                _ if !chunk.is_structured => return Err(Unfit),
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
                    listener.hear_run(run)?;
                    chunk.read = after;
                    continue;
                }
            }
            let speaker = self.speakers.get(chunk.activity);
            let place = &speaker.place;
            match chunk.claim {
                Claim::At { position, still } => {
                    if (position, still) != (place.position(), place.still()) {
                        let key = (chunk.activity, position, still);
                        return match self.waiting.insert(key, chunk) {
                            None => Ok(()),
                            Some(_) => Err(Unfit),
                        };
                    }
                }
                Claim::Here if place.is_in(chunk.sequence) => {}
                Claim::Here => return Err(Unfit),
            }
            chunk.claim = Claim::Here;
            chunk.hear(speaker, listener)?;
            if !self.waiting.is_empty() {
                let place = &speaker.place;
                let key = (chunk.activity, place.position(), place.still());
                self.ready.extend(self.waiting.remove(&key));
            }
        }
    }
}

impl OpenChunk {
    /// Reads what the activity says here, up to something that is no item or start.
    fn hear(&mut self, speaker: &mut Speaker, listener: &mut impl Listener) -> Result<(), Unfit> {
        speaker.place.enter(self.sequence);
        // Items that have been read but not heard.
        let mut from = self.read;
        let length = self.payload.len();
        let mut rest = &self.payload[from..];
        while !rest.is_empty() {
            // Most of most traces.
            let operations = take_short_forms(&mut rest);
            if operations > 0 {
                advance(&mut speaker.place, operations)?;
                continue;
            }
            let at = length - rest.len();
            match decode(&mut rest, self.version).map_err(|_| Unfit)? {
                Entry::Item(item) => {
                    if let Item::Event(event) = item
                        && event.kind == Kind::CHILDREN
                    {
                        if !self.is_structured {
                            return Err(Unfit);
                        }
                        let children = Children::new(self.activity, event.number, event.second);
                        if let Some(children) = children {
                            listener.hear(self.activity, speaker, Said::Children(children))?;
                        }
                    }
                    advance(&mut speaker.place, item.operations())?;
                }
                Entry::Start {
                    origin,
                    index,
                    name,
                } => {
                    // Readers of the chunks do not look for one here.
                    if !self.is_structured {
                        return Err(Unfit);
                    }
                    let items = &self.payload[from..at];
                    listener.hear(self.activity, speaker, Said::Items(items))?;
                    from = length - rest.len();
                    let start = Said::Start {
                        origin,
                        index,
                        name,
                    };
                    listener.hear(self.activity, speaker, start)?;
                    advance(&mut speaker.place, 0)?;
                }
                _ => {
                    rest = &self.payload[at..];
                    break;
                }
            }
        }
        self.read = length - rest.len();
        let items = &self.payload[from..self.read];
        listener.hear(self.activity, speaker, Said::Items(items))
    }
}

/// An activity that is said to be further than numbers go, or to stand still for longer than can be told, is none.
fn advance(place: &mut Place, operations: u64) -> Result<(), Unfit> {
    let stays = operations == 0 && place.still() == u16::MAX;
    if stays || place.position().checked_add(operations).is_none() {
        return Err(Unfit);
    }
    place.advance(operations);
    Ok(())
}
