//! ForkJoinThroughput: one actor sends to many in turn.
//!
//! It measures throughput over many mailboxes.

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

use super::work::tiny_computation;

pub(super) fn run(system: System, actors: usize, messages: u64, rounds: u64) {
    let (rounds_right, report) = Promise::pair();
    let main = system.spawn(Main {
        messages,
        round: 1,
        rounds,
        workers: Vec::new(),
        report,
    });
    main.start(actors);
    assert_eq!(rounds_right.wait().unwrap(), rounds);
}

struct Main {
    messages: u64,
    round: u64,
    rounds: u64,
    workers: Vec<FarRef<Worker>>,
    /// Receives the number of rounds in which every message was handled, all of them unless something is wrong.
    report: Resolver<u64>,
}

#[reenact::actor]
impl Main {
    pub(super) fn start(&mut self, ctx: &mut Context<Self>, actors: usize) {
        let collector = ctx.spawn(Collector {
            workers: actors,
            done: 0,
            handled: 0,
            main: ctx.me(),
        });
        let worker = || Worker {
            handled: 0,
            messages: self.messages,
            collector: collector.clone(),
        };
        self.workers = (0..actors).map(|_| ctx.spawn(worker())).collect();
        self.fork();
    }

    /// All workers have handled so many messages so far.
    pub(super) fn round_over(&mut self, handled: u64) {
        let expected = self.workers.len() as u64 * self.messages * self.round;
        if handled != expected || self.round == self.rounds {
            let right = self.round - u64::from(handled != expected);
            self.workers.clear();
            self.report.resolve(right);
        } else {
            self.round += 1;
            self.fork();
        }
    }

    fn fork(&self) {
        for _ in 0..self.messages {
            for worker in &self.workers {
                worker.process();
            }
        }
    }
}

struct Worker {
    handled: u64,
    messages: u64,
    collector: FarRef<Collector>,
}

#[reenact::actor]
impl Worker {
    pub(super) fn process(&mut self) {
        assert!(tiny_computation() > 0.0);
        self.handled += 1;
        if self.handled.is_multiple_of(self.messages) {
            self.collector.done(self.handled);
        }
    }
}

struct Collector {
    workers: usize,
    done: usize,
    handled: u64,
    main: FarRef<Main>,
}

#[reenact::actor]
impl Collector {
    pub(super) fn done(&mut self, handled: u64) {
        self.handled += handled;
        self.done += 1;
        if self.done == self.workers {
            self.main.round_over(self.handled);
            (self.done, self.handled) = (0, 0);
        }
    }
}
