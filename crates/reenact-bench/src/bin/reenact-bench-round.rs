//! Runs one workload once and prints one line of JSON about it.
//!
//! It is a process of its own because a mode of Reenact belongs to a process, and because one
//! variant must not warm up the allocator, the caches or the page tables of another.

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use reenact_bench::{Setting, end_with_any_panic, on_reenact, on_std};

/// Runs one workload once; prints {"ns":…,"ops":…}.
///
/// Whether the `reenact` implementation is off, records or replays comes from the environment, as
/// for every program: REENACT=record REENACT_TRACE=FILE.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Which workload; an unknown name lists them.
    workload: String,
    /// The crate whose `sync` and `thread` it uses.
    #[arg(long = "impl", value_enum)]
    implementation: Implementation,
    /// Multiplies the amount of work.
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    /// Number of threads, for a program that has one to choose; of workers, for a program of actors, which
    /// otherwise has one for each core that this process may run on.
    #[arg(long)]
    threads: Option<usize>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Implementation {
    Std,
    Reenact,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (workloads, warm_up): (_, fn()) = match arguments.implementation {
        Implementation::Std => (on_std::WORKLOADS.to_vec(), on_std::warm_up),
        Implementation::Reenact => (reenact_bench::workloads(), on_reenact::warm_up),
    };
    let Some(workload) = workloads.iter().find(|w| w.name == arguments.workload) else {
        eprintln!("There is no workload `{}`. There are:", arguments.workload);
        for workload in workloads {
            eprintln!("  {}", workload.name);
        }
        return ExitCode::FAILURE;
    };
    warm_up();
    end_with_any_panic();
    let measured = workload.run(&Setting {
        scale: arguments.scale,
        threads: arguments.threads,
    });
    println!(
        "{}",
        serde_json::to_string(&measured).expect("two numbers are always JSON")
    );
    ExitCode::SUCCESS
}
