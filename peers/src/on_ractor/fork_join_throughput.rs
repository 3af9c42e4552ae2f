//! ForkJoinThroughput: many messages to many actors in turn.

use ractor::{Actor, ActorRef};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Handled, Started, next, send, spawn};
use crate::work::tiny_computation;

struct Work;

/// A worker has handled all the messages of a round; so many so far.
struct Done(u64);

/// Its state: how many messages it has handled.
struct Worker {
    messages: u64,
    collector: ActorRef<Done>,
}

/// Its state: how many workers are done with the round, and what they have handled together.
struct Collector {
    workers: usize,
    round_over: UnboundedSender<u64>,
}

impl Actor for Worker {
    type Msg = Work;
    type State = u64;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Work>, (): ()) -> Started<u64> {
        Ok(0)
    }

    async fn handle(&self, _: ActorRef<Work>, _: Work, handled: &mut u64) -> Handled {
        assert!(tiny_computation() > 0.0);
        *handled += 1;
        if handled.is_multiple_of(self.messages) {
            send(&self.collector, Done(*handled));
        }
        Ok(())
    }
}

impl Actor for Collector {
    type Msg = Done;
    type State = (usize, u64);
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Done>, (): ()) -> Started<Self::State> {
        Ok((0, 0))
    }

    async fn handle(
        &self,
        _: ActorRef<Done>,
        Done(by_one): Done,
        (done, handled): &mut Self::State,
    ) -> Handled {
        *done += 1;
        *handled += by_one;
        if *done == self.workers {
            let _ = self.round_over.send(*handled);
            (*done, *handled) = (0, 0);
        }
        Ok(())
    }
}

pub(super) async fn run(actors: usize, messages: u64, rounds: u64) {
    let (round_over, mut rounds_over) = unbounded_channel();
    let collector = Collector {
        workers: actors,
        round_over,
    };
    let collector = spawn(collector, ()).await;
    let mut workers = Vec::with_capacity(actors);
    for _ in 0..actors {
        let collector = collector.clone();
        let worker = Worker {
            messages,
            collector,
        };
        workers.push(spawn(worker, ()).await);
    }
    for round in 1..=rounds {
        for _ in 0..messages {
            for worker in &workers {
                send(worker, Work);
            }
        }
        let handled = next(&mut rounds_over).await;
        assert_eq!(handled, actors as u64 * messages * round);
    }
}
