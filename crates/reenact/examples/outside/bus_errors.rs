//! A program that handles bus errors itself, whatever the recording does about its own.

use std::{
    ffi::{c_int, c_void},
    fs::File,
    os::fd::AsRawFd,
    ptr,
    sync::atomic::{AtomicPtr, AtomicU32, Ordering::SeqCst},
};

use reenact::{sync::Mutex, thread};

const PAGE: usize = 4096;

static MAPPED: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static HANDLED: AtomicU32 = AtomicU32::new(0);

pub(crate) fn run(name: &str, _: &[String]) -> bool {
    match name {
        "bus-errors" => bus_errors(),
        _ => return false,
    }
    true
}

/// Puts memory where there is no file any more.
extern "C" fn on_bus_error(_: c_int) {
    HANDLED.fetch_add(1, SeqCst);
    map(
        MAPPED.load(SeqCst),
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
        -1,
    );
}

fn map(place: *mut c_void, flags: c_int, file: c_int) -> *mut c_void {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: Where the place is fixed, it is that of a mapping of this length.
    let mapped = unsafe { libc::mmap(place, PAGE, access, flags, file, 0) };
    assert_ne!(mapped, libc::MAP_FAILED);
    mapped
}

/// Stores to a mapping of a file that is not as long.
fn store_beyond_the_end() {
    let file: File = tempfile::tempfile().expect("room for a file");
    let mapped = map(ptr::null_mut(), libc::MAP_SHARED, file.as_raw_fd());
    MAPPED.store(mapped, SeqCst);
    // SAFETY: The handler makes it a place that can be stored to.
    unsafe { mapped.cast::<u8>().write_volatile(1) };
}

fn bus_errors() {
    let count = reenact::sync::Arc::new(Mutex::new(0));
    let other = reenact::sync::Arc::clone(&count);
    let counting = thread::spawn(move || (0..100).for_each(|_| *other.lock().unwrap() += 1));
    // SAFETY: The handler does what a handler may do; the places are on this stack.
    unsafe {
        libc::signal(
            libc::SIGBUS,
            on_bus_error as *const () as libc::sighandler_t,
        );
        store_beyond_the_end();
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGBUS, ptr::null(), &mut action);
        assert_eq!(action.sa_sigaction, on_bus_error as *const () as usize);
        libc::sigaction(libc::SIGBUS, &action, ptr::null_mut());
        store_beyond_the_end();
        libc::raise(libc::SIGBUS);
    }
    counting.join().unwrap();
    println!(
        "{} handled, {}",
        HANDLED.load(SeqCst),
        count.lock().unwrap()
    );
}
