//! The programs by light processes.

use reenact::csp::{Receiver, Sender, channel, spawn};

#[path = "programs/table.rs"]
mod table;

pub(crate) use table::run;

fn channel_from_many<T>(senders: usize) -> (Vec<Sender<T>>, Receiver<T>) {
    let (sender, receiver) = channel();
    (vec![sender; senders], receiver)
}
