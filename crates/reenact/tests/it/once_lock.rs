//! `OnceLock`.

use crate::run::check_then;

/// ```text
/// 0 … 2 ── set, get_or_init or get ──┐
///   └─────────── 150 cells ──────────┘
/// ```
#[test]
fn who_filled_a_cell_fills_it_again() {
    check_then("once-lock-race", |outcome| {
        assert!(outcome.stdout.ends_with(" true\n"), "{outcome:?}");
    });
}

reenact_testing::tests! {
    crate::run::check {
        /// ```text
        /// 0, 1 ── set ──┐      2, 3 ── wait ──┐
        /// └─ 100 cells ─┘      └─ 100 cells ──┘
        /// ```
        "once-lock-wait" => those_who_wait_for_a_cell_see_the_same,
    }
}
