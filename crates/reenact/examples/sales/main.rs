//! A sales system: actors around processes, transactions and threads, one subsystem for each.
//!
//! ```text
//! $ cargo run --example sales [EVENTS [SALES [PROJECTS [MONTHS]]]]
//! ```
//!
//! What it prints differs from run to run: in which order the forecasts came in, which rank each had when it did, and how
//! much was stored at the instants at which somebody looked. A replay prints the same.

#[path = "system/all.rs"]
mod system;

use reenact::actor::System;

use self::system::{Report, Sizes, run};

fn main() {
    let arguments: Result<Vec<usize>, _> =
        std::env::args().skip(1).map(|arg| arg.parse()).collect();
    let Ok(arguments) = arguments else {
        eprintln!("sales [EVENTS [SALES [PROJECTS [MONTHS]]]], all of them numbers");
        std::process::exit(2);
    };
    let size = |index: usize, default| arguments.get(index).copied().unwrap_or(default);
    let sizes = Sizes {
        events: size(0, 200),
        sales: size(1, 5),
        projects: size(2, 8),
        months: size(3, 24),
    };
    print(&run(System::current(), sizes));
}

fn print(report: &Report) {
    for arrived in &report.forecasts {
        let (forecast, rank) = (&arrived.forecast, arrived.rank);
        println!(
            "project {}: {:.2} a month, {:.2} expected, rank {rank} so far",
            forecast.project, forecast.trend, forecast.expected
        );
    }
    println!("seen on the way: {:?} sales", report.audits);
    println!("{} events were malformed", report.malformed);
}

#[test]
fn a_small_system_forecasts_what_it_should() {
    for sizes in [
        Sizes {
            events: 40,
            sales: 3,
            projects: 4,
            months: 6,
        },
        Sizes {
            events: 1,
            sales: 1,
            projects: 1,
            months: 1,
        },
        Sizes {
            events: 0,
            sales: 5,
            projects: 2,
            months: 3,
        },
        Sizes {
            events: 60,
            sales: 0,
            projects: 3,
            months: 2,
        },
    ] {
        let report = run(System::current(), sizes);
        assert_eq!(report.forecasts.len(), sizes.projects);
    }
}
