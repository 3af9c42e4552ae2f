//! Handles signals while a program runs, and ends this process by the signal that the program died by.
//!
//! Signals that ask a process to end are blocked and received by a separate thread. A signal from the terminal has
//! reached the program as well; a signal that another process sent to us alone is passed on. The program itself starts
//! with the signal mask that we were started with.

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

/// The signals that ask a process to end.
const ENDING: [i32; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// The running program. Locked while a signal is passed on, so that its process id cannot have been reused.
static PROGRAM: Mutex<SignalTarget> = Mutex::new(SignalTarget {
    process: None,
    missed: None,
});

struct SignalTarget {
    process: Option<i32>,
    /// A signal that arrived after the program had been started, but before its process id was stored.
    missed: Option<i32>,
}

/// The last signal of [`ENDING`] that arrived, or 0.
static RECEIVED: AtomicI32 = AtomicI32::new(0);

/// Whether an interrupt cancels the current work instead of ending the process, see [`make_interruptible`].
static IS_INTERRUPTIBLE: AtomicBool = AtomicBool::new(false);

/// The signal mask that we were started with.
static MASK_BEFORE: OnceLock<libc::sigset_t> = OnceLock::new();

/// Passes signals that ask for an end on to the running program from now on. Must be called before threads are started.
pub(crate) fn take_over() {
    MASK_BEFORE.get_or_init(|| {
        let set = set_of(&ENDING);
        let mut before = set_of(&[]);
        // SAFETY: `set` and `before` are initialized sets that live across the call.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut before) };
        // If the thread cannot be started, the signals stay pending until the program ends by itself.
        let _ = thread::Builder::new()
            .name("signals".into())
            .spawn(move || watch(&set));
        before
    });
}

/// From now on, an interrupt only makes [`is_interrupted`] return `true`. A second interrupt before
/// [`forget_interrupt`] ends this process, and so does every other signal of [`ENDING`]. Must be called before threads
/// are started.
pub(crate) fn make_interruptible() {
    IS_INTERRUPTIBLE.store(true, Ordering::Relaxed);
    take_over();
}

/// Whether to cancel the current work.
pub(crate) fn is_interrupted() -> bool {
    received().is_some()
}

/// Resets the interrupt, after the work has been cancelled.
pub(crate) fn forget_interrupt() {
    RECEIVED.store(0, Ordering::Relaxed);
}

/// Makes a program that is about to be started use the signal mask that we were started with.
pub(crate) fn leave_alone(command: &mut Command) {
    let Some(&before) = MASK_BEFORE.get() else {
        return;
    };
    let restore = move || {
        // SAFETY: `before` is an initialized set, and a null pointer means that the old mask is not wanted.
        match unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, ptr::null_mut()) } {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    };
    // SAFETY: Between fork and exec, the closure only calls `pthread_sigmask`, which is async-signal-safe, and only
    // accesses its own copy of the set.
    unsafe { command.pre_exec(restore) };
}

/// Returns the signal that asked us to end, if one arrived.
pub(crate) fn received() -> Option<i32> {
    match RECEIVED.load(Ordering::Relaxed) {
        0 => None,
        signal => Some(signal),
    }
}

/// Passes signals on to a program while this exists. The program must not be reaped before this is dropped.
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
    // SAFETY: `kill` takes only integers and has no memory effects.
    unsafe { libc::kill(process, signal) };
}

fn watch(set: &libc::sigset_t) {
    loop {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: Both pointers are valid for the call, and an all-zero `siginfo_t` is a valid value.
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
    // SAFETY: The calls take integers and an initialized set. The default disposition runs no code of ours.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, ptr::null_mut());
        // Not `kill`: the thread that receives signals could get the signal.
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
