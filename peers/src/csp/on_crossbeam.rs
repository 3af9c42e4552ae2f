//! The programs on threads and the zero-capacity channel of crossbeam.

use std::thread::spawn;

use crossbeam_channel::{Receiver, Sender, bounded};

#[path = "../../../crates/reenact-bench/src/csp/programs/table.rs"]
mod table;

pub(crate) use table::run;

fn channel<T>() -> (Sender<T>, Receiver<T>) {
    bounded(0)
}

fn channel_from_many<T>(senders: usize) -> (Vec<Sender<T>>, Receiver<T>) {
    let (sender, receiver) = channel();
    (vec![sender; senders], receiver)
}
