//! How threads sleep in the kernel, at the address of a word.

use std::{sync::atomic::AtomicU32, time::Instant};

use rustix::{
    io::Errno,
    thread::futex::{self, Flags, Timespec},
};

use super::now;
use crate::{explore, loom::Ordering::Relaxed};

/// Blocks the thread while `*futex == expected`, until `deadline` at most. Returns false if the deadline has passed.
pub(super) fn sleep_while(futex: &AtomicU32, expected: u32, deadline: Option<Instant>) -> bool {
    if explore::is_here() && (deadline.is_some() || explore::wait_while(futex, expected)) {
        // Under exploration a time limit is over at once.
        return deadline.is_none() || futex.load(Relaxed) != expected;
    }
    loop {
        if futex.load(Relaxed) != expected {
            return true;
        }
        let timeout = match deadline {
            None => None,
            Some(deadline) => {
                let left = deadline.saturating_duration_since(now());
                if left.is_zero() {
                    return false;
                }
                Some(Timespec {
                    tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
                    tv_nsec: left.subsec_nanos().into(),
                })
            }
        };
        match futex::wait(futex, Flags::PRIVATE, expected, timeout.as_ref()) {
            // Interrupted or changed meanwhile: check again. Timed out: the clock decides above.
            Ok(()) | Err(Errno::AGAIN | Errno::INTR | Errno::TIMEDOUT) => {
                if deadline.is_none() || futex.load(Relaxed) != expected {
                    return true;
                }
            }
            Err(error) => panic!("futex: {error}"),
        }
    }
}

/// Blocks the thread while `*word == expected`; may return early. Safe to call in a signal handler.
pub(crate) fn sleep_on(word: &AtomicU32, expected: u32) {
    let _ = futex::wait(word, Flags::PRIVATE, expected, None);
}

/// Wakes threads and returns how many were woken.
pub(super) fn wake_threads(futex: &AtomicU32, count: u32) -> u32 {
    // Cannot fail for an address that is mapped.
    futex::wake(futex, Flags::PRIVATE, count).map_or(0, |woken| woken as u32)
}
