//! Runs a suite and prints its numbers.
//!
//! The method is that of the project's benchmarks: the machine is noisy and has no performance
//! counters, so nothing is compared across time. In a round, all [variants](Variant) of a bench run
//! one after the other, as child processes, in an order that rotates from round to round; a ratio is
//! taken within a round; the value is the median over rounds, with the quartiles beside it. One
//! variant runs twice, and the ratio of these two is the control.
//!
//! A variant that fails is reported and left out from then on; the suite goes on, and ends with an
//! error.

mod child;
mod metric;
mod plan;
mod print;
mod progress;
mod replay_memory;
mod rounds;
mod rows;
mod variant;
mod wait;

use std::{io, path::PathBuf, process::ExitCode};

pub use plan::{Effort, Suite};
pub use variant::Variant;

use child::Runner;
use progress::Progress;

/// What to run and how to print it.
#[derive(Clone, Debug)]
pub struct Options {
    /// The suite.
    pub suite: Suite,
    /// Rounds and sizes.
    pub effort: Effort,
    /// Lines of JSON instead of a table.
    pub json: bool,
    /// Only benches whose name contains this.
    pub only: Option<String>,
    /// The runner, `reenact-bench-round`.
    pub runner: PathBuf,
}

/// Runs a suite. The exit code tells whether every variant did what it should.
pub fn run(options: &Options) -> io::Result<ExitCode> {
    let directory = tempfile::tempdir()?;
    let runner = Runner::new(&options.runner, directory.path())?;
    let mut progress = Progress::new();
    let name = options.suite.name();
    let wanted = |bench: &str| {
        options
            .only
            .as_ref()
            .is_none_or(|only| bench.contains(only))
    };

    let mut benches = plan::benches(options.effort);
    benches.retain(|bench| wanted(&bench.name()));
    let outcome = rounds::run(&benches, options.effort, &runner, &mut progress);
    let mut rows = rows::of_benches(name, &benches, &outcome.samples);
    let mut failures = outcome.failures;
    let mut remarks = Vec::new();
    if wanted(replay_memory::NAME) {
        let memory = replay_memory::run(name, options.effort, &runner, &mut progress);
        rows.extend(memory.rows);
        failures.extend(memory.failures);
        remarks.extend(memory.remark);
    }
    rows.extend(rows::over_papers(name, &benches, &outcome.samples));
    progress.clear();

    if options.json {
        print::json(&rows)?;
    } else {
        print::table(&rows, options, outcome.rounds)?;
    }
    if options.json {
        // The table says this beside the row.
        remarks.splice(0..0, rows::doubtful_controls(&rows));
    }
    for remark in remarks {
        eprintln!("{remark}");
    }
    if failures.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    for failure in failures {
        eprintln!("FAILED: {failure}");
    }
    Ok(ExitCode::FAILURE)
}
