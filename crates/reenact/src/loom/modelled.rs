//! loom's atomics, cells and locks, and a latch and a spin made of them: the engine's own are modelled in the engine.

use std::{sync::atomic::Ordering, time::Instant};

pub(crate) use ::loom::{
    cell::Cell,
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicPtr, AtomicUsize},
    },
};

/// loom's, but a store also reads what it overwrites. Otherwise loom would not know that the store which releases a lock
/// comes after the swap of another thread that found the lock held.
pub(crate) struct AtomicU32(::loom::sync::atomic::AtomicU32);

impl AtomicU32 {
    pub(crate) fn new(value: u32) -> AtomicU32 {
        AtomicU32(::loom::sync::atomic::AtomicU32::new(value))
    }

    pub(crate) fn load(&self, order: Ordering) -> u32 {
        self.0.load(order)
    }

    pub(crate) fn store(&self, value: u32, order: Ordering) {
        self.0.swap(value, order);
    }

    pub(crate) fn swap(&self, value: u32, order: Ordering) -> u32 {
        self.0.swap(value, order)
    }
}

/// In place of `std`'s, whose variables would be shared by the threads of a model.
macro_rules! modelled_thread_local {
    (static $name:ident: $type:ty = const $initial:block;) => {
        ::loom::thread_local! { static $name: $type = $initial; }
    };
}
pub(crate) use modelled_thread_local as thread_local;

/// In place of the engine's, which waits in the kernel.
pub(crate) struct Latch {
    is_established: Mutex<bool>,
    changed: Condvar,
}

impl Latch {
    pub(crate) fn new() -> Latch {
        Latch {
            is_established: Mutex::new(false),
            changed: Condvar::new(),
        }
    }

    pub(crate) fn establish(&self) {
        *self.is_established.lock().unwrap() = true;
        self.changed.notify_all();
    }

    pub(crate) fn wait(&self, _: &(dyn Fn() -> String + Sync)) {
        let mut is_established = self.is_established.lock().unwrap();
        while !*is_established {
            is_established = self.changed.wait(is_established).unwrap();
        }
    }

    /// No time passes in a model.
    pub(crate) fn wait_until(&self, _: Instant) -> bool {
        *self.is_established.lock().unwrap()
    }
}

pub(crate) fn yield_while(mut condition: impl FnMut() -> bool) {
    while condition() {
        ::loom::thread::yield_now();
    }
}
