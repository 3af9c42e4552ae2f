//! The sales system of the papers: one program of actors, processes, transactions and threads.
//!
//! ```text
//!  Input ──text──▶ Parsing ──sale──▶ Storage ──weeks──▶ Forecast ──▶ trends
//!  actor           actor             actor              actor
//!                  │     ▲           │                  │
//!            text  ▼     │ sale      ▼                  ▼
//!          tokenizer ──▶ parser      variables,         a thread for
//!          process token process     by transactions    each project
//! ```
//!
//! One actor makes up the input, a stream of JSON texts. The second hides a pair of processes that take such a text apart.
//! The third keeps the books, in variables that it changes by transactions, because in a larger system it would not be
//! the only one to do so. When everything has arrived, the fourth forecasts the sales of each project by a linear
//! regression, on threads that put their results under a lock. If these are not what a sequential computation gives, the
//! run fails.

mod forecast;
mod input;
mod json;
mod parsing;
mod sale;
mod storage;

use reenact::actor::{Promise, spawn};

use self::{
    forecast::{Forecast, Trend},
    input::{Input, InputSends},
    json::tokens,
    parsing::{Parsing, ParsingSends},
    sale::{PROJECTS, Sale, WEEKS},
    storage::Storage,
};
use crate::{Measured, Setting, Workload, random::Random};

/// The program.
pub const SALES: Workload = Workload::threads("sales", run);

/// How many sales there are at scale 1.
const COUNT: u64 = 80_000;

fn run(setting: &Setting) -> Measured {
    let mut random = Random::new(1);
    let count = setting.times(COUNT);
    let sales: Vec<_> = (0..count).map(|_| Sale::next(&mut random)).collect();
    let texts: Vec<_> = sales.iter().map(|sale| sale.to_json()).collect();
    let expected = sequentially(&sales);
    // All texts have the same number of tokens, and one says that it ends.
    let tokens_each = tokens(&texts[0]).count() as u64 + 1;
    Measured::around(|| {
        let (trends, report) = Promise::pair();
        let forecast = spawn(Forecast::new(report));
        let storage = spawn(Storage::new(count, forecast));
        let parsing = spawn(Parsing::new(storage));
        let input = spawn(Input::new(texts, parsing.clone()));
        input.start();
        assert_eq!(trends.wait().unwrap(), expected);
        let tokens = parsing.end().wait().unwrap();
        assert_eq!(tokens, count * tokens_each);
        // A text and the sale in it go by message and by channel; a transaction; in the end a lock for each trend.
        tokens + count * (2 + 2 + 1) + PROJECTS as u64
    })
}

/// The trends as the program should find them.
fn sequentially(sales: &[Sale]) -> Vec<Trend> {
    let mut weeks = vec![vec![0; WEEKS]; PROJECTS];
    for sale in sales {
        weeks[sale.project][sale.week] += sale.revenue();
    }
    weeks.iter().map(|weeks| Trend::of(weeks)).collect()
}

#[cfg(test)]
mod tests {
    use super::{SALES, Setting};

    #[test]
    fn the_forecasts_are_those_of_a_sequential_computation() {
        assert!(SALES.run(&Setting::tiny()).ops > 160 * 20);
    }

    #[test]
    fn one_sale_is_enough() {
        let setting = Setting {
            scale: 0.0,
            threads: None,
        };
        assert!(SALES.run(&setting).ops > 20);
    }
}
