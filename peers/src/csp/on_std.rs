//! The programs on threads and the zero-capacity channel of the standard library.

use std::{
    sync::mpsc::{Receiver, SyncSender as Sender, sync_channel},
    thread::spawn,
};

#[path = "../../../crates/reenact-bench/src/csp/programs/table.rs"]
mod table;

pub(crate) use table::run;

fn channel<T>() -> (Sender<T>, Receiver<T>) {
    sync_channel(0)
}

fn channel_from_many<T>(senders: usize) -> (Vec<Sender<T>>, Receiver<T>) {
    let (sender, receiver) = channel();
    (vec![sender; senders], receiver)
}
