//! Finds out where a thread is that does not come to its next operation.
//!
//! The thread is sent a signal. Its handler forks a copy of the process in which only this thread exists, and the copy
//! walks the stack, resolves it and writes what it finds into memory that it shares with whoever asks. So whatever the
//! thread is in the middle of, the allocator or a lock, it is not disturbed: at worst the copy gets stuck as well, and is
//! killed.

use std::{
    backtrace::Backtrace,
    cell::UnsafeCell,
    ffi::c_int,
    fmt::Write,
    fs,
    sync::{
        Once,
        atomic::{
            AtomicI32, AtomicPtr, AtomicU32,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    time::{Duration, Instant},
};

use super::{gap::StuckActivity, here};
use crate::{external::untracked, site::Site};

/// The maximum length of what a copy writes.
const ROOM: usize = 2000;
/// How often to look whether the copy is done.
const POLL: Duration = Duration::from_millis(1);

/// What is known about a thread, in memory that processes share.
///
/// # State
///
/// `stage` is 0 when a thread is asked. The copy writes `text` and then sets `length` and `stage` to 1, and again to 2
/// once the line is known, too: Release, which pairs with the Acquire of whoever asks and reads up to `length`.
struct Report {
    /// The thread that runs, if the program has processes of its own.
    thread: AtomicI32,
    copy: AtomicI32,
    stage: AtomicU32,
    length: AtomicU32,
    text: UnsafeCell<[u8; ROOM]>,
}

/// Where reports are written; null if no search has a time limit.
static REPORT: AtomicPtr<Report> = AtomicPtr::new(std::ptr::null_mut());

/// The signal: one of those that programs are free to use, from the middle of their range.
fn signal() -> c_int {
    libc::SIGRTMIN() + 13
}

/// Makes threads of this process, and of later forks of it, ready to be asked. Their reports are not shared with earlier
/// forks.
pub(super) fn prepare() {
    // SAFETY: An anonymous mapping at an address that the kernel chooses aliases no other memory.
    let memory = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            size_of::<Report>(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if memory == libc::MAP_FAILED {
        return;
    }
    // A zeroed `Report` is one without content. The mapping is never removed: a thread may still write there.
    REPORT.store(memory.cast(), Release);
    // SAFETY: `on_signal` does only what a signal handler may do, and `action` is initialised.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(signal(), &action, std::ptr::null_mut());
    }
}

/// Like [`prepare`], once per process.
pub(super) fn prepare_once() {
    static ONCE: Once = Once::new();
    ONCE.call_once(prepare);
}

/// Makes this process find lines fast: the first search for one reads the debug information.
pub(super) fn warm_up() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        untracked(|| std::hint::black_box(Backtrace::force_capture().to_string()));
    });
}

fn report<'a>() -> Option<&'a Report> {
    // SAFETY: A mapping that has been stored there is never removed.
    unsafe { REPORT.load(Acquire).as_ref() }
}

/// Notes that the calling thread is the one that runs now.
pub(super) fn runs_here() {
    if let Some(report) = report() {
        let this = rustix::thread::gettid().as_raw_nonzero().get();
        report.thread.store(this, Relaxed);
    }
}

/// Returns the thread that runs in another process.
pub(super) fn running() -> Option<libc::pid_t> {
    let thread = report()?.thread.load(Relaxed);
    (thread != 0).then_some(thread)
}

extern "C" fn on_signal(_signal: c_int) {
    let Some(report) = report() else {
        return;
    };
    // SAFETY: The C library's place for the thread's error number is valid.
    let before = unsafe { *libc::__errno_location() };
    // SAFETY: A fork with only the calling thread, without the handlers of the C library: `describe` and what it calls
    // use no lock that they cannot do without, and the copy is killed if it does not end.
    let copy = unsafe { libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0) };
    if copy == 0 {
        // SAFETY: `prctl` only requests a signal for when the original process ends.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        describe(report);
        // SAFETY: `_exit` only ends the copy.
        unsafe { libc::_exit(0) };
    }
    report.copy.store(copy as i32, Relaxed);
    // SAFETY: As above.
    unsafe { *libc::__errno_location() = before };
}

/// Writes down what the calling thread does. Runs in the copy.
fn describe(report: &Report) {
    untracked(|| {
        let Some(execution) = here() else {
            return report.stage.store(2, Release);
        };
        let (who, after) = execution.describe_stuck();
        let mut text = format!("{who}\n{after}\n");
        report.write(&text, 1);
        if let Some(site) = Site::of_stuck() {
            let _ = write!(text, "{site}");
        }
        report.write(&text, 2);
    });
}

impl Report {
    fn write(&self, text: &str, stage: u32) {
        let mut length = text.len().min(ROOM);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        // SAFETY: Only the copy writes there, and whoever asks reads only what has been published by `stage`; a longer
        // text begins with the shorter one.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), self.text.get().cast(), length);
        }
        self.length.store(length as u32, Relaxed);
        self.stage.store(stage, Release);
    }

    fn read(&self) -> String {
        let length = (self.length.load(Relaxed) as usize).min(ROOM);
        let mut bytes = vec![0; length];
        // SAFETY: The copy has published this many bytes, and writes the same again if it writes at all.
        unsafe {
            std::ptr::copy_nonoverlapping(self.text.get().cast::<u8>(), bytes.as_mut_ptr(), length);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Asks a thread where it is, and waits for the answer until this instant. Returns none if it does not explore, or does
/// not answer.
pub(super) fn look_at(
    process: libc::pid_t,
    thread: libc::pid_t,
    until: Instant,
) -> Option<StuckActivity> {
    let report = report()?;
    let is_waiting = is_asleep(process, thread);
    report.stage.store(0, Relaxed);
    report.length.store(0, Relaxed);
    report.copy.store(0, Release);
    // SAFETY: `tgkill` only sends a signal, to a thread of this process or of a child that has not been waited for.
    if unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signal()) } != 0 {
        return None;
    }
    while report.stage.load(Acquire) < 2 && Instant::now() < until {
        std::thread::sleep(POLL);
    }
    let is_known = report.stage.load(Acquire) > 0;
    let copy = report.copy.load(Relaxed);
    if copy > 0 {
        // SAFETY: The copy is a child of this process, or of a child that is stopped next: its id has not been reused.
        unsafe {
            libc::kill(copy, libc::SIGKILL);
            libc::waitpid(copy, std::ptr::null_mut(), libc::__WALL);
        }
    }
    let text = report.read();
    let mut lines = text.split('\n').map(str::to_owned);
    let mut line = || lines.next().filter(|line| !line.is_empty());
    is_known.then_some(())?;
    Some(StuckActivity {
        who: line()?,
        after: line(),
        site: line(),
        is_waiting,
    })
}

/// Returns whether the kernel says that a thread sleeps.
fn is_asleep(process: libc::pid_t, thread: libc::pid_t) -> bool {
    let state = fs::read_to_string(format!("/proc/{process}/task/{thread}/stat"));
    // The name of the thread, in parentheses, may contain anything.
    let state = state
        .as_deref()
        .ok()
        .and_then(|text| text.rsplit_once(") "));
    state.is_some_and(|(_, rest)| !rest.starts_with('R'))
}
