//! Rust programs, explored from their start or from what was recorded of them.

use std::{fs, process::Command};

use serde_json::Value;

use crate::{
    program::{example, example_of, record, scenarios},
    run::{Directory, Run},
};

fn explore(directory: &Directory, options: &[&str], scenario: &str) -> Run {
    directory.reenact(&[&["explore"], options, &["--", scenarios(), scenario]].concat())
}

#[test]
fn a_failure_is_found_reported_kept_and_followed() {
    for way in ["portfolio", "exhaustive", "pct 2", "preemptions 2"] {
        let directory = Directory::new();
        let run = explore(
            &directory,
            &["--strategy", way, "--seed", "3"],
            "lost-update",
        );
        run.assert_status(1);
        assert!(
            run.stdout.starts_with("the program exited with status 1\n"),
            "{}",
            run.stdout
        );
        run.assert_stdout_has("with 3 switches from one to another:");
        assert_eq!(directory.files(), ["scenarios.schedule"]);

        let schedule = ["--schedule", "scenarios.schedule"];
        for _ in 0..3 {
            let again = explore(&directory, &schedule, "lost-update");
            again.assert_status(1);
            assert!(
                again.stdout.starts_with("counted to 1\n"),
                "{}",
                again.stdout
            );
        }
        let followed = Command::new(scenarios())
            .arg("lost-update")
            .env("REENACT", "follow")
            .env("REENACT_SCHEDULE", directory.path("scenarios.schedule"))
            .output()
            .unwrap();
        assert_eq!(followed.status.code(), Some(1));
        assert_eq!(String::from_utf8_lossy(&followed.stdout), "counted to 1\n");
    }
}

#[test]
fn a_deadlock_is_reported_with_who_waits_for_whom() {
    let directory = Directory::new();
    let run = explore(&directory, &["-o", "forks.schedule"], "philosophers");
    run.assert_status(1);
    let source = include_str!("../../examples/scenarios.rs");
    let forks = source.lines().position(|line| line.contains("let forks:"));
    let forks = format!(
        "mutex@crates/reenact-cli/examples/scenarios.rs:{}",
        forks.unwrap() + 1
    );
    for said in [
        "deadlock\n",
        "main waits: the end of main.0",
        &format!("main.0 waits: lock {forks}#2 at"),
        "which main.1 has since",
        &format!("main.1 waits: lock {forks} at"),
        "which main.0 has since",
    ] {
        assert!(run.stdout.contains(said), "{said}: {}", run.stdout);
    }
    assert_eq!(directory.files(), ["forks.schedule"]);
}

#[test]
fn what_cannot_fail_is_said_to_have_been_tried_completely() {
    let directory = Directory::new();
    let run = explore(&directory, &["--json"], "nothing");
    run.assert_status(0);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["complete"], true, "{report}");
    assert_eq!(report["failures"], Value::Array(Vec::new()));
    assert!(directory.files().is_empty());
}

#[test]
fn several_cores_run_each_class_once() {
    for cores in ["1", "2", "3"] {
        let directory = Directory::new();
        let options = ["--json", "--strategy", "exhaustive", "--cores", cores];
        let run = explore(&directory, &options, "turns");
        run.assert_status(0);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(report["complete"], true, "{report}");
        assert_eq!(report["executions"], 20, "{report}");

        let options = [
            "--json",
            "--strategy",
            "mixed",
            "--executions",
            "50",
            "--cores",
            cores,
        ];
        let run = explore(&directory, &options, "turns");
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(report["executions"], 50, "{report}");
        assert_eq!(report["covered"][0], "50 of them at random (mixed, seed 0)");
        assert_eq!(report["complete"], false, "{report}");
    }
}

/// That a lock is tried, so that giving it back is a step, is found out by any of them.
#[test]
fn several_cores_run_each_class_of_finer_steps_once() {
    let reports = ["1", "2", "3"].map(|cores| {
        let directory = Directory::new();
        let options = ["explore", "--json", "--strategy", "exhaustive", "--cores"];
        let program = [cores, "--", example("try_late")];
        let run = directory.reenact(&[&options[..], &program].concat());
        run.assert_status(0);
        serde_json::from_str::<Value>(&run.stdout).unwrap()
    });
    for report in &reports {
        assert_eq!(report["complete"], true, "{report}");
        assert_eq!(report["executions"], reports[0]["executions"], "{report}");
    }
}

#[test]
fn what_any_core_finds_is_reported_and_followed() {
    for way in ["portfolio", "exhaustive", "urw", "pct 2"] {
        for cores in ["2", "3"] {
            for scenario in ["lost-update", "philosophers"] {
                let directory = Directory::new();
                let run = explore(&directory, &["--strategy", way, "--cores", cores], scenario);
                run.assert_status(1);
                assert_eq!(directory.files(), ["scenarios.schedule"]);
                let again = explore(&directory, &["--schedule", "scenarios.schedule"], scenario);
                again.assert_status(1);
                assert!(
                    !again.stdout.contains("does not follow the schedule"),
                    "{}",
                    again.stdout
                );
            }
        }
    }
}

/// A run that went well is recorded; beside it is the one that fails.
#[test]
fn what_else_could_have_happened_is_found_around_a_recorded_run() {
    let directory = Directory::new();
    let went_well = (0..100).any(|_| record(&directory, "lost-update").status.code() == Some(0));
    assert!(went_well, "as it nearly always does");
    let run = directory.reenact(&["explore", "run.reenact"]);
    run.assert_status(1);
    for said in [
        "what was recorded, once: run.1.schedule\n  ended as it should\n  printed:\n    counted to 2\n",
        "1 reordering away, 2 times: run.2.schedule\n  the program exited with status 1\n",
        "the closest execution that fails is run.2.schedule",
    ] {
        assert!(run.stdout.contains(said), "{said}: {}", run.stdout);
    }
    let again = explore(&directory, &["--schedule", "run.2.schedule"], "lost-update");
    again.assert_status(1);

    let outcomes = |options: &[&str]| {
        let run = directory.reenact(&[&["explore", "run.reenact", "--json"], options].concat());
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        let outcomes = report["outcomes"].as_array().unwrap().clone();
        let outcomes = outcomes.iter().map(|outcome| outcome["bad"] == true);
        (outcomes.collect::<Vec<_>>(), report["complete"] == true)
    };
    assert_eq!(outcomes(&["--near", "0"]), (vec![false], false));
    assert_eq!(outcomes(&["--other-outcomes"]), (vec![false, true], true));
    assert_eq!(
        outcomes(&["--other-outcomes", "--from", "1000"]),
        (vec![false], true)
    );
}

/// What a recorded run of an example is, and what else could have happened: the two of it that are not what was
/// recorded, of which one fails, or both that do not.
#[test]
fn the_bad_interleaving_is_found_beside_a_recorded_run_of_messages() {
    let directory = Directory::new();
    let example = example_of("reenact", "bad_interleaving");
    directory.reenact(&["record", "-o", "run.reenact", "--", example]);
    let run = directory.reenact(&["explore", "run.reenact", "--other-outcomes", "--json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["complete"], true, "{report}");
    let outcomes = report["outcomes"].as_array().unwrap();
    let printed = |outcome: &Value| {
        let text = outcome["outcome"].as_str().unwrap();
        let read = text.split("doubled 12 and got ").nth(1).unwrap()[..2].to_owned();
        let last = text.split("the result is ").nth(1).unwrap()[..2].to_owned();
        (read, last, outcome["bad"] == true)
    };
    let mut seen: Vec<_> = outcomes.iter().map(printed).collect();
    seen.sort();
    let expected = [("24", "24", false), ("24", "66", false), ("66", "66", true)];
    let expected = expected.map(|(read, last, bad)| (read.to_owned(), last.to_owned(), bad));
    assert_eq!(seen, expected, "{report}");
}

#[test]
fn what_cannot_be_explored_is_refused() {
    let directory = Directory::new();
    let run = directory.reenact(&["explore", "--", "/bin/true"]);
    run.assert_status(2);
    run.assert_stderr_has("/bin/true did not explore itself: it exited with status 0");

    fs::write(
        directory.path("bad.schedule"),
        "reenact schedule 1\nmain.x  lock\n",
    )
    .unwrap();
    let run = explore(&directory, &["--schedule", "bad.schedule"], "nothing");
    run.assert_status(2);
    run.assert_stderr_has("bad.schedule: line 2: `main.x` is not the name of an activity");

    let run = explore(&directory, &["--strategy", "sideways"], "nothing");
    run.assert_status(2);
    run.assert_stderr_has("`sideways` is not a strategy");

    let run = directory.reenact(&["explore", "--", "./nowhere"]);
    run.assert_status(127);
    let run = directory.reenact(&["explore"]);
    run.assert_status(2);
}

/// Checks that options are refused, each with the reason.
fn check_refused(options: &[&str], subject: &[&str], reason: &str) {
    for option in options {
        let directory = Directory::new();
        let words: Vec<_> = option.split(' ').collect();
        let run = directory.reenact(&[&["explore"], &words[..], subject].concat());
        run.assert_status(2);
        let name = words[0];
        run.assert_stderr_has(&format!("{name} does not apply to {reason}"));
        assert_eq!(run.stdout, "", "{option}");
        assert!(directory.files().is_empty(), "{option}");
    }
}

#[test]
fn options_that_do_not_apply_are_refused() {
    let of_models = [
        "--graph --json",
        "--reduced",
        "--single-step",
        "--depth-first",
        "--workers 2",
        "--max-depth 3",
        "--max-memory 3",
        "--stories",
        "--no-stories",
    ];
    let of_graphs = ["--dot", "--where true", "--max-states 5"];
    let of_programs = [
        "--strategy urw",
        "--seed 3",
        "--cores 2",
        "--schedule app.schedule",
    ];
    let of_all_runs = [
        "--executions 3",
        "--max-steps 3",
        "--output app.schedule",
        "--allow-blocked",
    ];
    let of_recordings = ["--from 3", "--near 3", "--other-outcomes", "--force"];

    let program = ["--", scenarios(), "nothing"];
    let reason = "a Rust program (-- CMD): for a program in AmbientTalk";
    check_refused(&of_models, &program, reason);
    check_refused(&of_graphs, &program, reason);
    let reason = "a Rust program (-- CMD): for a recording (FILE.reenact)";
    check_refused(&of_recordings, &program, reason);

    let recording = ["run.reenact"];
    let reason = "a recording (FILE.reenact): for ";
    check_refused(&of_models, &recording, reason);
    check_refused(&of_graphs, &recording, reason);
    check_refused(&of_programs, &recording, reason);
    check_refused(
        &["--break begin", "--spurious-wakeups 1"],
        &recording,
        reason,
    );

    let model = ["model.at"];
    let reason = "a program in AmbientTalk or λ_amb: for a Rust program (-- CMD)";
    check_refused(&of_programs, &model, reason);
    check_refused(&of_all_runs, &model, reason);
    let reason = "a program in AmbientTalk or λ_amb: for a recording (FILE.reenact)";
    check_refused(&of_recordings, &model, reason);

    let paused = ["--break", "begin", "--", scenarios(), "nothing"];
    let reason = "a Rust program with --break: for a Rust program (-- CMD)";
    check_refused(&of_programs, &paused, reason);
    check_refused(&of_all_runs, &paused, reason);
    let reason = "a Rust program with --break: for a program in AmbientTalk";
    check_refused(&["--single-step", "--reduced"], &paused, reason);
}

#[test]
fn waits_that_end_without_a_reason_are_explored_on_request() {
    let directory = Directory::new();
    let program = ["--", example("primitives"), "wait-once"];
    let explore = |options: &[&str]| directory.reenact(&[&["explore"], options, &program].concat());
    let complete = ["--strategy", "exhaustive"];
    explore(&complete).assert_status(0);
    let run = explore(&["--strategy", "exhaustive", "--spurious-wakeups", "1"]);
    run.assert_status(1);
    run.assert_stdout_has(
        "main decides whether to wake spuriously: yes at crates/reenact-cli/examples/primitives.rs",
    );
    // The schedule says itself how many there are.
    let run = explore(&["--schedule", "primitives.schedule"]);
    run.assert_status(1);
    assert!(run.stdout.starts_with("false\n"), "{}", run.stdout);
}
