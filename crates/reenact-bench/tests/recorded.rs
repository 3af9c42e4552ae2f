//! Every program of actors, processes and transactions, recorded and replayed at a small size.
//!
//! A replay has to have as many operations as its recording: for some programs that depends on the schedule.

use std::{path::Path, process::Command};

use reenact_bench::{Measured, Workload, csp, sales, savina, stm};

/// How a program is run, recorded or replayed.
#[derive(Clone, Copy)]
struct Way {
    workers: usize,
    strategy: &'static str,
    scale: &'static str,
}

impl Way {
    fn by_senders(self) -> Way {
        Way {
            strategy: "sender",
            ..self
        }
    }
}

const ON_ONE_WORKER: Way = Way {
    workers: 1,
    strategy: "receiver",
    scale: "0.002",
};
const ON_TWO_WORKERS: Way = Way {
    workers: 2,
    ..ON_ONE_WORKER
};

fn run(program: &Workload, way: Way, mode: &str, trace: &Path) -> Measured {
    let Way {
        workers,
        strategy,
        scale,
    } = way;
    let mut command = Command::new(env!("CARGO_BIN_EXE_reenact-bench-round"));
    command
        .args([program.name, "--impl", "reenact", "--scale", scale])
        .env("REENACT", mode)
        .env("REENACT_TRACE", trace)
        .env("REENACT_STRATEGY", strategy)
        .env("REENACT_WORKERS", workers.to_string());
    // For programs of actors these are workers, for those of transactions there are as many threads as they like.
    if savina::PROGRAMS.iter().any(|its| its.name == program.name) {
        command.args(["--threads", &workers.to_string()]);
    }
    let output = command.output().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    let name = program.name;
    assert!(
        output.status.success(),
        "{name}, {workers} workers, {strategy} side, {mode}: {complaints}"
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn every_program_is_replayed(programs: &[Workload], way: Way) {
    let directory = tempfile::tempdir().unwrap();
    for program in programs {
        let trace = directory.path().join(program.name.replace('/', "-"));
        let recorded = run(program, way, "record", &trace);
        reenact_trace::recover(&trace).unwrap();
        let replayed = run(program, way, "replay", &trace);
        assert_eq!(replayed.ops, recorded.ops, "{}", program.name);
    }
}

#[test]
fn every_program_is_replayed_on_one_worker() {
    every_program_is_replayed(&savina::PROGRAMS, ON_ONE_WORKER);
}

#[test]
fn every_program_is_replayed_on_two_workers() {
    every_program_is_replayed(&savina::PROGRAMS, ON_TWO_WORKERS);
}

#[test]
fn every_program_is_replayed_on_two_workers_when_senders_are_recorded() {
    every_program_is_replayed(&savina::PROGRAMS, ON_TWO_WORKERS.by_senders());
}

#[test]
fn every_program_of_processes_is_replayed() {
    for way in [ON_ONE_WORKER, ON_TWO_WORKERS] {
        every_program_is_replayed(&csp::BY_PROCESSES, way);
    }
}

#[test]
fn every_program_of_threads_that_meet_is_replayed() {
    let of_threads = Way {
        scale: "0.0003",
        ..ON_TWO_WORKERS
    };
    every_program_is_replayed(&csp::BY_THREADS, of_threads);
}

#[test]
fn every_program_of_transactions_is_replayed() {
    every_program_is_replayed(&stm::PROGRAMS, ON_TWO_WORKERS);
}

#[test]
fn the_sales_system_is_replayed() {
    for way in [ON_ONE_WORKER, ON_TWO_WORKERS] {
        every_program_is_replayed(&[sales::SALES], way);
        every_program_is_replayed(&[sales::SALES], way.by_senders());
    }
}
