//! Exits of the process.
//!
//! If several threads exit at once, the standard library lets the first one through and stops the others. In a replay
//! another thread may be first; or they may be tasks on one thread, which the standard library takes for one that exits
//! from an exit handler, and aborts. So in a replay an activity that is about to exit stops here unless the recorded one
//! has exited. The place is where the standard library (`unique_thread_exit`) exchanges the address of the thread's
//! `errno`, by which it knows the thread: that address comes from a function of the C library.
//!
//! Only on x86-64, where the place is known by its instructions. Elsewhere the exits of threads that were recorded as
//! running are left to the standard library.

use std::ffi::c_int;

use super::{is_captured, real};
use crate::{
    Question,
    activity::with_controlled,
    mode::{self, Mode},
};

/// The C library's `__errno_location`, captured. Only a jump, with the return address as an argument.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn __errno_location() -> *mut c_int {
    std::arch::naked_asm!("mov rdi, [rsp]", "jmp {}", sym asked_from)
}

/// Returns the address of the thread's `errno`, called from this return address.
unsafe extern "C" fn asked_from(place: *const u8) -> *mut c_int {
    let mode = mode::byte();
    let is_replayed = mode == Mode::Replay as u8 || mode == Mode::Controlled as u8;
    // SAFETY: It is a return address.
    if is_replayed && is_captured() && unsafe { is_exit(place) } {
        with_controlled(|me| me.controller.outside(&me.activity, Question::Exit));
    }
    real::errno_location()
}

/// Returns whether the call that returns to `place` is the one in which the standard library decides who exits: its
/// result is exchanged for null in a variable (`lock cmpxchg [rip + …], reg`) before anything else is called.
///
/// # Safety
///
/// `place` is a return address.
unsafe fn is_exit(place: *const u8) -> bool {
    const LOOK_AT: usize = 24;
    const PAGE: usize = 4096;
    let in_page = PAGE - place.addr() % PAGE;
    let mut is_mapped = 0;
    // SAFETY: `mincore` accepts any address, and writes one byte for one page.
    let can_look_at = if in_page >= LOOK_AT
        || unsafe { libc::mincore(place.add(in_page) as *mut _, 1, &mut is_mapped) } == 0
    {
        LOOK_AT
    } else {
        in_page
    };
    // SAFETY: A function returns to `place`, so its page is mapped, and the next one has been checked. Code is not
    // written to while it runs.
    let code = unsafe { std::slice::from_raw_parts(place, can_look_at) };
    code.windows(5)
        .any(|code| code[..4] == [0xf0, 0x48, 0x0f, 0xb1] && code[4] & 0xc7 == 0x05)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_library_s_exit_is_known_by_its_code() {
        // `mov rcx, rax; xor eax, eax; lock cmpxchg [rip + 0x635f6], rcx`, as in `unique_thread_exit`.
        let exit = [
            0x48, 0x89, 0xc1, 0x31, 0xc0, 0xf0, 0x48, 0x0f, 0xb1, 0x0d, 0xf6, 0x35, 0x06, 0, 0x75,
            7, 0x48, 0x83, 0xc4, 8, 0x5b, 0x5d, 0xc3, 0x48,
        ];
        let mut other = exit;
        // `cmpxchg [rbp - 0x0a], rcx`.
        other[9] = 0x4d;
        // SAFETY: All bytes that are looked at are there.
        assert!(unsafe { is_exit(exit.as_ptr()) && !is_exit(other.as_ptr()) });
    }
}
