//! `Condvar`.

reenact_testing::tests! {
    crate::run::check {
        /// ```text
        /// 0 ── wait for an even turn ── +1 ── notify ──┐
        /// 1 ── wait for an odd turn ─── +1 ── notify ──┤      2 ── lock ── look ──┐
        /// └────────────────── 150 times ───────────────┘      └──── 150 times ────┘
        /// ```
        "condvar-ping-pong" => turns_are_taken_as_they_were,

        /// ```text
        /// 0, 1 ── wait for room ── put ── notify ──┐      2, 3 ── wait for something ── take ── notify ──┐
        /// └─────────────── 150 times ──────────────┘      └──────────────── 150 times ───────────────────┘
        /// ```
        "condvar-queue" => who_was_notified_is_notified_again,

        /// ```text
        /// 0 ── +1 ── notify one, all or none ──┐      1, 2 ── wait for 0 … 100 µs ── in time? ──┐
        /// └────────────── 120 times ───────────┘      └──────────────── 120 times ──────────────┘
        /// ```
        "condvar-timeout" => a_wait_that_timed_out_times_out_again,

        /// ```text
        /// 0 ── +1 ── notify all ──┐      1, 2 ── wait for 0 … 150 µs while the number is too low ──┐
        /// └────── 100 times ──────┘      └──────────────────────── 100 times ──────────────────────┘
        /// ```
        "condvar-timeout-while" => a_wait_for_something_that_came_too_late_is_too_short_again,

        /// ```text
        /// main ── next round ── notify all ──┐      0 … 4 ── wait for the round ── push own number ──┐
        /// └───────────── 39 times ───────────┘      └──────────────────── 39 times ──────────────────┘
        /// ```
        "condvar-notify-all" => a_herd_comes_back_in_the_same_order,
    }
}
