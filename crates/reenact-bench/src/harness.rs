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

mod actor_costs;
mod against;
mod ambient;
mod bench;
mod child;
mod effort;
mod explore;
mod instructions;
mod metric;
mod plan;
mod print;
mod progress;
mod replay_memory;
mod rounds;
mod rows;
mod service;
mod suite;
mod variant;
mod wait;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

pub use against::Against;
pub use effort::Effort;
pub use instructions::counted;
pub use suite::Suite;
pub use variant::{Peer, Variant};

use child::Runner;
use print::Heading;
use progress::Progress;
use rows::{Measured, Row};

use crate::savina;

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
    /// Another build to compare this one with, instead of what the suite compares.
    pub against: Option<Against>,
    /// Where the programs are whose instructions are counted, and everything else of this build.
    pub programs: PathBuf,
    /// The runner, `reenact-bench-round`.
    pub runner: PathBuf,
    /// The same on other libraries, `peer-round`. Needed for suites that compare with some.
    pub peers: PathBuf,
    /// What explores one program once, `reenact-bench-explore`. Needed for the suites that explore.
    pub explorer: PathBuf,
    /// A service, `acme-air`, and its clients, `acme-air-load`. Needed for the suite that is about it.
    pub service: PathBuf,
    /// See there.
    pub clients: PathBuf,
}

/// Runs a suite. The exit code says whether every variant did what it should.
pub fn run(options: &Options) -> io::Result<ExitCode> {
    let directory = tempfile::tempdir()?;
    let mut failures = Vec::new();
    if let Some(against) = &options.against {
        failures = run_against(options, against)?;
        return Ok(exit_code(failures));
    }
    for suite in options.suite.parts() {
        failures.extend(match suite {
            Suite::Http => run_service(options, directory.path())?,
            Suite::Ambient => run_ambient(options)?,
            Suite::Explore | Suite::ExplorePeers => run_explore(suite, options)?,
            Suite::Instructions => run_instructions(options)?,
            _ => run_one(suite, options, directory.path())?,
        });
    }
    Ok(exit_code(failures))
}

/// Says what went wrong.
fn exit_code(failures: Vec<String>) -> ExitCode {
    for failure in &failures {
        eprintln!("FAILED: {failure}");
    }
    match failures.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Runs a suite that has no parts, prints its rows, and returns what went wrong.
fn run_one(suite: Suite, options: &Options, traces: &Path) -> io::Result<Vec<String>> {
    let effort = options.effort;
    let runner = Runner::new(&options.runner, &options.peers, traces)?;
    let versions = match &suite.peers()[..] {
        [] => None,
        peers => Some(versions(&runner, peers)?),
    };
    let mut progress = Progress::new();
    let mut benches = plan::benches(suite, effort);
    benches.retain(|bench| options.wants(&bench.name()));
    let outcome = rounds::run(suite, &benches, effort, &runner, &mut progress);
    let mut rows = rows::of_benches(suite, &benches, &outcome.samples);
    let mut failures = outcome.failures;
    let mut remarks = Vec::new();
    if suite == Suite::Locks && options.wants(replay_memory::NAME) {
        let memory = replay_memory::run(suite.name(), effort, &runner, &mut progress);
        rows.extend(memory.rows);
        failures.extend(memory.failures);
        remarks.extend(memory.remark);
    }
    if suite == Suite::Savina {
        rows.extend(actor_costs::created(&benches, &outcome.samples));
        if options.wants(savina::IDLE_ACTORS.name) {
            let (idle, failed) = actor_costs::idle(effort, &runner, &mut progress);
            rows.extend(idle);
            failures.extend(failed);
        }
    }
    rows.extend(rows::over_papers(suite, &benches, &outcome.samples));
    progress.clear();
    let measured = Measured {
        rows,
        rounds: outcome.rounds,
        failures,
        remarks,
    };
    report(suite, options, measured, versions, None)
}

/// Runs the suite that is about a service, prints its rows, and returns what went wrong.
fn run_service(options: &Options, directory: &Path) -> io::Result<Vec<String>> {
    let (suite, effort) = (Suite::Http, options.effort);
    let mut progress = Progress::new();
    let mut measured = Measured::default();
    if options.wants(service::NAME) {
        let service = service::Service::new(&options.service, &options.clients, directory)?;
        measured = service.run(effort, &mut progress);
    }
    let runner = Runner::new(&options.runner, &options.peers, directory)?;
    let mut benches = plan::benches(suite, effort);
    benches.retain(|bench| options.wants(&bench.name()));
    let outcome = rounds::run(suite, &benches, effort, &runner, &mut progress);
    let clocks = rows::of_benches(suite, &benches, &outcome.samples);
    measured.rows.extend(clocks);
    measured.failures.extend(outcome.failures);
    progress.clear();
    report(suite, options, measured, None, None)
}

/// Runs the suite that looks for universes, prints its rows, and returns what went wrong.
fn run_ambient(options: &Options) -> io::Result<Vec<String>> {
    let mut progress = Progress::new();
    let measured = ambient::run(options.effort, |bench| options.wants(bench), &mut progress);
    progress.clear();
    report(Suite::Ambient, options, measured, None, None)
}

/// Runs a suite that explores threads, prints its rows, and returns what went wrong.
fn run_explore(suite: Suite, options: &Options) -> io::Result<Vec<String>> {
    let versions = match suite {
        Suite::ExplorePeers => Some(named(
            &child::versions_of_peers(&options.peers)?,
            &explore::PEERS,
        )),
        _ => None,
    };
    let mut progress = Progress::new();
    let explorers = explore::Explorers::new(&options.explorer, &options.peers)?;
    let wants = |bench: &str| options.wants(bench);
    let measured = explore::run(suite, options.effort, &explorers, wants, &mut progress);
    progress.clear();
    report(suite, options, measured, versions, None)
}

/// Runs the suite that counts instructions, prints its rows, and returns what went wrong.
fn run_instructions(options: &Options) -> io::Result<Vec<String>> {
    let mut progress = Progress::new();
    let measured = instructions::run(options, &mut progress)?;
    progress.clear();
    report(Suite::Instructions, options, measured, None, None)
}

/// Compares a suite with that of another build, prints the rows, and returns what went wrong.
fn run_against(options: &Options, against: &Against) -> io::Result<Vec<String>> {
    let mut progress = Progress::new();
    let measured = against::run(options.suite, options, against, &mut progress)?;
    progress.clear();
    report(
        options.suite,
        options,
        measured,
        None,
        Some(against.name.clone()),
    )
}

/// Prints the rows of a suite, and on standard error what is to be said about them. Returns what went wrong.
fn report(
    suite: Suite,
    options: &Options,
    measured: Measured,
    versions: Option<String>,
    against: Option<String>,
) -> io::Result<Vec<String>> {
    let Measured {
        rows,
        rounds,
        failures,
        mut remarks,
    } = measured;
    let heading = Heading {
        suite,
        effort: options.effort,
        rounds,
        versions,
        against,
    };
    if options.json {
        print::json(&rows)?;
        // The table says this beside the row, and above.
        remarks.splice(0..0, rows::doubtful_controls(&rows));
        remarks.extend(heading.versions);
    } else {
        print::table(&rows, &heading)?;
    }
    for remark in remarks {
        eprintln!("{remark}");
    }
    Ok(failures)
}

/// What Reenact is compared with. What comes with the compiler has no version of its own.
fn versions(runner: &Runner, peers: &[Peer]) -> io::Result<String> {
    let names: Vec<_> = peers.iter().map(|peer| peer.name()).collect();
    Ok(named(&runner.versions_of_peers()?, &names))
}

fn named(versions: &BTreeMap<String, String>, peers: &[&str]) -> String {
    let versions: Vec<_> = peers
        .iter()
        .filter_map(|&name| Some((name, versions.get(name)?)))
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    format!("compared with {}", versions.join(", "))
}

impl Options {
    fn wants(&self, bench: &str) -> bool {
        self.only.as_ref().is_none_or(|only| bench.contains(only))
    }
}
