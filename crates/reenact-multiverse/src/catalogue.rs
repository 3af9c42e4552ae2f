//! The catalogue of breakpoints and steps, as data.
//!
//! It covers all concurrency models at once: each entry says to what operations and activities
//! it applies and what it does there, in terms of operations. The debugger interprets these entries and has no case for
//! any of them; a front end shows those that apply and needs no knowledge of a language.

use serde::Serialize;

use crate::{Marked, Operation, Semantics};

/// What executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActivityKind {
    /// A process of CSP.
    Process,
    /// An actor.
    Actor,
    /// A task.
    Task,
    /// A thread.
    Thread,
}

/// What an activity can be about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationKind {
    /// Sends a message to an actor.
    MessageSend,
    /// Sends a message to a promise.
    PromiseSend,
    /// Resolves a promise.
    Resolve,
    /// Begins the turn of a message.
    Turn,
    /// Begins the turn of a callback that waited for a promise.
    Callback,
    /// Sends into a channel.
    ChannelSend,
    /// Receives from a channel.
    ChannelReceive,
    /// Does the first of several channel operations that is possible.
    Select,
    /// Drops an end of a channel.
    ChannelClose,
    /// Creates an activity.
    Create,
    /// Does the first thing it does.
    Begin,
    /// Has nothing to do any more.
    End,
    /// Waits for the end of an activity.
    Join,
    /// Starts a transaction.
    TransactionStart,
    /// Commits a transaction.
    TransactionCommit,
    /// Takes a lock.
    Lock,
    /// Gives a lock back.
    Unlock,
    /// Begins to wait for a notification.
    Wait,
    /// Goes on after a notification, or because its time is up.
    Wake,
    /// Lets those go on who wait.
    Notify,
    /// Reads an atomic value.
    AtomicRead,
    /// Changes an atomic value.
    AtomicWrite,
    /// Arrives at a barrier.
    Barrier,
    /// Asks something whose answer depends on timing.
    Question,
    /// Asks the world outside.
    External,
    /// Takes one of several ways, with nobody else involved.
    Choice,
    /// Goes on by itself.
    Local,
}

impl OperationKind {
    /// What people read.
    pub fn name(self) -> &'static str {
        match self {
            Self::MessageSend => "message send",
            Self::PromiseSend => "message send to a promise",
            Self::Resolve => "resolution",
            Self::Turn => "turn",
            Self::Callback => "callback",
            Self::ChannelSend => "channel send",
            Self::ChannelReceive => "channel receive",
            Self::Select => "selection",
            Self::ChannelClose => "channel close",
            Self::Create => "creation",
            Self::Begin => "first action",
            Self::End => "end",
            Self::Join => "join",
            Self::TransactionStart => "transaction start",
            Self::TransactionCommit => "transaction commit",
            Self::Lock => "lock",
            Self::Unlock => "unlock",
            Self::Wait => "wait",
            Self::Wake => "wake",
            Self::Notify => "notification",
            Self::AtomicRead => "atomic read",
            Self::AtomicWrite => "atomic write",
            Self::Barrier => "barrier",
            Self::Question => "question",
            Self::External => "external call",
            Self::Choice => "choice",
            Self::Local => "local step",
        }
    }
}

use ActivityKind::{Actor, Process, Task, Thread};
use OperationKind as Op;

const EVERYONE: &[ActivityKind] = &[Process, Actor, Task, Thread];
const ACTORS: &[ActivityKind] = &[Actor];
const SENDS: &[Op] = &[Op::MessageSend, Op::PromiseSend];
const TURNS: &[Op] = &[Op::Turn, Op::Callback];

/// A kind of breakpoint.
#[derive(Debug, PartialEq, Eq, Hash, Serialize)]
pub struct BreakpointKind {
    /// What people type.
    pub name: &'static str,
    /// What people read.
    pub label: &'static str,
    /// The operations it applies to.
    pub operations: &'static [OperationKind],
    /// The activities that do these.
    pub activities: &'static [ActivityKind],
    /// Whether it stops the activity before the operation, or after it. After a turn means: when it has ended.
    pub is_before: bool,
    /// Whether the line that is given with it is the one of the send, for something that is received.
    pub is_by_sender: bool,
}

/// A kind of step: a breakpoint for the place to go to, and who runs to get there.
#[derive(Debug, PartialEq, Eq, Hash, Serialize)]
pub struct StepKind {
    /// What people type.
    pub name: &'static str,
    /// What people read.
    pub label: &'static str,
    /// The operations at which the activity must stand; empty if it does not matter.
    pub at: &'static [OperationKind],
    /// Whether the activity must be in a turn.
    pub is_within_turn: bool,
    /// Where it goes.
    pub goal: Goal,
    /// Who runs.
    pub freeing: Freeing,
}

/// Where a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Goal {
    /// To the next breakpoint.
    Resume,
    /// Nowhere: everyone is paused.
    Pause,
    /// To the end: this universe is left alone.
    Stop,
    /// To an operation.
    Operation {
        /// Of these kinds; any if empty.
        operations: &'static [OperationKind],
        /// Before it, or after it.
        is_before: bool,
        /// Which of those.
        whose: Whose,
    },
}

/// Which operation a step goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Whose {
    /// The activity's own next one.
    Own,
    /// The activity's own next one that is not deeper in calls.
    OwnNotDeeper,
    /// The activity's own next one that is less deep.
    OwnLessDeep,
    /// The one that what is marked leads to.
    Marked(Marked),
    /// The first one of an activity that does not exist yet.
    New,
    /// One on the same subject.
    SameSubject,
    /// One with the activity as the other party.
    WithIt,
}

/// Who runs during a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Freeing {
    /// Everyone.
    All,
    /// The activity does what it is about to do and is paused again; all others run.
    Others,
}

const fn before(
    name: &'static str,
    label: &'static str,
    operations: &'static [Op],
    activities: &'static [ActivityKind],
) -> BreakpointKind {
    BreakpointKind {
        name,
        label,
        operations,
        activities,
        is_before: true,
        is_by_sender: false,
    }
}

const fn after(of: BreakpointKind) -> BreakpointKind {
    BreakpointKind {
        is_before: false,
        ..of
    }
}

const fn by_sender(of: BreakpointKind) -> BreakpointKind {
    BreakpointKind {
        is_by_sender: true,
        ..of
    }
}

static BREAKPOINTS: [BreakpointKind; 21] = [
    before(
        "message-sender",
        "before a message is sent",
        SENDS,
        EVERYONE,
    ),
    by_sender(before(
        "message-receiver",
        "before a message is processed, by where it was sent",
        TURNS,
        ACTORS,
    )),
    before("before-turn", "before the turn of a method", TURNS, ACTORS),
    after(before(
        "after-turn",
        "after the turn of a method",
        TURNS,
        ACTORS,
    )),
    before(
        "resolver",
        "before a promise is resolved",
        &[Op::Resolve],
        ACTORS,
    ),
    before(
        "resolution",
        "before a callback runs because its promise is resolved",
        &[Op::Callback],
        ACTORS,
    ),
    before(
        "before-channel-send",
        "before a send into a channel",
        &[Op::ChannelSend],
        EVERYONE,
    ),
    after(before(
        "after-channel-send",
        "after a send into a channel",
        &[Op::ChannelSend],
        EVERYONE,
    )),
    before(
        "before-channel-receive",
        "before a receive from a channel",
        &[Op::ChannelReceive],
        EVERYONE,
    ),
    after(before(
        "after-channel-receive",
        "after a receive from a channel",
        &[Op::ChannelReceive],
        EVERYONE,
    )),
    before(
        "creation",
        "before an activity is created",
        &[Op::Create],
        EVERYONE,
    ),
    before(
        "begin",
        "before the first action of an activity",
        &[Op::Begin],
        EVERYONE,
    ),
    before(
        "before-join",
        "before waiting for the end of an activity",
        &[Op::Join],
        EVERYONE,
    ),
    after(before(
        "after-join",
        "after waiting for the end of an activity",
        &[Op::Join],
        EVERYONE,
    )),
    before(
        "before-transaction",
        "before a transaction starts",
        &[Op::TransactionStart],
        EVERYONE,
    ),
    before(
        "before-commit",
        "before a transaction commits",
        &[Op::TransactionCommit],
        EVERYONE,
    ),
    after(before(
        "after-commit",
        "after a transaction has committed",
        &[Op::TransactionCommit],
        EVERYONE,
    )),
    before(
        "before-lock",
        "before a lock is taken",
        &[Op::Lock],
        EVERYONE,
    ),
    after(before(
        "after-lock",
        "after a lock was taken",
        &[Op::Lock],
        EVERYONE,
    )),
    before(
        "before-unlock",
        "before a lock is given back",
        &[Op::Unlock],
        EVERYONE,
    ),
    after(before(
        "after-unlock",
        "after a lock was given back",
        &[Op::Unlock],
        EVERYONE,
    )),
];

const fn go(name: &'static str, label: &'static str, goal: Goal) -> StepKind {
    StepKind {
        name,
        label,
        at: &[],
        is_within_turn: false,
        goal,
        freeing: Freeing::All,
    }
}

const fn to(operations: &'static [Op], is_before: bool, whose: Whose) -> Goal {
    Goal::Operation {
        operations,
        is_before,
        whose,
    }
}

const fn at(operations: &'static [Op], of: StepKind) -> StepKind {
    StepKind {
        at: operations,
        ..of
    }
}

const fn within_turn(of: StepKind) -> StepKind {
    StepKind {
        is_within_turn: true,
        ..of
    }
}

const fn others(of: StepKind) -> StepKind {
    StepKind {
        freeing: Freeing::Others,
        ..of
    }
}

const SENT: Whose = Whose::Marked(Marked::Next);
const RECEIVED: Whose = Whose::Marked(Marked::Turn);

static STEPS: [StepKind; 19] = [
    go("resume", "run to the next breakpoint", Goal::Resume),
    go("pause", "pause everyone", Goal::Pause),
    go("stop", "leave this universe alone", Goal::Stop),
    go(
        "into",
        "to the next operation of this activity",
        to(&[], true, Whose::Own),
    ),
    go(
        "over",
        "…that is not deeper in calls",
        to(&[], true, Whose::OwnNotDeeper),
    ),
    go(
        "return",
        "…that is less deep in calls",
        to(&[], true, Whose::OwnLessDeep),
    ),
    at(
        &[Op::Create],
        go(
            "into-activity",
            "to the first action of what is created",
            to(&[], true, Whose::New),
        ),
    ),
    go(
        "return-from-activity",
        "to who waits for the end of this activity",
        to(&[Op::Join], false, Whose::WithIt),
    ),
    others(at(
        &[Op::ChannelSend],
        go(
            "to-channel-receiver",
            "to who receives it",
            to(&[Op::ChannelReceive], true, SENT),
        ),
    )),
    others(at(
        &[Op::ChannelReceive],
        go(
            "to-channel-sender",
            "to who sends into the channel",
            to(&[Op::ChannelSend], true, Whose::SameSubject),
        ),
    )),
    go(
        "to-next-transaction",
        "to the next transaction",
        to(&[Op::TransactionStart], true, Whose::Own),
    ),
    go(
        "to-commit",
        "to the commit",
        to(&[Op::TransactionCommit], true, Whose::Own),
    ),
    go(
        "after-commit",
        "to the end of the commit",
        to(&[Op::TransactionCommit], false, Whose::Own),
    ),
    others(at(
        SENDS,
        go(
            "to-receiver",
            "to where the message is processed",
            to(TURNS, true, SENT),
        ),
    )),
    others(at(
        SENDS,
        go(
            "to-resolver",
            "to where its promise is resolved",
            to(&[Op::Resolve], true, SENT),
        ),
    )),
    at(
        SENDS,
        go(
            "to-resolution",
            "to the callback that waits for its promise",
            to(&[Op::Callback], true, SENT),
        ),
    ),
    go(
        "next-turn",
        "to the next turn of this activity",
        to(TURNS, true, Whose::Own),
    ),
    within_turn(go(
        "end-of-turn",
        "to the end of this turn",
        to(TURNS, false, Whose::Own),
    )),
    within_turn(go(
        "return-to-resolution",
        "to the callback that waits for what this turn answers",
        to(&[Op::Callback], true, RECEIVED),
    )),
];

/// All kinds of breakpoints.
pub fn all_breakpoints() -> &'static [BreakpointKind] {
    &BREAKPOINTS
}

/// All kinds of steps.
pub fn all_steps() -> &'static [StepKind] {
    &STEPS
}

/// All kinds of breakpoints that make sense in a language.
pub fn breakpoints<S: Semantics>(language: &S) -> impl Iterator<Item = &'static BreakpointKind> {
    let kinds = language.kinds();
    BREAKPOINTS
        .iter()
        .filter(move |one| one.operations.iter().any(|kind| kinds.contains(kind)))
}

/// The kind of breakpoint with this name.
pub fn breakpoint(name: &str) -> Option<&'static BreakpointKind> {
    BREAKPOINTS.iter().find(|one| one.name == name)
}

/// All kinds of steps that make sense in a language.
pub fn steps<S: Semantics>(language: &S) -> impl Iterator<Item = &'static StepKind> {
    let kinds = language.kinds();
    let exists =
        move |some: &'static [Op]| some.is_empty() || some.iter().any(|kind| kinds.contains(kind));
    let has_calls = language.has_calls();
    STEPS.iter().filter(move |one| {
        exists(one.at)
            && (has_calls || !one.is_by_calls())
            && match one.goal {
                Goal::Operation { operations, .. } => exists(operations),
                _ => true,
            }
    })
}

/// The kind of step with this name.
pub fn step(name: &str) -> Option<&'static StepKind> {
    STEPS.iter().find(|one| one.name == name)
}

impl StepKind {
    /// Whether it goes by how deep in calls an operation is.
    pub fn is_by_calls(&self) -> bool {
        let Goal::Operation { whose, .. } = self.goal else {
            return false;
        };
        matches!(whose, Whose::OwnNotDeeper | Whose::OwnLessDeep)
    }

    /// Whether an activity that stands at `next`, in the turn `turn`, can take it.
    pub fn applies(&self, next: Option<&Operation<'_>>, turn: Option<&Operation<'_>>) -> bool {
        (self.at.is_empty() || next.is_some_and(|next| self.at.contains(&next.kind)))
            && (!self.is_within_turn || turn.is_some())
    }
}
