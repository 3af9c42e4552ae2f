//! TrapezoidalApproximation: workers integrate a function, each over its part of an interval.
//!
//! It is nearly all computation: two messages for a thousand values of the function.

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

use crate::{Measured, Setting};

const WORKERS: u64 = 100;
const PIECES: u64 = 100_000;
const LEFT: f64 = 1.0;
const RIGHT: f64 = 5.0;
const ROUNDS: u64 = 110;

pub(super) fn run(system: System, setting: &Setting) -> Measured {
    let expected = area(LEFT, RIGHT, PIECES);
    Measured::rounds(setting.times(ROUNDS), |_| {
        let (area, report) = Promise::pair();
        let master = system.spawn(Master {
            area: 0.0,
            working: WORKERS,
            report,
        });
        master.start();
        let area = area.wait().unwrap();
        // Only the order of the additions differs.
        assert!((area - expected).abs() < 1e-9, "{area} for {expected}");
        2 * WORKERS
    })
}

/// Savina's function.
fn f(x: f64) -> f64 {
    let a = (x.powi(3) - 1.0).sin();
    let b = x + 1.0;
    let d = (1.0 + (2.0 * x).sqrt().exp()).sqrt();
    a / b * d
}

fn area(left: f64, right: f64, pieces: u64) -> f64 {
    let width = (right - left) / pieces as f64;
    let value = |piece: u64| {
        let l = left + piece as f64 * width;
        0.5 * (f(l) + f(l + width)) * width
    };
    (0..pieces).map(value).sum()
}

struct Master {
    area: f64,
    working: u64,
    report: Resolver<f64>,
}

#[reenact::actor]
impl Master {
    pub(super) fn start(&mut self, ctx: &mut Context<Self>) {
        let part = (RIGHT - LEFT) / WORKERS as f64;
        for number in 0..WORKERS {
            let worker = ctx.spawn(Worker { master: ctx.me() });
            let left = LEFT + number as f64 * part;
            worker.work(left, left + part, PIECES / WORKERS);
        }
    }

    pub(super) fn result(&mut self, area: f64) {
        self.area += area;
        self.working -= 1;
        if self.working == 0 {
            self.report.resolve(self.area);
        }
    }
}

struct Worker {
    master: FarRef<Master>,
}

#[reenact::actor]
impl Worker {
    pub(super) fn work(&mut self, left: f64, right: f64, pieces: u64) {
        self.master.result(area(left, right, pieces));
    }
}
