//! The workloads, compiled against the standard library.

use std::{sync, thread};

/// Clocks as they are without Reenact: by the C library's function, past ours that stands before it.
#[allow(unsafe_code, reason = "the C library is asked as it is")]
mod time {
    use std::sync::OnceLock;

    type Read = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> libc::c_int;

    /// Reads a clock.
    #[inline]
    pub(super) fn read(clock: libc::clockid_t, time: &mut libc::timespec) -> bool {
        static REAL: OnceLock<Read> = OnceLock::new();
        let real = REAL.get_or_init(|| {
            // SAFETY: The function of this name is of this type.
            unsafe {
                let found = libc::dlsym(libc::RTLD_NEXT, c"clock_gettime".as_ptr());
                assert!(!found.is_null(), "the C library has it");
                std::mem::transmute::<*mut libc::c_void, Read>(found)
            }
        });
        // SAFETY: A place for the time.
        unsafe { real(clock, time) == 0 }
    }
}

#[path = "workloads/table.rs"]
mod table;

pub use table::{WORKLOADS, warm_up};
