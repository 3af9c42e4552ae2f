//! Exploration: runs a test under many schedules.
//!
//! Whether a test of concurrent code passes depends on the schedule that the machine happens to choose. An explored
//! test runs under one schedule after the other, on fibers of one thread, so that thousands of executions take no
//! longer than one with threads: first some random executions, then one of each class of executions that differ in an
//! observable order. If an execution fails, exploration reports the failing schedule step by step and keeps it.
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
//! Use `#[reenact::test]` to write this as a test; a failing schedule is then kept beside it as a regression test.
//!
//! # What is explored
//!
//! All of `reenact`: threads, locks, condition variables, atomics (under sequential consistency), channels, actors,
//! processes, transactions, and all of them together. The schedule decides when time limits expire. Clocks, random
//! numbers and standard input give the same values in every execution; a test chooses whatever else should vary with
//! [`any`].
//!
//! # Requirements on the program
//!
//! The program must behave the same under the same schedule; exploration reports where it does not. So its shared state
//! must be created within it, not in a static. Its threads share std's thread-locals, because they all run on one
//! thread; and a thread that blocks in the kernel blocks all of them. `reenact explore -- COMMAND` explores a whole
//! program, in processes of its own.

mod test;

use std::{fmt::Debug, path::PathBuf, sync::Arc, time::Duration};

pub use reenact_engine::explore::{
    BlockedActivity, Failure, Finding, Found, Gap, Line, NoSchedule, Panic, ParseStrategyError,
    Reads, Schedule, Strategy, StuckActivity,
};
use reenact_engine::explore::{Search, any_of};
pub use reenact_explore::{Divergence, DivergencePoint, Limit, RandomStrategy};

pub use self::test::Failed;
#[doc(hidden)]
pub use self::test::run as run_test;
use crate::ops;

/// A program to explore. Only what creates it is compiled for each program.
type Program = Arc<dyn Fn() + Send + Sync>;

/// Explores `program`: some random executions, then one of each class.
///
/// # Panics
///
/// Panics if an execution fails. The message shows the failing schedule step by step, and how to reproduce it.
#[track_caller]
pub fn explore(program: impl Fn() + Send + Sync + 'static) {
    Explorer::new().check(program);
}

/// Chooses a number below `answers`: exploration tries each of them. Returns 0 outside exploration.
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

/// Shows a value in the debugger of all universes (`reenact debug -- COMMAND`), under this name: its `Debug` output,
/// each time all activities wait. Does nothing elsewhere.
///
/// The value is kept until the program ends. So pass a reference through which the changes of others are visible: an
/// `Arc`, a `&'static`, a far reference. A lock that is held is shown as locked.
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

/// Configures an exploration.
#[derive(Clone, Debug, Default)]
#[must_use = "does nothing until `check` or `run` is called"]
pub struct Explorer {
    search: Search,
    /// The directory of kept schedules, and the name of what is explored.
    keep: Option<(PathBuf, String)>,
}

impl Explorer {
    /// Returns the default configuration: some random executions, then one of each class, up to 100,000 of them.
    pub fn new() -> Explorer {
        Explorer::default()
    }

    /// Sets how executions are chosen.
    pub fn strategy(mut self, strategy: Strategy) -> Explorer {
        self.search.strategy = strategy;
        self
    }

    /// Sets the maximum number of executions.
    pub fn executions(mut self, most: u64) -> Explorer {
        self.search.executions = Some(most);
        self
    }

    /// Sets the maximum duration of the exploration. It ends soon after that, whatever the program does: a thread that
    /// waits in the kernel, or that never comes to its next operation, is left behind and reported.
    ///
    /// The program is then explored on another thread than the calling one.
    pub fn time(mut self, most: Duration) -> Explorer {
        self.search.time = Some(most);
        self
    }

    /// Sets the maximum number of steps of an execution.
    pub fn steps(mut self, most: u32) -> Explorer {
        self.search.steps = most;
        self
    }

    /// Sets the seed of the random strategies.
    pub fn seed(mut self, seed: u64) -> Explorer {
        self.search.seed = seed;
        self
    }

    /// Sets the number of threads, for strategies that choose executions at random or run one of each class; all others
    /// use one. The default is one, since `cargo test` already runs tests in parallel: use more for a few long
    /// explorations.
    ///
    /// Several executions then run at once. State that they share, such as a static, makes them depend on each other.
    pub fn cores(mut self, cores: usize) -> Explorer {
        self.search.cores = cores.max(1);
        self
    }

    /// Allows threads and processes to wait forever, except for a lock, when the main thread has ended. By default that is
    /// a failure.
    pub fn allow_blocked(mut self, are_allowed: bool) -> Explorer {
        self.search.allows_blocked = are_allowed;
        self
    }

    /// Lets waits end without a reason, as std allows it: up to `most` waits of each activity in
    /// [`Condvar`](crate::sync::Condvar) and in [`park`](crate::thread::park). Each of them is explored with and without
    /// that.
    pub fn spurious_wakeups(mut self, most: u32) -> Explorer {
        self.search.spurious_wakeups = most;
        self
    }

    /// Keeps the schedules of failures in this directory, under this name, and tries the schedules kept there first.
    pub fn keep(mut self, directory: impl Into<PathBuf>, name: &str) -> Explorer {
        self.keep = Some((directory.into(), name.to_owned()));
        self
    }

    /// Explores `program` and returns what was found.
    ///
    /// In a process that is recorded or replayed, it runs `program` once, as part of the recording or replay.
    pub fn run(&self, program: impl Fn() + Send + Sync + 'static) -> Finding {
        self.run_program(Arc::new(program))
    }

    fn run_program(&self, program: Program) -> Finding {
        self.search.run_program(&program).unwrap_or_else(|| {
            program();
            Finding::of_one()
        })
    }

    /// Explores `program`.
    ///
    /// # Panics
    ///
    /// Panics if an execution fails. The message shows the failing schedule step by step, and how to reproduce it. Also
    /// panics if the program cannot be explored, or not a single execution came to its end.
    #[track_caller]
    pub fn check(&self, program: impl Fn() + Send + Sync + 'static) {
        self.check_program(Arc::new(program));
    }

    #[track_caller]
    fn check_program(&self, program: Program) {
        if let Err(failed) = self.try_check_program(&program) {
            panic!("{failed}");
        }
    }
}
