//! What loom replaces: atomics, locks, and how a thread waits.
//!
//! Modules whose concurrency is checked by [loom](https://github.com/tokio-rs/loom) take these from here instead of from `std`. They
//! are `std`'s, except when the tests are built with `--cfg loom`, which is what `cargo xtask check-unsafe` does.

#[cfg(all(test, loom))]
mod modelled;
#[cfg(all(test, loom))]
pub(crate) use modelled::*;

#[cfg(not(all(test, loom)))]
pub(crate) use std::{
    hint::spin_loop,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU32, AtomicU64, fence},
    },
    thread::yield_now,
};

pub(crate) use std::sync::atomic::Ordering;

/// How often to check something before sleeping. In a model once: each check multiplies the executions.
pub(crate) const fn checks(times: u32) -> u32 {
    if cfg!(all(test, loom)) { 1 } else { times }
}

/// Locks a mutex, of which it does not matter whether a thread has panicked with it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
