//! Big: everybody pings random others, one ping at a time.

use std::sync::Arc;

use kameo::{
    Actor,
    actor::ActorRef,
    message::{Context, Message},
};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{next, prepare, prepare_all, send};
use crate::work::XorShift;

struct Start;

struct Ping {
    from: usize,
}

struct Pong {
    from: usize,
}

struct Done;

/// Everybody is done: how many pings has this worker answered?
struct Exit;

struct Answered(u64);

#[derive(Actor)]
struct Worker {
    index: usize,
    workers: Arc<[ActorRef<Worker>]>,
    sink: ActorRef<Sink>,
    random: XorShift,
    left: u64,
    answered: u64,
    /// Who must answer next.
    pinged: usize,
}

#[derive(Actor)]
struct Sink {
    workers: Arc<[ActorRef<Worker>]>,
    busy: usize,
    present: usize,
    sum: u64,
    report: UnboundedSender<u64>,
}

impl Worker {
    fn ping(&mut self) {
        let from = self.index;
        self.pinged = self.random.other_than(from, self.workers.len());
        send(&self.workers[self.pinged], Ping { from });
    }
}

impl Message<Start> for Worker {
    type Reply = ();

    async fn handle(&mut self, _: Start, _: &mut Context<Self, ()>) {
        self.ping();
    }
}

impl Message<Ping> for Worker {
    type Reply = ();

    async fn handle(&mut self, Ping { from }: Ping, _: &mut Context<Self, ()>) {
        self.answered += 1;
        send(&self.workers[from], Pong { from: self.index });
    }
}

impl Message<Pong> for Worker {
    type Reply = ();

    async fn handle(&mut self, Pong { from }: Pong, _: &mut Context<Self, ()>) {
        assert_eq!(from, self.pinged);
        self.left -= 1;
        if self.left == 0 {
            send(&self.sink, Done);
        } else {
            self.ping();
        }
    }
}

impl Message<Exit> for Worker {
    type Reply = ();

    async fn handle(&mut self, _: Exit, context: &mut Context<Self, ()>) {
        send(&self.sink, Answered(self.answered));
        context.stop();
    }
}

impl Message<Done> for Sink {
    type Reply = ();

    async fn handle(&mut self, _: Done, _: &mut Context<Self, ()>) {
        self.busy -= 1;
        if self.busy == 0 {
            for worker in self.workers.iter() {
                send(worker, Exit);
            }
        }
    }
}

impl Message<Answered> for Sink {
    type Reply = ();

    async fn handle(&mut self, Answered(answered): Answered, _: &mut Context<Self, ()>) {
        self.sum += answered;
        self.present -= 1;
        if self.present == 0 {
            let _ = self.report.send(self.sum);
        }
    }
}

pub(super) async fn run(actors: usize, pings: u64) {
    let (report, mut reports) = unbounded_channel();
    let sink = prepare::<Sink>();
    let to_sink = sink.actor_ref().clone();
    let (prepared, addresses) = prepare_all::<Worker>(actors);
    let workers: Arc<[_]> = addresses.into();
    sink.spawn(Sink {
        workers: Arc::clone(&workers),
        busy: actors,
        present: actors,
        sum: 0,
        report,
    });
    for (index, worker) in prepared.into_iter().enumerate() {
        worker.spawn(Worker {
            index,
            workers: Arc::clone(&workers),
            sink: to_sink.clone(),
            random: XorShift::of_actor(index),
            left: pings,
            answered: 0,
            pinged: index,
        });
    }
    for worker in workers.iter() {
        send(worker, Start);
    }
    assert_eq!(next(&mut reports).await, actors as u64 * pings);
}
