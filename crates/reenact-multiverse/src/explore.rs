//! Exploration of programs that can only be run again from their start.
//!
//! A thread's stack cannot be copied or compared, so there is no graph of universes to walk. What can be done is to run
//! the program again and again under another schedule, and never twice under two schedules that differ only in the order
//! of operations that do not see each other. That is optimal dynamic partial-order reduction: races of a finished
//! execution say what else is to be tried, wakeup trees say how to get there, sleep sets what has been tried already. It
//! makes exactly one execution of each class.
//!
//! A program takes part by implementing [`Runs`] and [`Run`]. Its entities say what their operations have to do with
//! each other: see [`Links`] for what there is to say, and [`Accesses`], [`Holding`], [`Sharing`], [`Passing`],
//! [`Conditions`] and [`Facts`] for entities that say it of variables, mutexes, locks of readers and writers, queues,
//! condition variables, and what becomes true once.
//!
//! What can go in several ways is tried in each of them, as if it raced with somebody who decides. A class of executions
//! is one of events with their choices.
//!
//! There is more than one execution of a class only
//!
//! - where an operation turns out to do less than it was announced to do when something else is already planned. Of small
//!   generated programs of transactions whose footprints are known only afterwards, one execution in fourteen was of a
//!   class that had been run before or was given up; of such programs that try to send and to receive, one in thirty-five;
//!   of those that send into bounded queues, one in a hundred;
//! - where two sends that nobody has seen were reversed because of an execution where somebody has: one in a thousand.
//!
//! None was missed in these programs, which are compared with all interleavings.
//!
//! That is [`Explorer`]. Where there are too many classes, [`Sampler`] draws executions at random, with a promise about what is
//! found; [`Bounded`] runs the simple ones, with few preemptions or delays; [`Around`] those near to a given one, the near
//! before the far. [`Minimiser`] makes a schedule as simple as it can be.
//!
//! [`Explorer::run_on`] and [`Sampler::run_on`] divide the work among threads, `run_divided` of both among processes. What is missing in `Explorer`: memory that is
//! bounded by more than the number of races.

mod around;
mod bounded;
mod chronicle;
mod divided;
mod entities;
mod explorer;
mod fingerprint;
mod follow;
mod gradual;
mod linearise;
mod links;
mod minimise;
mod optimal;
mod pace;
mod report;
mod sample;
mod schedule;
mod seen;
mod tally;

use std::fmt;

pub use self::{
    around::{Around, Closest},
    bounded::{Bounded, Bounding},
    entities::{Accesses, Conditions, Facts, Holding, Passing, Sharing},
    explorer::{Execution, Explorer},
    fingerprint::{Fingerprint, Fingerprinter},
    gradual::{GradualReport, Measure},
    links::{Link, Links, Moment},
    minimise::{Minimal, MinimiseError, Minimiser},
    report::{Budget, Coverage, Divergence, Limit, Progress, Report, Verdict},
    sample::{Sampler, strategy::Strategy},
    schedule::{Misfit, replay, switches},
    seen::Seen,
    tally::{Part, Tally},
};
use crate::Activity;

/// A step of a run: whose it is, and which of the ways it can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    /// Who takes it.
    pub activity: Activity,
    /// Below [`Run::choices`].
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
/// 1. Runs that take the same steps do the same.
/// 2. The number of an activity means the same one in all runs. Numbers are small: there is an entry for each up to the
///    highest in the clock of every event.
/// 3. Two events of different activities that can both be next, and are not [`dependent`](Runs::dependent), neither
///    enable nor disable each other, and their order cannot be told afterwards. What an activity is about to do, and in
///    how many ways, changes only by its own steps and by dependent ones.
/// 4. Events that [race](Links::races) are dependent, the second of them as it was pending.
/// 5. What is [pending](Run::pending) is dependent on whatever it is dependent on once it was
///    [performed](Run::step_at), and perhaps on more. For each choice that may be something else.
pub trait Runs {
    /// What an activity does to entities in one step, as far as dependence is concerned.
    type Event: Clone + PartialEq + fmt::Debug;
    /// An execution that has begun.
    type Run: Run<Event = Self::Event>;

    /// Starts again. The last run, if there was one, has been dropped.
    fn start(&self) -> Self::Run;

    /// Whether the order of two events of different activities can be told afterwards, given that both can be next. When
    /// in doubt, it can.
    fn dependent(&self, a: &Self::Event, b: &Self::Event) -> bool;
}

/// What a step is that was another before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Which one, from the start.
    pub index: usize,
    /// What there is instead.
    pub found: String,
}

/// Whether a step can be taken; if not, what there is instead.
#[inline]
pub fn can_be_taken<R: Run + ?Sized>(run: &R, step: Step) -> Result<(), String>
where
    R::Event: fmt::Debug,
{
    let Step { activity, choice } = step;
    if !run.is_enabled(activity) {
        return Err(not_enabled(run.pending(activity)));
    }
    if choice > 0 && run.choices(activity) <= choice {
        return Err(format!("without choice {choice}"));
    }
    Ok(())
}

#[cold]
fn not_enabled(pending: Option<impl fmt::Debug>) -> String {
    match pending {
        Some(event) => format!("waiting for {event:?}"),
        None => "nothing".to_owned(),
    }
}

/// An execution, up to some point.
///
/// It is over when nothing is enabled. An activity that fails ends, and the others go on: what they are yet to do may
/// race with what led to the failure.
///
/// Steps are taken either all by [`step`](Run::step), for those who only want to see where a run leads, or all by
/// [`step_at`](Run::step_at), for those who want to know what the steps have to do with each other.
pub trait Run {
    /// See [`Runs::Event`].
    type Event;

    /// One more than the highest number of an activity so far.
    fn activities(&self) -> u32;

    /// What the activity is about to do, even if it has to wait before it can. `None`: it has ended, or not begun.
    fn pending(&self, activity: Activity) -> Option<Self::Event>;

    /// Whether what is pending can be done now.
    fn is_enabled(&self, activity: Activity) -> bool;

    /// Those who are about to do something, each once, in an order that depends on the steps alone: nobody else is enabled. None,
    /// unless that is known at no cost.
    fn about_to_act(&self) -> Option<&[Activity]> {
        None
    }

    /// In how many ways what is pending can go, if it is next: a notification may wake any of those who wait.
    fn choices(&self, _activity: Activity) -> u32 {
        1
    }

    /// Does what is pending.
    fn step(&mut self, step: Step);

    /// Takes the steps that `next` names, until it names none. It is asked when everybody waits; each step that it names can be
    /// taken.
    fn go_on(&mut self, next: &mut dyn FnMut(&Self) -> Option<Step>) {
        while let Some(step) = next(self) {
            self.step(step);
        }
    }

    /// Does what is pending. It is what happens at `moment`. Says what it was, in hindsight, and with which earlier events it
    /// is ordered; that it comes after its own activity's earlier events goes without saying.
    fn step_at(&mut self, step: Step, moment: Moment, links: &mut Links) -> Self::Event;

    /// Takes steps that were taken before, from the start, by [`step_at`](Run::step_at): nobody wants to know again what they are
    /// ordered with. Says which one is not what it was, if one is not, and what it is.
    fn repeat(
        &mut self,
        steps: &mut dyn Iterator<Item = (Step, &Self::Event)>,
    ) -> Result<(), Changed>
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
                let index = index as usize;
                return Err(Changed { index, found });
            }
        }
        Ok(())
    }

    /// With which earlier events the pending one would be ordered if it were next. Asked at the end of a run, about those
    /// that wait.
    fn links(&self, activity: Activity, links: &mut Links);

    /// How the run has ended, once nothing is enabled. Never [`Verdict::Cut`].
    fn verdict(&self) -> Verdict;
}
