//! The main oracle: programs of transactions that nobody wrote, recorded on all cores and replayed.
//!
//! Each thread keeps a digest of what it sees; the digests and what is left in the end must be the same, and a replay that
//! made another trace would say so. `cargo xtask hunt` tries other programs; `REENACT_CASES=5000` for more than a few.

#[path = "../../examples/programs/stm/generated/language.rs"]
mod language;

use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, TestCaseError, TestError, TestRunner},
};
use reenact_testing::generated;

use self::language::{Action, Program, Transaction, Verb};
use crate::run::Run;

const CASES: u32 = 60;
const REPLAYS: usize = 10;
/// So many at the same time: as many as there are cores where there are few.
const WORKERS: u32 = 2;

fn action() -> impl Strategy<Value = Action> {
    let verb = proptest::sample::select(Verb::ALL);
    (verb, 0..20usize).prop_map(|(verb, number)| Action { verb, number })
}

fn transaction() -> impl Strategy<Value = Transaction> {
    let done = Transaction(vec![Action {
        verb: Verb::Done,
        number: 0,
    }]);
    prop_oneof![
        8 => vec(action(), 1..6).prop_map(Transaction),
        1 => Just(done),
    ]
}

fn program() -> impl Strategy<Value = Program> {
    let threads = vec(vec(transaction(), 1..60), 2..6);
    (1..8usize, threads).prop_map(|(variables, threads)| Program { variables, threads })
}

fn record_and_replay(program: &Program) -> Result<(), TestCaseError> {
    let run =
        Run::try_record("stm-generated", &[&program.to_string()]).map_err(TestCaseError::fail)?;
    if !run.outcome.status.success() {
        return Err(TestCaseError::fail(format!("it failed: {:?}", run.outcome)));
    }
    for _ in 0..REPLAYS {
        run.try_replay().map_err(TestCaseError::fail)?;
    }
    Ok(())
}

#[track_caller]
fn check(config: Config) {
    let config = Config {
        max_shrink_iters: 300,
        ..config
    };
    match TestRunner::new(config).run(&program(), |program| record_and_replay(&program)) {
        Ok(()) => {}
        Err(TestError::Abort(why)) => panic!("{why}"),
        Err(TestError::Fail(why, program)) => panic!("{why}\nthe program:\n{program}"),
    }
}

#[test]
fn a_generated_program_of_transactions_replays_as_it_was_recorded() {
    std::thread::scope(|scope| {
        for config in generated::shares(CASES, WORKERS) {
            scope.spawn(move || check(config));
        }
    });
}

#[test]
fn a_program_of_transactions_is_the_same_after_being_written_down() {
    let mut runner = TestRunner::new(generated::config(256));
    runner
        .run(&program(), |program| {
            prop_assert_eq!(program.to_string().parse(), Ok(program));
            Ok(())
        })
        .unwrap();
}
