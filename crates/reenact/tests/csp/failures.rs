//! Failures of processes: they are killed, wait for what never comes, end the program, or run out of disk.

use expect_test::{Expect, expect};

use crate::{
    oracle::program,
    support::{
        checks::{self, often},
        stage::{Outcome, Stage, without_places},
    },
};

// Killed.

fn kill_at_some_instant(command: &str, seed: u64) {
    let stage = Stage::new();
    let with = |workers: u64| program(&stage, &[command], workers as usize);
    checks::replays_after_a_kill(&stage, seed, with(1 + seed % 3), with(1 + seed / 3 % 3));
}

#[test]
fn killed_processes_replay_to_where_they_were() {
    often(60, |seed| kill_at_some_instant("steady", seed));
}

#[test]
fn killed_processes_that_have_children_replay_to_where_they_were() {
    often(30, |seed| kill_at_some_instant("families", seed));
}

#[test]
fn a_trace_that_is_cut_anywhere_replays_up_to_there() {
    for command in [&["contests", "5", "7"], &["closing-contests", "3", "7"]] {
        let stage = Stage::new();
        checks::replays_where_it_is_cut(&stage, &program(&stage, command, 2), 16);
    }
}

// Somebody waits for what never comes.

#[track_caller]
fn check(report: &str, expected: Expect) {
    expected.assert_eq(&without_places(report));
}

/// Records a program until both of its processes have said that they are stuck, and replays it.
fn stuck(how: &str) -> Outcome {
    let mut outcomes = (1..=3).map(|workers| {
        let stage = Stage::new();
        let program = program(&stage, &["stuck", how], workers);
        let mut running = program.start_recording();
        running.wait_for_output("stuck\nstuck\n");
        running.kill();
        stage.recovered();
        let outcome = program.replay();
        outcome.ended();
        outcome
    });
    let first = outcomes.next().expect("with one worker");
    outcomes.for_each(|outcome| {
        outcome.ended();
    });
    first
}

#[test]
fn processes_that_wait_to_receive_from_each_other() {
    check(
        stuck("receiving").ended(),
        expect![[r#"
        the replay is where the recording ends
          main waits for the end of a process
          main.a0 waits for the end of the recording, before: receive from a channel at failures.rs:_ (channel@failures.rs:_)
          main.a1 waits for the end of the recording, before: receive from a channel at failures.rs:_ (channel@failures.rs:_)
    "#]],
    );
}

#[test]
fn processes_that_wait_to_send_to_each_other() {
    check(
        stuck("sending").ended(),
        expect![[r#"
        the replay is where the recording ends
          main waits for the end of a process
          main.a0 waits for the end of the recording, before: send to a channel at failures.rs:_ (channel@failures.rs:_)
          main.a1 waits for the end of the recording, before: send to a channel at failures.rs:_ (channel@failures.rs:_)
    "#]],
    );
}

#[test]
fn processes_whose_selections_do_not_meet() {
    check(
        stuck("selecting").ended(),
        expect![[r#"
        the replay is where the recording ends
          main waits for the end of a process
          main.a0 waits for the end of the recording, before: select at failures.rs:_
          main.a1 waits for the end of the recording, before: select at failures.rs:_
    "#]],
    );
}

#[test]
fn a_process_that_waits_for_a_lock_which_one_has_who_waits_for_it() {
    check(
        stuck("locking").ended(),
        expect![[r#"
        the replay is where the recording ends
          main waits for the end of a process
          main.a0 waits for the end of the recording, before: receive from a channel at failures.rs:_ (channel@failures.rs:_)
          main.a1 waits for the end of the recording, before: lock at failures.rs:_ (mutex@failures.rs:_)
    "#]],
    );
}

#[test]
fn processes_that_yield_without_end() {
    check(
        stuck("spinning").ended(),
        expect![[r#"
            the replay is where the recording ends
              main waits for the end of a process
              main.a1 is not at an operation
              main.a3 is not at an operation
        "#]],
    );
}

// The program ends while they do something.

/// Records a program that ends in this way, with so many workers, and replays it with others.
#[track_caller]
fn ends(how: &str, is_as_expected: impl Fn(&Outcome) -> bool) {
    for workers in [1, 2] {
        let stage = Stage::new();
        let recorded = program(&stage, &["ends", how], workers).record();
        assert!(is_as_expected(&recorded), "{recorded:#?}");
        for workers in [1, 3] {
            let replayed = program(&stage, &["ends", how], workers).replay();
            replayed.is_same_as(&recorded);
        }
    }
}

#[test]
fn main_returns_while_processes_run_and_wait() {
    ends("return", |outcome| outcome.status.success());
}

#[test]
fn a_process_ends_the_program() {
    ends("exit", |outcome| outcome.status.code() == Some(3));
}

#[test]
fn a_process_aborts_the_program() {
    ends("abort", |outcome| outcome.signal() == Some(libc::SIGABRT));
}

/// Its worker is lost then, and those who were on it cannot go on in the replay.
#[test]
fn a_process_that_panics_twice_aborts_the_program() {
    let stage = Stage::new();
    let program = program(&stage, &["ends", "panic-twice"], 1);
    let recorded = program.record();
    assert_eq!(recorded.signal(), Some(libc::SIGABRT), "{recorded:#?}");
    program.replay().is_same_as(&recorded);
}

#[test]
fn main_panics_while_processes_run_and_wait() {
    ends("panic", |outcome| outcome.status.code() == Some(101));
}

#[test]
fn a_process_that_uses_up_its_stack() {
    ends("overflow", |outcome| {
        outcome.signal() == Some(libc::SIGSEGV)
    });
}

#[test]
fn with_no_more_room_processes_go_on_and_replay_to_where_recording_ended() {
    const CHATTER: &[&str] = &["chatter", "400000"];
    let stage = Stage::new();
    let with = |workers| program(&stage, CHATTER, workers);
    checks::goes_on_without_room(&stage, with(2), &with(3), "1200000 times in vain\n");
}
