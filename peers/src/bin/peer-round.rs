//! Runs one program once on one library and prints one line of JSON about it.

use std::{panic, process, process::ExitCode};

use clap::Parser;
use reenact_bench_peers::{Framework, versions};

/// Runs one program once on one library; prints {"ns":…,"ops":…}.
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
    /// Print the versions of the libraries as a JSON object, and run nothing.
    #[arg(long, exclusive = true)]
    versions: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (Some(framework), Some(program)) = (arguments.framework, arguments.program) else {
        print(versions());
        return ExitCode::SUCCESS;
    };
    end_with_any_panic();
    let Some(measured) = framework.run(&program, arguments.scale, arguments.workers) else {
        let programs = framework.programs().join(", ");
        eprintln!("the programs on {} are {programs}", framework.name());
        return ExitCode::FAILURE;
    };
    print(measured);
    ExitCode::SUCCESS
}

fn print(value: impl serde::Serialize) {
    let line = serde_json::to_string(&value).expect("numbers and names are always JSON");
    println!("{line}");
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
