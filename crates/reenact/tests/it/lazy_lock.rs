//! `LazyLock`.

use reenact::sync::LazyLock;

reenact_testing::tests! {
    crate::run::check {
        /// ```text
        /// 0 … 2 ── need one of 100, made by who needs it first ── lock a static one ──┐
        ///   └─────────────────────────────── 100 times ───────────────────────────────┘
        /// ```
        "lazy-lock-race" => who_made_a_value_makes_it_again,

        /// ```text
        /// 0 … 2 ── need it: panics for the first in one way, for the others in another ──┐
        ///   └──────────────────────────────── 60 values ─────────────────────────────────┘
        /// ```
        "lazy-lock-poison" => the_first_to_fail_fails_first_again,
    }
}

/// Newer than the Rust that we ask for, hence not among the behaviours that are checked of std.
#[test]
fn it_can_be_looked_into() {
    let mut lazy = LazyLock::new(|| 1);
    assert_eq!(LazyLock::get(&lazy), None);
    assert_eq!(LazyLock::get_mut(&mut lazy), None);
    *LazyLock::force_mut(&mut lazy) += 1;
    *LazyLock::get_mut(&mut lazy).unwrap() += 1;
    assert_eq!(LazyLock::get(&lazy), Some(&3));
}
