//! Being sent a signal while a program runs for us, and dying by the signal that it died by.
//!
//! Signals that ask a process to end are blocked and taken by a thread of their own. One that came from the terminal
//! has reached the program as well; one that another process sent to us alone is passed on. The program itself starts
//! with the mask that we were started with.

#![expect(
    unsafe_code,
    reason = "masks and dispositions of signals have no safe interface"
)]

use std::{
    io,
    mem::MaybeUninit,
    os::unix::process::CommandExt,
    process::{Child, Command},
    ptr,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
    thread,
};

/// The signals that ask for an end.
const ENDING: [i32; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// Who is running for us. Locked while a signal is passed on, so that the number cannot have become another's.
static PROGRAM: Mutex<Program> = Mutex::new(Program {
    process: None,
    missed: None,
});

struct Program {
    process: Option<i32>,
    /// A signal for it that came when it had been started, but we had not heard yet who it is.
    missed: Option<i32>,
}

/// The last of [`ENDING`] that came, or 0.
static RECEIVED: AtomicI32 = AtomicI32::new(0);

/// Whether to be interrupted means to stop what we do, and not to end, see [`make_interruptible`].
static IS_INTERRUPTIBLE: AtomicBool = AtomicBool::new(false);

/// What was blocked when we were started.
static MASK_BEFORE: OnceLock<libc::sigset_t> = OnceLock::new();

/// From here on, signals that ask for an end go to the program that runs for us. Call it before there are threads.
pub(crate) fn take_over() {
    MASK_BEFORE.get_or_init(|| {
        let set = set_of(&ENDING);
        let mut before = set_of(&[]);
        // SAFETY: Both sets are valid.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut before) };
        // Without the thread, the signals stay pending until the program ends by itself.
        let _ = thread::Builder::new()
            .name("signals".into())
            .spawn(move || watch(&set));
        before
    });
}

/// From here on, an interrupt is for whoever asks [`is_interrupted`]. A second one that comes before
/// [`forget_interrupt`] ends us, and so does every other signal. Call it before there are threads.
pub(crate) fn make_interruptible() {
    IS_INTERRUPTIBLE.store(true, Ordering::Relaxed);
    take_over();
}

/// Whether we are to stop what we do.
pub(crate) fn is_interrupted() -> bool {
    received().is_some()
}

/// We have stopped what we did.
pub(crate) fn forget_interrupt() {
    RECEIVED.store(0, Ordering::Relaxed);
}

/// Lets a program that is about to be started have signals as if we had never taken over.
pub(crate) fn leave_alone(command: &mut Command) {
    let Some(&before) = MASK_BEFORE.get() else {
        return;
    };
    let restore = move || {
        // SAFETY: A valid set; the old mask is not asked for.
        match unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, ptr::null_mut()) } {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    };
    // SAFETY: Between fork and exec, the closure makes one call that is allowed there, and touches its own copy of
    // the set only.
    unsafe { command.pre_exec(restore) };
}

/// The signal that asked us to end, if one did.
pub(crate) fn received() -> Option<i32> {
    match RECEIVED.load(Ordering::Relaxed) {
        0 => None,
        signal => Some(signal),
    }
}

/// A program to which signals are passed on as long as this lives. It must not be reaped before.
pub(crate) struct Recipient(());

impl Recipient {
    pub(crate) fn new(child: &Child) -> Recipient {
        let mut program = PROGRAM.lock().unwrap_or_else(PoisonError::into_inner);
        let process = child.id() as i32;
        program.process = Some(process);
        if let Some(signal) = program.missed.take() {
            pass_on(process, signal);
        }
        Recipient(())
    }
}

impl Drop for Recipient {
    fn drop(&mut self) {
        let mut program = PROGRAM.lock().unwrap_or_else(PoisonError::into_inner);
        program.process = None;
    }
}

/// Passes a signal on to a process that has not been reaped, see [`Recipient`].
fn pass_on(process: i32, signal: i32) {
    // SAFETY: Takes numbers only.
    unsafe { libc::kill(process, signal) };
}

fn watch(set: &libc::sigset_t) {
    loop {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: Both pointers are valid; a zeroed siginfo is a valid one.
        let (signal, info) = unsafe {
            (
                libc::sigwaitinfo(set, info.as_mut_ptr()),
                info.assume_init(),
            )
        };
        if signal <= 0 {
            continue;
        }
        let earlier = RECEIVED.swap(signal, Ordering::Relaxed);
        if IS_INTERRUPTIBLE.load(Ordering::Relaxed) && (signal != libc::SIGINT || earlier != 0) {
            die_by(signal);
        }
        let from_a_process = info.si_code <= 0;
        let mut program = PROGRAM.lock().unwrap_or_else(PoisonError::into_inner);
        match program.process {
            Some(process) if from_a_process => pass_on(process, signal),
            None if from_a_process => program.missed = Some(signal),
            _ => {}
        }
    }
}

/// Ends this process by `signal`. Returns only if that is not possible.
pub(crate) fn die_by(signal: i32) {
    let set = set_of(&[signal]);
    // SAFETY: Takes numbers and a valid set. The default disposition runs no code of ours.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, ptr::null_mut());
        // Not `kill`: that could go to the thread that takes signals.
        libc::raise(signal);
    }
}

fn set_of(signals: &[i32]) -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` initializes the set; adding an invalid number fails and changes nothing.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for &signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}
