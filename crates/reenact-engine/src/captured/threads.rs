//! Threads that a program makes without us, and what they wait for in the kernel, where a recording has such threads and is
//! explored.
//!
//! A test binary is the reason: its tests run on threads that the standard library has made. To be explored, such a thread has to
//! take turns like the others, from its first instruction; and who waits for it, in a lock or a channel of the standard library, must not
//! keep its turn meanwhile. So making a thread, waiting for its end and waiting for a word to change are captured. Everywhere
//! else the real functions are called.

use std::{
    cell::Cell,
    collections::HashMap,
    ffi::{c_int, c_long, c_void},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
};

use libc::{pthread_attr_t, pthread_t};

use super::real;
use crate::{activity, activity::HOT, explore};

/// Whether this process is an execution in which such threads take turns.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// Which activity a thread is.
static THREADS: Mutex<Option<HashMap<pthread_t, u32>>> = Mutex::new(None);

thread_local! {
    /// Whether the calling thread waits here already: whoever lets it wait waits in the kernel.
    static WAITS: Cell<bool> = const { Cell::new(false) };
}

/// From now on, in this process.
pub(crate) fn capture() {
    IS_ON.store(true, Relaxed);
}

/// Does what may wait in the kernel, though the calling thread is explored.
pub(crate) fn in_kernel<R>(action: impl FnOnce() -> R) -> R {
    let before = WAITS.replace(true);
    let result = action();
    WAITS.set(before);
    result
}

/// Whether what the calling thread does is explored, and part of the program.
fn is_explored() -> bool {
    IS_ON.load(Relaxed)
        && explore::is_on_thread()
        && HOT.with(|hot| hot.apart.get()) == 0
        && !WAITS.get()
}

/// What a thread begins with.
struct Beginning {
    number: u32,
    start: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
}

extern "C" fn begin(beginning: *mut c_void) -> *mut c_void {
    // SAFETY: Made by `pthread_create`, for this thread.
    let beginning = unsafe { Box::from_raw(beginning.cast::<Beginning>()) };
    let Beginning {
        number,
        start,
        argument,
    } = *beginning;
    explore::begin_thread(number);
    activity::begin_explored(number);
    let result = start(argument);
    activity::end_explored();
    result
}

/// The C library's, captured.
///
/// # Safety
///
/// As for the C library's.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) unsafe extern "C" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    start: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
) -> c_int {
    if !is_explored() {
        // SAFETY: The caller's.
        return unsafe { real::pthread_create(thread, attributes, start, argument) };
    }
    let number = explore::foreign_child();
    let beginning = Box::into_raw(Box::new(Beginning {
        number,
        start,
        argument,
    }));
    // SAFETY: The caller's; the new thread has what it begins with for itself.
    let result = unsafe { real::pthread_create(thread, attributes, begin, beginning.cast()) };
    if result == 0 {
        let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: It has been written there.
        threads
            .get_or_insert_default()
            .insert(unsafe { *thread }, number);
    } else {
        explore::end_unborn(number);
        // SAFETY: There is no such thread.
        drop(unsafe { Box::from_raw(beginning) });
    }
    result
}

/// The C library's, captured.
///
/// # Safety
///
/// As for the C library's.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) unsafe extern "C" fn pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int {
    if is_explored() {
        let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
        let number = threads.as_mut().and_then(|threads| threads.remove(&thread));
        drop(threads);
        if let Some(number) = number {
            explore::wait_for_end(number);
        }
    }
    // SAFETY: The caller's.
    unsafe { real::pthread_join(thread, result) }
}

/// The C library's, captured: the standard library waits by this until a word has another value.
///
/// # Safety
///
/// As for the C library's.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) unsafe extern "C" fn syscall(
    number: c_long,
    first: c_long,
    second: c_long,
    third: c_long,
    fourth: c_long,
    fifth: c_long,
    sixth: c_long,
) -> c_long {
    const WAIT: c_int = libc::FUTEX_WAIT;
    const WAIT_BITSET: c_int = libc::FUTEX_WAIT_BITSET;
    let operation = second as c_int & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);
    let is_wait = number == libc::SYS_futex && matches!(operation, WAIT | WAIT_BITSET);
    // Without a time limit: otherwise the clock decides.
    if is_wait && fourth == 0 && is_explored() {
        // SAFETY: The caller waits for this word.
        let word = unsafe { &*(first as *const AtomicU32) };
        WAITS.set(true);
        explore::wait_while(word, third as u32);
        WAITS.set(false);
        return 0;
    }
    // SAFETY: The caller's.
    unsafe { real::syscall([number, first, second, third, fourth, fifth, sixth]) }
}
