//! Locks that are taken at the very end, of a thread or of the process, and statics.

use crate::support::stage::Stage;

#[track_caller]
fn replays(program: &str) {
    for _ in 0..5 {
        let stage = Stage::new();
        let program = stage.program(program);
        let recorded = program.record();
        recorded.is_fine();
        let trace = stage.recovered();
        assert!(trace.is_complete());
        assert_eq!(trace.stop(), None);
        for _ in 0..3 {
            program.replay().is_same_as(&recorded);
        }
    }
}

#[test]
fn thread_local_destructors() {
    replays("locals");
}

#[test]
fn thread_local_destructors_of_foreign_threads() {
    replays("locals-foreign");
}

#[test]
fn thread_local_destructors_of_main() {
    replays("locals-main");
}

#[test]
fn a_thread_local_destructor_of_main_that_prints() {
    replays("locals-print");
}

#[test]
fn a_thread_local_destructor_that_waits_for_another_thread() {
    replays("locals-wait");
}

#[test]
fn statics() {
    replays("statics");
}

#[test]
fn an_exit_handler() {
    replays("exit-handler");
}
