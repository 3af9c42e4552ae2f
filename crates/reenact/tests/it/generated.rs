//! The main oracle: programs that nobody wrote, recorded and replayed.
//!
//! ```text
//! thread 0 ──┬── lock 0,1 ── send 1 ── wait 0 ── … ── join
//!            ├── thread 1 ── recv 1 ── add 2 ── spawn ── …
//!            │                              └── thread 2 ── try_lock 0 ── park ── …
//!            └── thread 3 ── read 0 ── unpark 1 ── …
//! ```
//!
//! Each thread keeps a digest of what it sees; the digests and what is left in the end are what must be the same. A few
//! hundred programs are enough for every day; `cargo xtask hunt` tries others, `REENACT_CASES=5000` for more. A program that fails is made smaller and printed; what it left is kept.

#[path = "../../examples/programs/generated/language.rs"]
mod language;

use proptest::{collection::vec, prelude::*};
use reenact_testing::generated;

use self::language::{Operation, Program, Thread, Verb};
use crate::run::Run;

const CASES: u32 = 300;

fn operation() -> impl Strategy<Value = Operation> {
    let verb = proptest::sample::select(Verb::ALL);
    let numbers = prop_oneof![
        4 => (0..8usize, 0..120usize).prop_map(|(what, limit)| vec![what, limit]),
        1 => vec(0..8usize, 1..4),
    ];
    (verb, numbers).prop_map(|(verb, numbers)| Operation { verb, numbers })
}

fn thread() -> impl Strategy<Value = Thread> {
    (0..8usize, 0..40usize, vec(operation(), 5..60)).prop_map(|(parent, at, operations)| Thread {
        parent,
        at,
        operations,
    })
}

fn program() -> impl Strategy<Value = Program> {
    let channels = vec(proptest::option::of(0..3usize), 1..5);
    let counts = (1..5usize, 1..5usize, 1..5usize, 1..5usize);
    (counts, channels, vec(thread(), 2..6)).prop_map(|(counts, channels, threads)| Program {
        mutexes: counts.0,
        rwlocks: counts.1,
        atomics: counts.2,
        cells: counts.3,
        channels,
        threads,
    })
}

/// Many operations on one or two objects each: what rarely meets above meets all the time here.
fn crowded_program() -> impl Strategy<Value = Program> {
    vec(thread(), 3..6).prop_map(|threads| Program {
        mutexes: 1,
        rwlocks: 1,
        atomics: 1,
        cells: 2,
        channels: vec![Some(0), None, Some(1)],
        threads,
    })
}

fn record_and_replay(program: &Program) {
    let run = Run::record("generated", &[&program.to_string()]);
    assert!(run.outcome.status.success(), "{:?}", run.outcome);
    run.replay(generated::REPLAYS);
}

fn check_on_all_cores<S: Strategy<Value = Program>>(programs: impl Fn() -> S + Sync, cases: u32) {
    generated::on_threads(cases, |config| {
        let describe = |program: &Program| format!("the program:\n{program}");
        generated::check(config, 300, &programs(), record_and_replay, describe);
    });
}

#[test]
fn a_generated_program_replays_as_it_was_recorded() {
    check_on_all_cores(program, CASES * 2 / 3);
}

#[test]
fn a_generated_program_that_is_crowded_replays_as_it_was_recorded() {
    check_on_all_cores(crowded_program, CASES / 3);
}

#[test]
fn a_program_is_the_same_after_being_written_down() {
    generated::survives_printing(&program());
}
