//! Big: everybody pings random others, one ping at a time.
//!
//! It measures many-to-many traffic.

use std::sync::Arc;

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

use super::work::XorShift;

type Workers = Arc<[FarRef<Worker>]>;

pub(super) fn run(system: System, actors: usize, pings: u64) {
    let (sum, report) = Promise::pair();
    let sink = system.spawn(Sink {
        workers: Arc::new([]),
        busy: actors,
        present: actors,
        sum: 0,
        report,
    });
    let worker = |index| Worker {
        index,
        workers: Arc::new([]),
        sink: sink.clone(),
        random: XorShift::of_actor(index),
        left: pings,
        answered: 0,
        pinged: index,
    };
    let workers: Workers = (0..actors)
        .map(|index| system.spawn(worker(index)))
        .collect();
    sink.meet(Arc::clone(&workers));
    for worker in workers.iter() {
        worker.meet(Arc::clone(&workers));
    }
    for worker in workers.iter() {
        worker.start();
    }
    assert_eq!(sum.wait().unwrap(), actors as u64 * pings);
}

struct Worker {
    index: usize,
    workers: Workers,
    sink: FarRef<Sink>,
    random: XorShift,
    left: u64,
    answered: u64,
    /// Who must answer next.
    pinged: usize,
}

#[reenact::actor]
impl Worker {
    pub(super) fn meet(&mut self, workers: Workers) {
        self.workers = workers;
    }

    pub(super) fn start(&mut self) {
        self.send_ping();
    }

    pub(super) fn ping(&mut self, from: usize) {
        self.answered += 1;
        self.workers[from].pong(self.index);
    }

    pub(super) fn pong(&mut self, from: usize) {
        assert_eq!(from, self.pinged);
        self.left -= 1;
        if self.left == 0 {
            self.sink.done();
        } else {
            self.send_ping();
        }
    }

    /// Everybody is done: how many pings has this worker answered?
    pub(super) fn exit(&mut self, ctx: &mut Context<Self>) {
        self.sink.answered(self.answered);
        ctx.stop();
    }

    fn send_ping(&mut self) {
        self.pinged = self.random.other_than(self.index, self.workers.len());
        self.workers[self.pinged].ping(self.index);
    }
}

struct Sink {
    workers: Workers,
    busy: usize,
    present: usize,
    sum: u64,
    report: Resolver<u64>,
}

#[reenact::actor]
impl Sink {
    pub(super) fn meet(&mut self, workers: Workers) {
        self.workers = workers;
    }

    pub(super) fn done(&mut self) {
        self.busy -= 1;
        if self.busy == 0 {
            for worker in self.workers.iter() {
                worker.exit();
            }
        }
    }

    pub(super) fn answered(&mut self, answered: u64) {
        self.sum += answered;
        self.present -= 1;
        if self.present == 0 {
            self.workers = Arc::new([]);
            self.report.resolve(self.sum);
        }
    }
}
