//! ForkJoinActorCreation: many actors live for one message each.
//!
//! It measures what it costs to make an actor, and to be rid of it. The operations are actors: each is sent one message
//! and sends one.

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

use super::work::tiny_computation;

pub(super) fn run(system: System, actors: u64, rounds: u64) {
    let (done, report) = Promise::pair();
    let main = system.spawn(Main {
        actors,
        rounds_left: rounds,
        collector: None,
        report,
    });
    main.start();
    assert_eq!(done.wait().unwrap(), actors * rounds);
}

struct Main {
    actors: u64,
    rounds_left: u64,
    collector: Option<FarRef<Collector>>,
    report: Resolver<u64>,
}

#[reenact::actor]
impl Main {
    pub(super) fn start(&mut self, ctx: &mut Context<Self>) {
        let collector = ctx.spawn(Collector {
            done: 0,
            actors: self.actors,
            main: ctx.me(),
        });
        self.collector = Some(collector);
        self.fork(ctx);
    }

    pub(super) fn round_over(&mut self, ctx: &mut Context<Self>, done: u64) {
        self.rounds_left -= 1;
        if self.rounds_left == 0 {
            self.collector = None;
            self.report.resolve(done);
        } else {
            self.fork(ctx);
        }
    }

    fn fork(&self, ctx: &Context<Self>) {
        let Some(collector) = &self.collector else {
            return;
        };
        for _ in 0..self.actors {
            let worker = ctx.spawn(Worker {
                collector: collector.clone(),
            });
            worker.work();
        }
    }
}

struct Worker {
    collector: FarRef<Collector>,
}

#[reenact::actor]
impl Worker {
    pub(super) fn work(&mut self) {
        self.collector.done(tiny_computation());
    }
}

struct Collector {
    done: u64,
    actors: u64,
    main: FarRef<Main>,
}

#[reenact::actor]
impl Collector {
    pub(super) fn done(&mut self, result: f64) {
        assert!(result > 0.0);
        self.done += 1;
        if self.done.is_multiple_of(self.actors) {
            self.main.round_over(self.done);
        }
    }
}
