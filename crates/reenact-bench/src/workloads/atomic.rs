//! An atomic counter with one thread: the cheapest operation that recording has to follow.
//!
//! A `fetch_add` is a single instruction, so whatever the instrumentation adds shows at once.

use super::{
    Measured, Setting,
    sync::atomic::{AtomicU64, Ordering},
};

/// One thread: fetch-and-add.
pub(super) fn fetch_add(setting: &Setting) -> Measured {
    let count = setting.times(5_000_000);
    let counter = AtomicU64::new(0);
    let measured = Measured::around(|| {
        for _ in 0..count {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        count
    });
    assert_eq!(counter.into_inner(), count);
    measured
}

#[cfg(test)]
mod tests {
    use super::{Setting, fetch_add};

    #[test]
    fn every_addition_counts() {
        assert_eq!(fetch_add(&Setting::tiny()).ops, 10_000);
    }
}
