//! `RwLock`.

reenact_testing::tests! {
    crate::run::check {
        /// ```text
        /// 0     ── write ── +1 ──┐      1 … 3 ── read ── note ──┐
        /// └───── 400 times ──────┘        └───── 400 times ─────┘
        /// ```
        "rwlock-readers" => what_readers_saw_they_see_again,

        /// ```text
        /// main ── write ── read ×(0…3) ── send ── read ×(0…2) ──┐
        ///   │                              │                    │
        ///   │                       child: recv ── write        │
        ///   └───────────────────── 100 times ───────────────────┘
        /// ```
        "rwlock-own-reads" => a_writer_waits_for_the_reads_of_the_writer_before,

        /// ```text
        /// 0 … 2 ── one of: write, try_write, read, try_read, of one of three locks ──┐
        ///   └─────────────────────────────── 400 times ──────────────────────────────┘
        /// ```
        "rwlock-mixed" => readers_and_writers_who_may_fail_are_replayed,

        /// ```text
        /// 0 … 2 ──┬── write ── +n ── downgrade ── read ──┐
        ///   │     ├── read                               │
        ///   │     └── try_write ─────────────────────────┤
        ///   └───────────────── 300 times ────────────────┘
        /// ```
        "rwlock-downgrade" => a_writer_that_becomes_a_reader_is_replayed,

        /// ```text
        /// 0 … 2 ──┬── write ── panic ──────┐
        ///   │     ├── read ── panic        │
        ///   │     ├── write, clear poison  │
        ///   │     └── read, poisoned? ─────┤
        ///   └──────────── 200 times ───────┘
        /// ```
        "rwlock-poison" => who_finds_a_lock_poisoned_finds_it_again,

        /// ```text
        /// 0 … 2 ──┬── write ── panic ──┐
        ///   │     ├── clear_poison     │
        ///   │     ├── read             │
        ///   │     └── is_poisoned? ────┤
        ///   └──────── 200 times ───────┘
        /// ```
        "rwlock-poison-unlocked" => poison_that_is_seen_or_cleared_without_the_lock_is_replayed,
    }
}
