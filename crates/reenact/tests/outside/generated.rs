//! Programs over files that nobody wrote, recorded, and replayed without the files.
//!
//! `cargo xtask hunt` tries other programs; `REENACT_CASES=5000` for more of them. One that fails is made smaller and
//! printed.

#[path = "../../examples/outside/generated/language.rs"]
mod language;

use std::fs;

use proptest::{collection::vec, prelude::*, sample::select};
use reenact_testing::generated;

use self::language::{Operation, Verb};
use crate::{oracle::program, support::stage::Stage};

const CASES: u32 = 40;

fn operation() -> impl Strategy<Value = Operation> {
    (select(Verb::ALL), 0..9usize, 0..9usize).prop_map(|((verb, _), first, second)| Operation {
        verb,
        numbers: [first, second],
    })
}

fn command_line(operations: &[Operation]) -> String {
    let words: Vec<_> = operations.iter().map(Operation::to_string).collect();
    words.join(" ")
}

/// First on the standard library, and not recorded, which must be the same. Then replayed without the files; then with
/// others, and with what is written really written.
fn record_and_replay(operations: &[Operation]) {
    let stage = Stage::new();
    let world = stage.path("world");
    let begin = || {
        let _ = fs::remove_dir_all(&world);
        fs::create_dir(&world).unwrap();
        fs::write(world.join("a"), "what is in it").unwrap();
    };
    let words = format!("{} {}", world.display(), command_line(operations));
    begin();
    let with_std = program(&stage, &format!("generated-with-std {words}")).run();
    begin();
    let program = program(&stage, &format!("generated {words}"));
    program.run().is_same_as(&with_std);
    begin();
    let recorded = program.record_completely();
    fs::remove_dir_all(&world).unwrap();
    program.replay().is_same_as(&recorded);
    assert!(!world.exists(), "a replay leaves the world alone");
    fs::create_dir(&world).unwrap();
    fs::write(world.join("b"), "something else").unwrap();
    let program = program.env("REENACT_REALLY_WRITE", "1");
    program.replay().is_same_as(&recorded);
}

#[test]
fn generated_programs_replay() {
    generated::check(
        generated::config(CASES),
        100,
        &vec(operation(), 1..40),
        |operations| record_and_replay(operations),
        |operations| format!("the program:\n{}", command_line(operations)),
    );
}

#[test]
fn an_operation_is_the_same_after_being_written_down() {
    for &(verb, _) in Verb::ALL {
        let operation = Operation {
            verb,
            numbers: [1, 2],
        };
        assert_eq!(operation.to_string().parse(), Ok(operation));
    }
}
