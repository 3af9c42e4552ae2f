//! The interface to a base language.
//!
//! Search, debugger and front ends know a language only through [`Semantics`]. It is small on purpose: the initial
//! states, the steps of a state, and the state that a step leads to. The rest defines which steps are dependent, so
//! that a search need not try both orders of independent steps, and what to show to users.

use std::{fmt, hash::Hash};

use serde::Serialize;

use crate::{Activity, Observation, Operation, OperationKind, Site};

/// What to mark, see [`Semantics::mark`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Marked {
    /// The message that the activity is about to send.
    Next,
    /// The message that the activity received to begin its current turn.
    Turn,
}

/// The outcome of a program in a state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Ending {
    /// The result, one line each: printed output, remaining values. Two ends with the same lines are the same outcome.
    pub outcome: Vec<String>,
    /// Uncaught errors.
    pub errors: Vec<String>,
    /// The activities that wait for something that has not happened. In a state without steps, it never will.
    pub waits: Vec<Wait>,
}

impl Ending {
    /// Returns whether an activity waits or an error was not caught.
    pub fn is_bad(&self) -> bool {
        !self.waits.is_empty() || !self.errors.is_empty()
    }

    /// All lines: the outcome, then errors, then waits.
    pub fn lines(&self) -> Vec<String> {
        let errors = self.errors.iter().map(|error| format!("error: {error}"));
        let waits = self.waits.iter().map(ToString::to_string);
        self.outcome
            .iter()
            .cloned()
            .chain(errors)
            .chain(waits)
            .collect()
    }
}

/// An activity that waits for something that has not happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Wait {
    /// The name of the activity.
    pub who: String,
    /// What it waits for, such as `the answer to getFork`.
    pub what: String,
    /// The source location of the wait.
    pub site: Option<Site>,
}

impl fmt::Display for Wait {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} waits for {}", self.who, self.what)?;
        write_line(out, self.site)
    }
}

/// Ends a sentence with its line, if that is known.
pub(crate) fn write_line(out: &mut fmt::Formatter<'_>, site: Option<Site>) -> fmt::Result {
    match site {
        Some(site) => write!(out, " (line {})", site.line),
        None => Ok(()),
    }
}

/// A program in some language: its states and the steps between them.
///
/// # Laws
///
/// 1. All functions are pure: the same arguments give the same result, from any thread. Caching is allowed.
/// 2. Two states are equal if and only if they are the same universe; in particular, taking two independent steps in
///    either order leads to equal states.
/// 3. A step that is not [`dependent`](Semantics::dependent) on another one neither enables nor disables it, and the
///    two commute. Equal steps denote the same action in all states that differ only by independent steps.
pub trait Semantics: Sync {
    /// A state: canonical, cheap to clone, hash and compare.
    type State: Clone + Eq + Hash + Send + Sync + fmt::Debug;
    /// A possible next step of one activity.
    type Step: Clone + Eq + Ord + Hash + Send + Sync + fmt::Debug;

    /// The initial states.
    fn initial(&self) -> Vec<Self::State>;

    /// The steps of `state`, always in the same order. Empty if the program has ended or is stuck.
    fn steps(&self, state: &Self::State) -> Vec<Self::Step>;

    /// The state that one of the steps of `state` leads to.
    fn take(&self, state: &Self::State, step: &Self::Step) -> Self::State;

    /// The steps of a recorded run, from the start.
    fn path(&self) -> Vec<Self::Step> {
        Vec::new()
    }

    /// The activity that takes the step.
    fn activity(&self, step: &Self::Step) -> Activity;

    /// Returns whether the order of two steps of different activities is observable. When in doubt, returns `true`.
    fn dependent(&self, a: &Self::Step, b: &Self::Step) -> bool;

    /// Returns whether nothing that other activities can ever do before this step is dependent on it. Such a step can
    /// be taken first, and a reduced search tries nothing else in that state.
    fn is_alone(&self, _state: &Self::State, _step: &Self::Step) -> bool {
        false
    }

    /// The kinds of operations that exist in this language. They determine which breakpoints and steps apply.
    fn kinds(&self) -> &'static [OperationKind];

    /// The operation of a step of `state`, for breakpoints.
    fn operation<'a>(&'a self, state: &'a Self::State, step: &Self::Step) -> Operation<'a>;

    /// The activities that exist in `state`, in the order of their numbers.
    fn activities(&self, state: &Self::State) -> Vec<Activity>;

    /// The operation that began the turn (or transaction, or critical section) that the activity is in.
    fn turn<'a>(&'a self, _state: &'a Self::State, _activity: Activity) -> Option<Operation<'a>> {
        None
    }

    /// Returns the same state with a mark on what the activity is about to send, or on what it received to begin its
    /// turn. The mark travels with the message and to its consequences (the resolution of its promise, the turn of a
    /// callback that waits for it): their operations are [`marked`](Operation::marked). Nothing else changes.
    fn mark(&self, state: &Self::State, activity: Activity, what: Marked) -> Self::State;

    /// Returns the same state without any mark.
    fn unmark(&self, state: &Self::State) -> Self::State;

    /// Makes steps also end before these source lines. Earlier states remain valid. Returns the lines at which there is
    /// nothing to stop at.
    fn stop_at(&mut self, lines: &[u32]) -> Vec<u32> {
        lines.to_vec()
    }

    /// Makes operations of these kinds separate steps from now on, where they were part of other steps. Earlier states
    /// remain valid.
    fn refine(&mut self, _kinds: &[OperationKind]) {}

    /// Returns whether [`Operation::depth`] is the call depth of an operation. If not, there are no steps over or out
    /// of calls.
    fn has_calls(&self) -> bool {
        true
    }

    /// The operations that a line breakpoint stops before. In a language that can stop between operations, these are
    /// local steps.
    fn at_lines(&self) -> &'static [OperationKind] {
        &[OperationKind::Local]
    }

    /// The display name of the activity in `state`.
    fn name(&self, state: &Self::State, activity: Activity) -> String;

    /// Describes a step in a sentence without its subject, such as `sends double(12) to math`. `name` gives the names
    /// of activities.
    fn describe(
        &self,
        state: &Self::State,
        step: &Self::Step,
        name: &dyn Fn(Activity) -> String,
    ) -> String;

    /// The visible part of `state`: a record with an entry for each activity, by name.
    fn observe(&self, state: &Self::State) -> Observation;

    /// The outcome of the program so far, and the activities that wait.
    fn ending(&self, state: &Self::State) -> Ending;

    /// The path to `state` in a textual form that can be used to replay it outside of the debugger.
    fn schedule(&self, _state: &Self::State) -> Option<String> {
        None
    }

    /// The heap memory that a state owns exclusively.
    fn state_bytes(&self, _state: &Self::State) -> usize {
        0
    }

    /// The memory that the states share.
    fn shared_bytes(&self) -> usize {
        0
    }
}
