//! The contract with a base language.
//!
//! Search, debugger and front ends know a language only through [`Semantics`]. It is small on purpose: the initial
//! states, the steps of a state, what a step leads to. The rest says how much two steps have to do with each other, so
//! that a search need not try both orders of everything, and what a person should see.

use std::{fmt, hash::Hash};

use serde::Serialize;

use crate::{Observation, Operation, OperationKind, Site};

/// One that executes: an actor, a thread, a process, a task. The same number means the same one in every universe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Activity(pub u32);

/// What is to be marked, see [`Semantics::mark`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Marked {
    /// What the activity is about to send.
    Next,
    /// What the activity received to be in the turn that it is in.
    Turn,
}

/// How a program stands in a state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Ending {
    /// What came of it, a line each: what was printed, the values that are left. Two ends with the same lines are the
    /// same outcome.
    pub outcome: Vec<String>,
    /// Errors that nobody caught.
    pub errors: Vec<String>,
    /// Who waits for something that has not come. In a state without steps, it never will.
    pub waits: Vec<Wait>,
}

impl Ending {
    /// Whether it should not be: somebody waits, or an error was not caught.
    pub fn is_bad(&self) -> bool {
        !self.waits.is_empty() || !self.errors.is_empty()
    }

    /// All of it, a line each: the outcome, then errors, then who waits.
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

/// One that waits for something that has not happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Wait {
    /// Who waits, by name.
    pub who: String,
    /// What for, such as `the answer to getFork`.
    pub what: String,
    /// Where the program says that it waits.
    pub site: Option<Site>,
}

impl fmt::Display for Wait {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} waits for {}", self.who, self.what)?;
        match self.site {
            Some(site) => write!(out, " (line {})", site.line),
            None => Ok(()),
        }
    }
}

/// A language, or rather a program in it: what its states are and how they follow each other.
///
/// # Laws
///
/// 1. All functions are pure: the same arguments, the same result, from any thread. (A cache is nobody's business.)
/// 2. Two states are equal if and only if they are the same universe; in particular, taking two independent steps in
///    either order leads to equal states.
/// 3. A step that is not [`dependent`](Semantics::dependent) on another one neither enables nor disables it, and the two
///    commute. An equal step stands for the same action in all states that differ by independent steps only.
pub trait Semantics: Sync {
    /// A state: canonical, cheap to clone, hash and compare.
    type State: Clone + Eq + Hash + Send + Sync + fmt::Debug;
    /// What can happen next, of one activity.
    type Step: Clone + Eq + Ord + Hash + Send + Sync + fmt::Debug;

    /// Where the program can start.
    fn initial(&self) -> Vec<Self::State>;

    /// What can happen in `state`, always in the same order. Nothing: the program is over, or stuck.
    fn steps(&self, state: &Self::State) -> Vec<Self::Step>;

    /// Where one of the steps of `state` leads.
    fn take(&self, state: &Self::State, step: &Self::Step) -> Self::State;

    /// The steps that the program is known to have taken, from its start: those of a recorded run.
    fn path(&self) -> Vec<Self::Step> {
        Vec::new()
    }

    /// Who takes the step.
    fn activity(&self, step: &Self::Step) -> Activity;

    /// Whether the order of two steps of different activities can be told afterwards. When in doubt, it can.
    fn dependent(&self, a: &Self::Step, b: &Self::Step) -> bool;

    /// Whether nothing that other activities can ever do before this step is dependent on it. Such a step may as well be
    /// taken first, and a reduced search tries nothing else in that state.
    fn is_alone(&self, _state: &Self::State, _step: &Self::Step) -> bool {
        false
    }

    /// The kinds of operations that exist in this language: what breakpoints and steps apply follows from it.
    fn kinds(&self) -> &'static [OperationKind];

    /// What a step of `state` is, for breakpoints.
    fn operation<'a>(&'a self, state: &'a Self::State, step: &Self::Step) -> Operation<'a>;

    /// The activities that exist in `state`, in the order of their numbers.
    fn activities(&self, state: &Self::State) -> Vec<Activity>;

    /// The operation that began the turn (or transaction, or critical section) that the activity is in.
    fn turn<'a>(&'a self, _state: &'a Self::State, _activity: Activity) -> Option<Operation<'a>> {
        None
    }

    /// The same state, in which what the activity is about to send, or what it received to begin its turn, carries a
    /// mark. It carries it wherever it goes, and so does what comes of it (the resolution of its promise, the turn of a
    /// callback that waits for that): their operations are [`marked`](Operation::marked). Nothing else changes.
    fn mark(&self, state: &Self::State, activity: Activity, what: Marked) -> Self::State;

    /// The same state without any mark.
    fn unmark(&self, state: &Self::State) -> Self::State;

    /// Steps are to end before these lines of the source as well. The states of before remain valid. Returns the lines
    /// at which there is nothing to stop at.
    fn stop_at(&mut self, lines: &[u32]) -> Vec<u32> {
        lines.to_vec()
    }

    /// Operations of these kinds are to be steps from now on, where they are part of other steps so far. The states of before
    /// remain valid.
    fn refine(&mut self, _kinds: &[OperationKind]) {}

    /// Whether [`Operation::depth`] says how deep in calls an operation is. If not, there are no steps over or out of calls.
    fn has_calls(&self) -> bool {
        true
    }

    /// The operations that a breakpoint at a line stops before. In a language that can stop between operations, that is what
    /// goes on by itself.
    fn at_lines(&self) -> &'static [OperationKind] {
        &[OperationKind::Local]
    }

    /// How people call the activity, judging by `state`.
    fn name(&self, state: &Self::State, activity: Activity) -> String;

    /// What a step does, in a sentence without its subject, such as `sends double(12) to math`. Activities are called
    /// what `name` says.
    fn tell(
        &self,
        state: &Self::State,
        step: &Self::Step,
        name: &dyn Fn(Activity) -> String,
    ) -> String;

    /// What can be seen in `state`: a record with an entry for each activity, by name.
    fn observe(&self, state: &Self::State) -> Observation;

    /// What has come of the program so far, and who waits.
    fn ending(&self, state: &Self::State) -> Ending;

    /// The way to `state` in a text by which the program can be led there again, outside of the debugger.
    fn schedule(&self, _state: &Self::State) -> Option<String> {
        None
    }

    /// Memory that a state has to itself beyond its own size.
    fn state_bytes(&self, _state: &Self::State) -> usize {
        0
    }

    /// Memory that is shared by the states.
    fn shared_bytes(&self) -> usize {
        0
    }
}
