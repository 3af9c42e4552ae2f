//! Big: everybody pings random others, one ping at a time.

use std::sync::Arc;

use actix::{Actor, ActorContext, Addr, Context, Handler, Message};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{Arbiters, actors, next};
use crate::work::XorShift;

actors!(Worker, Sink);

type Workers = Arc<[Addr<Worker>]>;

/// Comes to everybody before anybody starts: a ping may be quicker than one's own start.
#[derive(Message)]
#[rtype(result = "()")]
struct Introduce(Workers);

#[derive(Message)]
#[rtype(result = "()")]
struct Start;

#[derive(Message)]
#[rtype(result = "()")]
struct Ping {
    from: usize,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Pong {
    from: usize,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Done;

/// Everybody is done: how many pings has this worker answered?
#[derive(Message)]
#[rtype(result = "()")]
struct Exit;

#[derive(Message)]
#[rtype(result = "()")]
struct Answered(u64);

struct Worker {
    index: usize,
    workers: Workers,
    sink: Addr<Sink>,
    random: XorShift,
    left: u64,
    answered: u64,
    /// Who must answer next.
    pinged: usize,
}

struct Sink {
    workers: Workers,
    busy: usize,
    present: usize,
    sum: u64,
    report: UnboundedSender<u64>,
}

impl Worker {
    fn ping(&mut self) {
        let from = self.index;
        self.pinged = self.random.other_than(from, self.workers.len());
        self.workers[self.pinged].do_send(Ping { from });
    }
}

impl Handler<Introduce> for Worker {
    type Result = ();

    fn handle(&mut self, Introduce(workers): Introduce, _: &mut Context<Self>) {
        self.workers = workers;
    }
}

impl Handler<Start> for Worker {
    type Result = ();

    fn handle(&mut self, _: Start, _: &mut Context<Self>) {
        self.ping();
    }
}

impl Handler<Ping> for Worker {
    type Result = ();

    fn handle(&mut self, Ping { from }: Ping, _: &mut Context<Self>) {
        self.answered += 1;
        self.workers[from].do_send(Pong { from: self.index });
    }
}

impl Handler<Pong> for Worker {
    type Result = ();

    fn handle(&mut self, Pong { from }: Pong, _: &mut Context<Self>) {
        assert_eq!(from, self.pinged);
        self.left -= 1;
        if self.left == 0 {
            self.sink.do_send(Done);
        } else {
            self.ping();
        }
    }
}

impl Handler<Exit> for Worker {
    type Result = ();

    fn handle(&mut self, _: Exit, context: &mut Context<Self>) {
        self.sink.do_send(Answered(self.answered));
        context.stop();
    }
}

impl Handler<Introduce> for Sink {
    type Result = ();

    fn handle(&mut self, Introduce(workers): Introduce, _: &mut Context<Self>) {
        (self.busy, self.present) = (workers.len(), workers.len());
        self.workers = workers;
    }
}

impl Handler<Done> for Sink {
    type Result = ();

    fn handle(&mut self, _: Done, _: &mut Context<Self>) {
        self.busy -= 1;
        if self.busy == 0 {
            for worker in self.workers.iter() {
                worker.do_send(Exit);
            }
        }
    }
}

impl Handler<Answered> for Sink {
    type Result = ();

    fn handle(&mut self, Answered(answered): Answered, _: &mut Context<Self>) {
        self.sum += answered;
        self.present -= 1;
        if self.present == 0 {
            let _ = self.report.send(self.sum);
        }
    }
}

pub(super) async fn run(arbiters: &Arbiters, actors: usize, pings: u64) {
    let (report, mut reports) = unbounded_channel();
    let sink = Sink {
        workers: Workers::default(),
        busy: 0,
        present: 0,
        sum: 0,
        report,
    }
    .start();
    let worker = |index| Worker {
        index,
        workers: Workers::default(),
        sink: sink.clone(),
        random: XorShift::of_actor(index),
        left: pings,
        answered: 0,
        pinged: index,
    };
    let workers: Workers = arbiters.start_all(actors, worker).collect();
    sink.do_send(Introduce(Arc::clone(&workers)));
    for worker in workers.iter() {
        worker.do_send(Introduce(Arc::clone(&workers)));
    }
    for worker in workers.iter() {
        worker.do_send(Start);
    }
    assert_eq!(next(&mut reports).await, actors as u64 * pings);
}
