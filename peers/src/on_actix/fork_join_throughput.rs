//! ForkJoinThroughput: many messages to many actors in turn.

use actix::{Actor, Addr, Context, Handler, Message};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Arbiters, actors};
use crate::{runtime::fork_and_join, work::tiny_computation};

actors!(Worker, Collector);

#[derive(Message)]
#[rtype(result = "()")]
struct Work;

/// A worker has handled all the messages of a round; so many so far.
#[derive(Message)]
#[rtype(result = "()")]
struct Done(u64);

struct Worker {
    handled: u64,
    messages: u64,
    collector: Addr<Collector>,
}

struct Collector {
    workers: usize,
    done: usize,
    handled: u64,
    round_over: UnboundedSender<u64>,
}

impl Handler<Work> for Worker {
    type Result = ();

    fn handle(&mut self, _: Work, _: &mut Context<Self>) {
        assert!(tiny_computation() > 0.0);
        self.handled += 1;
        if self.handled.is_multiple_of(self.messages) {
            self.collector.do_send(Done(self.handled));
        }
    }
}

impl Handler<Done> for Collector {
    type Result = ();

    fn handle(&mut self, Done(handled): Done, _: &mut Context<Self>) {
        self.handled += handled;
        self.done += 1;
        if self.done == self.workers {
            let _ = self.round_over.send(self.handled);
            (self.done, self.handled) = (0, 0);
        }
    }
}

pub(super) async fn run(arbiters: &Arbiters, actors: usize, messages: u64, rounds: u64) {
    let (round_over, mut rounds_over) = unbounded_channel();
    let collector = Collector {
        workers: actors,
        done: 0,
        handled: 0,
        round_over,
    }
    .start();
    let worker = |_| Worker {
        handled: 0,
        messages,
        collector: collector.clone(),
    };
    let workers: Vec<_> = arbiters.start_all(actors, worker).collect();
    let send = |worker: &Addr<Worker>| worker.do_send(Work);
    fork_and_join(&workers, messages, rounds, send, &mut rounds_over).await;
}
