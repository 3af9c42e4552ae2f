//! `Mutex`.

use crate::run::check_then;

/// ```text
/// 0 … 3 ── lock ── push own number ── unlock ──┐
///   └──────────────── 2000 times ──────────────┘
/// ```
#[test]
fn the_order_of_locks_is_replayed() {
    check_then("hands", |outcome| {
        assert!(outcome.stdout.starts_with("8000 "), "{outcome:?}");
    });
}

reenact_testing::tests! {
    crate::run::check {
        /// ```text
        /// 0 … 2 ── try_lock ──┬── push ── unlock ─────────┐
        ///   │                 └── failed: every third time lock ─┤
        ///   └─────────────────── 300 times ───────────────┘
        /// ```
        "mutex-try" => a_try_that_failed_fails_again,
    }
}

/// ```text
/// 0 … 2 ── lock low ── lock high ── move money ── unlock both ──┐
///   └──────────────────────── 300 times ────────────────────────┘
/// ```
#[test]
fn locks_within_locks_are_replayed() {
    check_then("mutex-nested", |outcome| {
        let (_, balances) = outcome.stdout.rsplit_once('[').expect("a list of balances");
        let numbers = balances.trim_end().trim_end_matches(']').split(", ");
        let sum: i64 = numbers.map(|number| number.parse::<i64>().unwrap()).sum();
        assert_eq!(sum, 400, "{outcome:?}");
    });
}

reenact_testing::tests! {
    crate::run::check {
        /// ```text
        /// 0 … 2 ── lock one of 300 ── change ── unlock ──┐
        ///   └──────────────── 1500 times ────────────────┘
        /// ```
        "mutex-many" => more_mutexes_than_are_kept_in_view_are_replayed,

        /// ```text
        /// 0, 1 ── new ── lock ── move to the heap ── lock ── send ──┐
        ///    │                                                 │    │
        ///    │           child:  recv ── lock ── into_inner ── new ── lock
        ///    └────────────────────── 100 times ─────────────────────┘
        /// ```
        "mutex-moved" => mutexes_may_move_and_new_ones_may_lie_where_old_ones_did,

        /// ```text
        /// 0 … 2 ──┬── lock ── panic ────────────────────────────┐
        ///   │     ├── try_lock ── poisoned? ── push             │
        ///   │     └── lock ── poisoned? perhaps clear ── push ──┤
        ///   └─────────────────── 150 times ─────────────────────┘
        /// ```
        "mutex-poison" => who_finds_a_lock_poisoned_finds_it_again,

        /// ```text
        /// 0 … 2 ──┬── lock ── panic ──┐
        ///   │     ├── clear_poison    │
        ///   │     ├── lock            │
        ///   │     └── is_poisoned? ───┤
        ///   └─────── 200 times ───────┘
        /// ```
        "mutex-poison-unlocked" => poison_that_is_seen_or_cleared_without_the_lock_is_replayed,
    }
}
