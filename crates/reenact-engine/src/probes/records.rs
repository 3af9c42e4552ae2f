//! The file that probes write to and `reenact refine` reads.
//!
//! ```text
//! header   one page: MAGIC, bias, process, chunks, lost, sequence (u64 each)
//! chunk    CHUNK bytes: used (u32), 0 (u32), records
//! record   size (u32), probe (u32), sequence (u64), activity (u32), thread (u32), operation (u64), stack (u64), copies;
//!          padded to eight bytes
//! ```
//!
//! The file is a mapping that all threads share. Each thread fills a chunk of its own, so a process that is killed loses
//! nothing. `sequence` orders the records of all threads. All numbers are in the byte order of the machine: the file is
//! read by the command that started the replay.

use std::{
    cell::Cell,
    fs::File,
    io,
    os::fd::{AsRawFd, IntoRawFd, RawFd},
    sync::atomic::{
        AtomicU32, AtomicU64,
        Ordering::{Relaxed, Release},
    },
};

use super::handler::system_call;

const MAGIC: u64 = u64::from_le_bytes(*b"reenprob");
const HEADER: usize = 4096;
const CHUNK: usize = 1 << 18;
/// Where the records of a chunk begin.
const FIRST: usize = 8;
/// The size of a record without its copies.
const FIXED: usize = 40;
/// The largest number of bytes that one probe may copy.
pub const MOST: usize = CHUNK - FIRST - FIXED - 8;

/// The head of the file.
///
/// # State
///
/// `chunks` counts the chunks in use, or asked for in vain; `lost` the records that found no room; `sequence` all
/// records. Relaxed: the file is read when the process has ended.
#[repr(C)]
struct Header {
    magic: u64,
    bias: u64,
    process: u64,
    chunks: AtomicU64,
    lost: AtomicU64,
    sequence: AtomicU64,
}

thread_local! {
    /// The chunk that the thread fills, and how much of it is used.
    static CURRENT: Cell<(*mut u8, usize)> = const { Cell::new((std::ptr::null_mut(), 0)) };
}

/// Where the probes of this process write.
pub(super) struct Writer {
    base: *mut u8,
    /// The number of chunks for which there is room.
    most: u64,
    file: RawFd,
}

// SAFETY: The mapping exists until the process ends. Its header is atomic, and a chunk belongs to one thread.
unsafe impl Send for Writer {}
// SAFETY: As above.
unsafe impl Sync for Writer {}

/// What all records begin with.
pub(super) struct Stop {
    pub(super) probe: u32,
    pub(super) activity: u32,
    pub(super) thread: u32,
    pub(super) operation: u64,
    pub(super) stack: u64,
}

impl Writer {
    pub(super) fn new(file: File, bias: u64, process: i64, room: u64) -> io::Result<Writer> {
        let most = room.div_ceil(CHUNK as u64).max(1);
        let length = HEADER + most as usize * CHUNK;
        file.set_len(HEADER as u64)?;
        // SAFETY: A new mapping, at an address that the kernel chooses. What is beyond the end of the file is not
        // accessed before `next_chunk` has extended it.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                file.as_raw_fd(),
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let header = Header {
            magic: MAGIC,
            bias,
            process: process as u64,
            chunks: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            sequence: AtomicU64::new(0),
        };
        // SAFETY: The first page of the mapping is writable and aligned.
        unsafe { base.cast::<Header>().write(header) };
        Ok(Writer {
            base: base.cast(),
            most,
            file: file.into_raw_fd(),
        })
    }

    fn header(&self) -> &Header {
        // SAFETY: `new` has initialised it, and all that changes is atomic.
        unsafe { &*self.base.cast() }
    }

    /// Returns the next position in the order of all records.
    pub(super) fn moment(&self) -> u64 {
        self.header().sequence.fetch_add(1, Relaxed)
    }

    /// Appends a record with room for this many bytes, which `fill` writes. Runs in a signal handler.
    pub(super) fn append(&self, stop: &Stop, length: usize, fill: impl FnOnce(&mut [u8])) {
        let size = (FIXED + length).next_multiple_of(8);
        let sequence = self.moment();
        let (mut chunk, mut used) = CURRENT.get();
        if chunk.is_null() || used + size > CHUNK {
            let Some(next) = self.next_chunk() else {
                self.header().lost.fetch_add(1, Relaxed);
                return;
            };
            (chunk, used) = (next, FIRST);
        }
        // SAFETY: The chunk belongs to this thread, and what is beyond `used` has room for the record. All fields are
        // aligned, because `FIRST` and all sizes are multiples of eight.
        unsafe {
            let record = chunk.add(used);
            record.cast::<u32>().write(size as u32);
            record.cast::<u32>().add(1).write(stop.probe);
            record.cast::<u64>().add(1).write(sequence);
            record.cast::<u32>().add(4).write(stop.activity);
            record.cast::<u32>().add(5).write(stop.thread);
            record.cast::<u64>().add(3).write(stop.operation);
            record.cast::<u64>().add(4).write(stop.stack);
            fill(std::slice::from_raw_parts_mut(record.add(FIXED), length));
            (*chunk.cast::<AtomicU32>()).store((used + size) as u32, Release);
        }
        CURRENT.set((chunk, used + size));
    }

    /// Returns a chunk for the calling thread; `None` if there is no room for another, in the plan or on the disk.
    fn next_chunk(&self) -> Option<*mut u8> {
        let index = self.header().chunks.fetch_add(1, Relaxed);
        if index >= self.most {
            return None;
        }
        let at = HEADER + index as usize * CHUNK;
        // A hole in the file would end the process when the disk is full; this fails instead.
        // SAFETY: The call only extends the file.
        let result = unsafe {
            system_call([
                libc::SYS_fallocate,
                self.file.into(),
                0,
                at as i64,
                CHUNK as i64,
                0,
                0,
            ])
        };
        // SAFETY: The mapping has room for `most` chunks.
        (result == 0).then(|| unsafe { self.base.add(at) })
    }
}

/// What probes have seen, in order.
#[derive(Debug, Default)]
pub struct Records {
    /// The difference between addresses in the process and in the executable file.
    pub bias: u64,
    /// The system's number of the main thread.
    pub main_thread: u32,
    /// The records, in the order in which the stops happened.
    pub records: Vec<Record>,
    /// The number of further stops, which found no room.
    pub lost: u64,
}

/// What one probe has seen at one stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The position in the order of all stops.
    pub sequence: u64,
    /// The index of the probe in the plan.
    pub probe: u32,
    /// The number of the activity; `None` if the thread runs none.
    pub activity: Option<u32>,
    /// The system's number of the thread.
    pub thread: u32,
    /// How many operations the activity had done, as far as it knew.
    pub operation: u64,
    /// The value of the stack pointer.
    pub stack: u64,
    /// What was copied.
    pub copies: Vec<u8>,
}

impl Records {
    /// Reads what a replay has left in a file.
    pub fn read(bytes: &[u8]) -> Result<Records, String> {
        let word = |at: usize| {
            let bytes = bytes.get(at..at + 8)?;
            Some(u64::from_ne_bytes(bytes.try_into().ok()?))
        };
        if word(0) != Some(MAGIC) {
            return Err("this is not a file of records".to_owned());
        }
        let header = |index: usize| word(index * 8).unwrap_or(0);
        let mut records = Vec::new();
        for chunk in bytes.get(HEADER..).unwrap_or_default().chunks(CHUNK) {
            read_chunk(chunk, &mut records).ok_or("the records are damaged")?;
        }
        records.sort_unstable_by_key(|record| record.sequence);
        Ok(Records {
            bias: header(1),
            main_thread: header(2) as u32,
            lost: header(4),
            records,
        })
    }
}

fn read_chunk(chunk: &[u8], records: &mut Vec<Record>) -> Option<()> {
    let small = |at: usize| Some(u32::from_ne_bytes(chunk.get(at..at + 4)?.try_into().ok()?));
    let word = |at: usize| Some(u64::from_ne_bytes(chunk.get(at..at + 8)?.try_into().ok()?));
    let used = small(0)? as usize;
    let mut at = FIRST;
    while at < used {
        let size = small(at)? as usize;
        if size < FIXED || at + size > used {
            return None;
        }
        records.push(Record {
            probe: small(at + 4)?,
            sequence: word(at + 8)?,
            activity: small(at + 16)?.checked_sub(1),
            thread: small(at + 20)?,
            operation: word(at + 24)?,
            stack: word(at + 32)?,
            copies: chunk.get(at + FIXED..at + size)?.to_vec(),
        });
        at += size;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(room: u64, count: u32) -> Records {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("records");
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .unwrap();
        let writer = Writer::new(file, 7, 5, room).unwrap();
        // A thread of its own: the chunk of a thread is that of the last writer.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for probe in 0..count {
                    let stop = Stop {
                        probe,
                        activity: probe % 3,
                        thread: 5,
                        operation: 9,
                        stack: 11,
                    };
                    writer.append(&stop, 3, |bytes| bytes.copy_from_slice(&[1, 2, 3]));
                }
            });
        });
        Records::read(&std::fs::read(&path).unwrap()).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let records = written(1, 5);
        assert_eq!((records.bias, records.main_thread, records.lost), (7, 5, 0));
        let probes: Vec<_> = records.records.iter().map(|record| record.probe).collect();
        assert_eq!(probes, [0, 1, 2, 3, 4]);
        let Record {
            activity,
            thread,
            operation,
            stack,
            ref copies,
            ..
        } = records.records[2];
        assert_eq!((activity, thread, operation, stack), (Some(1), 5, 9, 11));
        assert_eq!(copies[..3], [1, 2, 3]);
        assert_eq!(records.records[0].activity, None);
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let in_a_chunk = ((CHUNK - FIRST) / 48) as u32;
        let records = written(2 * CHUNK as u64, 2 * in_a_chunk + 10);
        assert_eq!(records.records.len() as u32, 2 * in_a_chunk);
        assert_eq!(records.lost, 10);
    }

    #[test]
    fn a_damaged_file_is_refused() {
        assert!(Records::read(b"no records").is_err());
        let mut bytes = vec![0; HEADER + CHUNK];
        bytes[..8].copy_from_slice(&MAGIC.to_ne_bytes());
        assert!(Records::read(&bytes).unwrap().records.is_empty());
        bytes[HEADER] = 200;
        assert!(Records::read(&bytes).is_err());
    }
}
