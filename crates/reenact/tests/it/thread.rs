//! Threads.

use crate::run::check_then;

replays! {
    /// ```text
    /// main ── who has finished? ──┐      0 … 3 ── a little work each
    /// └───── until all have ──────┘
    /// ```
    who_had_finished_has_finished_again = "thread-finished";

    /// ```text
    /// main ── park until even ── +1 ── unpark child ──┐
    /// child ── park until odd ── +1 ── unpark main ───┤      third ── unpark either ──┐
    /// └─────────────────── 80 times ──────────────────┘      └─────── 40 times ───────┘
    /// ```
    who_was_unparked_for_nothing_is_so_again = "thread-park";

    /// ```text
    /// sleeper ── park for 0 … 100 µs ── how much is done? ──┐      0, 1 ── +1 ── unpark ──┐
    /// └───────────────────── 100 times ─────────────────────┘      └───── 50 times ───────┘
    /// ```
    a_park_ends_at_the_same_point = "thread-park-timeout";

    /// ```text
    /// main ─┬─ child ─┬─ grandchild      everyone: write down name and id
    ///       │         ├─ grandchild      parents: write down who ended
    ///       │         └─ grandchild
    ///       ├─ child …
    ///       └─ child …
    /// ```
    a_family_has_the_same_names_and_ids = "thread-family";
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

replays! {
    /// ```text
    /// main ── spawn six ── print their ids ── return      some of six ── begin
    /// ```
    threads_that_had_not_begun_have_the_same_ids = "thread-detached-ids";
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

replays! {
    /// ```text
    /// 0 … 3 ── draw a number ── 49, 99, 149 or 199? panic ──┐      main ── join ── print the message
    /// └──────────────────── for ever ───────────────────────┘
    /// ```
    the_same_threads_panic_with_the_same_messages = "thread-panics";

    /// ```text
    /// main ── how many cores? ── that many threads: how many cores?
    /// ```
    the_number_of_cores_is_that_of_the_recording = "thread-parallelism";

    /// ```text
    /// 0 … 3 ── set a local ── return ── drop the local: lock ── push ──┐
    ///   └─────────────────────────── 3 times ──────────────────────────┘
    /// ```
    what_a_thread_does_after_its_end_is_replayed = "thread-locals";

    /// ```text
    /// 0, 1 ── push ──┐      main ── set a local ── wait for 100 ── return ── drop the local: lock ── push
    /// └── for ever ──┘
    /// ```
    what_the_first_thread_does_after_main_is_replayed = "thread-locals-of-main";

    /// ```text
    /// main ── spawn ── spawn one that cannot be ── push ── join ── the same in a scope ──┐
    /// └─────────────────────────────── 5 times ──────────────────────────────────────────┘
    /// ```
    a_thread_that_could_not_be_started_is_no_difference = "thread-not-started";

    /// ```text
    /// foreign 0 … 2 ── push ──┐── spawn one of ours ── join      main ── push ──┐── join all
    /// └────── 100 times ──────┘                                  └─ 100 times ──┘
    /// ```
    threads_of_others_are_replayed = "thread-foreign";
}
