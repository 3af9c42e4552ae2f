//! How processes, channels and selections behave.
//!
//! Each function here holds one behaviour. The tests run them off; `programs csp selfcheck` where recording or replay is
//! on, with one worker or several.

mod channel;
mod closing;
mod drops;
mod objects;
mod process;
mod select;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use reenact_testing::{
    behaviours,
    behaviours::{Behaviours, message_of},
};

/// All of them.
#[cfg_attr(
    test,
    expect(dead_code, reason = "the test harness finds them by itself")
)]
pub(super) const ALL: &[(&str, Behaviours)] = &[
    ("channel", channel::ALL),
    ("closing", closing::ALL),
    ("drops", drops::ALL),
    ("objects", objects::ALL),
    ("process", process::ALL),
    ("select", select::ALL),
];

/// Counts how many there are of something, and how many there were.
#[derive(Clone, Default)]
struct Census(Arc<(AtomicUsize, AtomicUsize)>);

/// One of those that are counted.
#[derive(Debug)]
struct Counted {
    number: usize,
    census: Arc<(AtomicUsize, AtomicUsize)>,
}

impl Census {
    fn born(&self, number: usize) -> Counted {
        self.0.0.fetch_add(1, SeqCst);
        Counted {
            number,
            census: Arc::clone(&self.0),
        }
    }

    fn alive(&self) -> usize {
        let gone = self.0.1.load(SeqCst);
        let born = self.0.0.load(SeqCst);
        assert!(gone <= born, "something was dropped twice");
        born - gone
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.census.1.fetch_add(1, SeqCst);
    }
}

/// Lets others run until this holds.
fn wait_until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        reenact::csp::yield_now();
    }
}
