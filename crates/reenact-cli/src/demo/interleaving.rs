//! The story about actors: two messages of one client, and a message of another client that arrives between them.
//!
//! The program is Listing 1 of "Multiverse Debugging" (Torres Lopez et al., ECOOP 2019). It has no data race, and every
//! turn is correct by itself; the result depends only on the order of three messages.

pub(super) mod program;

use super::{
    listing::{indented, item_of},
    runner::DemoRunner,
};
use crate::{
    error::Error,
    lanes::{self, Row},
    replay::Operation,
};

/// The name of the program for [`super::run_program`].
pub(super) const PROGRAM: &str = "math";

/// How long the log is busy in the first runs: long enough for the bug to occur, short enough to make it rare.
const WORK: u64 = 1000;

const SOURCE: &str = include_str!("interleaving/program.rs");
const SOURCE_NAME: &str = "program.rs";

/// An actor of the program that sends to `math`.
struct Client {
    /// The name of its activity: actors are numbered in the order in which main creates them.
    activity: &'static str,
    name: &'static str,
}

const MATH: &str = "main.a0";
/// The name of a turn in a log.
const HANDLE: &str = "handle a message";
const CLIENTS: [Client; 2] = [
    Client {
        activity: "main.a1",
        name: "client 1",
    },
    Client {
        activity: "main.a2",
        name: "client 2",
    },
];

pub(super) fn run(runner: &DemoRunner) -> Result<(), Error> {
    runner.print(
        "Actors share nothing: each has its state to itself, and handles one message at a time.\n\
         Here are three. Client 1 has 12 doubled, and client 2 has 33 doubled, at the same time:\n",
    )?;
    for item in ["impl Math ", "impl Client1 ", "impl Client2 "] {
        runner.print(indented(&item_of(SOURCE, item)).trim_end())?;
        runner.print("")?;
    }
    runner.print("No lock is missing, and nearly always client 1 gets 24.\nRecording runs until it gets something else…\n")?;
    let failed = runner.record_until_it_fails(PROGRAM, WORK)?;
    runner.show_failure_and_replays(&failed, "client 1 doubled")?;
    let operations = runner.replay_with_log(&failed)?;
    let lanes = CLIENTS.map(|client| client.name);
    runner.print("    The messages to math, as it handled them:\n")?;
    runner.print(indented(&lanes::draw(&lanes, &rows(&operations), 1)))?;
    runner.print(
        "Messages from one actor to another keep their order, but others may come in between: client 1 asked\n\
         for the last result, whosever that is. Let double answer with what it computed, and there is nothing\n\
         to come in between.\n",
    )
}

/// Returns the messages of the clients that math handled, in that order.
fn rows(operations: &[Operation]) -> Vec<Row> {
    operations
        .iter()
        .filter(|operation| operation.activity == MATH && operation.operation == HANDLE)
        .filter_map(|operation| {
            // `from main.a1 at src/program.rs:12:9`
            let (sender, place) = operation.note.strip_prefix("from ")?.split_once(" at ")?;
            let client = CLIENTS.iter().find(|client| client.activity == sender)?;
            let line = place.rsplit(':').nth(1)?;
            Some(Row {
                who: client.name.to_owned(),
                what: operation.object.clone(),
                place: format!("{SOURCE_NAME}:{line}"),
                decisive: true,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_has_what_is_shown_of_it() {
        for item in ["impl Math ", "impl Client1 ", "impl Client2 "] {
            assert!(item_of(SOURCE, item).lines().count() > 3, "{item}");
        }
    }

    #[test]
    fn the_messages_of_clients_are_those_that_math_handles() {
        let handled = |activity: &str, message: &str, sender: &str| Operation {
            activity: activity.to_owned(),
            thread: None,
            operation: HANDLE.to_owned(),
            object: message.to_owned(),
            source: String::new(),
            note: format!("from {sender} at src/program.rs:12:9"),
            ordinal: None,
            moment: None,
        };
        let rows = rows(&[
            handled("main.a1", "start()", "main"),
            handled("main.a0", "double(12)", "main.a1"),
            handled("main.a0", "double(33)", "main.a2"),
            handled("main.a0", "get_result()", "main.a1"),
        ]);
        let rows: Vec<_> = rows
            .iter()
            .map(|row| (&*row.who, &*row.what, &*row.place))
            .collect();
        let place = "program.rs:12";
        assert_eq!(
            rows,
            [
                ("client 1", "double(12)", place),
                ("client 2", "double(33)", place),
                ("client 1", "get_result()", place),
            ]
        );
    }
}
