//! Standard input of an explored program: the same in every execution.
//!
//! What an execution reads is kept, in memory that child processes share, and the next execution reads it from the
//! beginning. Nothing is read before an execution asks for it. A read returns as many bytes as are asked for, or all up
//! to the end of the input: how many arrive at once would differ from execution to execution.

use std::{
    cell::Cell,
    ffi::c_void,
    fs::File,
    io::{self, BufRead, Seek, SeekFrom},
    os::fd::{AsRawFd, BorrowedFd},
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed},
    },
};

use super::{Execution, gap::Gap, gap::Reads, here, process};
use crate::captured::real_read;

/// How many bytes are read at once.
const CHUNK: usize = 1 << 16;

/// What has been read. None if it cannot be kept.
static KEPT: OnceLock<Option<File>> = OnceLock::new();

/// Where the file begins that standard input is, if each child process opens it for itself.
static BEGINNING: OnceLock<Option<u64>> = OnceLock::new();

thread_local! {
    /// Whether the calling thread empties the standard library's buffer: for it, the input is at its end.
    static EMPTIES: Cell<bool> = const { Cell::new(false) };
}

/// How far an execution has read.
#[derive(Default)]
pub(super) struct Position {
    position: AtomicU64,
    is_read: AtomicBool,
    /// One more than the number of the activity that reads; 0 if there is none.
    reader: AtomicU32,
}

fn kept() -> Option<&'static File> {
    let kept = KEPT.get_or_init(|| {
        let file =
            rustix::fs::memfd_create("reenact-input", rustix::fs::MemfdFlags::CLOEXEC).ok()?;
        Some(File::from(file))
    });
    kept.as_ref()
}

/// Makes later forks of this process read the same input.
pub(super) fn prepare() {
    let is_file = rustix::fs::fstat(standard_input())
        .is_ok_and(|stat| stat.st_mode & libc::S_IFMT == libc::S_IFREG);
    let beginning = is_file.then(|| rustix::fs::tell(standard_input()).ok());
    let _ = BEGINNING.set(beginning.flatten());
    kept();
}

/// Makes the calling process, a new fork, read from the beginning.
pub(super) fn begin_process() {
    let Some(&Some(beginning)) = BEGINNING.get() else {
        return;
    };
    if let Ok(mut file) = File::open("/proc/self/fd/0") {
        let _ = file.seek(SeekFrom::Start(beginning));
        // SAFETY: `dup2` only replaces a descriptor of this process, and the source is open.
        unsafe { libc::dup2(file.as_raw_fd(), 0) };
    }
}

fn standard_input() -> BorrowedFd<'static> {
    // SAFETY: If the descriptor is not open, operations on it return an error.
    unsafe { BorrowedFd::borrow_raw(0) }
}

/// Reads for the calling activity, as the system call does. Returns none if the calling code is not explored.
///
/// # Safety
///
/// As for the C library's `read`.
pub(crate) unsafe fn read(buffer: *mut c_void, count: usize) -> Option<isize> {
    if EMPTIES.get() {
        return Some(0);
    }
    let execution = here().or_else(process::execution)?;
    execution.notes_input();
    if matches!(BEGINNING.get(), Some(Some(_))) {
        return None;
    }
    let kept = kept()?;
    let position = &execution.input.position;
    let end = position.load(Relaxed).saturating_add(count as u64);
    if let Err(error) = read_up_to(kept, end) {
        // SAFETY: The C library's place for the thread's error number is valid.
        unsafe { *libc::__errno_location() = error.raw_os_error().unwrap_or(libc::EIO) };
        return Some(-1);
    }
    let at = position.load(Relaxed) as libc::off_t;
    // SAFETY: The caller guarantees that the buffer is valid.
    let length = unsafe { libc::pread(kept.as_raw_fd(), buffer, count, at) };
    position.fetch_add(length.max(0) as u64, Relaxed);
    Some(length)
}

/// Keeps the input up to this position, or to its end.
fn read_up_to(kept: &File, end: u64) -> io::Result<()> {
    let _only = Locked::new(kept);
    let mut chunk = vec![0; CHUNK];
    loop {
        let length = kept.metadata()?.len();
        if length >= end {
            return Ok(());
        }
        // SAFETY: The buffer is valid for this many bytes.
        let read = unsafe { real_read(0, chunk.as_mut_ptr().cast(), CHUNK) };
        match read {
            0 => return Ok(()),
            1.. => std::os::unix::fs::FileExt::write_all_at(kept, &chunk[..read as usize], length)?,
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

/// Excludes other threads and other processes from what is kept. The lock of the file belongs to the process and ends
/// with it.
struct Locked<'a>(
    &'a File,
    #[expect(dead_code, reason = "held")] MutexGuard<'static, ()>,
);

impl Locked<'_> {
    fn new(kept: &File) -> Locked<'_> {
        static THREADS: Mutex<()> = Mutex::new(());
        let only = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = rustix::fs::fcntl_lock(kept, rustix::fs::FlockOperation::LockExclusive);
        Locked(kept, only)
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let _ = rustix::fs::fcntl_lock(self.0, rustix::fs::FlockOperation::Unlock);
    }
}

impl Execution {
    /// Notes that the current activity reads standard input.
    fn notes_input(&self) {
        let Some(current) = here().map(|_| self.state().current()) else {
            return;
        };
        self.supervisor.note_read(Reads::INPUT);
        self.input.is_read.store(true, Relaxed);
        let before = self.input.reader.swap(current + 1, Relaxed);
        if before != 0 && before != current + 1 {
            self.supervisor.note(Gap::Input);
        }
    }

    /// Makes the next execution in this process read from the beginning.
    pub(super) fn rewind_input(&self) {
        if !self.input.is_read.swap(false, Relaxed) {
            return;
        }
        self.input.position.store(0, Relaxed);
        self.input.reader.store(0, Relaxed);
        // What the standard library has read ahead is still in its buffer.
        EMPTIES.set(true);
        let mut stdin = io::stdin().lock();
        while let Ok(left @ [_, ..]) = stdin.fill_buf() {
            let left = left.len();
            stdin.consume(left);
        }
        EMPTIES.set(false);
    }
}
