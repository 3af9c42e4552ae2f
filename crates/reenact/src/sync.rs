//! `std::sync`, recorded.
//!
//! Names, signatures, poisoning and panics are std's. What cannot go more than one way is std's own and re-exported.
//!
//! # Nondeterminism
//!
//! - **What can go more than one way:** who takes a lock next; whether a try succeeds; whether a timed wait is
//!   signalled; which store a load sees.
//! - **What is recorded:** for each of these that was not predicted, the position in the order of the lock (or atomic),
//!   or that it failed or timed out. Predicted: the last one was this thread; tries succeed; waits are signalled.
//! - **What replay waits for:** the lock to be at the recorded position. Condition variables need no signal: the waiter
//!   waits for its position in the lock's order. Time limits do not matter, what became of them does.
//! - **What exploration branches on:** who is next at each lock or atomic; whether a try comes before or after it is given
//!   back, and a time limit before or after the signal; whom of those who wait `notify_one` wakes. A message that is sent
//!   through a channel is a step, one that is received another, and so is an end that is dropped.
//! - **What is dependent:** two operations on the same entity, unless both only look (`read`, `load`). Giving a lock back only
//!   on tries. Two sends into the same channel; a send and a receive only if one of them does not wait as long as it must.

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
