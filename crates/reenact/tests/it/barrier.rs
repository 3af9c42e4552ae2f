//! `Barrier`.

use crate::run::check_then;

/// ```text
/// 0 … 3 ── wait ── leader? ──┐
///   └─────── 60 times ───────┘
/// ```
#[test]
fn the_last_to_come_is_the_last_again() {
    check_then("barrier-leaders", |outcome| {
        assert!(outcome.stdout.starts_with("60 "), "{outcome:?}");
    });
}

reenact_testing::tests! {
    crate::run::check {
        /// ```text
        /// 0 … 2 ── wait for nobody ── wait for oneself ── note ──┐
        ///   └────────────────────── 50 times ────────────────────┘
        /// ```
        "barrier-small" => a_barrier_for_one_holds_up_nobody,
    }
}
