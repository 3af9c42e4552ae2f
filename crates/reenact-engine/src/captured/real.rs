//! The functions of the C library that ours replace.

use std::{
    ffi::{CStr, c_char, c_int, c_long, c_void},
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};

use libc::{clockid_t, timespec};

/// A function of the C library, resolved when it is first needed.
pub(super) struct Real {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Real {
    pub(super) const fn new(name: &'static CStr) -> Real {
        Real {
            name,
            address: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Returns its address; null if there is none.
    fn get(&self) -> *mut c_void {
        let address = self.address.load(Relaxed);
        if !address.is_null() {
            return address;
        }
        // SAFETY: The name is a C string; the next function of this name is the one that ours hides.
        let address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(address, Relaxed);
        address
    }
}

/// Returns the function of this name that ours replaces; `None` if the C library does not have it.
///
/// # Safety
///
/// `F` is a pointer to a function of the type that the function of this name has.
#[inline]
pub(super) unsafe fn function<F: Copy>(real: &'static Real) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    let address = real.get();
    // SAFETY: The caller guarantees that this is its type.
    (!address.is_null()).then(|| unsafe { std::mem::transmute_copy(&address) })
}

type ClockGettime = unsafe extern "C" fn(clockid_t, *mut timespec) -> c_int;

/// The function that reads clocks: at first one that resolves it.
static CLOCK: AtomicPtr<c_void> = AtomicPtr::new(first_reading as *mut c_void);

/// Reads a clock.
///
/// # Safety
///
/// As for the C library's `clock_gettime`.
#[inline(always)]
pub(super) unsafe fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    // SAFETY: Only functions of this type are stored there.
    let real: ClockGettime = unsafe { std::mem::transmute(CLOCK.load(Relaxed)) };
    // SAFETY: The caller guarantees that `time` is valid.
    unsafe { real(clock, time) }
}

/// Resolves the function that reads clocks: the kernel's vDSO function, which the C library calls too, after a detour.
unsafe extern "C" fn first_reading(clock: clockid_t, time: *mut timespec) -> c_int {
    // SAFETY: The names are C strings. The kernel's function of this name has this type; it differs only in that it
    // returns errors as a system call does.
    unsafe {
        let kernel = libc::dlopen(
            c"linux-vdso.so.1".as_ptr(),
            libc::RTLD_LAZY | libc::RTLD_NOLOAD,
        );
        let mut found = match kernel.is_null() {
            true => std::ptr::null_mut(),
            false => libc::dlsym(kernel, c"__vdso_clock_gettime".as_ptr()),
        };
        if found.is_null() {
            found = by_system_call as *mut c_void;
        }
        CLOCK.store(found, Relaxed);
        clock_gettime(clock, time)
    }
}

unsafe extern "C" fn by_system_call(clock: clockid_t, time: *mut timespec) -> c_int {
    // SAFETY: The caller guarantees that `time` is valid.
    match unsafe {
        syscall([
            libc::SYS_clock_gettime,
            clock.into(),
            time as c_long,
            0,
            0,
            0,
            0,
        ])
    } {
        0 => 0,
        _ => -errno(),
    }
}

/// Asks for random bytes.
///
/// # Safety
///
/// As for the C library's `getrandom`.
pub(super) unsafe fn getrandom(buffer: *mut c_void, length: usize, flags: u32) -> isize {
    static REAL: Real = Real::new(c"getrandom");
    let real = REAL.get();
    // SAFETY: The caller guarantees that the buffer is valid; the function of this name has this type.
    unsafe {
        if real.is_null() {
            return libc::syscall(libc::SYS_getrandom, buffer, length, flags) as isize;
        }
        let real: unsafe extern "C" fn(*mut c_void, usize, u32) -> isize =
            std::mem::transmute(real);
        real(buffer, length, flags)
    }
}

/// Reads from a file.
///
/// # Safety
///
/// As for the C library's `read`.
#[cfg(feature = "explore")]
pub(crate) unsafe fn read(file: c_int, buffer: *mut c_void, count: usize) -> isize {
    static REAL: Real = Real::new(c"read");
    let real = REAL.get();
    // SAFETY: The caller guarantees that the buffer is valid; the function of this name has this type.
    unsafe {
        if real.is_null() {
            return libc::syscall(libc::SYS_read, file, buffer, count) as isize;
        }
        let real: unsafe extern "C" fn(c_int, *mut c_void, usize) -> isize =
            std::mem::transmute(real);
        real(file, buffer, count)
    }
}

/// Writes to a file.
///
/// # Safety
///
/// As for the C library's `write`.
pub(super) unsafe fn write(file: c_int, buffer: *const c_void, count: usize) -> isize {
    static REAL: Real = Real::new(c"write");
    let real = REAL.get();
    // SAFETY: The caller guarantees that the buffer is valid; the function of this name has this type.
    unsafe {
        if real.is_null() {
            return libc::syscall(libc::SYS_write, file, buffer, count) as isize;
        }
        let real: unsafe extern "C" fn(c_int, *const c_void, usize) -> isize =
            std::mem::transmute(real);
        real(file, buffer, count)
    }
}

/// Writes parts to a file.
///
/// # Safety
///
/// As for the C library's `writev`.
pub(super) unsafe fn writev(file: c_int, parts: *const libc::iovec, count: c_int) -> isize {
    static REAL: Real = Real::new(c"writev");
    let real = REAL.get();
    // SAFETY: The caller guarantees that the parts are valid; the function of this name has this type.
    unsafe {
        if real.is_null() {
            return libc::syscall(libc::SYS_writev, file, parts, count) as isize;
        }
        let real: unsafe extern "C" fn(c_int, *const libc::iovec, c_int) -> isize =
            std::mem::transmute(real);
        real(file, parts, count)
    }
}

/// Writes all of a text to a file, unless that fails.
pub(crate) fn write_all(file: c_int, mut text: &[u8]) {
    while !text.is_empty() {
        // SAFETY: The range is that of the slice.
        let result = unsafe { write(file, text.as_ptr().cast(), text.len()) };
        match usize::try_from(result) {
            Ok(count) => text = &text[count.min(text.len())..],
            Err(_) if errno() == libc::EINTR => {}
            Err(_) if errno() == libc::EAGAIN => std::thread::yield_now(),
            Err(_) => return,
        }
    }
}

/// Looks up an environment variable.
///
/// # Safety
///
/// As for the C library's `getenv`.
pub(super) unsafe fn getenv(name: *const c_char) -> *mut c_char {
    static REAL: Real = Real::new(c"getenv");
    let real = REAL.get();
    if real.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: The caller guarantees that `name` is a C string; the function of this name has this type.
    unsafe {
        let real: unsafe extern "C" fn(*const c_char) -> *mut c_char = std::mem::transmute(real);
        real(name)
    }
}

/// Looks up an environment variable, unless the process has more rights than its user.
///
/// # Safety
///
/// As for the C library's `secure_getenv`.
pub(super) unsafe fn secure_getenv(name: *const c_char) -> *mut c_char {
    static REAL: Real = Real::new(c"secure_getenv");
    type Getenv = unsafe extern "C" fn(*const c_char) -> *mut c_char;
    // SAFETY: This is its type. The caller guarantees that `name` is a C string.
    unsafe { function::<Getenv>(&REAL).map_or(std::ptr::null_mut(), |real| real(name)) }
}

/// Sets the action for a signal.
///
/// # Safety
///
/// As for the C library's `sigaction`.
pub(super) unsafe fn sigaction(
    signal: c_int,
    action: *const libc::sigaction,
    before: *mut libc::sigaction,
) -> c_int {
    static REAL: Real = Real::new(c"sigaction");
    type Sigaction =
        unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
    // SAFETY: This is its type. The caller fulfils the conditions of the C library's function.
    unsafe { function::<Sigaction>(&REAL).map_or(-1, |real| real(signal, action, before)) }
}

/// The same with an older interface.
///
/// # Safety
///
/// As for the C library's `signal`.
pub(super) unsafe fn signal(number: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
    static REAL: Real = Real::new(c"signal");
    type Signal = unsafe extern "C" fn(c_int, libc::sighandler_t) -> libc::sighandler_t;
    // SAFETY: This is its type. The caller fulfils the conditions of the C library's function.
    unsafe { function::<Signal>(&REAL).map_or(libc::SIG_ERR, |real| real(number, handler)) }
}

/// Returns the real process id.
pub(super) fn getpid() -> libc::pid_t {
    // SAFETY: The call has no arguments and no effects.
    unsafe { libc::syscall(libc::SYS_getpid) as libc::pid_t }
}

/// Sends a signal.
pub(super) fn kill(process: libc::pid_t, signal: c_int) -> c_int {
    // SAFETY: The kernel checks both arguments.
    unsafe { libc::syscall(libc::SYS_kill, process, signal) as c_int }
}

/// Returns the address of the calling thread's `errno`.
pub(super) fn errno_location() -> *mut c_int {
    static REAL: Real = Real::new(c"__errno_location");
    // SAFETY: This is its type, and it always exists. It has no arguments and no effects.
    unsafe {
        let real: unsafe extern "C" fn() -> *mut c_int = std::mem::transmute(REAL.get());
        real()
    }
}

/// Returns the error of the last call.
pub(super) fn errno() -> c_int {
    // SAFETY: The location is the calling thread's own.
    unsafe { *libc::__errno_location() }
}

/// Sets the error of a call.
pub(super) fn set_errno(errno: c_int) {
    // SAFETY: The location is the calling thread's own.
    unsafe { *libc::__errno_location() = errno }
}

/// What a thread begins with. It may end by unwinding, which `pthread_exit` does.
pub(super) type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// Creates a thread.
///
/// # Safety
///
/// As for the C library's `pthread_create`.
pub(super) unsafe fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    type Create = unsafe extern "C" fn(
        *mut libc::pthread_t,
        *const libc::pthread_attr_t,
        Start,
        *mut c_void,
    ) -> c_int;
    static REAL: Real = Real::new(c"pthread_create");
    // SAFETY: This is its type, and it exists wherever threads do.
    let real: Create = unsafe { std::mem::transmute(REAL.get()) };
    // SAFETY: The caller fulfils the conditions of the C library's function.
    unsafe { real(thread, attributes, start, argument) }
}

/// Joins a thread.
///
/// # Safety
///
/// As for the C library's `pthread_join`.
#[cfg(feature = "explore")]
pub(super) unsafe fn pthread_join(thread: libc::pthread_t, result: *mut *mut c_void) -> c_int {
    type Join = unsafe extern "C" fn(libc::pthread_t, *mut *mut c_void) -> c_int;
    static REAL: Real = Real::new(c"pthread_join");
    // SAFETY: This is its type, and it exists wherever threads do.
    let real: Join = unsafe { std::mem::transmute(REAL.get()) };
    // SAFETY: The caller fulfils the conditions of the C library's function.
    unsafe { real(thread, result) }
}

/// Makes a system call: its number and six arguments.
///
/// # Safety
///
/// As for the C library's `syscall`.
pub(super) unsafe fn syscall(words: [c_long; 7]) -> c_long {
    type Syscall = unsafe extern "C" fn(c_long, ...) -> c_long;
    static REAL: Real = Real::new(c"syscall");
    // SAFETY: This is its type, and it always exists.
    let real: Syscall = unsafe { std::mem::transmute(REAL.get()) };
    let [number, a, b, c, d, e, f] = words;
    // SAFETY: The caller fulfils the conditions of the system call.
    unsafe { real(number, a, b, c, d, e, f) }
}
