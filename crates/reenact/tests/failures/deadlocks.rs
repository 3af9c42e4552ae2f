//! Nobody can go on: in the recording, which was killed then, or in the replay alone.

use expect_test::{Expect, expect};
use reenact_trace::{Event, Kind, Origin, Program, Storage, TracePosition, Writer};

use crate::support::stage::{Outcome, Stage, without_places};

#[track_caller]
fn check(report: &str, expected: Expect) {
    expected.assert_eq(&without_places(report));
}

/// Records a program until it has said so often that it is stuck, and replays it.
fn stuck(program: &str) -> Outcome {
    let stage = Stage::new();
    let program = stage.program(program);
    let mut running = program.start_recording();
    running.wait_for_output("stuck\nstuck\n");
    running.kill();
    stage.recovered();
    program.replay()
}

#[test]
fn a_recorded_deadlock_is_where_the_replay_ends() {
    check(
        stuck("deadlock").ended(),
        expect![[r#"
        the replay is where the recording ends
          main waits for the end of main.1
          main.1 waits for the end of the recording, before: lock at stuck.rs:_ (mutex@stuck.rs:_)
          main.2 waits for the end of the recording, before: lock at stuck.rs:_ (mutex@stuck.rs:_)
    "#]],
    );
}

#[test]
fn a_recorded_deadlock_with_a_check_as_the_last_event_that_main_has_written() {
    check(
        stuck("deadlock-after-check").ended(),
        expect![[r#"
        the replay is where the recording ends
          main waits for the end of main.65
          main.65 waits for the end of the recording, before: lock at stuck.rs:_ (mutex@stuck.rs:_)
          main.66 waits for the end of the recording, before: lock at stuck.rs:_ (mutex@stuck.rs:_)
    "#]],
    );
}

#[test]
fn a_thread_that_waited_for_itself() {
    check(
        stuck("self-deadlock").ended(),
        expect![[r#"
        the replay is where the recording ends
          main waits for the end of the recording, before: lock at stuck.rs:_ (mutex@stuck.rs:_)
    "#]],
    );
}

#[test]
fn a_signal_that_was_lost() {
    check(
        stuck("lost-signal").ended(),
        expect![[r#"
        the replay is where the recording ends
          main waits for the end of the recording, before: wake from a condvar at stuck.rs:_ (condvar@stuck.rs:_)
    "#]],
    );
}

#[test]
fn everybody_slept_elsewhere() {
    stuck("asleep").ended();
}

#[test]
fn everybody_computed_without_end() {
    stuck("spinning").ended();
}

/// A trace as if `one-lock` had recorded it, in which main, having started its child, and the child say that this is what
/// they did first.
fn made_up(stage: &Stage, main: Event, child: Event) {
    let writer = Writer::create(&stage.trace(), &Program::default(), Storage::File, |why| {
        panic!("{why}")
    })
    .unwrap();
    let main = Event { silent: 1, ..main };
    let origins = [(Origin::Main, main), (Origin::Child(0), child)];
    for (activity, (origin, event)) in (0..).zip(origins) {
        let mut appender = writer.appender(activity).unwrap();
        let mut place = TracePosition::default();
        assert!(appender.start(&mut place, activity, origin.code(), 0, ""));
        assert!(appender.event(&mut place, activity, &event));
    }
    writer.finish().unwrap();
}

fn take(number: u64) -> Event {
    Event {
        silent: 0,
        kind: Kind::TAKE,
        number,
        second: 0,
    }
}

#[test]
fn a_turn_that_never_comes_is_reported() {
    let stage = Stage::new();
    made_up(&stage, take(1), take(2));
    let outcome = stage.program("one-lock").replay();
    check(
        outcome.diverged(),
        expect![[r#"
        the replay differs from the recording: everybody waits
          main waits for its turn (1 of mutex@stuck.rs:_) to lock at stuck.rs:_
          main.0 waits for its turn (2 of mutex@stuck.rs:_) to lock at stuck.rs:_
    "#]],
    );
}

#[test]
fn a_turn_beyond_all_numbers_never_comes() {
    for number in [u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) + 1] {
        let stage = Stage::new();
        made_up(&stage, take(0), take(number));
        stage.program("one-lock").replay().diverged();
    }
}

#[test]
fn a_lock_that_was_taken_after_looks_that_never_happen() {
    let stage = Stage::new();
    let after_looks = Event {
        kind: Kind::TAKE_AFTER_LOOKS,
        second: 3,
        ..take(0)
    };
    made_up(&stage, after_looks, take(1));
    check(
        stage.program("one-lock").replay().diverged(),
        expect![[r#"
        the replay differs from the recording: everybody waits
          main waits for its turn (0 of mutex@stuck.rs:_) to lock at stuck.rs:_
          main.0 waits for its turn (1 of mutex@stuck.rs:_) to lock at stuck.rs:_
    "#]],
    );
}
