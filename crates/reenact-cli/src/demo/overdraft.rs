//! The story about threads: two people withdraw from one account, and both check the balance before either takes the
//! money.

pub(super) mod program;

use super::{
    listing::{comment_of, indented, item_of},
    runner::DemoRunner,
};
use crate::{
    error::Error,
    lanes::{self, Row},
    replay::Operation,
};

/// The name of the program for [`super::run_program`].
pub(super) const PROGRAM: &str = "bank";

/// How long the printer is busy in the first runs: long enough for the other thread to interfere now and then, short
/// enough to make that rare.
const WORK: u64 = 10_000;

const SOURCE: &str = include_str!("overdraft/program.rs");
const SOURCE_NAME: &str = "program.rs";

pub(super) fn run(runner: &DemoRunner) -> Result<(), Error> {
    runner.print(
        "Alice and Bob share an account with 100 in it, and both withdraw 100 at the same time.\n\
         This is how each of them does it; can you see what is wrong?\n",
    )?;
    runner.print(indented(&item_of(SOURCE, "fn withdraw(")))?;
    runner.print("Nearly always it goes well: the first gets the money, the second gets nothing.\nRecording runs until one fails…\n")?;
    let failed = runner.record_until_it_fails(PROGRAM, WORK)?;
    runner.show_failure_and_replays(&failed, "overdrawn")?;
    let operations = runner.replay_with_log(&failed)?;
    runner.print(indented(&lanes::draw(
        &["alice", "bob"],
        &rows(&operations),
        1,
    )))?;
    runner.print(
        "Both checked the balance before either took the money: between the two locks, the answer became outdated.\n\
         Checking and taking under one lock fixes it.\n",
    )
}

/// Returns the operations on lines of the program that have a comment, described by it.
fn rows(operations: &[Operation]) -> Vec<Row> {
    operations
        .iter()
        .filter(|operation| operation.operation == "lock")
        .filter_map(|operation| {
            let (file, line) = operation.place()?;
            let word = file
                .ends_with(SOURCE_NAME)
                .then(|| comment_of(SOURCE, line))
                .flatten()?;
            Some(Row {
                who: operation.who().to_owned(),
                what: word.to_owned(),
                place: format!("{SOURCE_NAME}:{line}"),
                decisive: operation.who() != "main",
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shown_function_is_the_one_that_runs() {
        assert!(item_of(SOURCE, "fn withdraw(").contains("// is there enough?"));
        assert!(item_of(SOURCE, "fn withdraw(").ends_with("}\n"));
    }
}
