//! Writing a trace while the program runs.
//!
//! A thread that records holds an [`Appender`], which owns one chunk of the live file. Appending is a store of a
//! few bytes and a store of the cursor. When the chunk is full it goes to the background thread and the appender
//! takes another; the background thread appends the chunk to the trace file as a section with a checksum and
//! gives the chunk back. The lock in here is taken once per chunk, never per event.
//!
//! If there is no free chunk, the live file grows; nobody waits for the disk. If it cannot grow, or the trace
//! file cannot, recording stops: the mark is left in the live file, the program goes on.

use std::{
    collections::VecDeque,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    ops::Deref,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use crate::{
    error::TraceError,
    event::{Encoder, Event, MAX_ENCODED, MAX_NAME},
    layout::{
        CHUNK_HEADER, FILE_HEADER, FILE_MAGIC, FLAG_STRUCTURED, FORMAT_VERSION, chunk, get_u32,
        get_u64, kind,
    },
    live::{ChunkPtr, LiveFile, SlotPtr, live_path},
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
    on_stop: fn(Stop),
}

struct State {
    live: LiveFile,
    /// Chunks that nobody uses.
    free: Vec<ChunkPtr>,
    /// Chunks that threads which ended left with room in them; the next thread goes on there.
    begun: Vec<ChunkPtr>,
    full: VecDeque<ChunkPtr>,
    slots: Vec<SlotPtr>,
    /// Of the next chunk that is opened. Under the lock until the chunk says so itself, so that there are no gaps: to
    /// a reader, one is a lost chunk.
    sequence: u64,
    finishing: bool,
    background: Option<JoinHandle<()>>,
}

/// Chunks held back for the background writer to have something to do; past this the disk is hopeless.
const MAX_FULL: usize = 2048;

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
        let mut start = Vec::with_capacity(FILE_HEADER);
        start.extend_from_slice(&FILE_MAGIC);
        start.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        start.resize(FILE_HEADER, 0);
        let section = Section {
            kind: kind::PROGRAM,
            ..Section::default()
        };
        start.extend_from_slice(&section.to_bytes(&program.to_bytes()));
        without_file_size_signal(|| file.write_all(&start))
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
                full: VecDeque::new(),
                slots,
                sequence: 0,
                finishing: false,
                background: None,
            }),
            work: Condvar::new(),
            stopped: AtomicBool::new(false),
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
        self.shared.stopped.load(Ordering::Acquire)
    }

    /// Ends recording early, with this mark in the trace. Only the first call has an effect.
    pub fn stop(&self, why: Stop) {
        self.shared.stop(why, self.shared.state());
    }

    /// A place to append the events of an OS thread to; `None` once recording has stopped.
    pub fn appender(&self, thread: u32) -> Option<Appender> {
        let chunk = self.shared.begun_or_free_chunk(thread)?;
        Some(Appender {
            used: chunk.used(),
            chunk,
            thread,
            end: None,
            writer: self.clone(),
        })
    }

    /// A counter for an activity; `None` once recording has stopped.
    pub fn slot(&self, activity: u32) -> Option<Slot> {
        let mut state = self.shared.state();
        if self.has_stopped() {
            return None;
        }
        if state.slots.is_empty() {
            match state.live.add_slots() {
                Ok(slots) => state.slots = slots,
                Err(error) => {
                    self.shared.stop(reason(&error), state);
                    return None;
                }
            }
        }
        let slot = state.slots.pop()?;
        slot.open(activity);
        Some(Slot {
            slot,
            writer: self.clone(),
        })
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
        if self.stopped.load(Ordering::Acquire) {
            return None;
        }
        if let Some(begun) = state.begun.pop() {
            return Some(begun);
        }
        drop(state);
        self.free_chunk(thread, 0, 0)
    }

    fn free_chunk(&self, thread: u32, activity: u32, position: u64) -> Option<ChunkPtr> {
        let mut state = self.state();
        if self.stopped.load(Ordering::Acquire) {
            return None;
        }
        if state.free.is_empty() {
            if state.full.len() > MAX_FULL {
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
        chunk.open(state.sequence, thread, activity, position);
        state.sequence += 1;
        Some(chunk)
    }

    fn submit(&self, chunk: ChunkPtr) {
        self.state().full.push_back(chunk);
        self.work.notify_one();
    }

    /// The background thread.
    fn write_full_chunks(&self, mut file: File, storage: Storage) {
        loop {
            let chunk = {
                let mut state = self.state();
                loop {
                    // After a stop, full chunks stay where they are: they are part of the trace.
                    if let Some(&chunk) = state.full.front()
                        && !self.stopped.load(Ordering::Acquire)
                    {
                        break chunk;
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
                Storage::File => {
                    without_file_size_signal(|| file.write_all(&chunk_section(&chunk)))
                }
                Storage::Discard => Ok(()),
            };
            let mut state = self.state();
            match result {
                Ok(()) => {
                    chunk.free();
                    state.full.pop_front();
                    state.free.push(chunk);
                }
                // The chunk stays in the live file: a reader takes it from there.
                Err(error) => self.stop(reason(&error), state),
            }
        }
    }
}

fn reason(error: &io::Error) -> Stop {
    match (error.kind(), error.raw_os_error()) {
        (_, Some(errno)) => Stop::Storage(errno),
        (io::ErrorKind::OutOfMemory, None) => Stop::NoRoom,
        (_, None) => Stop::Storage(libc::EIO),
    }
}

fn chunk_section(chunk: &ChunkPtr) -> Vec<u8> {
    let (header, payload) = chunk.contents();
    section_of_chunk(header.try_into().expect("a chunk's header")).to_bytes(payload)
}

/// The section header for a chunk of the live file.
pub(crate) fn section_of_chunk(header: &[u8; CHUNK_HEADER]) -> Section {
    Section {
        kind: kind::CHUNK,
        flags: header[chunk::FLAGS],
        sequence: get_u64(header, chunk::SEQUENCE),
        thread: get_u32(header, chunk::THREAD),
        activity: get_u32(header, chunk::ACTIVITY),
        position: get_u64(header, chunk::POSITION),
        ..Section::default()
    }
}

/// Where one OS thread appends events. Its chunk is left to the next thread when it is dropped.
pub struct Appender {
    chunk: ChunkPtr,
    used: usize,
    thread: u32,
    /// The activity that the chunk's end speaks of, and its position there; none where another thread has left it.
    /// The position tells an activity that was on another thread meanwhile, and said something there.
    end: Option<(u32, u64)>,
    writer: Writer,
}

impl Appender {
    /// Appends where an activity comes from: the first thing it says. Origin 0 is the main thread, 1 a thread of
    /// which nobody told us, `2 + n` a child of activity `n`; `index` counts among those of the same origin.
    #[must_use = "false means that recording has stopped"]
    pub fn start(&mut self, activity: u32, origin: u64, index: u64, name: &str) -> bool {
        let name = &name[..name.floor_char_boundary(MAX_NAME)];
        self.append(activity, 0, 0, true, |encoder| {
            encoder.start(origin, index, name.as_bytes())
        })
    }

    /// Appends an event of an activity that has done `position` operations before its silent ones.
    #[inline]
    #[must_use = "false means that recording has stopped"]
    pub fn event(&mut self, activity: u32, position: u64, event: &Event) -> bool {
        let operations = u64::from(event.silent) + 1;
        self.append(activity, position, operations, false, |encoder| {
            encoder.event(event)
        })
    }

    /// Appends a check of the activity's hash.
    #[must_use = "false means that recording has stopped"]
    pub fn tick(&mut self, activity: u32, position: u64, silent: u32, hash: u32) -> bool {
        // One that stands for no operation is marked for the reader, to which it matters when it puts pieces in order.
        self.append(activity, position, silent.into(), silent == 0, |encoder| {
            encoder.tick(silent, hash)
        })
    }

    /// Appends that the activity's code is at its end.
    #[must_use = "false means that recording has stopped"]
    pub fn end(&mut self, activity: u32, position: u64, silent: u32, hash: u32) -> bool {
        self.append(activity, position, silent.into(), false, |encoder| {
            encoder.end(silent, hash)
        })
    }

    /// Appends what `encode` makes, which stands for so many operations of the activity from its position on.
    #[inline]
    fn append(
        &mut self,
        activity: u32,
        position: u64,
        operations: u64,
        structured: bool,
        encode: impl FnOnce(&mut Encoder<'_>),
    ) -> bool {
        if self.used + MAX_ENCODED > ChunkPtr::CAPACITY && !self.next_chunk(activity, position) {
            return false;
        }
        let switches = self.end != Some((activity, position));
        if switches || structured {
            self.chunk.add_flags(FLAG_STRUCTURED);
        }
        let mut encoder = Encoder::new(self.chunk.rest(self.used));
        if switches {
            encoder.switch(activity, position);
        }
        encode(&mut encoder);
        self.used += encoder.used();
        self.end = Some((activity, position + operations));
        self.chunk.set_used(self.used);
        true
    }

    #[cold]
    fn next_chunk(&mut self, activity: u32, position: u64) -> bool {
        let shared = &self.writer.shared;
        let Some(next) = shared.free_chunk(self.thread, activity, position) else {
            return false;
        };
        shared.submit(std::mem::replace(&mut self.chunk, next));
        self.used = 0;
        self.end = Some((activity, position));
        true
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        self.writer.shared.state().begun.push(self.chunk);
    }
}

/// The counter of one activity, in the live file.
pub struct Slot {
    slot: SlotPtr,
    writer: Writer,
}

impl Slot {
    /// Where the counter (low 32 bits) and the hash (high 32 bits) are. Valid as long as this slot.
    pub fn word(&self) -> std::ptr::NonNull<u64> {
        self.slot.word()
    }
}

impl Drop for Slot {
    /// The caller has said in the trace what the slot counted, or recording has stopped.
    fn drop(&mut self) {
        if !self.writer.has_stopped() {
            self.slot.free();
            self.writer.shared.state().slots.push(self.slot);
        }
    }
}
