//! `Once`.

reenact_testing::tests! {
    crate::run::check {
        /// ```text
        /// 0 … 2 ── is_completed? ── call_once: it was me ── who was it? ──┐
        ///   └──────────────────────── 150 onces ──────────────────────────┘
        /// ```
        "once-race" => who_was_the_one_is_the_one_again,

        /// ```text
        /// 0 … 2 ──┬── call_once: perhaps panic ────────┐
        ///   │     └── call_once_force: was it poisoned?┤
        ///   └──────────────── 150 onces ───────────────┘
        /// ```
        "once-poison" => a_once_that_was_poisoned_is_poisoned_again,

        /// ```text
        /// 0 ── call_once_force ──┐   1 ── call_once: perhaps panic ──┐   2 ── wait_force ──┐   3 ── wait ──┐
        /// └────── 100 onces ─────┘   └────────── 100 onces ──────────┘   └── 100 onces ────┘   └ 100 onces ┘
        /// ```
        "once-wait" => those_who_wait_for_the_one_see_the_same_end,
    }
}
