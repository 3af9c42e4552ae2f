//! Programs of processes, threads and actors around channels that nobody wrote, recorded and replayed.
//!
//! Everybody keeps a digest of what it sees. `cargo xtask hunt` tries other programs; `REENACT_CASES=5000` for more
//! of them. One that fails is made smaller and printed.

#[path = "../../examples/programs/csp/generated/language.rs"]
mod language;

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::{
    collection::vec,
    prelude::*,
    sample::select,
    test_runner::{Config, TestCaseError, TestError, TestRunner},
};
use reenact_testing::generated;

use self::language::{Channel, Kind, Operation, Party, Program, Verb};
use crate::oracle::Recording;

const CASES: u32 = 40;
const REPLAYS: usize = 10;
/// So many at the same time: as many as there are cores where there are few.
const THREADS: u32 = 2;

fn operation() -> impl Strategy<Value = Operation> {
    (select(Verb::ALL), vec(0..6usize, 4)).prop_map(|(verb, numbers)| Operation { verb, numbers })
}

fn party() -> impl Strategy<Value = Party> {
    (select(Kind::ALL), vec(operation(), 1..20)).prop_map(|(kind, script)| Party { kind, script })
}

fn channel() -> impl Strategy<Value = Channel> {
    let room = prop_oneof![3 => Just(0), 1 => 1..3usize, 1 => Just(6)];
    (room, any::<bool>()).prop_map(|(room, closes)| Channel { room, closes })
}

fn program() -> impl Strategy<Value = Program> {
    (1..3usize, vec(channel(), 1..4), vec(party(), 2..7)).prop_map(
        |(mutexes, channels, parties)| Program {
            mutexes,
            channels,
            parties,
        },
    )
}

fn record_and_replay(program: &Program, workers: usize) -> Result<(), TestCaseError> {
    let check = || {
        let recording = Recording::of(&["generated", &program.to_string()], workers);
        for number in 0..REPLAYS {
            recording.replay(1 + number % 4);
        }
    };
    catch_unwind(AssertUnwindSafe(check)).map_err(|panic| {
        let why = panic.downcast_ref::<String>();
        TestCaseError::fail(why.cloned().unwrap_or_default())
    })
}

#[track_caller]
fn check(config: Config) {
    let config = Config {
        max_shrink_iters: 100,
        ..config
    };
    let result = TestRunner::new(config).run(&(program(), 1..4usize), |(program, workers)| {
        record_and_replay(&program, workers)
    });
    match result {
        Ok(()) => {}
        Err(TestError::Abort(why)) => panic!("{why}"),
        Err(TestError::Fail(why, (program, workers))) => {
            panic!("{why}\nthe program, with {workers} workers:\n{program}")
        }
    }
}

#[test]
fn generated_programs_replay() {
    std::thread::scope(|scope| {
        for config in generated::shares(CASES, THREADS) {
            scope.spawn(move || check(config));
        }
    });
}

#[test]
fn a_program_is_the_same_after_being_written_down() {
    let mut runner = TestRunner::new(generated::config(256));
    runner
        .run(&program(), |program| {
            prop_assert_eq!(program.to_string().parse(), Ok(program));
            Ok(())
        })
        .unwrap();
}
