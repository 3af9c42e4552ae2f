//! Explores one program once and prints one line of JSON about it, as `peer-round` does for other libraries.

use std::process::ExitCode;

use clap::Parser;
use reenact_bench::explored::{self, Way, programs::Program};

/// Explores one program; prints {"ns":…,"cpu_ns":…,"executions":…,"bugs":…,"steps":…}.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// How.
    #[arg(value_enum)]
    way: Way,
    /// Which program; an unknown name lists them.
    program: String,
    /// Number of threads that explore.
    #[arg(long, default_value_t = 1, value_name = "N")]
    cores: usize,
    /// Multiplies the number of executions, or the time for which all of them are run again and again.
    #[arg(long, default_value_t = 1.0, value_name = "X")]
    scale: f64,
    /// Explore the program with each of N seeds until its bug is found; prints {"executions_until_bug_median":…,"seeds":…}.
    #[arg(long, value_name = "N")]
    until_bug: Option<u64>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Some(program) = Program::from_name(&arguments.program) else {
        let programs = Program::ALL.map(Program::name).join(", ");
        eprintln!("the programs are {programs}");
        return ExitCode::FAILURE;
    };
    let Arguments {
        way, cores, scale, ..
    } = arguments;
    let line = match arguments.until_bug {
        Some(seeds) => serde_json::to_string(&explored::hunt(way, program, seeds)),
        None => serde_json::to_string(&explored::run(way, program, cores, scale)),
    };
    println!("{}", line.expect("numbers are always JSON"));
    ExitCode::SUCCESS
}
