//! The first act: two people withdraw from one account, and both look at the balance before either takes the money.

pub(super) mod program;

use super::{
    lanes::{self, Row},
    stage::Stage,
};
use crate::{
    error::Failure,
    replay::{Operation, Outcome},
};

/// What [`super::run_program`] knows the program by.
pub(super) const PROGRAM: &str = "bank";

/// How long the printer is busy at first. Long enough for the other one to come in between now and then, short enough
/// to make it rare.
const WORK: u64 = 10_000;
const REPLAYS: usize = 5;

const SOURCE: &str = include_str!("overdraft/program.rs");
const SOURCE_NAME: &str = "program.rs";

pub(super) fn play(stage: &Stage) -> Result<(), Failure> {
    stage.say(
        "Alice and Bob share an account with 100 in it, and both withdraw 100 at the same time.\n\
         This is how each of them does it; can you see what is wrong?\n",
    )?;
    stage.say(indented(&function_of(SOURCE, "withdraw")))?;
    stage.say("Nearly always it goes well: the first gets the money, the second gets nothing.\nRecording runs until one fails…\n")?;
    let catch = stage.record_until_it_fails(PROGRAM, WORK)?;
    let complaint = complaint(&catch.output).to_owned();
    stage.say(format_args!("    run {} failed: {complaint}\n", catch.runs))?;

    stage.say(
        "Run it again, and it will most likely go well. Replay the recording, and it cannot:\n",
    )?;
    for number in 1..=REPLAYS {
        let replayed = stage.replay(&catch.trace)?;
        let said = self::complaint(&replayed.output);
        if !matches!(replayed.outcome, Outcome::Same { .. }) || said != complaint {
            return Err(Failure::DemoBroken {
                what: format!(
                    "a replay went another way: {}\n{}",
                    replayed.outcome, replayed.output
                ),
            });
        }
        stage.say(format_args!("    replay {number} of {REPLAYS}: {said}"))?;
    }

    stage.say("\nA failure that comes every time can be looked at. This is what happened, in this order:\n")?;
    let operations = stage.replay_with_log(&catch.trace)?;
    stage.say(indented(&lanes::draw(
        &["alice", "bob"],
        &rows(&operations),
    )))?;
    stage.say(
        "Both asked before either took: between the two locks, the answer had gone stale.\n\
         Looking and taking under one lock repairs it.\n",
    )
}

/// What the program panicked with.
fn complaint(output: &str) -> &str {
    output
        .lines()
        .find(|line| line.contains("overdrawn"))
        .unwrap_or("it ended in an unexpected way")
        .trim()
}

/// The operations that the program's source has a word for.
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

/// The comment at the end of a line of the program.
fn comment_of(source: &str, line: usize) -> Option<&str> {
    let text = source.lines().nth(line.checked_sub(1)?)?;
    Some(text.split_once("; // ")?.1.trim())
}

/// The text of a function, to be shown.
fn function_of(source: &str, name: &str) -> String {
    let start = format!("fn {name}(");
    let mut lines: Vec<&str> = source
        .lines()
        .skip_while(|line| !line.starts_with(&start))
        .take_while(|line| *line != "}")
        .collect();
    lines.push("}\n");
    lines.join("\n")
}

fn indented(text: &str) -> String {
    text.lines()
        .map(|line| match line {
            "" => "\n".to_owned(),
            line => format!("    {line}\n"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shown_function_is_the_one_that_runs() {
        assert!(function_of(SOURCE, "withdraw").contains("// is there enough?"));
        assert!(function_of(SOURCE, "withdraw").ends_with("}\n"));
    }
}
