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
#[allow(dead_code, reason = "here it is for its tests")]
#[path = "../examples/sales/main.rs"]
mod sales;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    sync::Arc,
};

use reenact_trace::{Trace, recover};

/// What a program exits with whose main thread panicked.
const PANICKED: i32 = 101;

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

/// ```text
/// input ──▶ parsing ──▶ storage ──▶ forecast     actors
///            │    ▲        │         │    ▲
///            ▼    │        ▼         ▼    │
///       processes, which   transactions   a thread for each project
///       meet at tokens     (and a thread that looks)
/// ```
#[test]
fn the_sales_system_makes_the_same_forecasts_in_the_same_order() {
    let small = ["30", "2", "5", "4"];
    for (workers, sizes) in [(1, small), (2, ["150", "4", "16", "12"]), (4, small)] {
        check_with("sales", &sizes, &[workers, 1, 3], 10);
    }
}

fn check(example: &str) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    check_with(example, &[], &[cores], 5);
}

/// Records with the first of these numbers of workers, and replays so often with each of them in turn.
fn check_with(example: &str, arguments: &[&str], workers: &[usize], replays: usize) {
    for strategy in ["receiver", "sender"] {
        let directory = tempfile::tempdir().expect("a directory for the trace");
        let trace = directory.path().join("run.reenact");
        let report = directory.path().join("report");
        let run = |mode: &str, workers: usize| -> (String, ExitStatus) {
            let output = Command::new(path_of(example))
                .args(arguments)
                .env("REENACT", mode)
                .env("REENACT_TRACE", &trace)
                .env("REENACT_STRATEGY", strategy)
                .env("REENACT_WORKERS", workers.to_string())
                .env("REENACT_REPORT", &report)
                .env_remove("REENACT_LOG")
                .output()
                .expect("cargo builds examples along with tests");
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            (printed, output.status)
        };
        let recorded = run("record", workers[0]);
        // One of them is there to fail now and then; what failed is replayed like the rest.
        assert!(
            matches!(recorded.1.code(), Some(0 | PANICKED)),
            "{example}: {recorded:?}"
        );
        recover(&trace).expect("a trace to recover");
        let opened = Arc::new(Trace::open(&trace).expect("a trace to open"));
        assert!(opened.is_complete() && opened.stop().is_none(), "{example}");
        opened.check(|_| {}).expect("a sound trace");
        for &workers in workers.iter().cycle().take(replays) {
            let replayed = run("replay", workers);
            let report = fs::read_to_string(&report).unwrap_or_default();
            assert_eq!(
                (&replayed, &*report),
                (&recorded, ""),
                "{example} {arguments:?}, {strategy}, {workers} workers: {report}"
            );
        }
    }
}

fn path_of(example: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test's file");
    let profile = test.parent().and_then(Path::parent);
    let profile = profile.expect("…/debug/deps/examples");
    profile.join("examples").join(example)
}
