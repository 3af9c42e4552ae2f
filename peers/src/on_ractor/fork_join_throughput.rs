//! ForkJoinThroughput: many messages to many actors in turn.

use ractor::{Actor, ActorRef};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Handled, send, spawn, spawn_all, starts_with};
use crate::{runtime::fork_and_join, work::tiny_computation};

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
    starts_with!(u64, handles Work);

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
    starts_with!((usize, u64), handles Done);

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
    let collector = spawn(collector, (0, 0)).await;
    let worker = |_| {
        let collector = collector.clone();
        let worker = Worker {
            messages,
            collector,
        };
        (worker, 0)
    };
    let workers = spawn_all(actors, worker).await;
    let send = |worker: &_| send(worker, Work);
    fork_and_join(&workers, messages, rounds, send, &mut rounds_over).await;
}
