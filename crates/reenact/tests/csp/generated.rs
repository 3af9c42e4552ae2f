//! Programs of processes, threads and actors around channels that nobody wrote, recorded and replayed.
//!
//! Everybody keeps a digest of what it sees. `cargo xtask hunt` tries other programs; `REENACT_CASES=5000` for more
//! of them. One that fails is made smaller and printed.

#[path = "../../examples/programs/csp/generated/language.rs"]
mod language;

use proptest::{collection::vec, prelude::*, sample::select};
use reenact_testing::generated;

use self::language::{Channel, Kind, Operation, Party, Program, Verb};
use crate::oracle::record;

const CASES: u32 = 40;

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

fn record_and_replay(program: &Program, workers: usize) {
    let recording = record(&["generated", &program.to_string()], workers);
    for number in 0..generated::REPLAYS {
        recording.replay(1 + number % 4);
    }
}

#[test]
fn generated_programs_replay() {
    generated::on_threads(CASES, |config| {
        generated::check(
            config,
            100,
            &(program(), 1..4usize),
            |(program, workers)| record_and_replay(program, *workers),
            |(program, workers)| format!("the program, with {workers} workers:\n{program}"),
        )
    });
}

#[test]
fn a_program_is_the_same_after_being_written_down() {
    generated::survives_printing(&program());
}
