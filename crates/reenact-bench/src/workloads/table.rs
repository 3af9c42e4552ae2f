//! The list of all workloads.
//!
//! This file and its siblings are compiled twice; the parent module brings `sync`, `thread` and `time`
//! into scope, and here nothing else may name the crate they come from.

use super::{sync, thread, time};
use crate::{Measured, Setting, Workload};

mod atomic;
mod channel;
mod clock;
mod hand_off;
mod lee;
mod mutex;
mod philosophers;
mod producer_consumer;
mod rwlock;
mod vacation;

/// Does one operation, so that whatever is set up for the first one is not measured.
pub fn warm_up() {
    drop(sync::Mutex::new(()).lock());
}

/// Every workload, under the name that the command line knows it by.
pub const WORKLOADS: &[Workload] = &[
    Workload::threads("mutex-uncontended", mutex::uncontended),
    Workload::threads("mutex-contended", mutex::contended),
    Workload::threads("rwlock-read", rwlock::read),
    Workload::threads("atomic-fetch-add", atomic::fetch_add),
    Workload::threads("channel", channel::stream),
    Workload::threads("philosophers", philosophers::run),
    Workload::threads("producer-consumer", producer_consumer::run),
    Workload::threads("lee", lee::run),
    Workload::threads("vacation", vacation::run),
    Workload::threads("hand-off", hand_off::run),
    Workload::threads("clock", clock::monotonic),
    Workload::threads("time-of-day", clock::of_day),
];
