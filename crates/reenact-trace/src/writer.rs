//! Writing a trace while the program runs.
//!
//! A recording thread has an [`Appender`](crate::Appender), which owns one chunk of the live file. Appending stores a
//! few bytes and then the cursor. A full chunk goes to the background thread and the appender takes another one; the
//! background thread appends the chunk to the trace file as a section with a checksum and frees the chunk. The lock in
//! this module is taken once per chunk, never per event. Data take the same path in chunks of their own.
//!
//! If there is no free chunk, the live file grows; no thread waits for the disk. If it or the trace file cannot grow,
//! recording stops: a mark is left in the live file, and the program goes on.

mod appender;
mod data;
mod slots;
mod stored_data;

use std::{
    collections::VecDeque,
    fs::{self, File},
    io::{self, IoSlice, Write},
    ops::Deref,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, atomic::AtomicU64},
    thread::JoinHandle,
};

pub use appender::Appender;
pub use slots::Slot;

use data::DataChunk;
use stored_data::StoredData;

use crate::{
    error::TraceError,
    layout::{
        CHUNK_HEADER, CHUNKS_PER_SLAB, FILE_HEADER, FILE_MAGIC, FIRST_NOTE, FIRST_VARIABLE,
        FLAG_DATA, FORMAT_VERSION, MAX_SLABS, chunk, get_u32, get_u64, kind,
    },
    live::{ChunkHeader, ChunkPtr, LiveFile, SlotPtr, live_path, truncation::Guard},
    open::create_private,
    program::{Program, StopReason},
    section::Section,
    signal::{blocked_in_new_thread, without_file_size_signal},
    variables::Variable,
};

/// What happens to full chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// They are written to the trace file.
    File,
    /// They are discarded, to measure the cost of recording without a disk. Such a trace cannot be replayed.
    Discard,
}

/// A trace that is being written. Clones refer to the same trace.
///
/// If the last clone is dropped without [`Writer::finish`], the trace is left as by a crash: in two files, with nothing
/// missing.
#[derive(Clone)]
pub struct Writer {
    shared: Arc<Handle>,
}

/// Shared by all clones; dropping it ends the background thread, which has only the inner `Arc`.
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
    /// Knows whether recording has stopped early; appenders check that when they need a chunk.
    guard: &'static Guard,
    /// The next id of data. Ids only have to be unique, so relaxed operations suffice.
    data_id: AtomicU64,
    /// The ids of the next note and the next variable. Held while one is stored, so that none is missing before another.
    note_id: Mutex<u64>,
    variable_id: Mutex<u64>,
    stored_data: StoredData,
    on_stop: fn(StopReason),
}

struct State {
    live: LiveFile,
    /// Unused chunks.
    free: Vec<ChunkPtr>,
    /// Chunks with room left by threads that have ended; the next thread continues there.
    begun: Vec<ChunkPtr>,
    /// The same for chunks of data.
    begun_data: Vec<ChunkPtr>,
    full: VecDeque<ChunkPtr>,
    /// How many of the full chunks contain data.
    full_data: usize,
    slots: Vec<SlotPtr>,
    /// Sequence number of the next chunk. Protected by the lock until the chunk contains it, so that there are no gaps:
    /// to a reader, a gap is a lost chunk.
    sequence: u64,
    finishing: bool,
    background: Option<JoinHandle<()>>,
}

/// Maximum number of full chunks that wait for the background thread; with more, the disk is considered too slow.
const MAX_FULL: usize = 2048;
/// The same for chunks of data. These may come all at once, from a file that is already in memory, and faster than any
/// disk writes them: half a live file of them does not mean that the disk is too slow.
const MAX_FULL_DATA: usize = MAX_SLABS * CHUNKS_PER_SLAB / 2;
/// Maximum number of chunks that the background thread writes at once: few long writes cost less than many short ones.
const MAX_AT_ONCE: usize = 16;

impl Writer {
    /// Creates the trace file and its live file and starts the background thread.
    ///
    /// `on_stop` is called once, on the thread that finds that recording cannot go on. If that is because the live file was
    /// truncated ([`StopReason::Truncated`]), a signal handler calls it.
    pub fn create(
        path: &Path,
        program: &Program,
        storage: Storage,
        on_stop: fn(StopReason),
    ) -> Result<Writer, TraceError> {
        // Removes a live file that an earlier recording left. If that fails, creating ours reports it.
        let live_path = live_path(path);
        let _ = fs::remove_file(&live_path);
        let mut file = create_private(path).map_err(TraceError::io("cannot create", path))?;
        keep_private(&file);
        without_file_size_signal(|| file.write_all(&beginning(program, FORMAT_VERSION)))
            .map_err(TraceError::io("cannot write", path))?;

        let (live, slots, chunks) = LiveFile::create(&live_path, on_stop)
            .and_then(|mut live| {
                let slots = live.add_slots()?;
                let chunks = live.add_chunks()?;
                Ok((live, slots, chunks))
            })
            .inspect_err(|error| {
                // An incomplete live file would look like a recording in which nothing happened. One that existed
                // before is not ours.
                if error.kind() != io::ErrorKind::AlreadyExists {
                    let _ = fs::remove_file(&live_path);
                }
            })
            .map_err(TraceError::io("cannot set up", &live_path))?;

        let guard = live.guard();
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
            guard,
            data_id: AtomicU64::new(0),
            note_id: Mutex::new(FIRST_NOTE),
            variable_id: Mutex::new(FIRST_VARIABLE),
            stored_data: StoredData::default(),
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

    /// Returns the path of the trace file.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Returns whether recording has stopped early.
    pub fn has_stopped(&self) -> bool {
        self.shared.has_stopped()
    }

    /// Ends recording early, with this mark in the trace. Only the first call has an effect.
    pub fn stop(&self, why: StopReason) {
        self.shared.stop(why, self.shared.state());
    }

    /// Returns an appender for the events of an OS thread; `None` once recording has stopped.
    pub fn appender(&self, thread: u32) -> Option<Appender> {
        let chunk = self.shared.begun_or_free_chunk(thread)?;
        Some(Appender::new(self.clone(), chunk, thread))
    }

    /// Stores a variable of the environment that the program has read, like a [`note`](Writer::note). The caller stores
    /// each once.
    pub fn variable(&self, thread: u32, variable: &Variable) {
        self.store_next(&self.shared.variable_id, thread, &variable.to_bytes());
    }

    /// Stores a note about the recording as a whole, which survives a kill like data. `thread` is the calling OS thread.
    /// For rare use: it takes locks. Does nothing once recording has stopped.
    pub fn note(&self, thread: u32, bytes: &[u8]) {
        self.store_next(&self.shared.note_id, thread, bytes);
    }

    fn store_next(&self, id: &Mutex<u64>, thread: u32, bytes: &[u8]) {
        let shared = &self.shared;
        let mut id = id.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.has_stopped() {
            return;
        }
        let mut chunk = DataChunk::default();
        if chunk.store_as(shared, thread, *id, bytes).is_some() {
            *id += 1;
        }
        chunk.leave(shared);
    }

    /// Ends recording: moves the contents of the live file to the trace, and removes the live file. Activities that
    /// still record keep their mapping, but what they do from now on is lost; end them before.
    pub fn finish(self) -> Result<(), TraceError> {
        self.shared.end_background();
        // Threads that still record get no more chunks: nothing would empty them.
        self.shared.guard.stop();
        crate::recover(&self.shared.path).map(|_| ())
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_stopped(&self) -> bool {
        self.guard.has_stopped()
    }

    /// Lets the background thread write the full chunks and end.
    fn end_background(&self) {
        let background = {
            let mut state = self.state();
            state.finishing = true;
            self.work.notify_all();
            state.background.take()
        };
        if let Some(background) = background {
            // Joining fails only if the hook panicked, and then the chunks are still in the live file.
            let _ = background.join();
        }
    }

    /// Takes the lock's guard, to release the lock before the hook runs, which may do anything.
    fn stop(&self, why: StopReason, state: MutexGuard<'_, State>) {
        if self.guard.stop() {
            state.live.mark_stop(why);
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
                self.stop(StopReason::NoRoom, state);
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

    /// The loop of the background thread.
    fn write_full_chunks(&self, mut file: File, storage: Storage) {
        loop {
            let chunks: Vec<_> = {
                let mut state = self.state();
                loop {
                    // After a stop, full chunks stay in the live file: they are part of the trace.
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

/// Makes the trace private: one that was overwritten may have been readable by others. Leaves special files such as
/// `/dev/null` alone, and ignores errors of file systems without permissions.
fn keep_private(file: &File) {
    if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
    }
}

fn reason(error: &io::Error) -> StopReason {
    match (error.kind(), error.raw_os_error()) {
        // What is to be written is in the live file, and is not there any more.
        (_, Some(libc::EFAULT)) => StopReason::Truncated,
        (_, Some(errno)) => StopReason::Storage(errno),
        (io::ErrorKind::OutOfMemory, None) => StopReason::NoRoom,
        (_, None) => StopReason::Storage(libc::EIO),
    }
}

/// Returns the beginning of a trace file of this version: its header, and the program.
pub(crate) fn beginning(program: &Program, version: u16) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(FILE_HEADER);
    bytes.extend_from_slice(&FILE_MAGIC);
    bytes.extend_from_slice(&version.to_le_bytes());
    bytes.resize(FILE_HEADER, 0);
    bytes.extend_from_slice(&Section::of(kind::PROGRAM).to_bytes(&program.to_bytes(version)));
    bytes
}

/// Writes chunks as consecutive sections.
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

/// Returns the section header for a chunk of a live file of this version.
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
