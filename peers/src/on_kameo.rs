//! The programs on kameo.
//!
//! Its best configuration: built without `tracing`, mailboxes unbounded (they are bounded unless
//! asked otherwise), messages sent with `try_send`, which on an unbounded mailbox never fails for
//! want of room and needs no future. Each message is a type of its own, as kameo wants it. Actors
//! that know each other are prepared first, so that they have all addresses from their start.

mod big;
mod chameneos;
mod counting;
mod fork_join_creation;
mod fork_join_throughput;
mod philosophers;
mod ping_pong;
mod thread_ring;

use kameo::{
    actor::{Actor, ActorRef, PreparedActor, Spawn},
    mailbox,
    message::Message,
};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::{measured::Measured, runtime, sizes::Size};

/// Runs a program of this size.
pub(crate) fn run(size: Size, workers: usize) -> Measured {
    runtime::measure(workers, size, program(size))
}

async fn program(size: Size) {
    runtime::run_program!(size);
}

/// An actor that has its address already but does not run yet.
fn prepare<A: Actor>() -> PreparedActor<A> {
    A::prepare_with_mailbox(mailbox::unbounded())
}

/// So many of them, and their addresses.
fn prepare_all<A: Actor>(count: usize) -> (Vec<PreparedActor<A>>, Vec<ActorRef<A>>) {
    let prepared: Vec<_> = (0..count).map(|_| prepare()).collect();
    let addresses = prepared.iter().map(|a| a.actor_ref().clone()).collect();
    (prepared, addresses)
}

/// Starts an actor.
fn spawn<A: Actor<Args = A>>(actor: A) -> ActorRef<A> {
    A::spawn_with_mailbox(actor, mailbox::unbounded())
}

/// Sends to an actor that is known to be there still.
#[inline]
fn send<A: Message<M>, M: Send + 'static>(to: &ActorRef<A>, message: M) {
    let sent = to.tell(message).try_send();
    assert!(sent.is_ok(), "the receiver outlives its senders");
}

/// What an actor reports to the main program.
async fn next<T>(reports: &mut UnboundedReceiver<T>) -> T {
    reports.recv().await.expect("the actors outlive this wait")
}
