//! The live file: the part of a trace that is still being written, as a shared mapping.
//!
//! Threads append events to *chunks* and count operations in *slots*. Both are in memory that is mapped from a file
//! beside the trace, so that what a thread has stored is in the page cache and survives the process, however it dies.
//! Chunks are recycled once they are in the trace itself: writing to pages that are already present costs a nanosecond,
//! fresh ones fifty times that.
//!
//! The file grows by slabs whose blocks are reserved before a thread writes to them: a mapping over a hole would turn a
//! full disk into a SIGBUS. Should somebody truncate it all the same, [`truncation`] ends the recording.
//!
//! # Safety
//!
//! This is the only module that accesses the mapping. [`ChunkPtr`] and [`SlotPtr`] are addresses inside a slab;
//! [`LiveFile`] hands them out and keeps every slab mapped until it is dropped. The holder of a chunk also holds the
//! `Arc` of the writer that owns the file; the holder of a slot has promised to (see [`Slot`](crate::Slot)). A chunk or
//! slot has one owner at a time (the thread it was handed to, or the background thread); readers of the file access it
//! only after the process has died or stopped recording.

pub(crate) mod truncation;

use std::{
    fs::{File, OpenOptions},
    io,
    os::{fd::AsRawFd, unix::fs::OpenOptionsExt},
    path::{Path, PathBuf},
    ptr::NonNull,
    sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering, compiler_fence},
};

use memmap2::{MmapOptions, MmapRaw};

use crate::layout::{
    CHUNK, CHUNK_HEADER, CHUNK_MAGIC, CHUNKS_PER_SLAB, FLAG_DATA, FORMAT_VERSION, LIVE_HEADER,
    LIVE_MAGIC, MAX_SLABS, SLAB, SLOT, SLOTS_PER_SLAB, chunk, live,
};
use crate::program::StopReason;
use crate::signal::without_file_size_signal;
use truncation::Guard;

/// Returns the path of the live file of the trace at `path`.
pub fn live_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".live");
    name.into()
}

pub(crate) struct LiveFile {
    file: File,
    header: MmapRaw,
    slabs: Vec<MmapRaw>,
    guard: &'static Guard,
}

impl Drop for LiveFile {
    fn drop(&mut self) {
        self.guard.release();
    }
}

impl LiveFile {
    /// Creates the file with its header page, readable by its owner only. Fails if it exists: another process may have
    /// mapped it, which would crash if the file shrank.
    ///
    /// `on_stop` is called if the file is truncated, possibly by a signal handler.
    pub(crate) fn create(path: &Path, on_stop: fn(StopReason)) -> io::Result<LiveFile> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        reserve(&file, 0, LIVE_HEADER)?;
        let header = MmapOptions::new().len(LIVE_HEADER).map_raw(&file)?;
        let guard = Guard::new(file.as_raw_fd(), on_stop);
        guard.add(0, header.as_mut_ptr(), LIVE_HEADER);
        let live = LiveFile {
            file,
            header,
            slabs: Vec::new(),
            guard,
        };
        live.put_header(live::VERSION, FORMAT_VERSION.into());
        // SAFETY: Aligned and in the header page. The magic is stored last: without it, this is not a live file.
        let magic = unsafe { AtomicU64::from_ptr(live.header.as_mut_ptr().cast()) };
        magic.store(u64::from_ne_bytes(LIVE_MAGIC), Ordering::Release);
        Ok(live)
    }

    /// Returns what knows whether recording has stopped.
    pub(crate) fn guard(&self) -> &'static Guard {
        self.guard
    }

    /// Adds a slab of chunks and returns them, all free.
    pub(crate) fn add_chunks(&mut self) -> io::Result<Vec<ChunkPtr>> {
        let base = self.add_slab(live::SLAB_CHUNKS, true)?;
        Ok((0..CHUNKS_PER_SLAB)
            // SAFETY: Each chunk lies within the slab.
            .map(|i| ChunkPtr(unsafe { base.add(i * CHUNK) }))
            .collect())
    }

    /// Adds a slab of slots and returns them, all free. Pages are touched only as slots are used.
    pub(crate) fn add_slots(&mut self) -> io::Result<Vec<SlotPtr>> {
        let base = self.add_slab(live::SLAB_SLOTS, false)?;
        Ok((0..SLOTS_PER_SLAB)
            .rev()
            // SAFETY: Each slot lies within the slab.
            .map(|i| SlotPtr(unsafe { base.add(i * SLOT) }))
            .collect())
    }

    fn add_slab(&mut self, kind: u8, populate: bool) -> io::Result<NonNull<u8>> {
        let index = self.slabs.len();
        if index == MAX_SLABS {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let offset = LIVE_HEADER + index * SLAB;
        reserve(&self.file, offset, SLAB)?;
        let slab = MmapOptions::new()
            .offset(offset as u64)
            .len(SLAB)
            .map_raw(&self.file)?;
        self.guard.add(index + 1, slab.as_mut_ptr(), SLAB);
        if populate {
            // Not supported by old kernels; the first use of each page faults then.
            let _ = slab.advise(memmap2::Advice::PopulateWrite);
        }
        let base = NonNull::new(slab.as_mut_ptr()).expect("a mapping is not at zero");
        self.slabs.push(slab);
        // SAFETY: In the header page. The slab exists before its kind is stored.
        unsafe {
            self.header
                .as_mut_ptr()
                .add(live::SLAB_KINDS + index)
                .write_volatile(kind);
        }
        Ok(base)
    }

    /// Stores why recording ended early. Needs no disk space: the page exists.
    pub(crate) fn mark_stop(&self, why: StopReason) {
        if why == StopReason::Truncated {
            self.guard.mark();
            return;
        }
        let (code, errno) = why.to_code();
        self.put_header(live::ERRNO, errno);
        self.put_header(live::STOP, code);
    }

    fn put_header(&self, at: usize, value: u32) {
        // SAFETY: Aligned and in the header page, which stays mapped as long as `self`.
        let field = unsafe { AtomicU32::from_ptr(self.header.as_mut_ptr().add(at).cast()) };
        field.store(value.to_le(), Ordering::Release);
    }
}

/// Ensures that the file has blocks for this range, so that a store to a mapping of it cannot fail.
pub(crate) fn reserve(file: &File, offset: usize, length: usize) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    without_file_size_signal(|| {
        let reserved = rustix::io::retry_on_intr(|| {
            fallocate(file, FallocateFlags::empty(), offset as u64, length as u64)
        });
        match reserved {
            Err(rustix::io::Errno::OPNOTSUPP) => {
                use std::os::unix::fs::FileExt;
                let zeros = vec![0; length.min(SLAB)];
                (0..length).step_by(SLAB).try_for_each(|at| {
                    let part = &zeros[..zeros.len().min(length - at)];
                    file.write_all_at(part, (offset + at) as u64)
                })
            }
            other => Ok(other?),
        }
    })
}

/// The header of a chunk when it is opened. The default is for entries of no particular activity.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ChunkHeader {
    pub(crate) flags: u8,
    pub(crate) activity: u32,
    pub(crate) position: u64,
}

/// A chunk of the live file.
#[derive(Clone, Copy)]
pub(crate) struct ChunkPtr(NonNull<u8>);

// SAFETY: A chunk has one owner at a time, as the module documentation says, and moves between threads through a lock.
unsafe impl Send for ChunkPtr {}

impl ChunkPtr {
    pub(crate) const CAPACITY: usize = CHUNK - CHUNK_HEADER;

    fn u32(&self, at: usize) -> &AtomicU32 {
        // SAFETY: Aligned and within the chunk's header.
        unsafe { AtomicU32::from_ptr(self.0.as_ptr().add(at).cast()) }
    }

    fn u64(&self, at: usize) -> &AtomicU64 {
        // SAFETY: Aligned and within the chunk's header.
        unsafe { AtomicU64::from_ptr(self.0.as_ptr().add(at).cast()) }
    }

    /// Opens a free chunk, empty and with this header. Its state is stored last: before that it is still free.
    pub(crate) fn open(&self, sequence: u64, thread: u32, header: ChunkHeader) {
        let ChunkHeader {
            flags,
            activity,
            position,
        } = header;
        self.u32(chunk::USED).store(0, Ordering::Relaxed);
        self.u32(chunk::FLAGS)
            .store(flags.into(), Ordering::Relaxed);
        self.u32(chunk::MAGIC).store(CHUNK_MAGIC, Ordering::Relaxed);
        self.u64(chunk::SEQUENCE).store(sequence, Ordering::Relaxed);
        self.u32(chunk::THREAD).store(thread, Ordering::Relaxed);
        self.u32(chunk::ACTIVITY).store(activity, Ordering::Relaxed);
        self.u64(chunk::POSITION).store(position, Ordering::Relaxed);
        self.u32(chunk::STATE)
            .store(chunk::IN_USE, Ordering::Release);
    }

    pub(crate) fn free(&self) {
        self.u32(chunk::STATE).store(chunk::FREE, Ordering::Release);
    }

    pub(crate) fn add_flags(&self, flags: u8) {
        let old = self.u32(chunk::FLAGS).load(Ordering::Relaxed);
        self.u32(chunk::FLAGS)
            .store(old | u32::from(flags), Ordering::Relaxed);
    }

    /// Whether it was opened for data.
    pub(crate) fn is_data(&self) -> bool {
        self.u32(chunk::FLAGS).load(Ordering::Relaxed) & u32::from(FLAG_DATA) != 0
    }

    pub(crate) fn sequence(&self) -> u64 {
        self.u64(chunk::SEQUENCE).load(Ordering::Relaxed)
    }

    pub(crate) fn used(&self) -> usize {
        self.u32(chunk::USED).load(Ordering::Relaxed) as usize
    }

    /// Stores up to where the payload is valid. If the process is killed before this, the old end is valid.
    #[inline]
    pub(crate) fn set_used(&self, used: usize) {
        compiler_fence(Ordering::Release);
        self.u32(chunk::USED).store(used as u32, Ordering::Relaxed);
        compiler_fence(Ordering::Release);
    }

    /// Returns the unused rest of the payload, from `used` on. For the chunk's owner.
    #[inline]
    pub(crate) fn rest(&mut self, used: usize) -> &mut [u8] {
        assert!(used <= Self::CAPACITY);
        // SAFETY: Within the chunk; only the owner, which calls this, accesses bytes past the cursor.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.0.as_ptr().add(CHUNK_HEADER + used),
                Self::CAPACITY - used,
            )
        }
    }

    /// Writes bytes after the cursor, which is then set to include the valid ones. For the chunk's owner.
    #[inline]
    pub(crate) fn put<const N: usize>(&mut self, used: usize, bytes: [u8; N]) {
        assert!(used + N <= Self::CAPACITY);
        // SAFETY: Within the chunk; only the owner, which calls this, accesses bytes past the cursor.
        unsafe {
            let end = self.0.as_ptr().add(CHUNK_HEADER + used);
            end.cast::<[u8; N]>().write(bytes);
        }
    }

    /// Atomically changes two bytes at an even offset of the valid payload. For the chunk's owner.
    #[inline]
    pub(crate) fn put_u16(&mut self, at: usize, value: u16) {
        assert!(at.is_multiple_of(2) && at + 2 <= Self::CAPACITY);
        // SAFETY: Aligned, because the payload is, and within the chunk.
        let field = unsafe { AtomicU16::from_ptr(self.0.as_ptr().add(CHUNK_HEADER + at).cast()) };
        compiler_fence(Ordering::Release);
        field.store(value.to_le(), Ordering::Relaxed);
        compiler_fence(Ordering::Release);
    }

    /// Returns the header and the valid payload. For the chunk's owner.
    pub(crate) fn contents(&self) -> (&[u8], &[u8]) {
        // SAFETY: Within the chunk, whose owner calls this.
        let bytes = unsafe { std::slice::from_raw_parts(self.0.as_ptr(), CHUNK) };
        let (header, payload) = bytes.split_at(CHUNK_HEADER);
        (header, &payload[..self.used().min(payload.len())])
    }
}

/// A slot of the live file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlotPtr(NonNull<u8>);

// SAFETY: Like a chunk, a slot has one owner at a time, and moves between threads through a lock or with its activity.
unsafe impl Send for SlotPtr {}

impl SlotPtr {
    /// Returns the slot that begins with this counter.
    pub(crate) fn at(word: NonNull<u64>) -> SlotPtr {
        SlotPtr(word.cast())
    }

    /// Returns the address of the counter and hash.
    pub(crate) fn word(&self) -> NonNull<u64> {
        self.0.cast()
    }

    /// Assigns the slot to an activity, with nothing counted yet.
    pub(crate) fn open(&self, activity: u32) {
        // SAFETY: Aligned and within the slot, which the caller owns.
        unsafe {
            AtomicU64::from_ptr(self.0.as_ptr().cast()).store(0, Ordering::Relaxed);
            AtomicU32::from_ptr(self.0.as_ptr().add(8).cast())
                .store(activity.wrapping_add(1), Ordering::Release);
        }
    }

    pub(crate) fn free(&self) {
        // SAFETY: Aligned and within the slot, which the caller owns.
        unsafe {
            AtomicU32::from_ptr(self.0.as_ptr().add(8).cast()).store(0, Ordering::Release);
        }
    }
}
