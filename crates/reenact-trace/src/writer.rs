//! Writing a trace while the program runs.
//!
//! A thread that records holds an [`Appender`](crate::Appender), which owns one chunk of the live file. Appending is a store of a
//! few bytes and a store of the cursor. When the chunk is full it goes to the background thread and the appender
//! takes another; the background thread appends the chunk to the trace file as a section with a checksum and
//! gives the chunk back. The lock in here is taken once per chunk, never per event. Data go the same way in chunks of
//! their own.
//!
//! If there is no free chunk, the live file grows; nobody waits for the disk. If it cannot grow, or the trace
//! file cannot, recording stops: the mark is left in the live file, the program goes on.

mod appender;
mod data;
mod known;
mod slots;

use std::{
    collections::VecDeque,
    fs::{self, File, OpenOptions},
    io::{self, IoSlice, Write},
    ops::Deref,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
};

pub use appender::Appender;
pub use slots::Slot;

use known::Known;

use crate::{
    error::TraceError,
    layout::{
        CHUNK_HEADER, CHUNKS_PER_SLAB, FILE_HEADER, FILE_MAGIC, FLAG_DATA, FORMAT_VERSION,
        MAX_SLABS, chunk, get_u32, get_u64, kind,
    },
    live::{ChunkHeader, ChunkPtr, LiveFile, SlotPtr, live_path},
    program::{Program, Stop},
    section::Section,
    signal::{blocked_in_new_thread, without_file_size_signal},
};

/// What becomes of full chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// They are written to the trace file.
    File,
    /// They are thrown away: to measure what recording costs without a disk. Such a trace cannot be replayed.
    Discard,
}

/// A trace being written. Clones are the same trace.
///
/// If the last of them goes without [`Writer::finish`], the trace is left as by a crash: in two files, with nothing
/// missing.
#[derive(Clone)]
pub struct Writer {
    shared: Arc<Handle>,
}

/// What all clones share. The background thread shares only what is in it, and ends with it.
struct Handle(Arc<Shared>);

impl Deref for Handle {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.end_background();
    }
}

struct Shared {
    path: PathBuf,
    state: Mutex<State>,
    work: Condvar,
    /// Set once, when recording has stopped early; appenders look at it when they need a chunk.
    stopped: AtomicBool,
    /// Of the next data. Only that no two get the same matters, so nothing is ordered by it.
    data_id: AtomicU64,
    known: Known,
    on_stop: fn(Stop),
}

struct State {
    live: LiveFile,
    /// Chunks that nobody uses.
    free: Vec<ChunkPtr>,
    /// Chunks that threads which ended left with room in them; the next thread goes on there.
    begun: Vec<ChunkPtr>,
    /// The same of chunks of data.
    begun_data: Vec<ChunkPtr>,
    full: VecDeque<ChunkPtr>,
    /// How many of the full chunks are of data.
    full_data: usize,
    slots: Vec<SlotPtr>,
    /// Of the next chunk that is opened. Under the lock until the chunk says so itself, so that there are no gaps: to
    /// a reader, one is a lost chunk.
    sequence: u64,
    finishing: bool,
    background: Option<JoinHandle<()>>,
}

/// Chunks held back for the background writer to have something to do; past this the disk is hopeless.
const MAX_FULL: usize = 2048;
/// The same of chunks of data. They may come all at once, from a file that is in memory already, and faster than any disk
/// takes them: half a live file of them is no sign of anything.
const MAX_FULL_DATA: usize = MAX_SLABS * CHUNKS_PER_SLAB / 2;
/// The background writer takes so many at a time, if there are: few long writes cost less than many short ones.
const MAX_AT_ONCE: usize = 16;

impl Writer {
    /// Creates the trace file and its live file and starts the background writer.
    ///
    /// `on_stop` is called, once, from whatever thread finds that recording cannot go on.
    pub fn create(
        path: &Path,
        program: &Program,
        storage: Storage,
        on_stop: fn(Stop),
    ) -> Result<Writer, TraceError> {
        // One that an earlier recording left is not ours. If it cannot go, creating ours will say so.
        let live_path = live_path(path);
        let _ = fs::remove_file(&live_path);
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(path)
            .map_err(TraceError::io("cannot create", path))?;
        keep_private(&file);
        without_file_size_signal(|| file.write_all(&beginning(program, FORMAT_VERSION)))
            .map_err(TraceError::io("cannot write", path))?;

        let (live, slots, chunks) = LiveFile::create(&live_path)
            .and_then(|mut live| {
                let slots = live.add_slots()?;
                let chunks = live.add_chunks()?;
                Ok((live, slots, chunks))
            })
            .inspect_err(|error| {
                // Half of one would read as a recording in which nothing happened. One that was there is not ours.
                if error.kind() != io::ErrorKind::AlreadyExists {
                    let _ = fs::remove_file(&live_path);
                }
            })
            .map_err(TraceError::io("cannot set up", &live_path))?;

        let shared = Arc::new(Shared {
            path: path.to_owned(),
            state: Mutex::new(State {
                live,
                free: chunks,
                begun: Vec::new(),
                begun_data: Vec::new(),
                full: VecDeque::new(),
                full_data: 0,
                slots,
                sequence: 0,
                finishing: false,
                background: None,
            }),
            work: Condvar::new(),
            stopped: AtomicBool::new(false),
            data_id: AtomicU64::new(0),
            known: Known::default(),
            on_stop,
        });
        let background = blocked_in_new_thread(|| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new()
                .name("reenact-writer".into())
                .spawn(move || shared.write_full_chunks(file, storage))
        })
        .inspect_err(|_| drop(fs::remove_file(&live_path)))
        .map_err(TraceError::io("cannot start the thread that writes", path))?;
        shared.state().background = Some(background);
        Ok(Writer {
            shared: Arc::new(Handle(shared)),
        })
    }

    /// The trace file.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Whether recording has stopped early.
    pub fn has_stopped(&self) -> bool {
        self.shared.has_stopped()
    }

    /// Ends recording early, with this mark in the trace. Only the first call has an effect.
    pub fn stop(&self, why: Stop) {
        self.shared.stop(why, self.shared.state());
    }

    /// A place to append the events of an OS thread to; `None` once recording has stopped.
    pub fn appender(&self, thread: u32) -> Option<Appender> {
        let chunk = self.shared.begun_or_free_chunk(thread)?;
        Some(Appender::new(self.clone(), chunk, thread))
    }

    /// Ends recording: what is in the live file moves to the trace, and the live file goes. Activities that still
    /// record keep their mapping, but what they do from now on is lost; end them before.
    pub fn finish(self) -> Result<(), TraceError> {
        self.shared.end_background();
        // Whoever still records gets no more chunks: nobody would empty them.
        self.shared.stopped.store(true, Ordering::Release);
        crate::recover(&self.shared.path).map(|_| ())
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Lets the background thread write what is full, and end.
    fn end_background(&self) {
        let background = {
            let mut state = self.state();
            state.finishing = true;
            self.work.notify_all();
            state.background.take()
        };
        if let Some(background) = background {
            // It fails only if the hook panicked, and then the chunks are still in the live file.
            let _ = background.join();
        }
    }

    /// Takes the lock along, to give it back before the hook runs: that may do anything.
    fn stop(&self, why: Stop, state: MutexGuard<'_, State>) {
        if !self.stopped.swap(true, Ordering::AcqRel) {
            let (code, errno) = why.to_code();
            state.live.mark_stop(code, errno);
            drop(state);
            (self.on_stop)(why);
        }
    }

    fn begun_or_free_chunk(&self, thread: u32) -> Option<ChunkPtr> {
        let mut state = self.state();
        if self.has_stopped() {
            return None;
        }
        if let Some(begun) = state.begun.pop() {
            return Some(begun);
        }
        drop(state);
        self.free_chunk(thread, ChunkHeader::default())
    }

    fn free_chunk(&self, thread: u32, header: ChunkHeader) -> Option<ChunkPtr> {
        let mut state = self.state();
        if self.has_stopped() {
            return None;
        }
        if state.free.is_empty() {
            let is_hopeless = match header.flags & FLAG_DATA {
                0 => state.full.len() - state.full_data > MAX_FULL,
                _ => state.full_data > MAX_FULL_DATA,
            };
            if is_hopeless {
                self.stop(Stop::NoRoom, state);
                return None;
            }
            match state.live.add_chunks() {
                Ok(chunks) => state.free = chunks,
                Err(error) => {
                    self.stop(reason(&error), state);
                    return None;
                }
            }
        }
        let chunk = state.free.pop()?;
        chunk.open(state.sequence, thread, header);
        state.sequence += 1;
        Some(chunk)
    }

    fn submit(&self, chunk: ChunkPtr) {
        let mut state = self.state();
        state.full.push_back(chunk);
        state.full_data += usize::from(chunk.is_data());
        drop(state);
        self.work.notify_one();
    }

    /// The background thread.
    fn write_full_chunks(&self, mut file: File, storage: Storage) {
        loop {
            let chunks: Vec<_> = {
                let mut state = self.state();
                loop {
                    // After a stop, full chunks stay where they are: they are part of the trace.
                    if !state.full.is_empty() && !self.has_stopped() {
                        break state.full.iter().take(MAX_AT_ONCE).copied().collect();
                    }
                    if state.finishing {
                        return;
                    }
                    state = self
                        .work
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            };
            let result = match storage {
                Storage::File => without_file_size_signal(|| write_chunks(&mut file, &chunks)),
                Storage::Discard => Ok(()),
            };
            let mut state = self.state();
            match result {
                Ok(()) => {
                    for chunk in chunks {
                        state.full_data -= usize::from(chunk.is_data());
                        chunk.free();
                        state.full.pop_front();
                        state.free.push(chunk);
                    }
                }
                // The chunks stay in the live file: a reader takes them from there.
                Err(error) => self.stop(reason(&error), state),
            }
        }
    }
}

/// A trace that was there before may have been readable by others, which this one is not. What is no file, as `/dev/null`,
/// is not ours to change, and a file system that has no permissions does without.
fn keep_private(file: &File) {
    if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
    }
}

fn reason(error: &io::Error) -> Stop {
    match (error.kind(), error.raw_os_error()) {
        (_, Some(errno)) => Stop::Storage(errno),
        (io::ErrorKind::OutOfMemory, None) => Stop::NoRoom,
        (_, None) => Stop::Storage(libc::EIO),
    }
}

/// What a trace file of this version begins with: its header, and the program.
pub(crate) fn beginning(program: &Program, version: u16) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(FILE_HEADER);
    bytes.extend_from_slice(&FILE_MAGIC);
    bytes.extend_from_slice(&version.to_le_bytes());
    bytes.resize(FILE_HEADER, 0);
    bytes.extend_from_slice(&Section::of(kind::PROGRAM).to_bytes(&program.to_bytes(version)));
    bytes
}

/// Writes chunks as sections, one after the other.
fn write_chunks(file: &mut File, chunks: &[ChunkPtr]) -> io::Result<()> {
    let headers: Vec<_> = chunks
        .iter()
        .map(|chunk| {
            let (header, payload) = chunk.contents();
            section_of_chunk(header.try_into().expect("a chunk's header"), FORMAT_VERSION)
                .header_for(payload)
        })
        .collect();
    let mut slices: Vec<_> = headers
        .iter()
        .zip(chunks)
        .flat_map(|(header, chunk)| [IoSlice::new(header), IoSlice::new(chunk.contents().1)])
        .collect();
    let mut rest = &mut slices[..];
    while !rest.is_empty() {
        match file.write_vectored(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut rest, written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The section header for a chunk of a live file of this version.
pub(crate) fn section_of_chunk(header: &[u8; CHUNK_HEADER], version: u16) -> Section {
    let flags = header[chunk::FLAGS];
    let (kind, flags) = match flags & FLAG_DATA {
        0 => (kind::CHUNK, flags),
        _ if version < 3 => (kind::CHUNK, flags),
        _ => (kind::DATA, flags & !FLAG_DATA),
    };
    Section {
        kind,
        flags,
        sequence: get_u64(header, chunk::SEQUENCE),
        thread: get_u32(header, chunk::THREAD),
        activity: get_u32(header, chunk::ACTIVITY),
        position: get_u64(header, chunk::POSITION),
        ..Section::default()
    }
}
