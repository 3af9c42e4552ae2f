//! Every library that explores finds what there is to be found, and a search that is optimal finds it once.

use std::process::{Command, Output};

use reenact_bench_peers::{
    Framework,
    explore::programs::{Outcome, Program},
};
use serde_json::Value;

const SHUTTLE: [Framework; 3] = [
    Framework::ShuttleRandom,
    Framework::ShuttlePct,
    Framework::ShuttleUrw,
];

/// Enough executions for every bug to be among them.
const SCALE: &str = "0.05";

#[test]
fn every_program_checks_out_on_every_scheduler_of_shuttle() {
    for framework in SHUTTLE {
        for program in Program::ALL {
            let explored = json(&[framework.name(), program.name(), "--scale", SCALE]);
            assert_eq!(explored["executions"], 1000, "{framework:?} {program:?}");
            assert!(explored["complete"].is_null());
            let bugs = explored["bugs"].as_u64().unwrap();
            assert_eq!(bugs > 0, program.has_bug(), "{framework:?} {program:?}");
            assert!(bugs < 1000, "{framework:?} {program:?}");
        }
    }
}

#[test]
fn every_scheduler_of_shuttle_finds_every_bug() {
    for framework in SHUTTLE {
        for program in Program::ALL.into_iter().filter(|p| p.has_bug()) {
            let hunt = json(&[framework.name(), program.name(), "--until-bug", "20"]);
            assert_eq!(hunt["seeds"], 20);
            assert_eq!(hunt["found"], 20, "{framework:?} {program:?}");
            let median = hunt["executions_until_bug_median"].as_u64().unwrap();
            assert!((1..500).contains(&median), "{framework:?} {program:?}");
        }
    }
}

#[test]
fn traceforge_finds_every_execution_once() {
    for name in Framework::Traceforge.programs() {
        let explored = json(&["traceforge", name, "--scale", SCALE]);
        assert_eq!(explored["complete"], true, "{name}");
        let program = Program::from_name(name).unwrap();
        if let Some(executions) = program.inequivalent_executions() {
            assert_eq!(explored["executions"], executions, "{name}");
        }
    }
    let bugs = |program| json(&["traceforge", program, "--scale", SCALE])["bugs"].clone();
    assert_eq!(bugs("philosophers-3"), 1);
    // The message of the second that is not the last may be anywhere among four others.
    assert_eq!(bugs("queue-order"), 5);
    // Of the six interleavings, the two in which one thread is before the other are right.
    assert_eq!(bugs("lost-update"), 4);
}

#[test]
fn loom_finds_every_execution_at_least_once() {
    for name in Framework::Loom.programs() {
        // It has three hundred thousand executions of this one.
        if name == Program::Mpsc3x3.name() {
            continue;
        }
        let explored = json(&["loom", name, "--scale", "0.5"]);
        assert_eq!(explored["complete"], true, "{name}");
        let program = Program::from_name(name).unwrap();
        let executions = explored["executions"].as_u64().unwrap();
        assert!(executions >= program.inequivalent_executions().unwrap_or(1));
        assert_eq!(explored["bugs"].as_u64() > Some(0), program.has_bug());
    }
}

#[test]
fn a_search_that_does_not_end_says_that_it_is_not_complete() {
    let explored = json(&["loom", "mpsc-3x3", "--scale", "0.01"]);
    assert_eq!(explored["complete"], false);
    assert!(explored["executions"].as_u64() > Some(0));
}

#[test]
fn only_a_random_search_for_a_bug_that_there_is_can_be_asked_for() {
    for (framework, program) in [
        ("loom", "lost-update"),
        ("shuttle-urw", "mutex-2x3"),
        ("tokio", "lost-update"),
    ] {
        assert!(
            !run(&[framework, program, "--until-bug", "1"])
                .status
                .success()
        );
    }
}

#[test]
fn a_bug_is_told_from_what_is_right_and_from_what_cannot_be() {
    let counted = Outcome::Count;
    assert!(Program::Mutex2x3.allows(&counted(6)) && !Program::Mutex2x3.allows(&counted(5)));
    assert!(Program::LostUpdate.is_bug(&counted(1)) && !Program::LostUpdate.is_bug(&counted(2)));
    assert!(!Program::LostUpdateDeep.allows(&counted(1)));
    assert!(Program::Philosophers3.is_bug(&Outcome::Deadlock));
    assert!(!Program::Philosophers3Ordered.allows(&Outcome::Deadlock));
    let arrivals = |senders: [usize; 6]| {
        let mut sent = [0_usize; 3];
        let message = |sender| {
            sent[sender] += 1;
            (sender, sent[sender] - 1)
        };
        Outcome::Arrivals(senders.map(message).to_vec())
    };
    assert!(Program::QueueOrder.is_bug(&arrivals([2, 1, 2, 0, 0, 1])));
    assert!(!Program::QueueOrder.is_bug(&arrivals([2, 1, 0, 2, 0, 1])));
    assert!(!Program::QueueOrder.is_bug(&arrivals([2, 1, 2, 0, 1, 0])));
    assert!(!Program::QueueOrder.allows(&arrivals([0, 0, 0, 1, 1, 2])));
}

fn json(arguments: &[&str]) -> Value {
    let output = run(arguments);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {complaints}");
    assert_eq!(complaints, "", "{arguments:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn run(arguments: &[&str]) -> Output {
    let peer_round = env!("CARGO_BIN_EXE_peer-round");
    Command::new(peer_round).args(arguments).output().unwrap()
}
