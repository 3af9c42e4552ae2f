//! loom runs the order of a replay in all ways: activities that wait for their turn at an object, and those that end
//! theirs.
//!
//! If a turn is lost, the activities wait for ever, which loom reports. If one comes too early, the value is wrong, or
//! its accesses are a race.

use std::sync::Arc;

use ::loom::cell::Cell;

use super::{Turns, Want};
use crate::{
    Object,
    loom::{Ordering::Relaxed, model_bounded, spawn},
    raw::Parker,
};

struct Shared {
    turns: Turns,
    object: Object,
    value: Cell<u32>,
}

// SAFETY: loom reports accesses of the cell that are not ordered, instead of performing them.
unsafe impl Sync for Shared {}

impl Shared {
    fn new() -> Arc<Shared> {
        let turns = Turns::new();
        let object = Object::new();
        object.version.load(Relaxed);
        object.looks.load(Relaxed);
        object.wanted.load(Relaxed);
        turns.awake.load(Relaxed);
        turns.awakenings.load(Relaxed);
        Arc::new(Shared {
            turns,
            object,
            value: Cell::new(0),
        })
    }

    fn wait_for(&self, version: u64, looks: Option<u32>) {
        let parker = Arc::new(Parker::default());
        let want = Want { version, looks };
        self.turns.wait_for(&self.object, want, &parker, || ());
    }

    /// The take that comes after so many, and after so many looks.
    fn take(&self, version: u64, looks: u32) {
        self.wait_for(version, Some(looks));
        assert_eq!(u64::from(self.value.get()), version);
        self.value.set(self.value.get() + 1);
        self.turns.bump(&self.object);
    }

    /// A look that comes after so many takes.
    fn look(&self, version: u64) {
        self.wait_for(version, None);
        assert_eq!(u64::from(self.value.get()), version);
        self.turns.looked(&self.object);
    }
}

/// ```text
/// other   take 1
/// main    take 0, take 2
/// ```
#[test]
fn two_activities_take_an_object_in_turn() {
    // Three preemptions get the other activity between any steps of this one, and back.
    model_bounded(Some(3), || {
        let shared = Shared::new();
        let other = Arc::clone(&shared);
        let other = spawn(move || other.take(1, 0));
        shared.take(0, 0);
        shared.take(2, 0);
        other.join().unwrap();
    });
}

/// ```text
/// one     take 2
/// other   take 1
/// main    take 0
/// ```
#[test]
fn three_activities_take_an_object_in_turn() {
    // Two preemptions get between any two steps of one that waits and of the one before.
    model_bounded(Some(2), || {
        let shared = Shared::new();
        let others = [2, 1].map(|version| {
            let shared = Arc::clone(&shared);
            spawn(move || shared.take(version, 0))
        });
        shared.take(0, 0);
        for other in others {
            other.join().unwrap();
        }
    });
}

/// ```text
/// sharer   look after take 0
/// main     take 0, take 1 after two looks
/// other    look after take 0
/// ```
#[test]
fn a_take_waits_for_the_looks_before_it() {
    // As above.
    model_bounded(Some(2), || {
        let shared = Shared::new();
        let sharers = [(); 2].map(|()| {
            let shared = Arc::clone(&shared);
            spawn(move || shared.look(1))
        });
        shared.take(0, 0);
        shared.take(1, 2);
        for sharer in sharers {
            sharer.join().unwrap();
        }
    });
}
