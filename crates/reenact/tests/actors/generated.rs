//! Programs of actors that nobody wrote, recorded and replayed.
//!
//! Each actor and each thread keeps a digest of what it sees. `cargo xtask hunt` tries other
//! programs; `REENACT_CASES=5000` for more of them. One that fails is made smaller and printed.

#[path = "../../examples/programs/actors/generated/language.rs"]
mod language;

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, TestCaseError, TestError, TestRunner},
};
use reenact_testing::generated;

use self::language::{Actor, Operation, Program, Script, Verb};
use crate::oracle::{Recording, Strategy as Who};

const CASES: u32 = 32;
const REPLAYS: usize = 10;
/// So many at the same time: as many as there are cores where there are few.
const THREADS: u32 = 2;

fn operation() -> impl Strategy<Value = Operation> {
    let verb = proptest::sample::select(Verb::ALL);
    (verb, vec(0..6usize, 2)).prop_map(|(verb, numbers)| Operation { verb, numbers })
}

fn script(length: std::ops::Range<usize>) -> impl Strategy<Value = Script> {
    vec(operation(), length)
}

fn actor() -> impl Strategy<Value = Actor> {
    let mailbox = proptest::option::weighted(0.2, 1..6u32);
    (any::<bool>(), mailbox, vec(script(1..4), 1..4)).prop_map(|(keeps, mailbox, scripts)| Actor {
        keeps,
        mailbox,
        scripts,
    })
}

fn program() -> impl Strategy<Value = Program> {
    let counts = (1..3usize, 1..3usize, 1..5usize, any::<bool>());
    (counts, vec(actor(), 1..6), vec(script(2..30), 1..4)).prop_map(|(counts, actors, threads)| {
        Program {
            mutexes: counts.0,
            atomics: counts.1,
            fuel: counts.2,
            close: counts.3,
            actors,
            threads,
        }
    })
}

fn record_and_replay(program: &Program, who: Who, workers: usize) -> Result<(), TestCaseError> {
    let check = || {
        let recording = Recording::of(&["generated", &program.to_string()], who, workers);
        for _ in 0..REPLAYS {
            recording.replay(workers);
        }
        recording.replay(1);
        recording.replay(3);
    };
    catch_unwind(AssertUnwindSafe(check)).map_err(|panic| {
        let why = panic.downcast_ref::<String>();
        TestCaseError::fail(why.cloned().unwrap_or_default())
    })
}

#[track_caller]
fn check(who: Who, config: Config) {
    let config = Config {
        max_shrink_iters: 100,
        ..config
    };
    let result = TestRunner::new(config).run(&(program(), 2..5usize), |(program, workers)| {
        record_and_replay(&program, who, workers)
    });
    match result {
        Ok(()) => {}
        Err(TestError::Abort(why)) => panic!("{why}"),
        Err(TestError::Fail(why, (program, workers))) => {
            panic!("{why}\nthe program, with {workers} workers:\n{program}")
        }
    }
}

fn check_on_all_cores(who: Who) {
    std::thread::scope(|scope| {
        for config in generated::shares(CASES, THREADS) {
            scope.spawn(move || check(who, config));
        }
    });
}

#[test]
fn generated_actors_replay_where_receivers_record() {
    check_on_all_cores(Who::Receiver);
}

#[test]
fn generated_actors_replay_where_senders_record() {
    check_on_all_cores(Who::Sender);
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
