//! Threads that a program creates without Reenact, and their waits in the kernel, when a recording with such threads is
//! explored.
//!
//! A test binary is the reason: its tests run on threads that the standard library has created. To be explored, such a
//! thread has to take turns like the others, from its first instruction; and a thread that waits for it, in a lock or a
//! channel of the standard library, must not keep its turn meanwhile. So creating a thread, joining it and waiting for
//! a word to change are captured. In all other cases the real functions are called.

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

use super::real::{self, Start};
use crate::{activity, activity::HOT, explore};

/// Whether this process is an execution in which such threads take turns.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// The activity of each thread.
static THREADS: Mutex<Option<HashMap<pthread_t, u32>>> = Mutex::new(None);

thread_local! {
    /// Whether the calling thread already waits here: the code that makes it wait waits in the kernel.
    static WAITS: Cell<bool> = const { Cell::new(false) };
}

/// Turns capturing on in this process.
pub(crate) fn capture() {
    IS_ON.store(true, Relaxed);
}

/// Runs `action`, which may wait in the kernel although the calling thread is explored.
pub(crate) fn in_kernel<R>(action: impl FnOnce() -> R) -> R {
    let before = WAITS.replace(true);
    let result = action();
    WAITS.set(before);
    result
}

/// Returns whether the calling thread is explored, and its calls are part of the program.
fn is_explored() -> bool {
    // The last condition reads the state of the execution, which only the thread that has the turn may do. The others
    // exclude the threads that do not have it: the one that controls the execution, and those that wait for a turn.
    IS_ON.load(Relaxed)
        && HOT.with(|hot| hot.untracked.get()) == 0
        && !WAITS.get()
        && explore::is_on_thread()
}

/// What a new thread begins with.
struct Beginning {
    number: u32,
    start: Start,
    argument: *mut c_void,
}

extern "C-unwind" fn begin(beginning: *mut c_void) -> *mut c_void {
    // SAFETY: `pthread_create` made it with `Box::into_raw`, for this thread alone.
    let beginning = unsafe { Box::from_raw(beginning.cast::<Beginning>()) };
    let Beginning {
        number,
        start,
        argument,
    } = *beginning;
    explore::begin_thread(number);
    activity::begin_explored(number);
    // SAFETY: Whoever created the thread guarantees that it may be called with this argument.
    let result = unsafe { start(argument) };
    activity::end_explored();
    result
}

/// Creates a thread as the C library's `pthread_create`, if the calling thread is explored: then the new one is, too.
/// Otherwise notes what is not explored, and returns `None`.
///
/// # Safety
///
/// As for the C library's `pthread_create`.
pub(super) unsafe fn create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    start: Start,
    argument: *mut c_void,
) -> Option<c_int> {
    if !is_explored() {
        if HOT.with(|hot| hot.untracked.get()) == 0 && !WAITS.get() {
            explore::note_thread();
        }
        return None;
    }
    let number = explore::foreign_child();
    let beginning = Box::into_raw(Box::new(Beginning {
        number,
        start,
        argument,
    }));
    // SAFETY: The caller fulfils the conditions of the C library's function; the new thread alone owns `beginning`.
    let result = unsafe { real::pthread_create(thread, attributes, begin, beginning.cast()) };
    if result == 0 {
        let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: `pthread_create` has succeeded, so it has written there.
        threads
            .get_or_insert_default()
            .insert(unsafe { *thread }, number);
    } else {
        explore::end_not_started(number);
        // SAFETY: It was made with `Box::into_raw` above, and no thread was created that owns it.
        drop(unsafe { Box::from_raw(beginning) });
    }
    Some(result)
}

/// The C library's `pthread_join`, captured.
///
/// # Safety
///
/// As for the C library's `pthread_join`.
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
    // SAFETY: The caller fulfils the conditions of the C library's function.
    unsafe { real::pthread_join(thread, result) }
}

/// Waits until this word is no longer `expected`, if the calling thread is explored. Returns whether it is.
///
/// # Safety
///
/// `word` is the address of a word.
pub(super) unsafe fn wait_in_turn(word: c_long, expected: u32) -> bool {
    if !is_explored() {
        return false;
    }
    // SAFETY: The caller guarantees that it is a word.
    let word = unsafe { &*(word as *const AtomicU32) };
    WAITS.set(true);
    explore::wait_while(word, expected);
    WAITS.set(false);
    true
}
