//! `std::sync`, recorded.
//!
//! Names, signatures, poisoning and panics are std's. Types whose behavior is deterministic are re-exported from std.
//!
//! # Nondeterminism
//!
//! - **What can go more than one way:** which thread takes a lock next; whether a try succeeds; whether a timed wait is
//!   signalled; which store a load sees.
//! - **What is recorded:** for each of these that was not predicted, the position in the order of the lock (or atomic),
//!   or that it failed or timed out. The predictions: the last operation was by this thread; tries succeed; waits are
//!   signalled.
//! - **What replay waits for:** the lock to be at the recorded position. Condition variables need no signal: the waiter
//!   waits for its position in the lock's order. Time limits are ignored; their recorded outcome counts.
//! - **What exploration branches on:** which activity is next at each lock or atomic; whether a try comes before or
//!   after the release, and a time limit before or after the signal; which waiter `notify_one` wakes. Sending a message
//!   through a channel is a step, receiving it is another, and so is dropping an end.
//! - **What is dependent:** two operations on the same object, unless both only read (`read`, `load`). Releasing a lock
//!   only with tries. Two sends into the same channel; a send and a receive only if one of them does not wait as long
//!   as it must.

pub mod atomic;
pub mod mpsc;

mod barrier;
mod condvar;
mod lazy_lock;
mod mutex;
mod once;
mod once_lock;
mod poison;
mod rwlock;

pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};

pub use self::{
    barrier::{Barrier, BarrierWaitResult},
    condvar::{Condvar, WaitTimeoutResult},
    lazy_lock::LazyLock,
    mutex::{Mutex, MutexGuard},
    once::{Once, OnceState},
    once_lock::OnceLock,
    rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard},
};
