//! Exploration of programs that can only be run again from their start.
//!
//! A thread's stack cannot be copied or compared, so there is no graph of universes to walk. Instead, the program is
//! run again and again, each time under another schedule, and never under two schedules that differ only in the order
//! of independent operations. This is optimal dynamic partial-order reduction: the races of a finished execution
//! determine what else has to be tried, wakeup trees determine how to get there, and sleep sets record what has already
//! been tried. It runs exactly one execution of each equivalence class.
//!
//! A program takes part by implementing [`Runs`] and [`Run`]. Its objects describe how their operations are ordered:
//! see [`Links`] for the vocabulary, and [`Accesses`], [`Holding`], [`Sharing`], [`Passing`], [`Conditions`] and
//! [`Latches`] for ready-made objects that cover variables, mutexes, reader-writer locks, queues, condition variables,
//! and conditions that become true once.
//!
//! An operation with several choices is tried with each of them, as if it raced with an activity that makes the choice.
//! A class of executions is determined by its events and their choices.
//!
//! More than one execution of a class is run only
//!
//! - where an operation turns out to do less than it announced while something else is already planned. Among small
//!   generated programs of transactions whose footprints are known only afterwards, one execution in 14 belonged to a
//!   class that had been run before, or was abandoned; among such programs with `try_send` and `try_recv`, one in 35;
//!   among those that send into bounded queues, one in 100;
//! - where two sends that no activity has observed were reversed because of an execution in which one was observed: one
//!   in 1000.
//!
//! No class was missed in these programs, which are compared with all interleavings.
//!
//! That is [`Explorer`]. Where there are too many classes, [`Sampler`] draws executions at random, with a probabilistic
//! guarantee; [`Bounded`] runs the executions with few preemptions or delays; [`Around`] runs those near a given
//! execution, nearest first. [`Minimiser`] simplifies a schedule.
//!
//! [`Explorer::run_on`] and [`Sampler::run_on`] divide the work among threads, `run_divided` of both among processes.
//! Known limitation of `Explorer`: its memory grows with the number of races.

mod around;
mod bounded;
mod budget_tracker;
mod divergence;
mod divided;
mod event_log;
mod explorer;
mod fingerprint;
mod follow;
mod gradual;
mod linearise;
mod links;
mod minimise;
mod objects;
mod optimal;
mod progress_reporter;
mod report;
mod sample;
mod schedule;
mod seen;
mod tally;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::{
    around::{Around, Closest},
    bounded::{Bounded, Bounding},
    divergence::{Divergence, DivergencePoint, can_be_taken},
    explorer::{EndedExecution, Explorer},
    fingerprint::{Fingerprint, Fingerprinter},
    gradual::{GradualReport, Measure},
    links::{Link, Links, Moment},
    minimise::{Minimal, MinimiseError, Minimiser},
    objects::{Accesses, Conditions, Holding, Latches, Passing, Sharing},
    progress_reporter::{Interruption, Listener, ProgressReporter},
    report::{Budget, Coverage, Limit, Progress, Report, Verdict},
    sample::{Sampler, strategy::RandomStrategy},
    schedule::{replay, switches},
    seen::Seen,
    tally::{Part, Tally},
};
pub use reenact_operation::{Activity, OperationKind};

/// A step of a run: an activity and which of its choices it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Step {
    /// The activity that takes the step.
    pub activity: Activity,
    /// The choice, less than [`Run::choices`].
    pub choice: u32,
}

impl From<Activity> for Step {
    fn from(activity: Activity) -> Step {
        Step {
            activity,
            choice: 0,
        }
    }
}

/// A program that can be run from its start, any number of times.
///
/// # Laws
///
/// 1. Runs that take the same steps behave the same.
/// 2. An activity has the same number in all runs. Numbers are small: the clock of every event has an entry for each
///    number up to the highest.
/// 3. Two events of different activities that are both enabled and are not [`dependent`](Runs::dependent) neither
///    enable nor disable each other, and their order is not observable afterwards. The pending operation of an activity
///    and its number of choices change only by the activity's own steps and by dependent ones.
/// 4. Events that [race](Links::races) are dependent; this holds for the second of them in its pending form.
/// 5. A [pending](Run::pending) event is dependent on everything that it is dependent on once
///    [performed](Run::step_at), and possibly on more. The performed event may differ for each choice.
pub trait Runs {
    /// What an activity does to objects in one step, as far as it matters for dependence.
    type Event: Clone + PartialEq + fmt::Debug;
    /// An execution that has started.
    type Run: Run<Event = Self::Event>;

    /// Starts a new run. The previous run, if any, has been dropped.
    fn start(&self) -> Self::Run;

    /// Returns whether the order of two events of different activities is observable, given that both are enabled. When
    /// in doubt, returns `true`.
    fn dependent(&self, a: &Self::Event, b: &Self::Event) -> bool;
}

/// An execution, up to some point.
///
/// It is over when no activity is enabled. An activity that fails ends, and the others continue: their remaining
/// operations may race with what led to the failure.
///
/// A caller takes all steps with [`step`](Run::step) if it only needs the resulting state, or all steps with
/// [`step_at`](Run::step_at) if it needs to know how the steps are ordered.
pub trait Run {
    /// See [`Runs::Event`].
    type Event;

    /// One more than the highest activity number so far.
    fn activities(&self) -> u32;

    /// What the activity is about to do, even if it has to wait first. `None` if it has ended or has not started.
    fn pending(&self, activity: Activity) -> Option<Self::Event>;

    /// Returns whether the pending operation can be performed now.
    fn is_enabled(&self, activity: Activity) -> bool;

    /// The number of activities that may be enabled, as far as that is known at no cost: all others are not.
    fn candidates(&self) -> u32 {
        self.activities()
    }

    /// One of the [`candidates`](Run::candidates). Each has one index, which depends only on the steps taken.
    fn candidate(&self, index: u32) -> Activity {
        Activity(index)
    }

    /// The number of choices that the pending operation has if it is next: a notification may wake any of the waiters.
    fn choices(&self, _activity: Activity) -> u32 {
        1
    }

    /// Performs the pending operation.
    fn step(&mut self, step: Step);

    /// Takes the steps that `next` returns until it returns `None`. `next` is called when every activity waits; each
    /// step that it returns can be taken.
    fn go_on(&mut self, next: &mut dyn FnMut(&Self) -> Option<Step>) {
        while let Some(step) = next(self) {
            self.step(step);
        }
    }

    /// Performs the pending operation at `moment`. Returns what it turned out to be, and adds to `links` the earlier
    /// events that it is ordered after; earlier events of the same activity are implied.
    fn step_at(&mut self, step: Step, moment: Moment, links: &mut Links) -> Self::Event;

    /// Takes steps from the start that were taken before by [`step_at`](Run::step_at), without computing their links
    /// again. Returns the first step that differs, if any.
    fn repeat(
        &mut self,
        steps: &mut dyn Iterator<Item = (Step, &Self::Event)>,
    ) -> Result<(), Divergence>
    where
        Self::Event: PartialEq + fmt::Debug,
    {
        let mut links = Links::default();
        for (index, (step, event)) in (0..).zip(steps) {
            let found = match can_be_taken(self, step) {
                Ok(()) => {
                    links.clear();
                    let performed = self.step_at(step, Moment(index), &mut links);
                    (performed != *event).then(|| format!("{performed:?}"))
                }
                Err(found) => Some(found),
            };
            if let Some(found) = found {
                return Err(Divergence::at_event(index as usize, step, event, found));
            }
        }
        Ok(())
    }

    /// Adds the earlier events that the pending operation would be ordered after if it were next. Called at the end of
    /// a run, for activities that still wait.
    fn links(&self, activity: Activity, links: &mut Links);

    /// How the run ended, once no activity is enabled. Never [`Verdict::Cut`].
    fn verdict(&self) -> Verdict;
}
