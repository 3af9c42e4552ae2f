//! Philosophers: everybody asks one arbitrator for their forks, again and again while it denies them.
//!
//! How often that is depends on the schedule. The operations are those of the meals: a request, its grant and the
//! return of the forks.

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

use super::work::Forks;

pub(super) fn run(system: System, philosophers: usize, meals: u64) {
    let (eaten, report) = Promise::pair();
    let arbitrator = system.spawn(Arbitrator {
        forks: Forks::new(philosophers),
        philosophers: Vec::new(),
        present: philosophers,
        meals: 0,
        report,
    });
    let philosopher = |seat| Philosopher {
        seat,
        left: meals,
        arbitrator: arbitrator.clone(),
    };
    let table: Vec<_> = (0..philosophers)
        .map(|seat| system.spawn(philosopher(seat)))
        .collect();
    arbitrator.open(table.clone());
    for philosopher in &table {
        philosopher.start();
    }
    assert_eq!(eaten.wait().unwrap(), philosophers as u64 * meals);
}

struct Arbitrator {
    forks: Forks,
    philosophers: Vec<FarRef<Philosopher>>,
    present: usize,
    meals: u64,
    report: Resolver<u64>,
}

#[reenact::actor]
impl Arbitrator {
    pub(super) fn open(&mut self, philosophers: Vec<FarRef<Philosopher>>) {
        self.philosophers = philosophers;
    }

    pub(super) fn hungry(&mut self, seat: usize) {
        let philosopher = &self.philosophers[seat];
        if self.forks.take(seat) {
            philosopher.eat();
        } else {
            philosopher.denied();
        }
    }

    pub(super) fn done(&mut self, seat: usize) {
        self.meals += 1;
        self.forks.put_back(seat);
    }

    pub(super) fn exit(&mut self) {
        self.present -= 1;
        if self.present == 0 {
            assert!(self.forks.all_free());
            self.philosophers.clear();
            self.report.resolve(self.meals);
        }
    }
}

struct Philosopher {
    seat: usize,
    left: u64,
    arbitrator: FarRef<Arbitrator>,
}

#[reenact::actor]
impl Philosopher {
    pub(super) fn start(&mut self) {
        self.arbitrator.hungry(self.seat);
    }

    pub(super) fn denied(&mut self) {
        self.arbitrator.hungry(self.seat);
    }

    pub(super) fn eat(&mut self, ctx: &mut Context<Self>) {
        self.left -= 1;
        self.arbitrator.done(self.seat);
        if self.left == 0 {
            self.arbitrator.exit();
            ctx.stop();
        } else {
            self.arbitrator.hungry(self.seat);
        }
    }
}
