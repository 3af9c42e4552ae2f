//! ForkJoinActorCreation: an actor for every message.

use ractor::{Actor, ActorRef};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Handled, next, send, spawn, starts_with};
use crate::work::tiny_computation;

struct Work;
struct Done(f64);

struct Worker {
    collector: ActorRef<Done>,
}

/// Its state: how many workers are done.
struct Collector {
    actors: u64,
    round_over: UnboundedSender<u64>,
}

impl Actor for Worker {
    starts_with!((), handles Work);

    async fn handle(&self, myself: ActorRef<Work>, _: Work, (): &mut ()) -> Handled {
        send(&self.collector, Done(tiny_computation()));
        myself.stop(None);
        Ok(())
    }
}

impl Actor for Collector {
    starts_with!(u64, handles Done);

    async fn handle(&self, _: ActorRef<Done>, Done(result): Done, done: &mut u64) -> Handled {
        assert!(result > 0.0);
        *done += 1;
        if done.is_multiple_of(self.actors) {
            let _ = self.round_over.send(*done);
        }
        Ok(())
    }
}

pub(super) async fn run(actors: u64, rounds: u64) {
    let (round_over, mut rounds_over) = unbounded_channel();
    let collector = spawn(Collector { actors, round_over }, 0).await;
    for round in 1..=rounds {
        for _ in 0..actors {
            let collector = collector.clone();
            let worker = spawn(Worker { collector }, ()).await;
            send(&worker, Work);
        }
        assert_eq!(next(&mut rounds_over).await, actors * round);
    }
}
