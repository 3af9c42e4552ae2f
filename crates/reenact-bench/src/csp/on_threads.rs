//! The programs by plain threads, which meet at the same channels as processes do.

use reenact::{
    csp::{Receiver, Sender, channel},
    thread::spawn,
};

#[allow(
    clippy::duplicate_mod,
    reason = "compiling the same source for both is the comparison"
)]
#[path = "programs/table.rs"]
mod table;

pub(crate) use table::run;

fn channel_from_many<T>(senders: usize) -> (Vec<Sender<T>>, Receiver<T>) {
    let (sender, receiver) = channel();
    (vec![sender; senders], receiver)
}
