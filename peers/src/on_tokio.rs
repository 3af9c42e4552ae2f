//! The programs on bare tokio: an actor is a task that owns the receiver of an unbounded channel.
//!
//! There is no library in between, so this is the floor for the others. Addresses are handed out
//! before the tasks start, messages are small enums by value.

mod big;
mod chameneos;
mod counting;
mod fork_join_creation;
mod fork_join_throughput;
mod philosophers;
mod ping_pong;
mod thread_ring;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::{measured::Measured, runtime, sizes::Size};

/// Runs a program of this size.
pub(crate) fn run(size: Size, workers: usize) -> Measured {
    runtime::measure(workers, size, program(size))
}

async fn program(size: Size) {
    runtime::run_program!(size);
}

/// Sends to a task that is known to be there still.
#[inline]
fn send<M>(to: &UnboundedSender<M>, message: M) {
    assert!(
        to.send(message).is_ok(),
        "the receiver outlives its senders"
    );
}

/// The next message, of which one is known to come.
#[inline]
async fn next<M>(mailbox: &mut UnboundedReceiver<M>) -> M {
    mailbox.recv().await.expect("the sender outlives this wait")
}

/// Addresses and mailboxes for so many tasks.
fn mailboxes<M>(count: usize) -> (Vec<UnboundedSender<M>>, Vec<UnboundedReceiver<M>>) {
    (0..count).map(|_| unbounded_channel()).unzip()
}
