//! Atomics.

use std::sync::atomic::Ordering::SeqCst;

use reenact::sync::atomic::{AtomicBool, AtomicU8};

reenact_testing::tests! {
    crate::run::check {
        /// ```text
        /// 0 … 2 ── one of 15 operations ──┐
        ///   └─── 60 times, ten types ─────┘
        /// ```
        "atomic-integers" => every_operation_on_every_integer_is_replayed,

        /// ```text
        /// 0 … 2 ── one of 9 operations ──┐
        ///   └───────── 300 times ────────┘
        /// ```
        "atomic-bool" => every_operation_on_a_boolean_is_replayed,

        /// ```text
        /// 0 … 2 ── load, store, swap, update or exchange ── what does it point to? ──┐
        ///   └─────────────────────────────── 200 times ──────────────────────────────┘
        /// ```
        "atomic-pointer" => a_pointer_points_to_the_same_value_elsewhere,

        /// ```text
        /// 0 … 2 ──┬── head? ── exchange, until nobody spoils it ──┐
        ///   │     └── pop ────────────────────────────────────────┤
        ///   └────────────────────── 150 times ────────────────────┘
        /// ```
        "atomic-stack" => an_exchange_that_was_spoilt_is_spoilt_again,

        /// ```text
        /// 0 ── load ──┐      1 ── store ──┐
        /// └─ 2000 of ─┘      └─ them ─────┘
        /// ```
        "atomic-first-load" => who_came_first_of_all_comes_first_again,

        /// ```text
        /// 0 ── raise even ── spin on odd ──┐      1 ── spin on even ── raise odd ──┐
        /// └────────── 60 flags ────────────┘      └────────── 60 flags ────────────┘
        /// ```
        "atomic-flags" => a_loop_spins_as_often_as_it_did,

        /// ```text
        /// 0 … 2 ── swap(true), spin ── load ── store ── store(false) ──┐
        ///   └───────────────────────── 60 times ───────────────────────┘
        /// ```
        "atomic-spinlock" => a_lock_made_of_an_atomic_is_replayed,

        /// ```text
        /// 0 ── x = 1 ── y? ──┐      1 ── y = 1 ── x? ──┐
        /// └──── 400 pairs ───┘      └──── 400 pairs ───┘
        /// ```
        ///
        /// Both may see 0: then no order of the four explains what was seen, and a replay must not look for one.
        "atomic-store-buffer" => stores_that_were_seen_too_late_are_seen_too_late_again,

        /// ```text
        /// 0 … 2 ── load, add to or store one of 300 ──┐
        ///   └──────────────── 1500 times ─────────────┘
        /// ```
        "atomic-many" => more_atomics_than_are_kept_in_view_are_replayed,
    }
}

/// Newer than the Rust that we ask for, hence not among the behaviours that are checked of std.
#[test]
fn an_update_may_be_tried() {
    let number = AtomicU8::new(255);
    assert_eq!(
        number.try_update(SeqCst, SeqCst, |now| now.checked_add(1)),
        Err(255)
    );
    assert_eq!(number.update(SeqCst, SeqCst, |now| now - 1), 255);
    assert_eq!(
        number.try_update(SeqCst, SeqCst, |now| now.checked_add(1)),
        Ok(254)
    );
    assert!(!AtomicBool::new(false).update(SeqCst, SeqCst, |now| !now));
}
