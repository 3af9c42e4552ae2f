//! The sales processing system: every subsystem is an actor, and has a concurrency model of its own inside.
//!
//! ```text
//! input ──── events, as JSON ────▶ parsing ──── sales ────▶ storage ──── when all are there ────▶ forecast
//! (simulated)                      │      ▲                 │                                    │      ▲
//!                               texts   sales         transactions                           a thread   forecasts
//!                                  ▼      │                 ▼                               per project │
//!                          tokenizer ─▶ parser            store ◀── looks ── auditor             └──────┘
//!                          (processes, tokens)          (variables)         (thread)          (a lock: the ranking)
//! ```
//!
//! It is the multi-paradigm program of the papers. Here somebody also looks at the store while it is being filled: the
//! auditor, who stands for the larger system that the store is a part of.

mod expected;
mod forecast;
mod input;
mod json;
mod parsing;
mod storage;

use reenact::{
    actor::{Promise, System},
    sync::{Arc, Mutex},
    thread,
};

pub(crate) use self::forecast::Arrived;
use self::{
    forecast::{Forecasting, ForecastingSends},
    input::{Input, InputSends},
    parsing::Parsing,
    storage::{Storage, Store},
};

/// How large a run is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Snippets of JSON.
    pub(crate) events: usize,
    /// Sales in each of them.
    pub(crate) sales: usize,
    pub(crate) projects: usize,
    /// What is sold in a month is one value of a project's series.
    pub(crate) months: usize,
}

/// One sale, as far as it is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sale {
    project: usize,
    month: usize,
    /// In cents, so that a sum does not depend on its order.
    amount: u64,
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Report {
    /// In the order in which they came in.
    pub(crate) forecasts: Vec<Arrived>,
    /// How many sales were stored each time the auditor looked.
    pub(crate) audits: Vec<u64>,
    pub(crate) malformed: usize,
    /// Messages, meetings at channels, transactions, locks and threads: what recording has to order.
    #[allow(dead_code, reason = "for who measures")]
    pub(crate) operations: u64,
}

/// Runs the system once, on these workers, and compares its forecasts with those of a computation in one go.
pub(crate) fn run(system: System, sizes: Sizes) -> Report {
    let store = Arc::new(Store::new(sizes));
    let ranking = Arc::new(Mutex::new(Vec::new()));
    let (all, resolver) = Promise::pair();
    let forecasting = system.spawn(Forecasting::new(ranking, resolver));
    let storage = system.spawn(Storage::new(Arc::clone(&store), forecasting.clone()));
    let parsing = system.spawn(Parsing::new(storage));
    let input = system.spawn(Input::new(parsing));
    let auditor = thread::spawn(move || store.audit(expected::stored(sizes)));
    input.simulate(sizes);
    let forecasts = all.wait().expect("there are forecasts in the end");
    let counted = forecasting.counted().wait().expect("it is there still");
    let report = Report {
        audits: auditor.join().expect("what is stored is consistent"),
        malformed: counted.malformed,
        operations: counted.operations,
        forecasts,
    };
    let mut found: Vec<_> = report.forecasts.iter().map(|it| it.forecast).collect();
    found.sort_by_key(|forecast| forecast.project);
    assert_eq!(found, expected::forecasts(sizes));
    assert_eq!(report.malformed, expected::malformed(sizes));
    report
}
