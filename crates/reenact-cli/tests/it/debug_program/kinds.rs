//! Every kind of breakpoint, and steps that do not apply to Rust programs.

use expect_test::expect;

use super::debug;
use crate::{program::example, run::Directory};

#[test]
fn every_kind_of_operation_can_be_stopped_at() {
    let directory = Directory::new();
    let operations = example("operations");
    let mut report = String::new();
    for (program, kinds) in [
        (
            "actor",
            "message-sender message-receiver before-turn after-turn resolver creation",
        ),
        (
            "atomic",
            "before-atomic-read after-atomic-read before-atomic-write after-atomic-write",
        ),
        (
            "barrier",
            "before-barrier after-barrier before-wait before-wake before-notify",
        ),
        (
            "channel",
            "before-channel-send after-channel-send before-channel-receive after-channel-receive before-channel-close after-channel-close",
        ),
        ("choice", "before-choice after-choice"),
        (
            "condvar",
            "before-wait after-wait before-wake after-wake before-notify after-notify",
        ),
        ("external", "before-external after-external"),
        ("mutex", "before-lock after-lock before-unlock after-unlock"),
        ("park", "before-wait before-wake before-notify"),
        (
            "process",
            "creation after-creation begin after-begin before-end after-end before-join after-join",
        ),
        ("question", "before-question after-question"),
        ("select", "before-select after-select"),
        (
            "thread",
            "creation after-creation begin after-begin before-end after-end before-join after-join",
        ),
        ("transaction", "before-commit after-commit"),
    ] {
        report += &format!("{program}\n");
        for kind in kinds.split(' ') {
            let script = format!("break {kind}\nrun\n");
            let run = directory.reenact_reading(&["debug", "--", operations, program], script);
            let stop = run.stdout.split_once("> run\n").unwrap().1;
            let stops = stop
                .lines()
                .filter_map(|line| line.trim().strip_prefix('['))
                .filter_map(|line| Some(line.split_once("] ")?.1));
            let stops: Vec<&str> = stops.collect();
            report += &format!("  {kind}: {}\n", stops.join("; "));
        }
    }
    expect![[r#"
        actor
          message-sender: next, main sends add(1) to main.a0
          message-receiver: next, main.a0 handles add(1) from main
          before-turn: next, main.a0 handles add(1) from main
          after-turn: main.a0 has nothing to do
          resolver: next, main.a0 resolves promise@45
          creation: next, main spawns a task (main.a0)
        atomic
          before-atomic-read: next, main loads atomic@49
          after-atomic-read: next, main stores atomic@49
          before-atomic-write: next, main stores atomic@49
          after-atomic-write: main has nothing to do
        barrier
          before-barrier: next, main arrives at barrier@54; next, main.0 arrives at barrier@54
          after-barrier: next, main waits at a barrier (queue@54); next, main.0 waits at a barrier (queue@54)
          before-wait: next, main waits at a barrier (queue@54); next, main.0 waits at a barrier (queue@54)
          before-wake: next, main passes a barrier (queue@54); next, main.0 passes a barrier (queue@54)
          before-notify: next, main.0 opens a barrier (queue@54); next, main opens a barrier (queue@54)
        channel
          before-channel-send: next, main sends to channel@61
          after-channel-send: next, main receives from channel@61
          before-channel-receive: next, main receives from channel@61
          after-channel-receive: next, main drops a sender (channel@61)
          before-channel-close: next, main drops a sender (channel@61)
          after-channel-close: next, main drops a receiver (channel@61)
        choice
          before-choice: next, main chooses, way 1 of 2 or chooses, way 2 of 2
          after-choice: main has nothing to do
        condvar
          before-wait: next, main waits for condvar@68; ends as it should
          after-wait: main has nothing to do; ends as it should
          before-wake: ends as it should; next, main wakes from condvar@68
          after-wake: ends as it should; main has nothing to do
          before-notify: next, main.0 notifies condvar@68
          after-notify: main.0 has nothing to do
        external
          before-external: next, main asks for the available parallelism
          after-external: main has nothing to do
        mutex
          before-lock: next, main locks mutex@80
          after-lock: main has nothing to do
          before-unlock: next, main unlocks mutex@80
          after-unlock: main has nothing to do
        park
          before-wait: next, main.0 parks this thread (parker)
          before-wake: ends as it should; next, main.0 wakes after being unparked (queue)
          before-notify: next, main unparks a thread (parker)
        process
          creation: next, main spawns a task (main.a0)
          after-creation: main has nothing to do
          begin: next, main.a0 begins
          after-begin: next, main.a0 ends
          before-end: next, main.a0 ends
          after-end: main.a0 has nothing to do
          before-join: next, main joins main.a0
          after-join: main has nothing to do
        question
          before-question: next, main asks whether a thread is finished
          after-question: main has nothing to do
        select
          before-select: next, main selects channel@97, way 1 of 2 or selects channel@97, way 2 of 2
          after-select: next, main drops a sender (channel@97#2)
        thread
          creation: next, main spawns main.0
          after-creation: main has nothing to do
          begin: next, main.0 begins
          after-begin: next, main.0 ends
          before-end: next, main.0 ends
          after-end: main.0 has nothing to do
          before-join: next, main joins main.0
          after-join: main has nothing to do
        transaction
          before-commit: next, main runs a transaction
          after-commit: main has nothing to do
    "#]].assert_eq(&report);
}

#[test]
fn steps_over_and_out_of_calls_are_refused() {
    let script = "break before-lock\nrun\nover\nreturn\ninto\n";
    let run = debug(&Directory::new(), &["deposits"], script);
    expect![[r#"
        > break before-lock
        Breakpoint 1: before-lock

        > run
        1 universe paused at breakpoint 1 (before-lock)
          [0] next, main.0 locks mutex@40; next, main.1 locks mutex@40

        > over
        error in line 3: over needs calls, which are not tracked in this program, only operations. To go to the next operation, type: into; to stop at a line, type: break line LINE

        > return
        error in line 4: return needs calls, which are not tracked in this program, only operations. To go to the next operation, type: into; to stop at a line, type: break line LINE

        > into
        1 universe paused after into
          [0] next, main.0 locks mutex@40
        1 universe paused at breakpoint 1 (before-lock)
          [1] next, main.1 locks mutex@40

    "#]]
    .assert_eq(&run.stdout);
}
