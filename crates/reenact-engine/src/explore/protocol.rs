//! What the command `reenact` and a program that it explores send each other.
//!
//! A search writes its [`Report`]s to a file. For single universes, the client listens on a socket. The program connects,
//! sends a [`Hello`], and then answers each [`Request`] with a [`Reply`] until the client disconnects. Each of them is a
//! message as [`send`] and [`receive`] encode it. A program that cannot be explored gives the reason by a [`refusal`].

use std::fmt;

use reenact_explore::{Activity, OperationKind, Progress, Step};
use serde::{Deserialize, Serialize};

pub use super::{
    message::{receive, send},
    subject::Granularity,
};
pub use crate::refusal::refusal;
use crate::{Access, ObjectName};

/// What a search reports.
#[derive(Debug, Serialize, Deserialize)]
pub enum Report {
    /// How far it is. There are any number of these.
    Progress(Progress),
    /// The result. This is the last report.
    Explored(ExplorationReport),
}

/// The result of a search.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ExplorationReport {
    /// What was found.
    pub exploration: Exploration,
    /// The schedules: one for each outcome, or that of the failure if it leads there each time.
    pub schedules: Vec<String>,
}

/// What a search found.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Exploration {
    /// The number of executions.
    pub executions: u64,
    /// What was explored, one sentence for each part.
    pub covered: Vec<String>,
    /// Whether nothing is left to explore.
    pub complete: bool,
    /// Why something is left to explore, one sentence for each reason.
    pub incomplete: Vec<String>,
    /// Why the exploration could not go on.
    pub obstacle: Option<String>,
    /// What went wrong in the execution that failed.
    pub failures: Vec<String>,
    /// The number of the execution that failed.
    pub execution: Option<u64>,
    /// Where the program does not follow the given schedule or recording. If it is a recording, nothing was explored.
    pub divergence: Option<String>,
    /// The schedule that leads to the failure, step by step.
    pub story: Option<String>,
    /// The outcomes near a recorded run.
    pub outcomes: Vec<FoundOutcome>,
}

/// An outcome that was found near a recorded run.
#[derive(Debug, Serialize, Deserialize)]
pub struct FoundOutcome {
    /// Its description.
    pub outcome: String,
    /// Whether it is a failure.
    pub bad: bool,
    /// The number of reorderings between the recorded execution and the closest one with this outcome.
    pub distance: u32,
    /// The number of executions with this outcome.
    pub count: u64,
}

/// The first message of a program.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Hello {
    /// The steps of the recorded run, if there is one.
    pub path: Vec<Step>,
    /// Why the program cannot follow the recorded run.
    pub divergence: Option<String>,
    /// Whether releasing a lock is a step.
    pub are_releases_steps: bool,
}

/// Requests the universe at the end of this path.
pub type Request = Vec<PathElement>;

/// An element of a path to a universe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathElement {
    /// Takes a step.
    Step(Step),
    /// Makes steps at least this fine from there on.
    Refine(Granularity),
}

/// A universe, or why there is none.
pub type Reply = Result<UniverseReport, String>;

/// A universe: the state of a program after some steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UniverseReport {
    /// The fingerprint of what has happened. The same one means the same universe.
    pub fingerprint: u128,
    /// The activities that have been created, by number.
    pub activities: Vec<ActivityReport>,
    /// The objects that are held or about to be used, with their names.
    pub objects: Vec<(u32, ObjectName)>,
    /// The objects that are held: the object, its holder, and where it was acquired.
    pub holders: Vec<(u32, u32, String)>,
    /// The objects that are shared: the object, and one of those that share it.
    pub sharers: Vec<(u32, u32)>,
    /// The watched values, by name.
    pub watched: Vec<(String, String)>,
    /// The lines of output so far.
    pub printed: Vec<String>,
    /// What went wrong, except for a deadlock.
    pub failures: Vec<String>,
    /// Whether the activities that wait will wait forever.
    pub is_deadlock: bool,
    /// How the process ended, if it has, as `waitpid` encodes it.
    pub exit: Option<i32>,
}

/// An activity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActivityReport {
    /// Its number.
    pub number: u32,
    /// Its place in the family tree, such as `main.2.0`.
    pub place: String,
    /// Its name in the program, or empty.
    pub name: String,
    /// What it does.
    pub status: ActivityStatus,
    /// Its last panic.
    pub panic: Option<String>,
    /// The messages that it has not handled yet.
    pub inbox: Vec<MessageReport>,
    /// The message that it is handling.
    pub turn: Option<MessageReport>,
    /// Its state when it was last between turns.
    pub state: Option<String>,
}

/// What an activity does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ActivityStatus {
    /// It is about to perform an operation.
    Pending(OperationReport),
    /// It waits for something that is not an operation.
    Waits(String),
    /// It has ended, or has nothing to do.
    Ended,
}

/// An operation that is about to happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationReport {
    /// Its name, as in "to lock".
    pub name: String,
    /// Its kind.
    pub kind: OperationKind,
    /// The noun for its object.
    pub noun: String,
    /// Whether it can happen now.
    pub is_enabled: bool,
    /// In how many ways it can happen.
    pub choices: u32,
    /// Its source location, if known.
    pub location: Option<SourceLocation>,
    /// The activity that is joined or created, and its place in the family tree.
    pub with: Option<(u32, String)>,
    /// How it uses objects, and which.
    pub touches: Vec<(Access, Option<u32>)>,
    /// The message that is sent or handled.
    pub message: Option<MessageReport>,
}

/// A message between activities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageReport {
    /// Its text, such as `double(12)`, or the name of a closure.
    pub label: String,
    /// The receiver if it is about to be sent, otherwise the sender.
    pub peer: u32,
    /// Whether it has been sent.
    pub is_sent: bool,
    /// Where it was sent, if known.
    pub sent_at: Option<SourceLocation>,
}

/// A position in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLocation {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SourceLocation { file, line, column } = self;
        write!(f, "{file}:{line}:{column}")
    }
}

impl UniverseReport {
    /// Returns an activity.
    pub fn activity(&self, activity: Activity) -> Option<&ActivityReport> {
        let all = &self.activities;
        let index = all.binary_search_by_key(&activity.0, |activity| activity.number);
        index.ok().map(|index| &all[index])
    }

    /// Returns the name of the object of an operation.
    pub fn object(&self, operation: &OperationReport) -> Option<&ObjectName> {
        let object = operation.object()?;
        let mut all = self.objects.iter();
        all.find_map(|(number, name)| (*number == object).then_some(name))
    }
}

impl OperationReport {
    /// Returns the object that it operates on.
    pub fn object(&self) -> Option<u32> {
        self.touches.first()?.1
    }
}
