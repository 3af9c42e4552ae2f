//! The list of all workloads.
//!
//! This file and its siblings are compiled twice; the parent module brings `sync` and `thread`
//! into scope, and here nothing else may name the crate they come from.

use super::{sync, thread};
use crate::{Measured, Setting, Workload};

mod atomic;
mod channel;
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
    workload("mutex-uncontended", mutex::uncontended),
    workload("mutex-contended", mutex::contended),
    workload("rwlock-read", rwlock::read),
    workload("atomic-fetch-add", atomic::fetch_add),
    workload("channel", channel::stream),
    workload("philosophers", philosophers::run),
    workload("producer-consumer", producer_consumer::run),
    workload("lee", lee::run),
    workload("vacation", vacation::run),
    workload("hand-off", hand_off::run),
];

const fn workload(name: &'static str, run: fn(&Setting) -> Measured) -> Workload {
    Workload { name, run }
}
