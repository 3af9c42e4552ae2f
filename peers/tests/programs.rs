//! Every program on every library gives its checked result.
//!
//! The programs check themselves; what can be seen from outside is that the process succeeds and
//! how many operations it claims. They run as processes, as in a measurement, because a panic in an
//! actor must fail the run instead of leaving it waiting.

use std::process::Command;

use reenact_bench_peers::{
    Framework, csp,
    sizes::{Program, Size},
    stm,
};

/// Small, but several messages for each actor.
const SCALE: f64 = 0.001;

macro_rules! on_every_library {
    ($($name:ident = $framework:ident;)*) => {$(
        #[test]
        fn $name() {
            every_program_checks_out(Framework::$framework);
        }
    )*};
}

on_every_library! {
    every_program_checks_out_on_kameo = Kameo;
    every_program_checks_out_on_ractor = Ractor;
    every_program_checks_out_on_actix = Actix;
    every_program_checks_out_on_actix_with_spread_actors = ActixSpread;
    every_program_checks_out_on_tokio = Tokio;
}

fn every_program_checks_out(framework: Framework) {
    for program in Program::ALL {
        for workers in ["1", "2"] {
            let ops = ops(framework, program.name(), workers);
            assert_eq!(ops, Size::of(program, SCALE).ops());
        }
    }
}

#[test]
fn every_program_of_processes_checks_out_on_every_library_for_them() {
    for framework in Framework::CSP {
        for program in csp::sizes::Program::ALL {
            for workers in ["1", "2"] {
                let ops = ops(framework, program.name(), workers);
                // Philosophers who are denied their forks ask again.
                assert!(ops >= csp::sizes::Size::of(program, SCALE).rendezvous());
            }
        }
    }
}

#[test]
fn every_program_of_transactions_checks_out_on_every_library_for_them() {
    for program in stm::Program::ALL {
        let transactions = Framework::STM.map(|framework| ops(framework, program.name(), "1"));
        assert_eq!(transactions[0], transactions[1], "{program:?}");
    }
}

#[test]
fn rounds_repeat_on_every_library() {
    // Two rounds of each program that has rounds.
    for (program, scale) in [
        (Program::Counting, 0.06),
        (Program::ForkJoinActorCreation, 0.34),
        (Program::ForkJoinThroughput, 0.07),
    ] {
        for framework in Framework::ACTORS {
            let scale = scale.to_string();
            output(&[framework.name(), program.name(), "--scale", &scale]);
        }
    }
}

#[test]
fn the_versions_are_those_of_the_lock_file() {
    let versions: serde_json::Value = serde_json::from_str(&output(&["--versions"])).unwrap();
    for (library, start) in [
        ("kameo", "0.22."),
        ("ractor", "0.16."),
        ("actix", "0.13."),
        ("tokio", "1."),
        ("crossbeam", "0.5."),
        ("may", "0.3."),
        ("stm", "0.4."),
        ("fast-stm", "0.7."),
        ("shuttle", "0.9."),
        ("loom", "0.7."),
        ("traceforge", "0.2."),
    ] {
        let version = versions[library].as_str().unwrap();
        assert!(version.starts_with(start), "{library} {version}");
    }
}

#[test]
fn an_unknown_program_is_answered_with_those_of_the_library() {
    let output = Command::new(env!("CARGO_BIN_EXE_peer-round"))
        .args(["crossbeam", "Big"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "the programs on crossbeam are PingPong, ForkJoinThroughput, Philosophers\n"
    );
}

/// How many operations a run claims.
fn ops(framework: Framework, program: &str, workers: &str) -> u64 {
    let scale = SCALE.to_string();
    let line = output(&[
        framework.name(),
        program,
        "--workers",
        workers,
        "--scale",
        &scale,
    ]);
    let measured: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert!(measured["ns"].as_u64().unwrap() > 0);
    measured["ops"].as_u64().unwrap()
}

/// The one line that `peer-round` prints.
fn output(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_peer-round"))
        .args(arguments)
        .output()
        .unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {complaints}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1);
    text
}
