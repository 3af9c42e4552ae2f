//! `kill -9` at any instant: what threads have acknowledged is in the trace, and the trace replays.
//!
//! ```text
//! child, 8 threads:   operation ── acknowledge ── operation ── acknowledge ── …
//! test:                       … at some instant: SIGKILL, recover, compare, replay, compare
//! ```

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use reenact_trace::{Item, Origin, Trace, live_path};

use crate::support::{
    acknowledged::{acknowledged_numbers, at_least},
    checks::often,
    stage::Stage,
};

const THREADS: usize = 8;

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Passes the time until some instant less than `limit` from now: the instant of a kill, so there is nothing to wait for.
fn some_instant_within(limit: Duration, random: &mut Random) {
    let now = Instant::now();
    let instant = now + Duration::from_nanos(random.below(limit.as_nanos() as u64));
    while Instant::now() < instant {
        std::hint::spin_loop();
    }
}

/// The number of main's n-th child.
fn child(trace: &Trace, parent: u32, index: u64) -> Option<u32> {
    trace
        .activities()
        .find(|info| info.origin == Origin::Child(parent) && info.index == index)
        .map(|info| info.number)
}

fn main_of(trace: &Trace) -> u32 {
    let main = trace.activities().find(|info| info.origin == Origin::Main);
    main.expect("main has started the threads").number
}

/// Operations that the trace has of an activity.
fn operations(trace: &Arc<Trace>, activity: u32) -> u64 {
    let mut events = trace.events(activity);
    for item in events.by_ref() {
        item.expect("a trace is sound");
    }
    events.position()
}

/// Records a program until some instant after it is ready.
fn kill_one(stage: &Stage, program: &str, random: &mut Random) -> [u64; THREADS] {
    let file = stage.path("acknowledged");
    let mut running = stage
        .program(program)
        .env("ACKNOWLEDGED", &file)
        .start_recording();
    running.wait_for_output("ready\n");
    some_instant_within(Duration::from_millis(4), random);
    let outcome = running.kill();
    assert_eq!(outcome.signal(), Some(libc::SIGKILL), "{outcome:#?}");
    assert_eq!(outcome.stderr, "");
    acknowledged_numbers(&file)
}

/// Replays it to where it was killed; what is acknowledged then.
fn replay_one(stage: &Stage, program: &str) -> [u64; THREADS] {
    let file = stage.path("acknowledged-in-replay");
    let outcome = stage.program(program).env("ACKNOWLEDGED", &file).replay();
    outcome.ended();
    acknowledged_numbers(&file)
}

#[test]
fn a_kill_at_any_instant_loses_nothing() {
    often(300, |seed| {
        let stage = Stage::new();
        let mut random = Random(seed * 0x9e37_79b9 + 1);
        let done = kill_one(&stage, "steady", &mut random);

        // Every other one is replayed from its two files, as the kill has left them.
        let in_two_files = seed % 2 == 0;
        let trace = if in_two_files {
            stage.open()
        } else {
            stage.recovered()
        };
        assert_eq!(live_path(&stage.trace()).exists(), in_two_files);
        assert!(trace.is_complete() && trace.stop().is_none());
        let main = main_of(&trace);
        let recorded: [u64; THREADS] = std::array::from_fn(|thread| {
            child(&trace, main, thread as u64).map_or(0, |child| operations(&trace, child))
        });
        at_least(recorded, done);

        if seed % 3 != 2 {
            at_least(replay_one(&stage, "steady"), done);
        }
    });
}

/// ```text
/// some thread:   read, the first ────────────────────── count it ── …
/// another:                        read, after the first ── …
/// ```
///
/// The trace must not refer to a first read that is not in it.
#[test]
fn a_kill_at_the_first_reads_of_locks_loses_nothing() {
    often(60, |seed| {
        let stage = Stage::new();
        let mut random = Random(seed * 0x9e37_79b9 + 4);
        let done = kill_one(&stage, "first-reads", &mut random);
        at_least(replay_one(&stage, "first-reads"), done);
    });
}

#[test]
fn a_kill_while_threads_come_and_go_loses_nothing() {
    often(60, |seed| {
        let stage = Stage::new();
        let mut random = Random(seed * 0x9e37_79b9 + 2);
        let done = kill_one(&stage, "churn", &mut random);
        let trace = stage.recovered();
        let main = main_of(&trace);
        for (thread, &count) in done.iter().enumerate() {
            for index in 0..count {
                let parent = child(&trace, main, thread as u64).expect("it has had children");
                let child = child(&trace, parent, index).expect("it has ended");
                let items: Vec<_> = trace.events(child).map(Result::unwrap).collect();
                assert!(
                    items.iter().any(|item| matches!(item, Item::End { .. })),
                    "{items:?}"
                );
            }
        }
        at_least(replay_one(&stage, "churn"), done);
    });
}

#[test]
fn a_kill_while_recording_begins_leaves_a_trace_or_a_clear_error() {
    often(60, |seed| {
        let stage = Stage::new();
        let mut random = Random(seed * 0x9e37_79b9 + 3);
        let file = stage.path("acknowledged");
        let steady = stage.program("steady").env("ACKNOWLEDGED", &file);
        let running = steady.start_recording();
        some_instant_within(Duration::from_millis(60), &mut random);
        running.kill();
        let done = acknowledged_numbers(&file);
        let opened =
            reenact_trace::recover(&stage.trace()).and_then(|_| Trace::open(&stage.trace()));
        match &opened {
            // Only threads that main has started can have done anything.
            Ok(trace) if trace.activities().len() > 0 => {
                at_least(replay_one(&stage, "steady"), done)
            }
            _ => assert_eq!(done, [0; THREADS]),
        }
        // What cannot be made one file may still be two that can be read; if not, the replay says so.
        if opened.is_err() {
            let outcome = steady.replay();
            assert!(outcome.report.is_some(), "{outcome:#?}");
        }
    });
}
