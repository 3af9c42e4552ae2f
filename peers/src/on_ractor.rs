//! The programs on ractor.
//!
//! Its best configuration: built without the propagation of spans between messages; mailboxes are
//! unbounded anyway. An actor has one message type and keeps what changes in its state, as ractor
//! wants it. An address exists only once its actor runs, so actors that know each other receive the
//! addresses in their first message.

mod big;
mod chameneos;
mod counting;
mod fork_join_creation;
mod fork_join_throughput;
mod philosophers;
mod ping_pong;
mod thread_ring;

use ractor::{Actor, ActorRef, Message};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::{measured::Measured, runtime, sizes::Size};

/// What a handler returns.
type Handled = Result<(), ractor::ActorProcessingErr>;

/// What the start of an actor returns.
type Started<State> = Result<State, ractor::ActorProcessingErr>;

/// The types of an actor for these messages, which starts in the state that it is spawned with.
macro_rules! starts_with {
    ($state:ty, handles $message:ty) => {
        type Msg = $message;
        type State = $state;
        type Arguments = $state;

        async fn pre_start(
            &self,
            _: ractor::ActorRef<$message>,
            state: $state,
        ) -> super::Started<$state> {
            Ok(state)
        }
    };
}
use starts_with;

/// Runs a program of this size.
pub(crate) fn run(size: Size, workers: usize) -> Measured {
    runtime::measure(workers, size, program(size))
}

async fn program(size: Size) {
    runtime::run_program!(size);
}

/// Starts an actor.
async fn spawn<A: Actor>(actor: A, arguments: A::Arguments) -> ActorRef<A::Msg> {
    let spawned = A::spawn(None, actor, arguments).await;
    let (address, _) = spawned.expect("the start of an actor does nothing that could fail");
    address
}

/// Starts so many actors, each with what it gets by its number.
async fn spawn_all<A: Actor>(
    count: usize,
    actor: impl Fn(usize) -> (A, A::Arguments),
) -> Vec<ActorRef<A::Msg>> {
    let mut addresses = Vec::with_capacity(count);
    for index in 0..count {
        let (actor, arguments) = actor(index);
        addresses.push(spawn(actor, arguments).await);
    }
    addresses
}

/// Sends to an actor that is known to be there still.
#[inline]
fn send<M: Message>(to: &ActorRef<M>, message: M) {
    let sent = to.send_message(message);
    assert!(sent.is_ok(), "the receiver outlives its senders");
}

/// What an actor reports to the main program.
async fn next<T>(reports: &mut UnboundedReceiver<T>) -> T {
    reports.recv().await.expect("the actors outlive this wait")
}
