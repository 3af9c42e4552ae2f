//! Reading a trace: an index of where each activity's events are, and streams over them.
//!
//! Opening looks at the headers of sections and at the inside of only those chunks that speak of several
//! activities. What stays in memory is a few words per chunk; a stream holds one chunk at a time. A trace whose
//! recording was cut off is read together with its live file, without changing either.

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs::File,
    ops::Range,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    contents::{Chunk, Contents},
    error::{Damage, TraceError},
    event::{Item, Raw, decode},
    layout::FLAG_STRUCTURED,
    program::{Exit, Program, Stop},
};

/// Where an activity comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// The program's first thread.
    Main,
    /// A thread that did not come from an instrumented spawn.
    Foreign,
    /// A child of this activity.
    Child(u32),
}

impl Origin {
    fn from_code(code: u64) -> Option<Origin> {
        Some(match code {
            0 => Origin::Main,
            1 => Origin::Foreign,
            _ => Origin::Child(u32::try_from(code - 2).ok()?),
        })
    }

    /// As [`Appender::start`](crate::Appender::start) wants it.
    pub fn code(self) -> u64 {
        match self {
            Origin::Main => 0,
            Origin::Foreign => 1,
            Origin::Child(parent) => 2 + u64::from(parent),
        }
    }
}

/// What a trace says of an activity before its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityInfo {
    /// Its number in this trace.
    pub number: u32,
    /// Where it comes from.
    pub origin: Origin,
    /// Which one it is among those of the same origin.
    pub index: u64,
    /// The name of its thread, if it had one.
    pub name: String,
}

/// A trace that has been opened.
pub struct Trace {
    path: PathBuf,
    file: File,
    live: Option<File>,
    program: Program,
    activities: BTreeMap<u32, ActivityInfo>,
    pieces: BTreeMap<u32, Vec<Piece>>,
    tails: BTreeMap<u32, (u32, u32)>,
    exit: Option<Exit>,
    stop: Option<Stop>,
    complete: bool,
    damage: Option<Damage>,
    size: u64,
}

/// A run of bytes in a chunk that speaks of one activity.
#[derive(Debug, Clone, Copy)]
struct Piece {
    position: u64,
    chunk: Chunk,
    from: u32,
    to: u32,
    weight: Weight,
}

/// What a piece has besides checks, the least first. It orders the pieces at one position: of those, one at most stands
/// for operations, and it is the last. Chunk numbers alone would not tell, when the activity has moved to a thread whose
/// chunk is older.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Nothing,
    End,
    Operations,
}

impl Weight {
    fn of(item: &Item) -> Weight {
        match item {
            _ if item.operations() > 0 => Weight::Operations,
            Item::End { .. } => Weight::End,
            _ => Weight::Nothing,
        }
    }
}

impl Trace {
    /// Opens the trace at `path`, and what is left of its live file.
    pub fn open(path: &Path) -> Result<Trace, TraceError> {
        let contents = Contents::read(path)?;
        let mut trace = Trace {
            path: path.to_owned(),
            file: contents.file,
            live: contents.live,
            program: contents.program,
            activities: BTreeMap::new(),
            pieces: BTreeMap::new(),
            tails: contents.tails,
            exit: contents.exit,
            stop: contents.stop,
            complete: contents.complete,
            damage: contents.damage,
            size: contents.size,
        };
        for (chunk, expected) in contents.chunks.iter().zip(0..) {
            if chunk.section.sequence != expected {
                trace.damage.get_or_insert(Damage {
                    offset: chunk.offset,
                    what: "a chunk is missing or twice there: this is not the next one",
                });
            }
            trace.index(chunk)?;
        }
        for pieces in trace.pieces.values_mut() {
            pieces
                .sort_by_key(|piece| (piece.position, piece.weight, piece.chunk.section.sequence));
        }
        Ok(trace)
    }

    /// The file it was opened from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The program that was recorded.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// How the process ended, if someone was there to see it.
    pub fn exit(&self) -> Option<Exit> {
        self.exit
    }

    /// Why recording ended before the program, if it did.
    pub fn stop(&self) -> Option<Stop> {
        self.stop
    }

    /// Whether everything that was recorded is here. If not, the file has been cut.
    pub fn is_complete(&self) -> bool {
        self.complete && self.damage.is_none()
    }

    /// Where the file stops making sense, if it does.
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// Bytes of the trace file.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The activities, by number.
    pub fn activities(&self) -> impl ExactSizeIterator<Item = &ActivityInfo> {
        self.activities.values()
    }

    /// The activity with this number.
    pub fn activity(&self, number: u32) -> Option<&ActivityInfo> {
        self.activities.get(&number)
    }

    /// The activity's place in the family tree, as in `main.2.0`: the first child of main's third.
    pub fn family_name(&self, number: u32) -> String {
        let mut path = Vec::new();
        let mut current = number;
        let root = loop {
            let Some(info) = self.activities.get(&current) else {
                break format!("#{current}");
            };
            match info.origin {
                Origin::Main => break "main".to_owned(),
                Origin::Foreign if info.name.is_empty() => break format!("foreign{}", info.index),
                Origin::Foreign => break format!("foreign{}({})", info.index, info.name),
                // A damaged trace may claim a family without a beginning.
                Origin::Child(_) if path.len() > self.activities.len() => break "?".to_owned(),
                Origin::Child(parent) => {
                    path.push(info.index);
                    current = parent;
                }
            }
        };
        path.iter().rev().fold(root, |mut name, index| {
            let _ = write!(name, ".{index}");
            name
        })
    }

    /// The events of an activity, from its first; nothing but [`Item::Cut`] for one that the trace does not know.
    pub fn events(self: &Arc<Self>, activity: u32) -> EventStream {
        EventStream {
            trace: Arc::clone(self),
            activity,
            next_piece: 0,
            buffer: Vec::new(),
            read: 0,
            offset: 0,
            position: 0,
            done: false,
        }
    }

    /// Verifies every checksum and decodes every event; the first thing that is wrong.
    pub fn check(self: &Arc<Self>, mut progress: impl FnMut(u64)) -> Result<(), TraceError> {
        if let Some(damage) = &self.damage {
            return Err(self.damaged(damage.clone()));
        }
        for &activity in self.pieces.keys() {
            for item in self.events(activity) {
                item?;
                progress(1);
            }
        }
        Ok(())
    }

    fn damaged(&self, damage: Damage) -> TraceError {
        TraceError::Damaged {
            path: self.path.clone(),
            damage,
        }
    }

    fn payload(&self, chunk: &Chunk) -> Result<Vec<u8>, TraceError> {
        let payload = self.read(chunk, 0..chunk.section.length)?;
        if !chunk.in_live {
            chunk.section.verify(&payload).map_err(|what| {
                self.damaged(Damage {
                    offset: chunk.offset,
                    what,
                })
            })?;
        }
        Ok(payload)
    }

    /// The bytes of a piece. A chunk of several was verified when it was indexed: doing so again for each would make
    /// reading as slow as the square of how many there are.
    fn piece_bytes(&self, piece: &Piece) -> Result<Vec<u8>, TraceError> {
        if piece.chunk.section.flags & FLAG_STRUCTURED == 0 {
            self.payload(&piece.chunk)
        } else {
            self.read(&piece.chunk, piece.from..piece.to)
        }
    }

    fn read(&self, chunk: &Chunk, range: Range<u32>) -> Result<Vec<u8>, TraceError> {
        let file = match &self.live {
            Some(live) if chunk.in_live => live,
            _ => &self.file,
        };
        let mut bytes = vec![0; range.len()];
        file.read_exact_at(&mut bytes, chunk.offset + u64::from(range.start))
            .map_err(TraceError::io("cannot read", &self.path))?;
        Ok(bytes)
    }

    /// Notes which activities a chunk speaks of.
    fn index(&mut self, chunk: &Chunk) -> Result<(), TraceError> {
        let mut piece = Piece {
            position: chunk.section.position,
            chunk: *chunk,
            from: 0,
            to: chunk.section.length,
            weight: Weight::Operations,
        };
        let mut activity = chunk.section.activity;
        if chunk.section.flags & FLAG_STRUCTURED == 0 {
            self.add_piece(activity, piece);
            return Ok(());
        }
        let payload = match self.payload(chunk) {
            Ok(payload) => payload,
            Err(TraceError::Damaged { damage, .. }) => {
                self.damage.get_or_insert(damage);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let mut rest = &payload[..];
        piece.weight = Weight::Nothing;
        while !rest.is_empty() {
            let at = (payload.len() - rest.len()) as u32;
            let wrong = match decode(&mut rest) {
                Ok(Raw::Item(item)) => {
                    piece.weight = piece.weight.max(Weight::of(&item));
                    None
                }
                Ok(Raw::Switch {
                    activity: next,
                    position,
                }) => {
                    piece.to = at;
                    self.add_piece(activity, piece);
                    activity = next;
                    piece = Piece {
                        position,
                        chunk: *chunk,
                        from: (payload.len() - rest.len()) as u32,
                        to: chunk.section.length,
                        weight: Weight::Nothing,
                    };
                    None
                }
                Ok(Raw::Start {
                    origin,
                    index,
                    name,
                }) => match Origin::from_code(origin) {
                    Some(origin) => {
                        let name = String::from_utf8_lossy(name).into_owned();
                        let info = ActivityInfo {
                            number: activity,
                            origin,
                            index,
                            name,
                        };
                        self.activities.insert(activity, info);
                        None
                    }
                    None => Some("an activity of unknown origin"),
                },
                Err(what) => Some(what),
            };
            if let Some(what) = wrong {
                piece.to = at;
                self.damage.get_or_insert(Damage {
                    offset: chunk.offset + u64::from(at),
                    what,
                });
                break;
            }
        }
        self.add_piece(activity, piece);
        Ok(())
    }

    fn add_piece(&mut self, activity: u32, piece: Piece) {
        if piece.from < piece.to {
            self.pieces.entry(activity).or_default().push(piece);
        }
    }
}

/// The events of one activity, in order. The last one is [`Item::Cut`], always, unless there is an error before.
pub struct EventStream {
    trace: Arc<Trace>,
    activity: u32,
    next_piece: usize,
    buffer: Vec<u8>,
    read: usize,
    /// Of the buffer in the file.
    offset: u64,
    position: u64,
    done: bool,
}

impl EventStream {
    /// How many operations of the activity the items so far stand for.
    pub fn position(&self) -> u64 {
        self.position
    }

    fn advance(&mut self) -> Result<Option<Item>, TraceError> {
        loop {
            while self.read < self.buffer.len() {
                let mut rest = &self.buffer[self.read..];
                let before = rest.len();
                let offset = self.offset + self.read as u64;
                let raw = decode(&mut rest)
                    .map_err(|what| self.trace.damaged(Damage { offset, what }))?;
                self.read += before - rest.len();
                match raw {
                    Raw::Item(item) => {
                        self.position = self.position.wrapping_add(item.operations());
                        return Ok(Some(item));
                    }
                    Raw::Start { .. } => {}
                    Raw::Switch { .. } => {
                        let what = "an activity is named in a chunk that says it has only one";
                        return Err(self.trace.damaged(Damage { offset, what }));
                    }
                }
            }
            if !self.load_next_piece()? {
                return Ok(Some(self.cut()));
            }
        }
    }

    fn load_next_piece(&mut self) -> Result<bool, TraceError> {
        let Some(piece) = self
            .trace
            .pieces
            .get(&self.activity)
            .and_then(|pieces| pieces.get(self.next_piece))
        else {
            return Ok(false);
        };
        if piece.position != self.position {
            return Err(self.trace.damaged(Damage {
                offset: piece.chunk.offset,
                what: "events of an activity are missing before the chunk",
            }));
        }
        self.buffer = self.trace.piece_bytes(piece)?;
        self.offset = piece.chunk.offset + u64::from(piece.from);
        self.read = 0;
        self.next_piece += 1;
        Ok(true)
    }

    /// What the activity counted after its last event. In a damaged trace it may have counted events that are lost.
    fn cut(&mut self) -> Item {
        self.done = true;
        if self.trace.damage.is_none()
            && let Some(&(counter, hash)) = self.trace.tails.get(&self.activity)
        {
            let silent = counter.wrapping_sub(self.position as u32);
            // One less than the events say: the kill fell between an event and its counting.
            if silent < 1 << 31 {
                self.position = self.position.wrapping_add(silent.into());
                return Item::Cut {
                    silent,
                    hash: Some(hash),
                };
            }
        }
        Item::Cut {
            silent: 0,
            hash: None,
        }
    }
}

impl Iterator for EventStream {
    type Item = Result<Item, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let item = self.advance();
        if item.is_err() {
            self.done = true;
        }
        item.transpose()
    }
}
