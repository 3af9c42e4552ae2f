//! What the two files of a trace hold: the sections of the one, the chunks and slots of the other.
//!
//! This is where it is decided what is whole, what is damaged, and what only looks so because a writer was killed.

mod live_part;

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
        CHUNK, CHUNK_HEADER, FILE_HEADER, FILE_MAGIC, FORMAT_VERSION, SECTION_HEADER,
        SECTION_MAGIC, TAIL, get_u16, get_u32, kind,
    },
    live::live_path,
    program::{Exit, Program, Stop},
    section::Section,
};

use live_part::LivePart;

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
    /// Reads the live file before the trace file: a chunk that is on its way from the one to the other, because the
    /// process that recorded is still there, is then seen in one of them at least.
    pub(crate) fn read(path: &Path) -> Result<Contents, TraceError> {
        let live = LivePart::read(&live_path(path))?;
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
        if let Some(live) = live {
            contents.add_live(live);
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
        if section.length as usize > CHUNK - CHUNK_HEADER {
            self.damage.get_or_insert(Damage {
                offset,
                what: "a chunk is longer than chunks can be",
            });
        } else {
            self.chunks.push(Chunk {
                in_live: false,
                offset,
                section,
            });
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
    fn add_live(&mut self, live: LivePart) {
        let written: HashSet<u64> = self
            .chunks
            .iter()
            .map(|chunk| chunk.section.sequence)
            .collect();
        let rest = live
            .chunks
            .into_iter()
            .filter(|chunk| !written.contains(&chunk.section.sequence));
        self.chunks.extend(rest);
        self.tails.extend(live.tails);
        self.stop = live.stop.or(self.stop);
        // With the live file there, nothing is missing, unless one of the two is damaged.
        self.complete = true;
        self.live = Some(live.file);
        if let Some(Damage { offset, what }) = live.damage {
            self.obstruct(offset, what);
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
