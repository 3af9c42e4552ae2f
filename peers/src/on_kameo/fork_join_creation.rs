//! ForkJoinActorCreation: an actor for every message.

use kameo::{
    Actor,
    actor::ActorRef,
    message::{Context, Message},
};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{next, send, spawn};
use crate::work::tiny_computation;

struct Work;
struct Done(f64);

#[derive(Actor)]
struct Worker {
    collector: ActorRef<Collector>,
}

#[derive(Actor)]
struct Collector {
    done: u64,
    actors: u64,
    round_over: UnboundedSender<u64>,
}

impl Message<Work> for Worker {
    type Reply = ();

    async fn handle(&mut self, _: Work, context: &mut Context<Self, ()>) {
        send(&self.collector, Done(tiny_computation()));
        context.stop();
    }
}

impl Message<Done> for Collector {
    type Reply = ();

    async fn handle(&mut self, Done(result): Done, _: &mut Context<Self, ()>) {
        assert!(result > 0.0);
        self.done += 1;
        if self.done.is_multiple_of(self.actors) {
            let _ = self.round_over.send(self.done);
        }
    }
}

pub(super) async fn run(actors: u64, rounds: u64) {
    let (round_over, mut rounds_over) = unbounded_channel();
    let collector = spawn(Collector {
        done: 0,
        actors,
        round_over,
    });
    for round in 1..=rounds {
        for _ in 0..actors {
            let worker = spawn(Worker {
                collector: collector.clone(),
            });
            send(&worker, Work);
        }
        assert_eq!(next(&mut rounds_over).await, actors * round);
    }
}
