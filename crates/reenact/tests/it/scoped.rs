//! Scoped threads.

reenact_testing::tests! {
    crate::run::check {
        /// ```text
        /// main ── scope ─┬─ 0: draw numbers for a quarter of the list ─┬─ end of scope ──┐
        ///   │            ├─ 1 …                                        │                 │
        ///   │            └─ 3 …                                        ┘                 │
        ///   └──────────────────────────── 5 times ───────────────────────────────────────┘
        /// ```
        "scoped-borrows" => threads_that_borrow_are_replayed,

        /// ```text
        /// main ── scope ─┬─ outer 0 ─┬─ inner 0, in the scope of main: write
        ///                │           └─ scope ── two that read
        ///                ├─ outer 1 …
        ///                └─ outer 2 …
        /// ```
        "scoped-nested" => scopes_in_scopes_are_replayed,

        /// ```text
        /// main ── who has finished? ── +1 ── unpark all ──┐      0 … 2 ── park until it is their number
        /// └───────────── until all have ──────────────────┘
        /// ```
        "scoped-finished" => who_had_finished_has_finished_again,

        /// ```text
        /// main ── scope ── three that draw a number, one in five panics ── joined or not ──┐
        /// └──────────────────────────────── 20 times ──────────────────────────────────────┘
        /// ```
        "scoped-panics" => the_same_scopes_panic,
    }
}
