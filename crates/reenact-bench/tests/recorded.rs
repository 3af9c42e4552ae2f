//! Every program of actors, recorded and replayed at a small size.
//!
//! A replay has to have as many messages as its recording: for some programs that depends on the schedule.

use std::{path::Path, process::Command};

use reenact_bench::{Measured, Workload, savina::PROGRAMS};

fn run(program: &Workload, workers: usize, mode: &str, strategy: &str, trace: &Path) -> Measured {
    let output = Command::new(env!("CARGO_BIN_EXE_reenact-bench-round"))
        .args([program.name, "--impl", "reenact", "--scale", "0.002"])
        .args(["--threads", &workers.to_string()])
        .env("REENACT", mode)
        .env("REENACT_TRACE", trace)
        .env("REENACT_STRATEGY", strategy)
        .output()
        .unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    let name = program.name;
    assert!(
        output.status.success(),
        "{name}, {workers} workers, {strategy} side, {mode}: {complaints}"
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn every_program_is_replayed(workers: usize, strategy: &str) {
    let directory = tempfile::tempdir().unwrap();
    for program in &PROGRAMS {
        let trace = directory.path().join(program.name);
        let recorded = run(program, workers, "record", strategy, &trace);
        reenact_trace::recover(&trace).unwrap();
        let replayed = run(program, workers, "replay", strategy, &trace);
        assert_eq!(replayed.ops, recorded.ops, "{}", program.name);
    }
}

#[test]
fn every_program_is_replayed_on_one_worker() {
    every_program_is_replayed(1, "receiver");
}

#[test]
fn every_program_is_replayed_on_two_workers() {
    every_program_is_replayed(2, "receiver");
}

#[test]
fn every_program_is_replayed_on_two_workers_when_senders_are_recorded() {
    every_program_is_replayed(2, "sender");
}
