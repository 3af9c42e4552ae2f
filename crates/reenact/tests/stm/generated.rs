//! The main oracle: programs of transactions that nobody wrote, recorded on all cores and replayed.
//!
//! Each thread keeps a digest of what it sees; the digests and what is left in the end must be the same, and a replay that
//! made another trace would say so. `cargo xtask hunt` tries other programs; `REENACT_CASES=5000` for more than a few.

#[path = "../../examples/programs/stm/generated/language.rs"]
mod language;

use proptest::{collection::vec, prelude::*};
use reenact_testing::generated;

use self::language::{Action, Program, Transaction, Verb};
use crate::run::Run;

const CASES: u32 = 60;

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

fn record_and_replay(program: &Program) {
    let run = Run::record("stm-generated", &[&program.to_string()]);
    assert!(run.outcome.status.success(), "{:?}", run.outcome);
    run.replay(generated::REPLAYS);
}

#[test]
fn a_generated_program_of_transactions_replays_as_it_was_recorded() {
    generated::on_threads(CASES, |config| {
        let describe = |program: &Program| format!("the program:\n{program}");
        generated::check(config, 300, &program(), record_and_replay, describe);
    });
}

#[test]
fn a_program_of_transactions_is_the_same_after_being_written_down() {
    generated::survives_printing(&program());
}
