//! Every way a program could have gone: exploring from a test.
//!
//! A test of concurrent code passes or fails by the schedule that the machine happens to choose. Explored, it is run under
//! one schedule after the other, on fibers of one thread, so that thousands of executions take no longer than one with
//! threads: first some at random, then one of each class of executions that differ in an order that can be told. If there is
//! a schedule that makes it fail, it is found, told step by step, and kept.
//!
//! ```
//! use reenact::{sync::{Arc, Mutex}, thread};
//!
//! reenact::explore(|| {
//!     let total = Arc::new(Mutex::new(0));
//!     let threads: Vec<_> = (0..2)
//!         .map(|_| {
//!             let total = Arc::clone(&total);
//!             thread::spawn(move || *total.lock().unwrap() += 1)
//!         })
//!         .collect();
//!     for thread in threads {
//!         thread.join().unwrap();
//!     }
//!     assert_eq!(*total.lock().unwrap(), 2);
//! });
//! ```
//!
//! As a test, with a regression schedule that is kept beside it once it has failed: `#[reenact::test]`.
//!
//! # What is explored
//!
//! Everything of `reenact`: threads, locks, conditions, atomics (under sequential consistency), channels, actors, processes,
//! transactions, and all of them together. Time limits are up when the schedule says so. Clocks and random numbers
//! say the same in every execution; whatever else is to vary, a test chooses by [`any`].
//!
//! # What it asks of a program
//!
//! With the same schedule it must do the same, and what differs is said. So what it shares must be made within it, not in a static;
//! thread-locals of std are shared by all of its threads, which run on one; and what others wait for in the kernel keeps everybody waiting. A whole
//! program, in processes of its own, is explored by `reenact explore -- COMMAND`.

mod test;

use std::{fmt::Debug, ops::ControlFlow, path::PathBuf, sync::Arc, time::Duration};

use reenact_engine::explore::{Explored, Search, any_of};
pub use reenact_engine::explore::{
    Failure, Finding, Found, Line, Misfit, NoSchedule, NoWay, Panic, Schedule, Waiting, Way,
};
pub use reenact_multiverse::explore::Strategy;

pub use self::test::Failed;
#[doc(hidden)]
pub use self::test::run as run_test;
use crate::ops;

/// Explores `program`: some executions at random, then one of each class.
///
/// # Panics
///
/// If one of them fails. The message tells how, step by step, and how to get there again.
#[track_caller]
pub fn explore(program: impl Fn() + Send + Sync + 'static) {
    Explorer::new().check(program);
}

/// One of so many answers: each of them is explored. 0 where nothing is.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// let seen = Arc::new(Mutex::new(Vec::new()));
/// let seen_by_all = Arc::clone(&seen);
/// reenact::explore(move || seen_by_all.lock().unwrap().push(reenact::explore::any(3)));
/// for answer in 0..3 {
///     assert!(seen.lock().unwrap().contains(&answer));
/// }
/// ```
#[track_caller]
pub fn any(answers: u32) -> u32 {
    any_of(ops::CHOOSE, answers).unwrap_or(0)
}

/// Lets who debugs the whole program in all its universes (`reenact debug -- COMMAND`) see a value, under this name, as it
/// is whenever everybody waits: its `Debug`. Does nothing elsewhere.
///
/// What is watched is kept until the program ends. So give it a reference: an `Arc`, a `&'static`, a far reference, whatever
/// shows what others change. A lock that somebody has shows itself as locked.
///
/// ```
/// use reenact::sync::{Arc, Mutex};
///
/// let balance = Arc::new(Mutex::new(100));
/// reenact::explore::watch("balance", Arc::clone(&balance));
/// ```
pub fn watch(name: &str, value: impl Debug + Send + 'static) {
    reenact_engine::explore::watch(name, || move || format!("{value:?}"));
}

/// How a program is explored.
#[derive(Clone, Debug, Default)]
#[must_use = "does nothing until it is told to check or to run"]
pub struct Explorer {
    search: Search,
    /// Where schedules are kept, and what is explored.
    keep: Option<(PathBuf, String)>,
}

impl Explorer {
    /// Some executions at random, then one of each class, up to 100,000 of them.
    pub fn new() -> Explorer {
        Explorer::default()
    }

    /// These executions.
    pub fn way(mut self, way: Way) -> Explorer {
        self.search.way = way;
        self
    }

    /// So many executions at most.
    pub fn executions(mut self, most: u64) -> Explorer {
        self.search.executions = Some(most);
        self
    }

    /// For so long at most.
    pub fn time(mut self, most: Duration) -> Explorer {
        self.search.time = Some(most);
        self
    }

    /// So many steps in an execution at most.
    pub fn steps(mut self, most: u32) -> Explorer {
        self.search.steps = most;
        self
    }

    /// Other ones at random than with another seed.
    pub fn seed(mut self, seed: u64) -> Explorer {
        self.search.seed = seed;
        self
    }

    /// By so many threads, where executions are drawn at random or one of each class is run; all else takes one. That is what it
    /// is if nothing is said, since `cargo test` runs tests beside each other already: to be used for a few long explorations.
    ///
    /// Several executions then run at once. What they share, such as a static, makes them depend on each other.
    pub fn cores(mut self, cores: usize) -> Explorer {
        self.search.cores = cores.max(1);
        self
    }

    /// Keeps the schedules of failures in this directory, under this name, and tries those that are there first.
    pub fn keep(mut self, directory: impl Into<PathBuf>, name: &str) -> Explorer {
        self.keep = Some((directory.into(), name.to_owned()));
        self
    }

    /// Explores `program`; what was found.
    ///
    /// In a process that is recorded or replayed it is run once, as part of that.
    pub fn run(&self, program: impl Fn() + Send + Sync + 'static) -> Finding {
        let program = Arc::new(program);
        match Explored::new(Arc::clone(&program)) {
            Some(explored) => {
                let make = || Explored::new(Arc::clone(&program)).expect("one is explored here");
                self.search
                    .run_on(&explored, &make, &mut |_| ControlFlow::Continue(()))
            }
            None => {
                program();
                Finding::of_one()
            }
        }
    }

    /// Explores `program`.
    ///
    /// # Panics
    ///
    /// If an execution fails. The message tells how, step by step, and how to get there again.
    #[track_caller]
    pub fn check(&self, program: impl Fn() + Send + Sync + 'static) {
        if let Err(failed) = self.try_check(program) {
            panic!("{failed}");
        }
    }
}
