//! Threads.

use crate::run::check_then;

reenact_testing::tests! {
    crate::run::check {
        /// ```text
        /// main ── who has finished? ──┐      0 … 3 ── a little work each
        /// └───── until all have ──────┘
        /// ```
        "thread-finished" => who_had_finished_has_finished_again,

        /// ```text
        /// main ── park until even ── +1 ── unpark child ──┐
        /// child ── park until odd ── +1 ── unpark main ───┤      third ── unpark either ──┐
        /// └─────────────────── 80 times ──────────────────┘      └─────── 40 times ───────┘
        /// ```
        "thread-park" => who_was_unparked_for_nothing_is_so_again,

        /// ```text
        /// sleeper ── park for 0 … 100 µs ── how much is done? ──┐      0, 1 ── +1 ── unpark ──┐
        /// └───────────────────── 100 times ─────────────────────┘      └───── 50 times ───────┘
        /// ```
        "thread-park-timeout" => a_park_ends_at_the_same_point,

        /// ```text
        /// main ─┬─ child ─┬─ grandchild      everyone: write down name and id
        ///       │         ├─ grandchild      parents: write down who ended
        ///       │         └─ grandchild
        ///       ├─ child …
        ///       └─ child …
        /// ```
        "thread-family" => a_family_has_the_same_names_and_ids,
    }
}

/// ```text
/// 0 … 2 ── push ──┐      main ── wait for 200 ── return
/// └── for ever ───┘
/// ```
#[test]
fn main_returns_at_the_same_point() {
    check_then("thread-main-returns", |outcome| {
        assert!(outcome.status.success())
    });
}

reenact_testing::tests! {
    crate::run::check {
        /// ```text
        /// main ── spawn six ── print their ids ── return      some of six ── begin
        /// ```
        "thread-detached-ids" => threads_that_had_not_begun_have_the_same_ids,
    }
}

/// ```text
/// 0 … 3 ── push ── 300 of them? exit with 17 ──┐
/// └────────────── for ever ────────────────────┘
/// ```
#[test]
fn the_same_thread_ends_the_process_at_the_same_point() {
    check_then("thread-exit", |outcome| {
        assert_eq!(outcome.status.code(), Some(17), "{outcome:?}");
    });
}

reenact_testing::tests! {
    crate::run::check {
        /// ```text
        /// 0 … 3 ── draw a number ── 49, 99, 149 or 199? panic ──┐      main ── join ── print the message
        /// └──────────────────── for ever ───────────────────────┘
        /// ```
        "thread-panics" => the_same_threads_panic_with_the_same_messages,

        /// ```text
        /// main ── how many cores? ── that many threads: how many cores?
        /// ```
        "thread-parallelism" => the_number_of_cores_is_that_of_the_recording,

        /// ```text
        /// 0 … 3 ── set a local ── return ── drop the local: lock ── push ──┐
        ///   └─────────────────────────── 3 times ──────────────────────────┘
        /// ```
        "thread-locals" => what_a_thread_does_after_its_end_is_replayed,

        /// ```text
        /// 0, 1 ── push ──┐      main ── set a local ── wait for 100 ── return ── drop the local: lock ── push
        /// └── for ever ──┘
        /// ```
        "thread-locals-of-main" => what_the_first_thread_does_after_main_is_replayed,

        /// ```text
        /// main ── spawn ── spawn one that cannot be ── push ── join ── the same in a scope ──┐
        /// └─────────────────────────────── 5 times ──────────────────────────────────────────┘
        /// ```
        "thread-not-started" => a_thread_that_could_not_be_started_is_no_difference,

        /// ```text
        /// foreign 0 … 2 ── push ──┐── spawn one of ours ── join      main ── push ──┐── join all
        /// └────── 100 times ──────┘                                  └─ 100 times ──┘
        /// ```
        "thread-foreign" => threads_of_others_are_replayed,
    }
}
