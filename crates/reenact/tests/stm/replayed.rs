//! Transactions that race, recorded and replayed.

use crate::run::check;

/// ```text
/// 0 … 2 ── read ── write + n ── note ──┐
///   └──────────── 400 times ───────────┘
/// ```
#[test]
fn commits_are_replayed_in_their_order() {
    check("stm-counter");
}

/// ```text
/// 0 … 3 ──┬── read all ── their sum is as ever ──┐
///   │     └── move from one to another ──────────┤
///   └──────────────── 250 times ─────────────────┘
/// ```
#[test]
fn who_reads_everything_sees_what_it_saw() {
    check("stm-bank");
}

/// ```text
/// 0 ── write both ──┐     1 … 3 ── read both ── note ──┐
/// └── 400 times ────┘       └───── 400 times ──────────┘
/// ```
#[test]
fn a_commit_waits_for_all_who_read_what_was_before() {
    check("stm-readers");
}

/// ```text
/// 0 … 2 ── write ── read ×(0…3) ── note ──┐
///   └────────────── 200 times ────────────┘
/// ```
#[test]
fn a_commit_waits_for_the_reads_of_who_committed_before() {
    check("stm-own-reads");
}

/// ```text
/// 0, 2 ── push, or retry ──┐    1, 3 ── pop, or retry ── note ──┐
///   └────── 200 times ─────┘      └───────── 200 times ─────────┘
/// ```
#[test]
fn who_retried_waits_for_its_turn() {
    check("stm-queue");
}

/// ```text
/// 0, 2 ── put here or there ──┐    1, 3 ── take here, or else there ── note ──┐
///   └─────── 200 times ───────┘      └─────────────── 200 times ──────────────┘
/// ```
#[test]
fn the_alternative_that_was_taken_is_taken_again() {
    check("stm-either");
}

/// ```text
/// 0 … 2 ── read ── write ── abort if too little ── note ──┐
///   └──────────────────── 300 times ──────────────────────┘
/// ```
#[test]
fn what_made_a_transaction_fail_makes_it_fail_again() {
    check("stm-failures");
}

/// ```text
/// 0 … 2 ── read ── write ── panic, sometimes ── note ──┐
///   └────────────────── 200 times ─────────────────────┘
/// ```
#[test]
fn what_made_a_transaction_panic_makes_it_panic_again() {
    check("stm-panics");
}

/// ```text
/// 0 … 2 ── read in place ── write a longer or shorter one ── note ──┐
///   └────────────────────────── 250 times ──────────────────────────┘
/// ```
#[test]
fn values_behind_a_pointer_are_replayed() {
    check("stm-boxed");
}

/// ```text
/// 0 … 2 ──┬── transaction ── lock          ──┐     listener ── recv ── transaction ── note
///   │     ├── lock ── transaction ── unlock  │        ↑
///   │     ├── atomic ── transaction          │        │
///   │     └── send, or a transaction that does when it has committed
///   └───────────────── 200 times ────────────┘
/// ```
#[test]
fn transactions_among_locks_and_messages_are_replayed() {
    check("stm-mixed");
}

/// ```text
/// clerks (actors) ── take a ticket ──┐     waiter (thread) ── retry until n are taken ── note
///   └───────── 50 times ─────────────┘
/// ```
#[test]
fn transactions_of_actors_are_replayed() {
    check("stm-actors");
}
