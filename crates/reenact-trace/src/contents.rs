//! What the two files of a trace hold: the sections of the one, the chunks and slots of the other.
//!
//! This is where it is decided what is whole, what is damaged, and what only looks so because a writer was killed.

use std::{
    collections::{BTreeMap, HashSet},
    fs::File,
    io,
    os::unix::fs::FileExt,
    path::Path,
};

use crate::{
    error::{Damage, TraceError},
    layout::{
        CHUNK, CHUNK_HEADER, CHUNK_MAGIC, FILE_HEADER, FILE_MAGIC, FORMAT_VERSION, LIVE_HEADER,
        LIVE_MAGIC, MAX_SLABS, SECTION_HEADER, SECTION_MAGIC, SLAB, SLOT, TAIL, chunk, get_u16,
        get_u32, kind, live,
    },
    live::live_path,
    program::{Exit, Program, Stop},
    section::Section,
    writer::section_of_chunk,
};

/// Where a chunk is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunk {
    pub(crate) in_live: bool,
    /// Of the payload.
    pub(crate) offset: u64,
    pub(crate) section: Section,
}

/// What the two files hold, before it is indexed.
pub(crate) struct Contents {
    pub(crate) file: File,
    pub(crate) live: Option<File>,
    pub(crate) program: Program,
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) tails: BTreeMap<u32, (u32, u32)>,
    pub(crate) exit: Option<Exit>,
    pub(crate) stop: Option<Stop>,
    pub(crate) complete: bool,
    pub(crate) damage: Option<Damage>,
    /// The last section, if the file ends before it does.
    torn: Option<Torn>,
    /// Why nothing may be added to the file, nor its live file removed: that could lose more.
    pub(crate) obstacle: Option<Damage>,
    /// End of the last section that is whole.
    pub(crate) end: u64,
    pub(crate) size: u64,
}

/// Half a section at the end of a trace.
struct Torn {
    damage: Damage,
    /// If its header is whole.
    section: Option<Section>,
}

impl Contents {
    pub(crate) fn read(path: &Path) -> Result<Contents, TraceError> {
        let file = File::open(path).map_err(TraceError::io("cannot open", path))?;
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
        if version != FORMAT_VERSION {
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
            file,
            live: None,
            program: Program::default(),
            chunks: Vec::new(),
            tails: BTreeMap::new(),
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
        match File::open(live_path(path)) {
            Ok(live) => contents
                .read_live(live)
                .map_err(TraceError::io("cannot read the live part of", path))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(TraceError::io("cannot open", live_path(path))(error)),
        }
        contents.judge_torn_section();
        contents.chunks.sort_by_key(|chunk| chunk.section.sequence);
        Ok(contents)
    }

    /// Goes from section to section until the end of the file, or until there is none where one should be.
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
            if section.kind == kind::CHUNK {
                self.take_chunk(section, offset);
            } else {
                let mut payload = vec![0; section.length as usize];
                self.file
                    .read_exact_at(&mut payload, offset)
                    .map_err(read)?;
                let understood = section
                    .verify(&payload)
                    .and_then(|()| self.take_section(section.kind, &payload));
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

    fn take_section(&mut self, section: u8, payload: &[u8]) -> Result<(), &'static str> {
        match section {
            kind::PROGRAM => {
                self.program = Program::from_bytes(payload)
                    .ok_or("the description of the program is malformed")?;
            }
            kind::TAILS => {
                let (tails, rest) = payload.as_chunks::<TAIL>();
                if !rest.is_empty() {
                    return Err("the counters of activities are malformed");
                }
                self.complete = true;
                for tail in tails {
                    self.tails
                        .insert(get_u32(tail, 0), (get_u32(tail, 4), get_u32(tail, 8)));
                }
            }
            kind::STOP => {
                let stop = (payload.len() == 8)
                    .then(|| Stop::from_code(get_u32(payload, 0), get_u32(payload, 4)))
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

    fn take_chunk(&mut self, section: Section, offset: u64) {
        // One that is empty is never read again, so that now is the time to verify it.
        let wrong = if section.length as usize > CHUNK - CHUNK_HEADER {
            Some("a chunk is longer than chunks can be")
        } else if section.length == 0 {
            section.verify(&[]).err()
        } else {
            None
        };
        match wrong {
            None => self.chunks.push(Chunk {
                in_live: false,
                offset,
                section,
            }),
            Some(what) => {
                self.damage.get_or_insert(Damage { offset, what });
            }
        }
    }

    /// Notes damage in a place where more may be hidden behind it.
    fn obstruct(&mut self, offset: u64, what: &'static str) {
        let damage = Damage { offset, what };
        self.damage.get_or_insert(damage.clone());
        self.obstacle.get_or_insert(damage);
    }

    /// Half a section at the end is what a kill or a full disk leaves; nothing is lost by it if the live file still has
    /// what it was made of. Otherwise it is what a cut leaves.
    fn judge_torn_section(&mut self) {
        let Some(torn) = self.torn.take() else {
            return;
        };
        let still_there = self.live.is_some()
            && match torn.section {
                None => true,
                Some(section) if section.kind == kind::CHUNK => self
                    .chunks
                    .iter()
                    .any(|chunk| chunk.in_live && chunk.section.sequence == section.sequence),
                Some(section) => matches!(section.kind, kind::TAILS | kind::STOP),
            };
        if !still_there {
            self.obstruct(torn.damage.offset, torn.damage.what);
        }
    }

    /// Adds what threads had not yet handed over when the process ended.
    fn read_live(&mut self, file: File) -> io::Result<()> {
        let size = file.metadata()?.len();
        let mut header = [0; LIVE_HEADER];
        if size < LIVE_HEADER as u64 {
            self.obstruct(size, "the live file is cut short");
            return Ok(());
        }
        file.read_exact_at(&mut header, 0)?;
        if header[..8] != LIVE_MAGIC {
            self.obstruct(0, "the live file does not begin as one");
            return Ok(());
        }
        if get_u32(&header, live::VERSION) != FORMAT_VERSION.into() {
            self.obstruct(8, "the live file is of another format version");
            return Ok(());
        }
        // The live file is there, so nothing is missing, unless one of the files is damaged.
        self.complete = true;
        match get_u32(&header, live::STOP) {
            0 => {}
            code => match Stop::from_code(code, get_u32(&header, live::ERRNO)) {
                Some(stop) => self.stop = Some(stop),
                None => self.obstruct(
                    live::STOP as u64,
                    "the live file's mark of an early end is malformed",
                ),
            },
        }
        let written: HashSet<u64> = self
            .chunks
            .iter()
            .map(|chunk| chunk.section.sequence)
            .collect();
        let mut slab = vec![0; SLAB];
        for (index, &kind) in header[live::SLAB_KINDS..][..MAX_SLABS].iter().enumerate() {
            let offset = (LIVE_HEADER + index * SLAB) as u64;
            if kind == 0 {
                break;
            }
            if size < offset + SLAB as u64 {
                self.obstruct(size, "the live file is cut short");
                break;
            }
            file.read_exact_at(&mut slab, offset)?;
            match kind {
                live::SLAB_CHUNKS => self.live_chunks(&slab, offset, &written),
                live::SLAB_SLOTS => self.live_slots(&slab),
                _ => {
                    self.obstruct(offset, "a slab of an unknown kind is in the live file");
                    break;
                }
            }
        }
        self.live = Some(file);
        Ok(())
    }

    fn live_chunks(&mut self, slab: &[u8], slab_offset: u64, written: &HashSet<u64>) {
        for (bytes, index) in slab.chunks_exact(CHUNK).zip(0..) {
            let offset = slab_offset + index * CHUNK as u64;
            match get_u32(bytes, chunk::STATE) {
                chunk::FREE => continue,
                chunk::IN_USE if get_u32(bytes, chunk::MAGIC) == CHUNK_MAGIC => {}
                _ => {
                    self.obstruct(offset, "a chunk in the live file does not begin as one");
                    continue;
                }
            }
            let header = bytes[..CHUNK_HEADER].try_into().expect("a chunk's header");
            let mut section = section_of_chunk(header);
            section.length = get_u32(bytes, chunk::USED);
            if section.length as usize > CHUNK - CHUNK_HEADER {
                self.obstruct(
                    offset,
                    "a chunk in the live file is longer than chunks can be",
                );
            } else if !written.contains(&section.sequence) {
                self.chunks.push(Chunk {
                    in_live: true,
                    offset: offset + CHUNK_HEADER as u64,
                    section,
                });
            }
        }
    }

    fn live_slots(&mut self, slab: &[u8]) {
        for slot in slab.chunks_exact(SLOT) {
            if let Some(activity) = get_u32(slot, 8).checked_sub(1) {
                self.tails
                    .insert(activity, (get_u32(slot, 0), get_u32(slot, 4)));
            }
        }
    }
}

/// Whether a section can begin like this.
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
