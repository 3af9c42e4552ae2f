//! The state of the debugger in one universe: ⟨Bp, Bc, ds, C, As, K⟩.
//!
//! Everything that a rule needs is here and nothing else is, so that universes which go on in the same way are equal: lists
//! are kept in the order of the breakpoints' numbers, and what is remembered of the past goes as soon as nothing asks for it.

use std::collections::BTreeMap;

use crate::{Activity, Breakpoint, Operation, StepKind, What, temporal};

/// The breakpoints that a person has set, by number. A number is never used again.
#[derive(Clone, Debug, Default)]
pub struct Breakpoints {
    by_number: BTreeMap<u32, Breakpoint>,
    numbers: u32,
}

impl Breakpoints {
    /// Adds one and returns its number, from 1.
    pub fn add(&mut self, breakpoint: Breakpoint) -> u32 {
        self.numbers += 1;
        self.by_number.insert(self.numbers, breakpoint);
        self.numbers
    }

    /// Removes one.
    pub fn remove(&mut self, number: u32) -> Option<Breakpoint> {
        self.by_number.remove(&number)
    }

    /// The one with this number.
    pub fn get(&self, number: u32) -> Option<&Breakpoint> {
        self.by_number.get(&number)
    }

    /// All of them.
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
    /// Bp: what is to be checked before the next step of the program.
    pub pending: Vec<Point>,
    /// Bc: what was checked since its last step.
    pub checked: Vec<Point>,
    /// ds.
    pub mode: Mode,
    /// C: what was asked for.
    pub commands: Vec<Command>,
    /// As: how every activity stands, by number.
    pub activities: Vec<(Activity, Standing)>,
    /// What the last step of the program has done, while a breakpoint that stops *after* something is to be checked.
    pub done: Vec<Operation<'static>>,
    /// K: the program.
    pub base: K,
}

/// Something to be checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// A breakpoint on an operation, set by a person.
    User(u32),
    /// A breakpoint on a history, with the positions its automaton can be in.
    Temporal {
        /// Its number.
        breakpoint: u32,
        /// The positions.
        places: u64,
        /// Who has taken the step that makes it stop.
        hit: Option<Activity>,
    },
    /// What a message-receiver breakpoint for a line becomes when a message is about to be sent from there.
    Receiver {
        /// The breakpoint.
        breakpoint: u32,
        /// Who will receive it; nobody in particular if it is sent to a promise.
        receiver: Option<Activity>,
    },
    /// Where a step goes to: stops once.
    Goal(Box<Target>),
}

/// A step that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// Which one.
    pub step: &'static StepKind,
    /// Of whom.
    pub activity: Activity,
    /// How many times; goes down.
    pub count: u32,
    /// How deep in calls it was then.
    pub depth: u32,
    /// What it was about to operate on, if that matters.
    pub subject: Option<String>,
    /// Who was created, if that matters.
    pub created: Option<Activity>,
}

/// What the debugger does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// It runs the program.
    Run,
    /// It waits for a command.
    Pause(Cause),
    /// It leaves this universe alone.
    Stopped,
}

/// Why a universe is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A breakpoint was hit.
    Breakpoint(u32),
    /// A step has reached its goal.
    Step(&'static str),
    /// A person said so.
    Command,
}

/// What is asked of the debugger.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Everyone runs.
    Resume,
    /// Everyone is paused.
    Pause,
    /// This universe is left alone.
    Stop,
    /// A step, to be prepared.
    Step(Box<Target>),
    /// A step that is counted in its activity's state, prepared and not at its goal yet.
    Stepping(Box<Target>),
}

/// How an activity stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Standing {
    /// Whether it may take steps.
    pub state: ActivityState,
    /// The breakpoints that have stopped it where it still stands. They do so once: its next step clears this.
    pub passing: Vec<u32>,
}

/// Whether an activity may take steps. Whether it may or not, it receives what is sent to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActivityState {
    /// It may.
    Run,
    /// It may not: a breakpoint, a step or a person has stopped it.
    Pause,
    /// It may not while others can, because a step follows what it has sent.
    Hold,
    /// It may take one and is then on hold.
    Once,
    /// It may, and is stopped at the goal of its step after it has passed that many.
    Step(u32),
}

impl ActivityState {
    /// Whether it may take a step.
    pub fn is_free(self) -> bool {
        matches!(self, Self::Run | Self::Once | Self::Step(_))
    }
}

impl Standing {
    /// One that runs.
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

    /// What a person has set comes before what the debugger has added.
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

    /// Adds it where it belongs.
    pub(crate) fn insert(self, into: &mut Vec<Point>) {
        let at = into.partition_point(|other| other.order() < self.order());
        into.insert(at, self);
    }
}

impl<K> Configuration<K> {
    /// How an activity stands.
    pub fn standing(&self, activity: Activity) -> Option<&Standing> {
        let at = self
            .activities
            .binary_search_by_key(&activity, |(one, _)| *one)
            .ok()?;
        Some(&self.activities[at].1)
    }

    pub(crate) fn standing_mut(&mut self, activity: Activity) -> Option<&mut Standing> {
        let at = self
            .activities
            .binary_search_by_key(&activity, |(one, _)| *one)
            .ok()?;
        Some(&mut self.activities[at].1)
    }

    /// Whether an activity may take a step.
    pub fn is_free(&self, activity: Activity) -> bool {
        self.standing(activity)
            .is_some_and(|standing| standing.state.is_free())
    }

    /// The activities that a hit has stopped, or that a person has.
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

    /// When everything is checked, what was done is forgotten.
    pub(crate) fn forget(&mut self) {
        if self.pending.is_empty() {
            self.done = Vec::new();
        }
    }
}
