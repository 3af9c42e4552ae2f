//! Programs that start other processes.

use std::{fs, sync::Arc};

use reenact_trace::{Origin, Trace};

use crate::support::stage::Stage;

/// Files that recordings have left, by name.
fn traces(stage: &Stage) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(stage.trace().parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".reenact"))
        .collect();
    names.sort();
    names
}

#[test]
fn a_child_process_has_a_trace_of_its_own_and_runs_off_in_a_replay() {
    let stage = Stage::new();
    let program = stage.program("family");
    let recorded = program.record();
    recorded.is_fine();
    assert_eq!(
        traces(&stage),
        ["bug.2.reenact", "bug.3.reenact", "bug.reenact"]
    );
    for (name, arguments) in [
        ("bug.reenact", &["programs", "family"][..]),
        ("bug.2.reenact", &["family", "one"]),
        ("bug.3.reenact", &["family", "seven"]),
    ] {
        let path = stage.path(name);
        assert!(reenact_trace::recover(&path).unwrap());
        let trace = Arc::new(Trace::open(&path).unwrap());
        trace.check(|_| {}).unwrap();
        assert!(trace.is_complete());
        assert!(
            trace
                .program()
                .arguments
                .ends_with(&arguments.iter().map(Into::into).collect::<Vec<_>>())
        );
    }

    // The races of the children go another way each time, those of the parent do not.
    let parents = |stdout: &str| -> Vec<String> {
        stdout
            .lines()
            .filter(|line| !line.starts_with("child "))
            .map(str::to_owned)
            .collect()
    };
    let replayed = program.replay();
    replayed.is_fine();
    assert_eq!(parents(&replayed.stdout), parents(&recorded.stdout));
    assert_eq!(replayed.stdout.lines().count(), 5);
    assert_eq!(traces(&stage).len(), 3, "a replay records nothing");

    // And a child's trace can be replayed without the parent.
    let child = recorded
        .stdout
        .lines()
        .find(|line| line.starts_with("child one"));
    let alone = stage
        .program("family one")
        .start_replay(&stage.path("bug.2.reenact"))
        .finish();
    assert_eq!(alone.is_fine().stdout.lines().next(), child);
}

#[test]
fn a_process_that_becomes_another_program_has_a_trace_for_each() {
    let stage = Stage::new();
    let program = stage.program("become-another");
    let recorded = program.record();
    recorded.is_fine();
    assert_eq!(traces(&stage), ["bug.2.reenact", "bug.reenact"]);
    stage.recovered();
    program.replay().is_same_as(&recorded);
    assert_eq!(traces(&stage).len(), 2);
}

/// A copy of the process, made by `fork` alone, leaves the trace of its parent alone.
#[track_caller]
fn fork(program: &str, mains_operations: u64) {
    let stage = Stage::new();
    let program = stage.program(program);
    let recorded = program.record();
    assert_eq!(recorded.is_fine().stderr, "");
    let trace = stage.recovered();
    assert_eq!(trace.stop(), None);
    assert_eq!(traces(&stage), ["bug.reenact"]);
    let operations: Vec<_> = trace
        .activities()
        .map(|info| {
            let mut events = trace.events(info.number);
            assert!(events.by_ref().all(|item| item.is_ok()));
            (info.origin, events.position())
        })
        .collect();
    let most = operations.iter().map(|(_, operations)| *operations).max();
    assert!(
        most >= Some(mains_operations),
        "all are there: {operations:?}"
    );
    assert!(
        operations
            .iter()
            .all(|(origin, _)| *origin != Origin::Foreign)
    );
    let replayed = program.replay();
    replayed.is_same_as(&recorded);
    assert_eq!(replayed.stderr, "");
}

#[test]
fn a_forked_child_that_exits() {
    fork("fork exit", 2001);
}

#[test]
fn a_forked_child_that_leaves_at_once() {
    fork("fork leave", 2001);
}

#[test]
fn a_forked_child_that_aborts() {
    fork("fork abort", 2001);
}

/// What a thread has only counted is in memory that the child shares.
#[test]
fn a_forked_child_that_exits_before_its_parent_is_killed() {
    let stage = Stage::new();
    let mut running = stage.program("fork killed").start_recording();
    running.wait_for_output("2000\n");
    running.kill();
    let trace = stage.recovered();
    let main = trace.activities().find(|info| info.origin == Origin::Main);
    let mut events = trace.events(main.unwrap().number);
    assert!(events.by_ref().all(|item| item.is_ok()));
    assert!(events.position() >= 2001, "{}", events.position());
}

#[test]
fn a_child_forked_by_a_thread() {
    fork("fork-in-thread", 2001);
}
