//! The pieces of a trace in chunks: which part of which chunk belongs to which activity, and in which order.

use std::{fs::File, path::Path};

use super::Trace;
use crate::{
    Kind,
    catalog::{Catalog, StreamLength, in_order},
    contents::{ChunkLocation, Contents},
    data::{DataSummary, Parts},
    entry::{Entry, Malformed, Run, decode},
    error::{Damage, TraceError},
    event::Item,
    family::{Children, Family},
    hashing::SeededMap,
};

/// Consecutive bytes in a chunk that belong to one activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Piece {
    activity: u32,
    /// The position of the activity at the beginning of the piece.
    position: u64,
    /// Orders the pieces at one position. In version 1 this is the [`weight`], since then `still`: how many items at
    /// this position stood for no operation.
    rank: u16,
    /// The index of the chunk in the order of sequence numbers, and the bytes in it.
    chunk: u32,
    from: u16,
    to: u16,
}

/// The rank of an item in version 1; a piece has the maximum of its items. Of the pieces at one position, at most one
/// stands for operations, and it is the last; before it come the ends. Sequence numbers of chunks do not suffice, if
/// the activity has moved to a thread whose chunk is older.
fn weight(item: &Item) -> u16 {
    match item {
        _ if item.operations() > 0 => 2,
        Item::End { .. } => 1,
        _ => 0,
    }
}

/// The chunks of a trace, and the pieces ordered by activity and position.
pub(super) struct Pieces {
    live: Option<File>,
    chunks: Vec<ChunkLocation>,
    pieces: Vec<Piece>,
    data: Parts,
}

impl Pieces {
    /// Indexes the chunks. Records errors in them as damage.
    pub(super) fn index(
        path: &Path,
        contents: &mut Contents,
    ) -> Result<(Pieces, Catalog, Family), TraceError> {
        let mut index = Index {
            version: contents.version,
            pieces: Vec::new(),
            family: Family::default(),
            children: Vec::new(),
            runs: Vec::new(),
        };
        let chunks = std::mem::take(&mut contents.chunks);
        let mut data = Parts::default();
        let mut payload = Vec::new();
        for (chunk, number) in chunks.iter().zip(0u32..) {
            if chunk.section.sequence != number.into() {
                contents.damage.get_or_insert(Damage {
                    offset: chunk.offset,
                    what: "a chunk is missing or repeated: this is not the next one",
                });
            }
            if !chunk.is_data() && !chunk.is_structured() {
                index.add_plain(number, chunk);
                continue;
            }
            chunk
                .read(
                    &contents.file,
                    contents.live.as_ref(),
                    0..chunk.section.length,
                    &mut payload,
                )
                .map_err(TraceError::io("cannot read", path))?;
            let added = if chunk.is_data() {
                data.add(number, chunk, &payload)
            } else {
                index.add_structured(number, chunk, &payload)
            };
            if let Err(damage) = added {
                contents.damage.get_or_insert(damage);
            }
        }
        if let Err(damage) = data.index(&chunks) {
            contents.damage.get_or_insert(damage);
        }
        index.pieces.sort_unstable();
        index
            .children
            .sort_by_key(|(position, children)| (children.parent, *position));
        let children: Vec<_> = index
            .children
            .iter()
            .map(|(_, children)| *children)
            .collect();
        index.family.set_blocks(&children);
        let (runs, twice) = in_order(index.runs);
        if let Some(offset) = twice {
            contents.damage.get_or_insert(Damage {
                offset,
                what: "an activity ends quietly for the second time",
            });
        }
        let family = index.family;
        let streams = index
            .pieces
            .chunk_by(|one, other| one.activity == other.activity)
            .map(|pieces| StreamLength {
                activity: pieces[0].activity,
                length: pieces.len() as u64,
                started: family.has_start(pieces[0].activity),
            });
        let catalog = Catalog::of(streams, &contents.tails, &runs);
        let pieces = Pieces {
            live: contents.live.take(),
            chunks,
            pieces: index.pieces,
            data,
        };
        Ok((pieces, catalog, family))
    }

    /// Whether indexing has decoded the chunk of the piece with this index.
    pub(super) fn is_structured(&self, index: usize) -> bool {
        self.chunks[self.pieces[index].chunk as usize].is_structured()
    }

    /// Reads the piece with this index, of an activity that is at this position, into a buffer; returns its offset in
    /// the file. Chunks of several pieces were verified when they were indexed: verifying them again for each piece
    /// would take quadratic time.
    pub(super) fn read(
        &self,
        trace: &Trace,
        index: usize,
        position: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<u64, TraceError> {
        let piece = &self.pieces[index];
        let chunk = &self.chunks[piece.chunk as usize];
        if piece.position != position {
            return Err(trace.damaged(Damage {
                offset: chunk.offset,
                what: "events of an activity are missing before the chunk",
            }));
        }
        let range = piece.from.into()..piece.to.into();
        chunk
            .read(&trace.file, self.live.as_ref(), range, buffer)
            .map_err(|error| TraceError::io("cannot read", &trace.path)(error))?;
        if !chunk.is_structured() {
            chunk
                .verify(buffer)
                .map_err(|damage| trace.damaged(damage))?;
        }
        Ok(chunk.offset + u64::from(piece.from))
    }
}

/// Data in chunks.
impl Pieces {
    /// Reads data; `None` if there are none with this id.
    pub(super) fn read_data(&self, trace: &Trace, id: u64) -> Result<Option<Vec<u8>>, TraceError> {
        let parts = self.data.find(id);
        if parts.is_empty() {
            return Ok(None);
        }
        if let Some(damage) = Parts::hole(parts, &self.chunks) {
            return Err(trace.damaged(damage));
        }
        let mut bytes = Vec::new();
        let mut buffer = Vec::new();
        for part in parts {
            part.read(&self.chunks, &trace.file, self.live.as_ref(), &mut buffer)
                .map_err(|error| TraceError::io("cannot read", &trace.path)(error))?;
            bytes.extend_from_slice(&buffer);
        }
        Ok(Some(bytes))
    }

    pub(super) fn data_summary(&self) -> DataSummary {
        self.data.summary()
    }
}

/// The contents of the chunks, as far as they have been indexed.
struct Index {
    version: u16,
    pieces: Vec<Piece>,
    family: Family,
    /// With the parent's position.
    children: Vec<(u64, Children)>,
    /// With their offset in the file.
    runs: Vec<(Run, u64)>,
}

/// The current activity of a chunk.
struct CurrentActivity {
    piece: Piece,
    /// Whether the piece contains any entry of the activity.
    has_entries: bool,
    /// The current position.
    position: u64,
    still: u16,
}

impl CurrentActivity {
    fn new(activity: u32, position: u64, still: u16, chunk: u32, from: usize) -> CurrentActivity {
        CurrentActivity {
            piece: Piece {
                activity,
                position,
                rank: still,
                chunk,
                from: from as u16,
                to: from as u16,
            },
            has_entries: false,
            position,
            still,
        }
    }

    fn advance(&mut self, operations: u64) {
        self.has_entries = true;
        self.position = self.position.wrapping_add(operations);
        self.still = match operations {
            0 => self.still.saturating_add(1),
            _ => 0,
        };
    }
}

impl Index {
    /// Adds a chunk that contains only the activity in its header.
    fn add_plain(&mut self, number: u32, chunk: &ChunkLocation) {
        let section = &chunk.section;
        if section.length > 0 {
            self.pieces.push(Piece {
                activity: section.activity,
                position: section.position,
                rank: if self.version == 1 { 2 } else { 0 },
                chunk: number,
                from: 0,
                to: section.length as u16,
            });
        }
    }

    fn add_structured(
        &mut self,
        number: u32,
        chunk: &ChunkLocation,
        payload: &[u8],
    ) -> Result<(), Damage> {
        chunk.verify(payload)?;
        let ChunkLocation { section, .. } = chunk;
        let mut current = CurrentActivity::new(section.activity, section.position, 0, number, 0);
        let mut places = SeededMap::default();
        let mut rest = payload;
        let mut result = Ok(());
        while !rest.is_empty() {
            let at = payload.len() - rest.len();
            let offset = chunk.offset + at as u64;
            let before = rest;
            let next = match self.take_entry(&mut rest, &mut current, offset) {
                Ok(None) => continue,
                Ok(Some(SwitchTarget::At {
                    activity,
                    position,
                    still,
                })) => Ok((activity, position, still)),
                Ok(Some(SwitchTarget::Again { difference })) => {
                    let activity = current
                        .piece
                        .activity
                        .wrapping_add_signed(difference.into());
                    // The switch may name the current activity.
                    places.insert(current.piece.activity, (current.position, current.still));
                    places
                        .get(&activity)
                        .map(|&(position, still)| (activity, position, still))
                        .ok_or("a switch back to an activity that the chunk has no entries of")
                }
                Err(what) => Err(what),
            };
            match next {
                Ok((activity, position, still)) => {
                    places.insert(current.piece.activity, (current.position, current.still));
                    self.end_piece(&current, at);
                    let from = payload.len() - rest.len();
                    current = CurrentActivity::new(activity, position, still, number, from);
                }
                Err(what) => {
                    result = Err(Damage { offset, what });
                    rest = before;
                    break;
                }
            }
        }
        self.end_piece(&current, payload.len() - rest.len());
        result
    }

    /// Decodes one entry; returns the next activity if the entry is a switch.
    fn take_entry(
        &mut self,
        rest: &mut &[u8],
        current: &mut CurrentActivity,
        offset: u64,
    ) -> Result<Option<SwitchTarget>, Malformed> {
        let activity = current.piece.activity;
        match decode(rest, self.version)? {
            Entry::Item(item) => {
                if self.version == 1 {
                    current.piece.rank = current.piece.rank.max(weight(&item));
                }
                if let Item::Event(event) = item
                    && event.kind == Kind::CHILDREN
                    && self.version > 1
                    && let Some(children) = Children::new(activity, event.number, event.second)
                {
                    self.children.push((current.position, children));
                }
                current.advance(item.operations());
            }
            Entry::Start {
                origin,
                index,
                name,
            } => {
                self.family.add_start(activity, origin, index, name)?;
                current.advance(0);
            }
            Entry::Run(run) => self.runs.push((run, offset)),
            Entry::Switch {
                activity,
                position,
                still,
            } => {
                return Ok(Some(SwitchTarget::At {
                    activity,
                    position,
                    still,
                }));
            }
            Entry::Return { difference } => return Ok(Some(SwitchTarget::Again { difference })),
        }
        Ok(None)
    }

    fn end_piece(&mut self, current: &CurrentActivity, to: usize) {
        if current.has_entries {
            self.pieces.push(Piece {
                to: to as u16,
                ..current.piece
            });
        }
    }
}

/// The activity that a switch names.
enum SwitchTarget {
    At {
        activity: u32,
        position: u64,
        still: u16,
    },
    Again {
        difference: i16,
    },
}
