//! The programs on shuttle, with each of its random schedulers.
//!
//! An execution that fails ends a run of shuttle by a panic. For the philosophers, whose deadlocks are executions like
//! others, the next run goes on with the same scheduler. That costs much more than an execution:
//! for throughput, the ordered philosophers are the ones to compare.
//!
//! Stacks of any size that works are as fast, for shuttle uses them again; 4 KiB do not work. The schedulers' wrapper in
//! [`schedule`] adds a few instructions to the two thousand or so of a step.

mod schedule;

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::Ordering::{Relaxed, SeqCst},
    },
};

use shuttle::{
    Config, FailurePersistence, MaxSteps, Runner,
    sync::{
        Mutex, MutexGuard,
        atomic::AtomicU64 as Counter,
        mpsc::{Receiver, Sender, channel},
    },
    thread::spawn,
};

use super::{
    explored::{Explored, Stopwatch},
    hunt::Hunt,
    programs::{Outcome, Program, Shape},
    quiet::quietly,
};
use schedule::Schedule;

#[path = "table.rs"]
mod table;

/// One of shuttle's schedulers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Strategy {
    /// Every thread that can go on is equally likely to be the next.
    Random,
    /// Probabilistic concurrency testing: random priorities, which change at few random points.
    Pct,
    /// Uniform random walk: every interleaving is equally likely, as far as the first execution lets it estimate.
    Urw,
}

/// What a thread panicked with.
type Panic = Box<dyn Any + Send>;

/// How many executions a round has at scale one.
const EXECUTIONS: f64 = 20_000.0;

/// How many executions a seed may need to find a bug.
const PATIENCE: u64 = 100_000;

/// Executes the program as many times as the scale says.
pub(crate) fn run(strategy: Strategy, program: Program, scale: f64) -> Explored {
    let executions = (EXECUTIONS * scale).round().max(1.0) as u64;
    let watch = Stopwatch::start();
    let schedule = Schedule::new(strategy, 0, executions);
    let (executions, bugs) = search(program, schedule);
    watch.explored(executions, bugs)
}

/// Executes the program with each of so many seeds until its bug is found.
pub(crate) fn hunt(strategy: Strategy, program: Program, seeds: u64) -> Hunt {
    let hunt = |seed| {
        let schedule = Schedule::new(strategy, seed, PATIENCE).until_bug();
        let (executions, bugs) = search(program, schedule);
        (bugs > 0).then_some(executions)
    };
    Hunt::of(&(0..seeds).map(hunt).collect::<Vec<_>>())
}

/// Executes the program according to the schedule. Returns how many executions there were and how many of them had the
/// bug.
fn search(program: Program, schedule: Schedule) -> (u64, u64) {
    // Shuttle has something to say about every deadlock, and about a scheduler that is dropped before its end.
    let searched = if program.has_bug() {
        quietly(move || try_search(program, &schedule)).expect("the error stream can be redirected")
    } else {
        try_search(program, &schedule)
    };
    searched.unwrap_or_else(|panic| panic!("{}: {}", program.name(), message(panic.as_ref())))
}

fn try_search(program: Program, schedule: &Schedule) -> Result<(u64, u64), Panic> {
    while let Err(panic) = catch_unwind(AssertUnwindSafe(|| until_failure(program, schedule))) {
        if !(program.allows(&Outcome::Deadlock) && message(panic.as_ref()).starts_with("deadlock!"))
        {
            return Err(panic);
        }
        schedule.bugs().fetch_add(1, Relaxed);
    }
    Ok((schedule.executions(), schedule.bugs().load(Relaxed)))
}

/// Executes the program until an execution fails or the schedule has come to its end.
fn until_failure(program: Program, schedule: &Schedule) {
    let bugs = Arc::clone(schedule.bugs());
    Runner::new(schedule.clone(), config()).run(move || {
        let outcome = table::execute(program);
        assert!(program.allows(&outcome), "{outcome:?}");
        if program.is_bug(&outcome) {
            bugs.fetch_add(1, Relaxed);
        }
    });
}

fn config() -> Config {
    let mut config = Config::new();
    config.stack_size = 0x4000;
    config.failure_persistence = FailurePersistence::None;
    config.max_steps = MaxSteps::None;
    config.silence_warnings = true;
    config
}

/// What a panic says.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("it panicked")
}

include!("std_like.rs");
