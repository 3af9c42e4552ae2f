//! The actor that has forecasts made: by a thread for each project, all at the same time.

use std::mem;

use reenact::{
    actor::{Context, Resolver},
    stm::atomically,
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
};

use super::storage::Store;

/// What a project's sales will be, if they go on as they did.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Forecast {
    pub(crate) project: usize,
    /// By how much they grow from one month to the next.
    pub(crate) trend: f64,
    /// What they will be in the month after the last.
    pub(crate) expected: f64,
}

impl Forecast {
    /// A linear regression: the line with the least squares of distances from the months.
    pub(super) fn of(project: usize, months: &[u64]) -> Forecast {
        let count = months.len() as f64;
        let mean_month = (count - 1.0) / 2.0;
        let mean = months.iter().sum::<u64>() as f64 / count.max(1.0);
        let (mut covariance, mut variance) = (0.0, 0.0);
        for (month, &sum) in months.iter().enumerate() {
            let distance = month as f64 - mean_month;
            covariance += distance * (sum as f64 - mean);
            variance += distance * distance;
        }
        let trend = if variance > 0.0 {
            covariance / variance
        } else {
            0.0
        };
        Forecast {
            project,
            trend,
            expected: mean + trend * (count - mean_month),
        }
    }
}

/// A forecast as it came in.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Arrived {
    pub(crate) forecast: Forecast,
    /// Its rank among those that had been made until then.
    pub(crate) rank: usize,
}

/// What was counted on the way.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Counted {
    pub(super) malformed: usize,
    pub(super) operations: u64,
}

/// The expected sales of all projects that have a forecast, the highest first.
type Ranking = Arc<Mutex<Vec<f64>>>;

/// Has the forecasts made, and collects them.
pub(crate) struct Forecasting {
    ranking: Ranking,
    threads: Vec<JoinHandle<()>>,
    arrived: Vec<Arrived>,
    all: Resolver<Vec<Arrived>>,
    counted: Counted,
}

#[reenact::actor]
impl Forecasting {
    /// All sales are in the store.
    pub(super) fn begin(&mut self, ctx: &mut Context<Self>, store: Arc<Store>, counted: Counted) {
        let series = atomically(|tx| store.series(tx));
        // A thread is started, locks, sends a message and is waited for.
        let operations = counted.operations + 1 + 4 * series.len() as u64;
        self.counted = Counted {
            operations,
            ..counted
        };
        let threads = series.into_iter().enumerate().map(|(project, months)| {
            let (ranking, me) = (Arc::clone(&self.ranking), ctx.me());
            thread::spawn(move || {
                let forecast = Forecast::of(project, &months);
                let rank = rank(&ranking, forecast.expected);
                me.arrived(Arrived { forecast, rank });
            })
        });
        self.threads = threads.collect();
        self.finish_if_all_have_arrived();
    }

    /// One is made.
    pub(super) fn arrived(&mut self, arrived: Arrived) {
        self.arrived.push(arrived);
        self.finish_if_all_have_arrived();
    }

    /// What was counted on the way.
    pub(super) fn counted(&self) -> Counted {
        self.counted
    }

    fn finish_if_all_have_arrived(&mut self) {
        if self.arrived.len() < self.threads.len() {
            return;
        }
        for thread in mem::take(&mut self.threads) {
            thread.join().expect("nothing panics there");
        }
        self.all.resolve(mem::take(&mut self.arrived));
    }
}

impl Forecasting {
    pub(super) fn new(ranking: Ranking, all: Resolver<Vec<Arrived>>) -> Forecasting {
        Forecasting {
            ranking,
            threads: Vec::new(),
            arrived: Vec::new(),
            all,
            counted: Counted::default(),
        }
    }
}

/// Enters the expected sales of a project. Returns its rank.
fn rank(ranking: &Ranking, expected: f64) -> usize {
    let mut ranking = ranking.lock().expect("nobody panics with it");
    let rank = ranking.partition_point(|&other| other > expected);
    ranking.insert(rank, expected);
    rank + 1
}
