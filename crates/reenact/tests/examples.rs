//! The examples that are for reading: their own tests, and the oracle of all models: a replay prints what the recording
//! printed and ends as it ended, whichever side of a message recorded it.

#[allow(dead_code, reason = "here it is for its tests")]
#[path = "../examples/bad_interleaving.rs"]
mod bad_interleaving;
#[allow(dead_code, reason = "here it is for its tests")]
#[path = "../examples/bank.rs"]
mod bank;
#[allow(dead_code, reason = "here it is for its tests")]
#[path = "../examples/ping_pong.rs"]
mod ping_pong;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
};

use reenact_trace::recover;

#[test]
fn the_ball_is_played_again() {
    check("ping_pong");
}

#[test]
fn the_same_transfers_are_refused() {
    check("bank");
}

#[test]
fn messages_interleave_as_they_did() {
    for _ in 0..5 {
        check("bad_interleaving");
    }
}

fn check(example: &str) {
    for strategy in ["receiver", "sender"] {
        let directory = tempfile::tempdir().expect("a directory for the trace");
        let trace = directory.path().join("run.reenact");
        let report = directory.path().join("report");
        let run = |mode: &str| -> (String, ExitStatus) {
            let output = Command::new(path_of(example))
                .env("REENACT", mode)
                .env("REENACT_TRACE", &trace)
                .env("REENACT_STRATEGY", strategy)
                .env("REENACT_REPORT", &report)
                .env_remove("REENACT_LOG")
                .output()
                .expect("cargo builds examples along with tests");
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            (printed, output.status)
        };
        let recorded = run("record");
        recover(&trace).expect("a trace to recover");
        for _ in 0..5 {
            let replayed = run("replay");
            let report = fs::read_to_string(&report).unwrap_or_default();
            assert_eq!(replayed, recorded, "{example}, {strategy}: {report}");
        }
    }
}

fn path_of(example: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test's file");
    let profile = test.parent().and_then(Path::parent);
    let profile = profile.expect("…/debug/deps/examples");
    profile.join("examples").join(example)
}
