//! Calls whose effects are not recorded, and that are noted instead: threads that the program starts without Reenact,
//! random devices, processor time.
//!
//! In a recording, a note of them goes to the trace ([`crate::unrecorded`]), and an exploration reports them. In all
//! other respects the real functions are called.

use std::{
    cell::Cell,
    ffi::{CStr, c_char, c_int, c_long, c_void},
};

use libc::{mode_t, pthread_attr_t, pthread_t};

#[cfg(feature = "explore")]
use super::threads;
use super::{
    is_captured,
    real::{self, Real, Start},
};
use crate::{
    activity::HOT,
    explore,
    mode::{self, Mode},
    record,
    unrecorded::Uncaptured,
};

/// Makes sure that the functions of this module are linked.
pub(super) fn link() {
    std::hint::black_box((
        pthread_create as *const (),
        pthread_setname_np as *const (),
        open as *const (),
        open64 as *const (),
        getrusage as *const (),
        times as *const (),
    ));
}

fn is_recorded() -> bool {
    mode::byte() == Mode::Record as u8 && is_captured()
}

/// Notes that the calling code reads something that is not captured.
#[cold]
fn note(what: Uncaptured) {
    if is_recorded() {
        record::note_read(what);
    } else if mode::byte() != Mode::Record as u8 && HOT.with(|hot| hot.untracked.get()) == 0 {
        explore::note_uncaptured(what);
    }
}

thread_local! {
    /// The note about the calling thread, if the program started it without Reenact while it was recorded.
    static NOTE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// What a thread begins with that the program starts without Reenact.
struct Beginning {
    note: usize,
    start: Start,
    argument: *mut c_void,
}

extern "C-unwind" fn begin(beginning: *mut c_void) -> *mut c_void {
    // SAFETY: `pthread_create` made it with `Box::into_raw`, for this thread alone.
    let Beginning {
        note,
        start,
        argument,
    } = *unsafe { Box::from_raw(beginning.cast::<Beginning>()) };
    NOTE.set(Some(note));
    // SAFETY: Whoever created the thread guarantees that it may be called with this argument. It may unwind: there is
    // nothing to drop.
    unsafe { start(argument) }
}

/// The C library's `pthread_create`, captured.
///
/// # Safety
///
/// As for the C library's `pthread_create`.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
unsafe extern "C" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    #[cfg(feature = "explore")]
    // SAFETY: The caller fulfils the conditions of the C library's function.
    if let Some(result) = unsafe { threads::create(thread, attributes, start, argument) } {
        return result;
    }
    let Some(note) = is_recorded().then(record::note_thread).flatten() else {
        // SAFETY: The caller fulfils the conditions of the C library's function.
        return unsafe { real::pthread_create(thread, attributes, start, argument) };
    };
    let beginning = Box::into_raw(Box::new(Beginning {
        note,
        start,
        argument,
    }));
    // SAFETY: The caller fulfils the conditions of the C library's function; the new thread alone owns `beginning`.
    let result = unsafe { real::pthread_create(thread, attributes, begin, beginning.cast()) };
    if result != 0 {
        // SAFETY: It was made with `Box::into_raw` above, and no thread was created that owns it.
        drop(unsafe { Box::from_raw(beginning) });
    }
    result
}

/// The C library's `pthread_setname_np`, captured.
///
/// # Safety
///
/// As for the C library's `pthread_setname_np`.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
unsafe extern "C" fn pthread_setname_np(thread: pthread_t, name: *const c_char) -> c_int {
    // SAFETY: The call has no conditions.
    let is_own = || thread == unsafe { libc::pthread_self() };
    if let Some(note) = NOTE.get()
        && is_own()
        && mode::byte() == Mode::Record as u8
        && !name.is_null()
    {
        // SAFETY: The caller guarantees that it is a C string, and it is not null.
        record::note_name(note, &unsafe { CStr::from_ptr(name) }.to_string_lossy());
    }
    type Function = unsafe extern "C" fn(pthread_t, *const c_char) -> c_int;
    static REAL: Real = Real::new(c"pthread_setname_np");
    // SAFETY: The function of this name has this type.
    match unsafe { real::function::<Function>(&REAL) } {
        // SAFETY: The caller fulfils the conditions of the C library's function.
        Some(real) => unsafe { real(thread, name) },
        None => libc::ENOSYS,
    }
}

/// Notes a random device that is about to be opened.
///
/// # Safety
///
/// `path` is a C string, or null.
#[inline]
unsafe fn note_device(path: *const c_char) {
    if mode::byte() != Mode::Off as u8 && !path.is_null() {
        // SAFETY: The caller guarantees that it is a C string, and it is not null.
        let path = unsafe { CStr::from_ptr(path) };
        if path == c"/dev/urandom" || path == c"/dev/random" {
            note(Uncaptured::RandomDevice);
        }
    }
}

/// Defines functions of the C library that open a file. They take the mode only of a file that is created; like any
/// other argument, it is passed on.
macro_rules! opens_a_file {
    ($($name:ident = $c:literal;)*) => {$(
        /// The C library's function of this name, captured.
        ///
        /// # Safety
        ///
        /// As for the C library's function.
        #[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
        unsafe extern "C" fn $name(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
            // SAFETY: The caller guarantees that it is a C string; the kernel rejects null.
            unsafe { note_device(path) };
            type Function = unsafe extern "C" fn(*const c_char, c_int, ...) -> c_int;
            static REAL: Real = Real::new($c);
            // SAFETY: The function of this name has this type.
            match unsafe { real::function::<Function>(&REAL) } {
                // SAFETY: The caller fulfils the conditions of the C library's function.
                Some(real) => unsafe { real(path, flags, mode) },
                None => {
                    real::set_errno(libc::ENOSYS);
                    -1
                }
            }
        }
    )*};
}

opens_a_file! {
    open = c"open";
    open64 = c"open64";
}

/// The C library's `getrusage`, captured.
///
/// # Safety
///
/// As for the C library's `getrusage`.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
unsafe extern "C" fn getrusage(of: c_int, usage: *mut libc::rusage) -> c_int {
    if mode::byte() != Mode::Off as u8 {
        note(Uncaptured::ProcessorTime);
    }
    let call = [libc::SYS_getrusage, of.into(), usage as c_long, 0, 0, 0, 0];
    // SAFETY: The caller fulfils the conditions of the system call, which are those of the function.
    unsafe { real::syscall(call) as c_int }
}

/// The C library's `times`, captured.
///
/// # Safety
///
/// As for the C library's `times`.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
unsafe extern "C" fn times(times: *mut libc::tms) -> libc::clock_t {
    if mode::byte() != Mode::Off as u8 {
        note(Uncaptured::ProcessorTime);
    }
    // SAFETY: The caller fulfils the conditions of the system call, which are those of the function.
    unsafe { real::syscall([libc::SYS_times, times as c_long, 0, 0, 0, 0, 0]) }
}
