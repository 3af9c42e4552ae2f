//! Programs of actors that nobody wrote, recorded and replayed.
//!
//! Each actor and each thread keeps a digest of what it sees. `cargo xtask hunt` tries other
//! programs; `REENACT_CASES=5000` for more of them. One that fails is made smaller and printed.

#[path = "../../examples/programs/actors/generated/language.rs"]
mod language;

use proptest::{collection::vec, prelude::*};
use reenact_testing::generated;

use self::language::{Actor, Operation, Program, Script, Verb};
use crate::oracle::{Strategy as Who, record};

const CASES: u32 = 32;

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

fn record_and_replay(program: &Program, who: Who, workers: usize) {
    let recording = record(&["generated", &program.to_string()], who, workers);
    for _ in 0..generated::REPLAYS {
        recording.replay(workers);
    }
    recording.replay(1);
    recording.replay(3);
}

fn check_on_all_cores(who: Who) {
    generated::on_threads(CASES, |config| {
        generated::check(
            config,
            100,
            &(program(), 2..5usize),
            |(program, workers)| record_and_replay(program, who, *workers),
            |(program, workers)| format!("the program, with {workers} workers:\n{program}"),
        )
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
    generated::survives_printing(&program());
}
