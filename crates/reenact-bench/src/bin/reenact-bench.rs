//! The command behind `cargo xtask bench`.

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser;
use reenact_bench::harness::{self, Against, Effort, Options, Suite};

/// Measures Reenact and prints the ratios that the documentation quotes.
///
/// Variants of a workload run interleaved, each as a process of its own: on the standard library or
/// on other libraries, with Reenact off (twice, for the control), recording to a file,
/// recording with the trace discarded, and replaying. Leave the machine alone meanwhile; a control that is off by more than
/// 2 % is pointed out.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// What to measure.
    #[arg(value_enum)]
    suite: Suite,
    /// The same rows from fewer and shorter rounds, in under 50 seconds.
    #[arg(long)]
    quick: bool,
    /// One JSON object per line on standard output, and nothing else.
    #[arg(long)]
    json: bool,
    /// Only the benches whose name contains this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Compare with the build of another revision, whose binaries are in this directory, instead of what the suite
    /// compares. `cargo xtask bench SUITE --against REV` builds them.
    #[arg(long, value_name = "DIRECTORY", requires = "revision")]
    against: Option<PathBuf>,
    /// What that build is called in the table.
    #[arg(long, value_name = "REV")]
    revision: Option<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let options = Options {
        suite: arguments.suite,
        effort: if arguments.quick {
            Effort::Quick
        } else {
            Effort::Full
        },
        json: arguments.json,
        only: arguments.only,
        against: arguments
            .against
            .zip(arguments.revision)
            .map(|(directory, name)| Against { name, directory }),
        programs: directory_of_this(),
        runner: beside_this("reenact-bench-round"),
        peers: beside_this("peer-round"),
        explorer: beside_this("reenact-bench-explore"),
        service: beside_this("acme-air"),
        clients: beside_this("acme-air-load"),
    };
    harness::run(&options).unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    })
}

/// A binary of the same build.
fn beside_this(name: &str) -> PathBuf {
    directory_of_this().join(name)
}

fn directory_of_this() -> PathBuf {
    let this = env::current_exe().unwrap_or_default();
    this.parent().map(Path::to_owned).unwrap_or_default()
}
