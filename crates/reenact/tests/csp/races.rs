//! Many small contests at channels: nobody who waits is forgotten, every message is received once or given back, and which
//! way each of them goes is the same in every replay.

use crate::{
    oracle::{program, record},
    support::stage::Stage,
};

/// Runs contests with each number of workers. What they do depends on the number as well, to see more of them.
#[track_caller]
fn run(contests: &str, rounds: &str) {
    for workers in 1..=3 {
        let seed = workers.to_string();
        let stage = Stage::new();
        program(&stage, &[contests, rounds, &seed], workers)
            .run()
            .is_fine();
    }
}

#[track_caller]
fn record_and_replay(contests: &str, rounds: &str) {
    for workers in 1..=3 {
        let seed = (10 + workers).to_string();
        let recording = record(&[contests, rounds, &seed], workers);
        for workers in [1, 2, 3, 5] {
            recording.replay(workers);
        }
    }
}

#[test]
fn nobody_is_forgotten() {
    run("contests", "2000");
}

#[test]
fn nobody_is_forgotten_where_channels_close() {
    run("closing-contests", "800");
}

#[test]
fn contests_replay() {
    record_and_replay("contests", "60");
}

#[test]
fn contests_where_channels_close_replay() {
    record_and_replay("closing-contests", "30");
}

/// That nobody is passed over is a matter of many times.
#[track_caller]
fn is_fair(what: &str) {
    for workers in 1..=3 {
        let outcome = program(&Stage::new(), &["fair", what], workers).run();
        outcome.is_fine();
    }
}

#[test]
fn of_cases_that_are_always_possible_each_happens_as_often() {
    is_fair("all-cases");
    is_fair("sides");
}

#[test]
fn two_who_select_by_turns_do_not_always_have_the_same_case() {
    is_fair("by-turns");
}

#[test]
fn of_two_cases_among_many_each_happens_as_often() {
    is_fair("two-of-twelve");
}

#[test]
fn a_server_that_selects_forgets_no_client() {
    is_fair("server");
}

#[test]
fn processes_that_keep_each_other_busy_keep_nobody_waiting() {
    is_fair("busy");
}

#[test]
fn threads_and_processes_have_their_turn_at_a_lock() {
    is_fair("lock");
}
