//! What loom replaces: atomics, cells, locks, and how a thread waits.
//!
//! Modules whose concurrency is checked by [loom](https://github.com/tokio-rs/loom) take these from here instead of from `std` or from
//! the engine. They are the real ones, except when the tests are built with `--cfg loom`, which is what
//! `cargo xtask check-unsafe` does.

#[cfg(all(test, loom))]
mod modelled;
#[cfg(all(test, loom))]
pub(crate) use modelled::*;

#[cfg(not(all(test, loom)))]
pub(crate) use self::real::*;

#[cfg(not(all(test, loom)))]
mod real {
    pub(crate) use std::{
        cell::Cell,
        sync::{
            Mutex, MutexGuard,
            atomic::{AtomicPtr, AtomicU32, AtomicUsize},
        },
        thread_local,
    };

    pub(crate) use reenact_engine::{Latch, raw::yield_while};
}
