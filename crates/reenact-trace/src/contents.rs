//! The contents of the two files of a trace: the sections of the trace file, the chunks and slots of the live file.
//!
//! This module decides what is whole, what is damaged, and what only looks damaged because a writer was killed.

mod live_part;

use std::{fs::File, io, ops::Range, os::unix::fs::FileExt, path::Path};

use crate::{
    catalog::{MAX_START, Tail},
    directory::Directory,
    error::{Damage, TraceError},
    hashing::SeededSet,
    layout::{
        CHUNK, CHUNK_HEADER, FILE_HEADER, FILE_MAGIC, FLAG_STRUCTURED, FORMAT_VERSION,
        MAX_GROUPED_SECTION, OLDEST_VERSION, SECTION_HEADER, SECTION_MAGIC, TAIL, get_u16, get_u32,
        kind, live,
    },
    live::live_path,
    open::open_regular,
    program::{Exit, Program, StopReason},
    section::Section,
};

use live_part::LivePart;

/// Where a chunk is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkLocation {
    pub(crate) in_live: bool,
    /// Offset of the payload.
    pub(crate) offset: u64,
    pub(crate) section: Section,
}

impl ChunkLocation {
    /// Whether a reader must decode the payload to know which activities it is about.
    pub(crate) fn is_structured(&self) -> bool {
        self.section.flags & FLAG_STRUCTURED != 0
    }

    /// Whether it contains data, and no entries.
    pub(crate) fn is_data(&self) -> bool {
        self.section.kind == kind::DATA
    }

    /// Reads a part of the payload from the file that contains it.
    pub(crate) fn read(
        &self,
        file: &File,
        live: Option<&File>,
        range: Range<u32>,
        buffer: &mut Vec<u8>,
    ) -> io::Result<()> {
        let file = live.filter(|_| self.in_live).unwrap_or(file);
        buffer.clear();
        buffer.resize(range.len(), 0);
        file.read_exact_at(buffer, self.offset + u64::from(range.start))
    }

    /// Verifies the checksum of the payload. Chunks in the live file have none: their writers have no time for it.
    pub(crate) fn verify(&self, payload: &[u8]) -> Result<(), Damage> {
        if self.in_live {
            return Ok(());
        }
        self.section.verify(payload).map_err(|what| Damage {
            offset: self.offset,
            what,
        })
    }
}

/// A section of streams or of data, whose payload is read on demand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LazySection {
    /// Offset of the payload.
    pub(crate) offset: u64,
    pub(crate) section: Section,
}

/// What a trace contains instead of chunks after it was grouped by activity.
#[derive(Default)]
pub(crate) struct Grouped {
    pub(crate) directory: Directory,
    pub(crate) streams: Vec<LazySection>,
    /// Ordered by the first id in them.
    pub(crate) data: Vec<LazySection>,
    /// Sequence number of the next section.
    sequence: u64,
}

/// The contents of the two files, before they are indexed.
pub(crate) struct Contents {
    pub(crate) version: u16,
    pub(crate) file: File,
    /// The live file, unless the trace file already has its contents.
    pub(crate) live: Option<File>,
    /// Whether there is a live file that is not needed: recovery was killed before it removed it.
    pub(crate) has_leftover: bool,
    pub(crate) program: Program,
    pub(crate) chunks: Vec<ChunkLocation>,
    pub(crate) grouped: Option<Grouped>,
    /// Ordered by activity.
    pub(crate) tails: Vec<Tail>,
    pub(crate) exit: Option<Exit>,
    pub(crate) stop: Option<StopReason>,
    pub(crate) complete: bool,
    pub(crate) damage: Option<Damage>,
    /// The last section, if the file ends before it does.
    torn: Option<Torn>,
    /// Why nothing may be appended to the file, nor its live file removed: that could lose more.
    pub(crate) obstacle: Option<Damage>,
    /// End of the last whole section.
    pub(crate) end: u64,
    pub(crate) size: u64,
}

/// An incomplete section at the end of a trace.
struct Torn {
    damage: Damage,
    /// `None` if its header is incomplete.
    section: Option<Section>,
}

impl Contents {
    /// Reads the live file before the trace file: if the recording process still runs, a chunk that moves from the
    /// former to the latter is then seen in at least one of them.
    pub(crate) fn read(path: &Path) -> Result<Contents, TraceError> {
        let live = LivePart::read(&live_path(path))?;
        let file = open_regular(path).map_err(TraceError::io("cannot open", path))?;
        let size = file
            .metadata()
            .map_err(TraceError::io("cannot open", path))?
            .len();
        let mut header = [0; FILE_HEADER];
        let not_a_trace = || TraceError::NotATrace {
            path: path.to_owned(),
        };
        match file.read_exact_at(&mut header, 0) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(not_a_trace()),
            Err(error) => return Err(TraceError::io("cannot read", path)(error)),
        }
        if header[..8] != FILE_MAGIC {
            return Err(not_a_trace());
        }
        let version = get_u16(&header, 8);
        if !(OLDEST_VERSION..=FORMAT_VERSION).contains(&version) {
            return Err(TraceError::Version {
                path: path.to_owned(),
                found: version,
            });
        }
        if header[10..].iter().any(|&byte| byte != 0) {
            return Err(TraceError::Damaged {
                path: path.to_owned(),
                damage: Damage {
                    offset: 10,
                    what: "reserved bytes of the header are not zero",
                },
            });
        }
        let mut contents = Contents {
            version,
            file,
            live: None,
            has_leftover: false,
            program: Program::default(),
            chunks: Vec::new(),
            grouped: None,
            tails: Vec::new(),
            exit: None,
            stop: None,
            complete: false,
            damage: None,
            torn: None,
            obstacle: None,
            end: FILE_HEADER as u64,
            size,
        };
        contents.walk(path)?;
        contents.judge_grouped();
        match live {
            // A trace is grouped only when it contains everything that was in the live file.
            Some(_) if contents.grouped.is_some() => contents.has_leftover = true,
            Some(live) => contents.add_live(live),
            None => {}
        }
        contents.judge_torn_section();
        contents.chunks.sort_by_key(|chunk| chunk.section.sequence);
        // Of several tails of an activity, the one that was found last counts.
        contents.tails.reverse();
        contents.tails.sort_by_key(|tail| tail.activity);
        contents.tails.dedup_by_key(|tail| tail.activity);
        Ok(contents)
    }

    /// Reads section after section until the end of the file, or until one is invalid.
    fn walk(&mut self, path: &Path) -> Result<(), TraceError> {
        let read = |error| TraceError::io("cannot read", path)(error);
        let mut first = true;
        while self.end < self.size {
            let mut header = [0; SECTION_HEADER];
            let there = (self.size - self.end).min(SECTION_HEADER as u64) as usize;
            self.file
                .read_exact_at(&mut header[..there], self.end)
                .map_err(read)?;
            let section = if there < SECTION_HEADER {
                begins_section(&header[..there]).map(|()| None)
            } else {
                Section::parse(&header).map(Some)
            };
            let section = match section {
                Ok(section) => section,
                Err(what) => {
                    self.obstruct(self.end, what);
                    break;
                }
            };
            let offset = self.end + SECTION_HEADER as u64;
            let Some(section) =
                section.filter(|section| self.size - offset >= section.length.into())
            else {
                self.torn = Some(Torn {
                    damage: Damage {
                        offset: self.end,
                        what: "a section is cut short",
                    },
                    section,
                });
                break;
            };
            if self.is_chunk(&section) {
                self.take_chunk(section, offset);
            } else if section.kind == kind::STREAMS && self.version > 1 {
                self.take_streams(section, offset);
            } else if section.kind == kind::ORDERED_DATA && self.version > 2 {
                self.take_data(section, offset);
            } else {
                let mut payload = vec![0; section.length as usize];
                self.file
                    .read_exact_at(&mut payload, offset)
                    .map_err(read)?;
                let understood = section
                    .verify(&payload)
                    .and_then(|()| self.take_section(&section, &payload));
                if let Err(what) = understood {
                    self.damage.get_or_insert(Damage {
                        offset: self.end,
                        what,
                    });
                }
            }
            if first && (section.kind != kind::PROGRAM || self.damage.is_some()) {
                break;
            }
            first = false;
            self.end = offset + u64::from(section.length);
        }
        if first {
            return Err(TraceError::Damaged {
                path: path.to_owned(),
                damage: Damage {
                    offset: FILE_HEADER as u64,
                    what: "the section that names the program is missing or damaged",
                },
            });
        }
        Ok(())
    }

    fn take_section(&mut self, section: &Section, payload: &[u8]) -> Result<(), &'static str> {
        match section.kind {
            kind::PROGRAM => {
                self.program = Program::from_bytes(payload, self.version)
                    .ok_or("the description of the program is malformed")?;
            }
            kind::TAILS => {
                let (tails, rest) = payload.as_chunks::<TAIL>();
                if !rest.is_empty() {
                    return Err("the counters of activities are malformed");
                }
                if self.grouped.is_some() && !tails.is_empty() {
                    return Err("the counters of activities are twice there");
                }
                if let Some(grouped) = &self.grouped
                    && self.version > 2
                    && section.sequence != grouped.sequence
                {
                    return Err(NOT_NEXT);
                }
                self.complete = true;
                self.tails.extend(tails.iter().map(|tail| Tail {
                    activity: get_u32(tail, 0),
                    counter: get_u32(tail, 4),
                    hash: get_u32(tail, 8),
                }));
            }
            kind::DIRECTORY if self.version > 1 => {
                if payload.len() > MAX_GROUPED_SECTION {
                    return Err("a section of the directory is longer than such can be");
                }
                if !self.chunks.is_empty() {
                    return Err(BOTH_FORMS);
                }
                let grouped = self.grouped.get_or_insert_default();
                let is_next = section.sequence == grouped.sequence;
                grouped.sequence = section.sequence.wrapping_add(1);
                grouped.directory.read(section, payload)?;
                if !is_next {
                    return Err(NOT_NEXT);
                }
            }
            kind::STOP => {
                let stop = (payload.len() == 8)
                    .then(|| StopReason::from_code(get_u32(payload, 0), get_u32(payload, 4)))
                    .flatten();
                self.stop = Some(stop.ok_or("the mark of an early end is malformed")?);
            }
            kind::EXIT => {
                self.exit = Some(Exit::from_bytes(payload).ok_or("the exit status is malformed")?);
            }
            _ => return Err("a section of an unknown kind"),
        }
        Ok(())
    }

    fn take_streams(&mut self, section: Section, offset: u64) {
        let grouped = self.grouped.get_or_insert_default();
        let end = grouped.streams.last().map_or(0, LazySection::end);
        let is_next = section.sequence == grouped.sequence;
        grouped.sequence = section.sequence.wrapping_add(1);
        let what = if !self.chunks.is_empty() {
            BOTH_FORMS
        } else if section.length as usize > MAX_GROUPED_SECTION {
            "a section of streams is longer than such can be"
        } else if section.position < end || section.position > MAX_START {
            "sections of streams are not in order"
        } else {
            grouped.streams.push(LazySection { offset, section });
            if is_next && section.position == end {
                return;
            }
            NOT_NEXT
        };
        self.damage.get_or_insert(Damage { offset, what });
    }

    fn take_data(&mut self, section: Section, offset: u64) {
        let grouped = self.grouped.get_or_insert_default();
        let is_next = section.sequence == grouped.sequence;
        grouped.sequence = section.sequence.wrapping_add(1);
        let first = |before: &LazySection| before.section.position;
        let what = if !self.chunks.is_empty() {
            BOTH_FORMS
        } else if section.length as usize > MAX_GROUPED_SECTION {
            "a section of data is longer than such can be"
        } else if section.position < grouped.data.last().map_or(0, first) {
            "sections of data are not in order"
        } else {
            grouped.data.push(LazySection { offset, section });
            if is_next {
                return;
            }
            NOT_NEXT
        };
        self.damage.get_or_insert(Damage { offset, what });
    }

    /// Whether a section was a chunk of the live file.
    fn is_chunk(&self, section: &Section) -> bool {
        section.kind == kind::CHUNK || section.kind == kind::DATA && self.version > 2
    }

    /// Checks that the streams are as long as the directory says. If the end of the file is missing, that is known
    /// anyway.
    fn judge_grouped(&mut self) {
        let Some(grouped) = &mut self.grouped else {
            return;
        };
        let Directory {
            family, children, ..
        } = &mut grouped.directory;
        family.set_blocks(children);
        grouped.directory.catalog.index();
        let end = grouped.streams.last().map_or(0, LazySection::end);
        if self.complete && end != grouped.directory.catalog.end() {
            self.damage.get_or_insert(Damage {
                offset: self.end,
                what: "the streams are not as long as the directory says",
            });
        }
    }

    fn take_chunk(&mut self, section: Section, offset: u64) {
        let wrong = if section.length as usize > CHUNK - CHUNK_HEADER {
            Some("a chunk is longer than chunks can be")
        } else {
            self.grouped.as_ref().map(|_| BOTH_FORMS)
        };
        if let Some(what) = wrong {
            self.damage.get_or_insert(Damage { offset, what });
        } else {
            self.chunks.push(ChunkLocation {
                in_live: false,
                offset,
                section,
            });
        }
    }

    /// Records damage that may hide more of the trace behind it.
    fn obstruct(&mut self, offset: u64, what: &'static str) {
        let damage = Damage { offset, what };
        self.damage.get_or_insert(damage.clone());
        self.obstacle.get_or_insert(damage);
    }

    /// Decides whether an incomplete last section is damage. A kill or a full disk leaves one as well; nothing is lost
    /// if the live file still has its contents. Otherwise the file was truncated.
    fn judge_torn_section(&mut self) {
        let Some(torn) = self.torn.take() else {
            return;
        };
        let still_there = self.live.is_some()
            && match torn.section {
                None => true,
                Some(section) if self.is_chunk(&section) => self
                    .chunks
                    .iter()
                    .any(|chunk| chunk.in_live && chunk.section.sequence == section.sequence),
                Some(section) => matches!(section.kind, kind::TAILS | kind::STOP),
            };
        if !still_there {
            self.obstruct(torn.damage.offset, torn.damage.what);
        }
    }

    /// Adds what was still in the live file when the process ended.
    fn add_live(&mut self, part: LivePart) {
        if part
            .version
            .is_some_and(|version| version != self.version.into())
        {
            let what = "the live file is of another format version";
            self.obstruct(live::VERSION as u64, what);
            self.live = Some(part.file);
            return;
        }
        let written: SeededSet<u64> = self
            .chunks
            .iter()
            .map(|chunk| chunk.section.sequence)
            .collect();
        let rest = part
            .chunks
            .into_iter()
            .filter(|chunk| !written.contains(&chunk.section.sequence));
        self.chunks.extend(rest);
        self.tails.extend(part.tails);
        self.stop = part.stop.or(self.stop);
        // With the live file, nothing is missing, unless one of the two is damaged.
        self.complete = true;
        self.live = Some(part.file);
        if let Some(Damage { offset, what }) = part.damage {
            self.obstruct(offset, what);
        }
    }
}

const BOTH_FORMS: &str = "the trace is both in chunks and by activity";
const NOT_NEXT: &str = "a section is missing or repeated: this is not the next one";

impl LazySection {
    /// Where in the streams it begins.
    pub(crate) fn begin(&self) -> u64 {
        self.section.position
    }

    /// Where in the streams it ends.
    pub(crate) fn end(&self) -> u64 {
        self.section.position + u64::from(self.section.length)
    }
}

/// Whether these bytes can be the beginning of a section.
fn begins_section(bytes: &[u8]) -> Result<(), &'static str> {
    if bytes
        .iter()
        .zip(SECTION_MAGIC.to_le_bytes())
        .all(|(&byte, magic)| byte == magic)
    {
        Ok(())
    } else {
        Err("no section begins")
    }
}
