//! Threads that come from elsewhere: they are recorded, listed as foreign, and replayed.

use reenact_trace::Origin;

use crate::support::stage::Stage;

/// Records and replays the program several times; the names of its foreign threads.
#[track_caller]
fn foreign_threads(program: &str) -> Vec<String> {
    let mut names = Vec::new();
    for _ in 0..5 {
        let stage = Stage::new();
        let program = stage.program(program);
        let recorded = program.record();
        assert_eq!(recorded.remarks(), 0, "{recorded:#?}");
        let trace = stage.recovered();
        for _ in 0..3 {
            program.replay().is_same_as(&recorded);
        }
        names = trace
            .activities()
            .filter(|info| info.origin == Origin::Foreign)
            .map(|info| trace.family_name(info.number))
            .collect();
        names.sort();
    }
    names
}

#[test]
fn with_names() {
    assert_eq!(
        foreign_threads("foreign-named"),
        [
            "foreign0(guest 0)",
            "foreign0(guest 1)",
            "foreign0(guest 2)"
        ]
    );
}

#[test]
fn without_names() {
    assert_eq!(
        foreign_threads("foreign-unnamed"),
        ["foreign0", "foreign1", "foreign2", "foreign3"]
    );
}

#[test]
fn with_children_and_as_children() {
    assert_eq!(
        foreign_threads("foreign-mixed"),
        ["foreign0(guest of a child)", "foreign0(guest)"]
    );
}

#[test]
fn in_a_pool_that_waits_for_work_until_the_end() {
    assert_eq!(
        foreign_threads("foreign-pool"),
        ["foreign0(pool 0)", "foreign0(pool 1)"]
    );
}

#[test]
fn one_that_ends_the_process() {
    assert_eq!(foreign_threads("foreign-exit"), ["foreign0(guest)"]);
}

/// ```text
/// main     ── process ── guest ── process ── recv ── end
/// process  ── (begins) ────────────── lock: after the end of the recording
/// guest    ─────────── lock: after the end of the recording
/// process  ────────────────────────────────────────── send
/// ```
///
/// The trace has nothing of the first process nor of the guest, only that there is a number for the former. With one
/// worker, the second process runs when the first one is put aside.
#[test]
fn one_that_is_not_in_the_trace_is_not_taken_for_a_process_that_is_not() {
    let stage = Stage::new();
    let program = || {
        let program = stage.program("foreign-beside-process");
        program.env("REENACT_WORKERS", "1")
    };
    let recorded = program().env("HELD", "1").record();
    recorded.is_fine();
    assert_eq!(stage.recovered().activities().len(), 2);
    program().replay().is_same_as(&recorded);
}
