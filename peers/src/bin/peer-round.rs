//! Runs one program once on one library and prints one line of JSON about it.

use std::{panic, process, process::ExitCode};

use clap::Parser;
use reenact_bench_peers::{Framework, versions};

/// Runs one program on one library; prints {"ns":…,"ops":…}, or {"ns":…,"executions":…,"bugs":…} if the library explores
/// it.
#[derive(Parser)]
struct Arguments {
    /// Which library.
    #[arg(value_enum, required_unless_present = "versions")]
    framework: Option<Framework>,
    /// Which program, such as PingPong; an unknown name lists those of the library.
    #[arg(required_unless_present = "versions")]
    program: Option<String>,
    /// Number of worker threads, for a library that has workers.
    #[arg(long, default_value_t = 1, value_name = "N")]
    workers: usize,
    /// Multiplies the amount of work.
    #[arg(long, default_value_t = 1.0, value_name = "X")]
    scale: f64,
    /// Explore the program with each of N seeds until its bug is found; prints {"executions_until_bug_median":…,"seeds":…}.
    #[arg(long, value_name = "N")]
    until_bug: Option<u64>,
    /// Print the versions of the libraries as a JSON object, and run nothing.
    #[arg(long, exclusive = true)]
    versions: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (Some(framework), Some(program)) = (arguments.framework, &arguments.program) else {
        println!("{}", line(versions()));
        return ExitCode::SUCCESS;
    };
    if !framework.explores() {
        end_with_any_panic();
    }
    let round = match arguments.until_bug {
        Some(seeds) => framework.hunt(program, seeds).map(line),
        None => {
            let round = framework.run(program, arguments.scale, arguments.workers);
            round.map(line)
        }
    };
    let Some(round) = round else {
        let programs = framework.programs().join(", ");
        eprintln!("the programs on {} are {programs}", framework.name());
        return ExitCode::FAILURE;
    };
    println!("{round}");
    ExitCode::SUCCESS
}

fn line(value: impl serde::Serialize) -> String {
    serde_json::to_string(&value).expect("numbers and names are always JSON")
}

/// Ends the process when any thread panics. The libraries catch what an actor panics with, and the
/// others would wait for that actor's messages for ever.
fn end_with_any_panic() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        report(panic);
        process::exit(101);
    }));
}
