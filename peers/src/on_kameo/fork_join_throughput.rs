//! ForkJoinThroughput: many messages to many actors in turn.

use kameo::{
    Actor,
    actor::ActorRef,
    message::{Context, Message},
};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{send, spawn};
use crate::{runtime::fork_and_join, work::tiny_computation};

struct Work;

/// A worker has handled all the messages of a round; so many so far.
struct Done(u64);

#[derive(Actor)]
struct Worker {
    handled: u64,
    messages: u64,
    collector: ActorRef<Collector>,
}

#[derive(Actor)]
struct Collector {
    workers: usize,
    done: usize,
    handled: u64,
    round_over: UnboundedSender<u64>,
}

impl Message<Work> for Worker {
    type Reply = ();

    async fn handle(&mut self, _: Work, _: &mut Context<Self, ()>) {
        assert!(tiny_computation() > 0.0);
        self.handled += 1;
        if self.handled.is_multiple_of(self.messages) {
            send(&self.collector, Done(self.handled));
        }
    }
}

impl Message<Done> for Collector {
    type Reply = ();

    async fn handle(&mut self, Done(handled): Done, _: &mut Context<Self, ()>) {
        self.handled += handled;
        self.done += 1;
        if self.done == self.workers {
            let _ = self.round_over.send(self.handled);
            (self.done, self.handled) = (0, 0);
        }
    }
}

pub(super) async fn run(actors: usize, messages: u64, rounds: u64) {
    let (round_over, mut rounds_over) = unbounded_channel();
    let collector = spawn(Collector {
        workers: actors,
        done: 0,
        handled: 0,
        round_over,
    });
    let worker = || {
        spawn(Worker {
            handled: 0,
            messages,
            collector: collector.clone(),
        })
    };
    let workers: Vec<_> = (0..actors).map(|_| worker()).collect();
    let send = |worker: &_| send(worker, Work);
    fork_and_join(&workers, messages, rounds, send, &mut rounds_over).await;
}
