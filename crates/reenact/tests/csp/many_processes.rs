//! Very many processes, and very many messages.

use reenact_trace::Item;

use crate::{
    oracle::{program, record},
    support::{recording::Recording, stage::Stage},
};

#[test]
fn a_hundred_thousand_processes_wait_at_the_same_time() {
    let stage = Stage::new();
    program(&stage, &["crowd", "100000"], 2).run().is_fine();
}

#[test]
fn thousands_of_processes_that_wait_replay() {
    let recording = record(&["crowd", "3000"], 2);
    for workers in [1, 2] {
        recording.replay(workers);
    }
}

/// Silent operations after which there is a check in any case.
const MOST_SILENT: u32 = 1 << 16;

/// The surprises of a recording, and its checks.
fn events_and_checks(recording: &Recording) -> (usize, usize) {
    let trace = recording.trace();
    let (mut events, mut checks) = (0, 0);
    for info in trace.activities() {
        for item in trace.events(info.number) {
            let silent = match item.unwrap() {
                Item::Event(event) => {
                    events += 1;
                    event.silent
                }
                Item::Tick { silent, .. } => {
                    checks += 1;
                    silent
                }
                Item::End { silent, .. } | Item::Cut { silent, .. } => silent,
            };
            assert!(silent <= MOST_SILENT, "{silent} operations without a check");
        }
    }
    (events, checks)
}

#[test]
fn messages_from_one_to_another_cost_nothing() {
    let kinds = [
        "processes/0",
        "processes/5",
        "process-to-thread/0",
        "thread-to-process/any",
        "threads/5",
        "selections/0",
    ];
    for kind in kinds {
        let few = record(&["messages", kind, "1000"], 2);
        let many = record(&["messages", kind, "100000"], 2);
        let ((events, _), (events_of_many, checks)) =
            (events_and_checks(&few), events_and_checks(&many));
        assert_eq!(events, events_of_many, "{kind}");
        assert!(checks <= 6, "{checks} checks of {kind}");
        let (few, many) = (few.trace().size(), many.trace().size());
        assert!(many <= few + 100, "{kind}: {few} bytes and then {many}");
    }
}

/// Threads that nobody has announced, who meet at a channel before anything else is done that could be recorded.
#[test]
fn threads_that_only_their_channel_knows_are_recorded() {
    for _ in 0..5 {
        let recording = record(&["foreign", "50"], 1);
        recording.replay(1);
        recording.replay(2);
    }
}
