//! The state of the debugger in one universe: ⟨Bp, Bc, ds, C, As, K⟩.
//!
//! It contains everything that a rule needs and nothing else, so that universes that behave the same are equal: lists
//! are sorted by breakpoint number, and data about the past is dropped as soon as nothing needs it.

use std::collections::BTreeMap;

use crate::{Activity, Breakpoint, Operation, StepKind, What, temporal};

/// The user's breakpoints, by number. Numbers are not reused.
#[derive(Clone, Debug, Default)]
pub struct Breakpoints {
    by_number: BTreeMap<u32, Breakpoint>,
    numbers: u32,
}

impl Breakpoints {
    /// Adds a breakpoint and returns its number, from 1.
    pub fn add(&mut self, breakpoint: Breakpoint) -> u32 {
        self.numbers += 1;
        self.by_number.insert(self.numbers, breakpoint);
        self.numbers
    }

    /// Removes a breakpoint.
    pub fn remove(&mut self, number: u32) -> Option<Breakpoint> {
        self.by_number.remove(&number)
    }

    /// The breakpoint with this number.
    pub fn get(&self, number: u32) -> Option<&Breakpoint> {
        self.by_number.get(&number)
    }

    /// All breakpoints.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Breakpoint)> {
        self.by_number
            .iter()
            .map(|(number, breakpoint)| (*number, breakpoint))
    }
}

impl FromIterator<Breakpoint> for Breakpoints {
    fn from_iter<I: IntoIterator<Item = Breakpoint>>(all: I) -> Self {
        let mut breakpoints = Self::default();
        for breakpoint in all {
            breakpoints.add(breakpoint);
        }
        breakpoints
    }
}

/// The debugger in one universe.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Configuration<K> {
    /// Bp: what has to be checked before the next step of the program.
    pub pending: Vec<Point>,
    /// Bc: what was checked since the last step of the program.
    pub checked: Vec<Point>,
    /// ds: whether the debugger runs, waits or has stopped.
    pub mode: DebuggerMode,
    /// C: the commands.
    pub commands: Vec<DebuggerCommand>,
    /// As: the debugger state of every activity, by number.
    pub activities: Vec<(Activity, ActivityRecord)>,
    /// What the last step of the program has done, while a breakpoint that stops *after* an operation is still to be
    /// checked.
    pub done: Vec<Operation<'static>>,
    /// K: the program.
    pub base: K,
}

/// A point to check.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// A user breakpoint on an operation.
    User(u32),
    /// A breakpoint on a history, with the possible positions of its automaton.
    Temporal {
        /// The number of the breakpoint.
        breakpoint: u32,
        /// The positions.
        places: u64,
        /// The activity whose step triggers it.
        hit: Option<Activity>,
    },
    /// Created by a message-receiver breakpoint for a line when a message is about to be sent from there.
    Receiver {
        /// The breakpoint.
        breakpoint: u32,
        /// The receiver. `None`, for any receiver, if the message is sent to a promise.
        receiver: Option<Activity>,
    },
    /// The goal of a step: stops once.
    Goal(Box<RequestedStep>),
}

/// A step that was requested.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestedStep {
    /// The kind of step.
    pub step: &'static StepKind,
    /// The activity that takes it.
    pub activity: Activity,
    /// The remaining repetitions.
    pub count: u32,
    /// The call depth when it was requested.
    pub depth: u32,
    /// The subject of the pending operation, if the goal depends on it.
    pub subject: Option<String>,
    /// The activity that was created, if the goal depends on it.
    pub created: Option<Activity>,
}

/// What the debugger does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DebuggerMode {
    /// It runs the program.
    Run,
    /// It waits for a command.
    Pause(PauseCause),
    /// It has abandoned this universe.
    Stopped,
}

/// Why a universe is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PauseCause {
    /// A breakpoint was hit.
    Breakpoint(u32),
    /// A step has reached its goal.
    Step(&'static str),
    /// A user command.
    Command,
}

/// A command to the debugger.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DebuggerCommand {
    /// All activities run.
    Resume,
    /// All activities are paused.
    Pause,
    /// This universe is abandoned.
    Stop,
    /// A step, to be prepared.
    Step(Box<RequestedStep>),
    /// A counted step, prepared and not at its goal yet. The count is in its activity's state.
    Stepping(Box<RequestedStep>),
}

/// The debugger state of an activity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ActivityRecord {
    /// Whether it may take steps.
    pub state: ActivityState,
    /// The breakpoints that have stopped it at its current position. They stop it only once there: its next step clears
    /// this.
    pub passing: Vec<u32>,
}

/// Whether an activity may take steps. It receives what is sent to it in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActivityState {
    /// It may take steps.
    Run,
    /// It may not: a breakpoint, a step or a user command has stopped it.
    Pause,
    /// It may not while others can, because a step follows what it has sent.
    Hold,
    /// It may take one step and is then on hold.
    Once,
    /// It may, and stops at the goal of its step after passing that many.
    Step(u32),
}

impl ActivityState {
    /// Returns whether it may take a step.
    pub fn is_free(self) -> bool {
        matches!(self, Self::Run | Self::Once | Self::Step(_))
    }
}

impl ActivityRecord {
    /// An activity that runs.
    pub(crate) const RUN: Self = Self {
        state: ActivityState::Run,
        passing: Vec::new(),
    };
}

impl Point {
    pub(crate) fn of(number: u32, breakpoint: &Breakpoint) -> Self {
        match breakpoint.what {
            What::Operation(_) => Point::User(number),
            What::Temporal(_) => Point::Temporal {
                breakpoint: number,
                places: temporal::START,
                hit: None,
            },
        }
    }

    /// The breakpoint that it belongs to.
    pub fn breakpoint(&self) -> Option<u32> {
        match self {
            Point::User(breakpoint)
            | Point::Temporal { breakpoint, .. }
            | Point::Receiver { breakpoint, .. } => Some(*breakpoint),
            Point::Goal(_) => None,
        }
    }

    /// User breakpoints come before points that the debugger has added.
    fn order(&self) -> (u8, u32, Option<Activity>) {
        match self {
            Point::User(breakpoint) | Point::Temporal { breakpoint, .. } => (0, *breakpoint, None),
            Point::Receiver {
                breakpoint,
                receiver,
            } => (1, *breakpoint, *receiver),
            Point::Goal(_) => (2, 0, None),
        }
    }

    /// Inserts it at its place in the order.
    pub(crate) fn insert(self, into: &mut Vec<Point>) {
        let at = into.partition_point(|other| other.order() < self.order());
        into.insert(at, self);
    }
}

impl<K> Configuration<K> {
    /// The debugger state of an activity.
    pub fn standing(&self, activity: Activity) -> Option<&ActivityRecord> {
        let at = self
            .activities
            .binary_search_by_key(&activity, |(one, _)| *one)
            .ok()?;
        Some(&self.activities[at].1)
    }

    pub(crate) fn standing_mut(&mut self, activity: Activity) -> Option<&mut ActivityRecord> {
        let at = self
            .activities
            .binary_search_by_key(&activity, |(one, _)| *one)
            .ok()?;
        Some(&mut self.activities[at].1)
    }

    /// Returns whether an activity may take a step.
    pub fn is_free(&self, activity: Activity) -> bool {
        self.standing(activity)
            .is_some_and(|standing| standing.state.is_free())
    }

    /// The activities that were stopped by a hit or by the user.
    pub fn paused(&self) -> impl Iterator<Item = Activity> {
        self.activities
            .iter()
            .filter(|(_, standing)| standing.state == ActivityState::Pause)
            .map(|(activity, _)| *activity)
    }

    /// Everything that is checked between two steps.
    pub fn points(&self) -> impl Iterator<Item = &Point> {
        self.checked.iter().chain(&self.pending)
    }

    pub(crate) fn points_mut(&mut self) -> impl Iterator<Item = &mut Vec<Point>> {
        [&mut self.checked, &mut self.pending].into_iter()
    }

    /// Drops what was done once everything is checked.
    pub(crate) fn forget(&mut self) {
        if self.pending.is_empty() {
            self.done = Vec::new();
        }
    }
}
