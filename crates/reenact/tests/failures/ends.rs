//! Every way for a process to end: recording does not change it, and a replay ends in the same way.

use crate::support::stage::{Outcome, Stage};

/// How a program ends, in each of several recordings and their replays.
#[track_caller]
fn ends_the_same(program: &str, check: impl Fn(&Outcome)) {
    check(&Stage::new().program(program).run());
    for _ in 0..3 {
        let stage = Stage::new();
        let program = stage.program(program);
        let recorded = program.record();
        check(&recorded);
        assert_eq!(recorded.remarks(), 0, "{recorded:#?}");
        let trace = stage.recovered();
        assert!(
            trace.is_complete() && trace.stop().is_none(),
            "{:?}",
            trace.damage()
        );
        for _ in 0..2 {
            let replayed = program.replay();
            replayed.is_same_as(&recorded);
            check(&replayed);
        }
    }
}

#[track_caller]
fn exits_with(program: &str, status: i32) {
    ends_the_same(program, |outcome| {
        assert_eq!(outcome.status.code(), Some(status), "{outcome:#?}");
    });
}

#[track_caller]
fn aborts(program: &str, last_words: &str) {
    ends_the_same(program, |outcome| {
        assert_eq!(outcome.signal(), Some(libc::SIGABRT), "{outcome:#?}");
        assert!(outcome.stderr.contains(last_words), "{outcome:#?}");
    });
}

#[test]
fn a_panic_with_locks_in_hand_poisons_them_for_the_same_threads() {
    exits_with("poison", 0);
}

#[test]
fn a_panic_of_main() {
    exits_with("panic-in-main", 101);
}

#[test]
fn a_panic_in_a_scope() {
    exits_with("panic-in-scope", 0);
}

#[test]
fn an_exit_by_a_thread_with_others_running() {
    exits_with("exit-in-thread", 7);
}

#[test]
fn an_exit_from_a_scope_in_a_scope() {
    exits_with("exit-in-scopes", 9);
}

/// Several activities end the process at once; the recorded one does so again, on any number of cores.
///
/// ```text
/// 1 ── lock ── exit(1)
/// 2 ── lock ── exit(2)    whoever is first
/// ```
#[track_caller]
fn exits_as_recorded(program: &str) {
    for _ in 0..10 {
        let stage = Stage::new();
        let program = stage.program(program);
        let recorded = program.record();
        stage.recovered();
        for _ in 0..3 {
            program.replay().is_same_as(&recorded);
        }
        let program = program.on_one_core();
        for _ in 0..3 {
            program.replay().is_same_as(&recorded);
        }
    }
}

#[test]
fn threads_that_exit_at_once() {
    exits_as_recorded("exits-of-threads");
}

#[test]
fn actors_that_exit_at_once() {
    exits_as_recorded("exits-of-actors");
}

#[test]
fn processes_that_exit_at_once() {
    exits_as_recorded("exits-of-processes");
}

#[test]
fn an_exit_in_a_destructor_of_a_thread_local() {
    exits_with("exit-in-destructor", 5);
}

#[test]
fn threads_that_exit_at_once_in_destructors_of_thread_locals() {
    exits_as_recorded("exits-in-destructors");
}

#[test]
fn an_exit_while_main_returns() {
    exits_as_recorded("exit-and-return");
}

#[test]
fn an_abort_by_a_thread_with_others_running() {
    aborts("abort-in-thread", "");
}

#[test]
fn a_stack_overflow() {
    aborts("overflow", "thread 'deep' ");
}

#[test]
fn main_returns_with_others_running() {
    exits_with("main-returns", 0);
}

#[test]
fn main_returns_with_others_that_compute() {
    exits_with("main-returns-from-spinners", 0);
}

#[test]
fn main_returns_before_or_after_a_thread_has_begun() {
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..20 {
        let stage = Stage::new();
        let program = stage.program("main-returns-at-once");
        let recorded = program.record();
        let trace = stage.recovered();
        let replayed = program.replay();
        replayed.is_fine();
        // What a thread has said after its last operation may be cut off at any place in the recording.
        if trace.activities().len() == 1 {
            replayed.is_same_as(&recorded);
        }
        seen.insert(trace.activities().len());
    }
    println!("activities that had begun: {seen:?}");
}

#[test]
fn main_returns_with_others_asleep_elsewhere() {
    exits_with("main-returns-from-sleepers", 0);
}
