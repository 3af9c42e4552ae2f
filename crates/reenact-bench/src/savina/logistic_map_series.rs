//! LogisticMapSeries: series workers ask rate computers for one term after the other.
//!
//! The master wants many terms of each series at once; a worker that waits for one puts the other wishes aside. A term has
//! three messages: the wish, the request to the computer and its result. After each
//! burst the master asks each worker for its term, and at the end it sends a stop message.

use std::collections::VecDeque;

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

use crate::{Measured, Setting};

const TERMS: u64 = 10_000;
const ENLARGED: u64 = 50;
/// Series, each with a computer of its own.
const SERIES: usize = 10;
const START_RATE: f64 = 3.46;
const INCREMENT: f64 = 0.0025;
/// Terms that are wished for at once.
const BURST: u64 = TERMS;

pub(super) fn run(system: System, setting: &Setting) -> Measured {
    let terms = setting.times(TERMS * ENLARGED);
    let expected: Vec<_> = (0..SERIES).map(|series| expected(series, terms)).collect();
    Measured::around(|| {
        let (last, report) = Promise::pair();
        let master = system.spawn(Master {
            left: terms,
            workers: Vec::new(),
            terms: vec![0.0; SERIES],
            answered: 0,
            report,
        });
        master.start();
        assert_eq!(last.wait().unwrap(), expected);
        let bursts = terms.div_ceil(BURST);
        (3 * terms + 2 * bursts + 1) * SERIES as u64
    })
}

fn rate(series: usize) -> f64 {
    START_RATE + series as f64 * INCREMENT
}

fn first_term(series: usize) -> f64 {
    (series + 1) as f64 * INCREMENT
}

fn next_term(rate: f64, term: f64) -> f64 {
    rate * term * (1.0 - term)
}

/// The last term of a series, to the bit: it is computed by the same operations in the same order.
fn expected(series: usize, terms: u64) -> f64 {
    (0..terms).fold(first_term(series), |term, _| next_term(rate(series), term))
}

struct Master {
    left: u64,
    workers: Vec<FarRef<SeriesWorker>>,
    terms: Vec<f64>,
    answered: usize,
    report: Resolver<Vec<f64>>,
}

#[reenact::actor]
impl Master {
    pub(super) fn start(&mut self, ctx: &mut Context<Self>) {
        for series in 0..SERIES {
            let computer = ctx.spawn(RateComputer { rate: rate(series) });
            let worker = ctx.spawn(SeriesWorker {
                series,
                term: first_term(series),
                computer,
                master: ctx.me(),
                waiting: false,
                put_aside: VecDeque::new(),
            });
            self.workers.push(worker);
        }
        self.burst();
    }

    pub(super) fn result(&mut self, series: usize, term: f64) {
        self.terms[series] = term;
        self.answered += 1;
        if self.answered < SERIES {
            return;
        }
        self.answered = 0;
        if self.left > 0 {
            self.burst();
        } else {
            for worker in self.workers.drain(..) {
                worker.stop();
            }
            self.report.resolve(std::mem::take(&mut self.terms));
        }
    }

    fn burst(&mut self) {
        let terms = self.left.min(BURST);
        self.left -= terms;
        for _ in 0..terms {
            for worker in &self.workers {
                worker.next_term();
            }
        }
        for worker in &self.workers {
            worker.get_term();
        }
    }
}

/// What a worker has put aside.
enum Wish {
    NextTerm,
    GetTerm,
}

struct SeriesWorker {
    series: usize,
    term: f64,
    computer: FarRef<RateComputer>,
    master: FarRef<Master>,
    waiting: bool,
    put_aside: VecDeque<Wish>,
}

#[reenact::actor]
impl SeriesWorker {
    pub(super) fn next_term(&mut self, ctx: &mut Context<Self>) {
        if self.waiting {
            self.put_aside.push_back(Wish::NextTerm);
        } else {
            self.waiting = true;
            self.computer.compute(ctx.me(), self.term);
        }
    }

    pub(super) fn get_term(&mut self) {
        if self.waiting {
            self.put_aside.push_back(Wish::GetTerm);
        } else {
            self.master.result(self.series, self.term);
        }
    }

    pub(super) fn result(&mut self, ctx: &mut Context<Self>, term: f64) {
        self.term = term;
        self.waiting = false;
        while !self.waiting
            && let Some(wish) = self.put_aside.pop_front()
        {
            match wish {
                Wish::NextTerm => self.next_term(ctx),
                Wish::GetTerm => self.get_term(),
            }
        }
    }

    pub(super) fn stop(&mut self, ctx: &mut Context<Self>) {
        ctx.stop();
    }
}

struct RateComputer {
    rate: f64,
}

#[reenact::actor]
impl RateComputer {
    pub(super) fn compute(&mut self, worker: FarRef<SeriesWorker>, term: f64) {
        worker.result(next_term(self.rate, term));
    }
}
