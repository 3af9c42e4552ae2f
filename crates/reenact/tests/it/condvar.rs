//! `Condvar`.

replays! {
    /// ```text
    /// 0 ── wait for an even turn ── +1 ── notify ──┐
    /// 1 ── wait for an odd turn ─── +1 ── notify ──┤      2 ── lock ── look ──┐
    /// └────────────────── 150 times ───────────────┘      └──── 150 times ────┘
    /// ```
    turns_are_taken_as_they_were = "condvar-ping-pong";

    /// ```text
    /// 0, 1 ── wait for room ── put ── notify ──┐      2, 3 ── wait for something ── take ── notify ──┐
    /// └─────────────── 150 times ──────────────┘      └──────────────── 150 times ───────────────────┘
    /// ```
    who_was_notified_is_notified_again = "condvar-queue";

    /// ```text
    /// 0 ── +1 ── notify one, all or none ──┐      1, 2 ── wait for 0 … 100 µs ── in time? ──┐
    /// └────────────── 120 times ───────────┘      └──────────────── 120 times ──────────────┘
    /// ```
    a_wait_that_timed_out_times_out_again = "condvar-timeout";

    /// ```text
    /// 0 ── +1 ── notify all ──┐      1, 2 ── wait for 0 … 150 µs while the number is too low ──┐
    /// └────── 100 times ──────┘      └──────────────────────── 100 times ──────────────────────┘
    /// ```
    a_wait_for_something_that_came_too_late_is_too_short_again = "condvar-timeout-while";

    /// ```text
    /// main ── next round ── notify all ──┐      0 … 4 ── wait for the round ── push own number ──┐
    /// └───────────── 39 times ───────────┘      └──────────────────── 39 times ──────────────────┘
    /// ```
    a_herd_comes_back_in_the_same_order = "condvar-notify-all";
}
