//! The programs on the coroutines of may and its channel for many senders, which does not wait for the receiver.
//!
//! This is no rendezvous: a sender of many messages is ahead of its receivers. It is measured to see what may gives to
//! those who do not need one.

use may::sync::mpsc::{Receiver, Sender, channel};

use super::on_may::spawn;

#[path = "../../../crates/reenact-bench/src/csp/programs/table.rs"]
mod table;

/// Runs a program of this size on so many workers.
pub(crate) fn run(size: super::sizes::Size, workers: usize) -> crate::Measured {
    may::config().set_workers(workers);
    table::run(size)
}

fn channel_from_many<T>(senders: usize) -> (Vec<Sender<T>>, Receiver<T>) {
    let (sender, receiver) = channel();
    ((0..senders).map(|_| sender.clone()).collect(), receiver)
}
