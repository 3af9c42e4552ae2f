//! ForkJoinActorCreation: an actor for every message.

use actix::{Actor, ActorContext, Addr, Context, Handler, Message};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Arbiters, actors, next};
use crate::work::tiny_computation;

actors!(Worker, Collector);

#[derive(Message)]
#[rtype(result = "()")]
struct Work;

#[derive(Message)]
#[rtype(result = "()")]
struct Done(f64);

struct Worker {
    collector: Addr<Collector>,
}

struct Collector {
    done: u64,
    actors: u64,
    round_over: UnboundedSender<u64>,
}

impl Handler<Work> for Worker {
    type Result = ();

    fn handle(&mut self, _: Work, context: &mut Context<Self>) {
        self.collector.do_send(Done(tiny_computation()));
        context.stop();
    }
}

impl Handler<Done> for Collector {
    type Result = ();

    fn handle(&mut self, Done(result): Done, _: &mut Context<Self>) {
        assert!(result > 0.0);
        self.done += 1;
        if self.done.is_multiple_of(self.actors) {
            let _ = self.round_over.send(self.done);
        }
    }
}

pub(super) async fn run(arbiters: &Arbiters, actors: u64, rounds: u64) {
    let (round_over, mut rounds_over) = unbounded_channel();
    let collector = Collector {
        done: 0,
        actors,
        round_over,
    };
    let collector = collector.start();
    for round in 1..=rounds {
        // The other arbiters get their share last first, so that they work while this one creates.
        for index in (0..actors).rev() {
            let collector = collector.clone();
            let worker = Worker { collector };
            let worker = arbiters.start_actor(index as usize, actors as usize, worker);
            worker.do_send(Work);
        }
        assert_eq!(next(&mut rounds_over).await, actors * round);
    }
}
