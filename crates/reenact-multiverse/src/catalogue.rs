//! The catalogue of breakpoints and steps, as data.
//!
//! It covers all concurrency models at once: each entry states to which operations and activities it applies and what
//! it does, in terms of operations. The debugger interprets these entries and special-cases none of them; a front end
//! shows the entries that apply and needs no knowledge of a language.

use serde::Serialize;

use crate::{Marked, Operation, OperationKind, Semantics};

/// A kind of activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActivityKind {
    /// A CSP process.
    Process,
    /// An actor.
    Actor,
    /// A task.
    Task,
    /// A thread.
    Thread,
}

use ActivityKind::{Actor, Process, Task, Thread};
use OperationKind as Op;

const EVERYONE: &[ActivityKind] = &[Process, Actor, Task, Thread];
const ACTORS: &[ActivityKind] = &[Actor];
const TURNS: &[Op] = &[Op::Turn, Op::Callback];

/// A kind of breakpoint.
#[derive(Debug, PartialEq, Eq, Hash, Serialize)]
pub struct BreakpointKind {
    /// The name that users type.
    pub name: &'static str,
    /// The description that users read.
    pub label: &'static str,
    /// The operations it applies to.
    pub operations: &'static [OperationKind],
    /// The activities that perform them.
    pub activities: &'static [ActivityKind],
    /// Whether it stops the activity before or after the operation. After a turn means when the turn has ended.
    pub is_before: bool,
    /// Whether its line, for a received message, is the line of the send.
    pub is_by_sender: bool,
}

/// A kind of step: a goal, and which activities run to get there.
#[derive(Debug, PartialEq, Eq, Hash, Serialize)]
pub struct StepKind {
    /// The name that users type.
    pub name: &'static str,
    /// The description that users read.
    pub label: &'static str,
    /// The operations at which the activity must be; empty for any.
    pub at: &'static [OperationKind],
    /// Whether the activity must be in a turn.
    pub is_within_turn: bool,
    /// The goal of the step.
    pub goal: Goal,
    /// Which activities run.
    pub freeing: Freeing,
}

/// The goal of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Goal {
    /// The next breakpoint.
    Resume,
    /// None: all activities are paused.
    Pause,
    /// None: this universe is abandoned.
    Stop,
    /// An operation.
    Operation {
        /// The kinds of operations; empty for any.
        operations: &'static [OperationKind],
        /// Whether to stop before or after the operation.
        is_before: bool,
        /// Which operation of these kinds.
        whose: Whose,
    },
}

/// Which operation a step goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Whose {
    /// The next operation of the activity.
    Own,
    /// The next operation of the activity that is not deeper in calls.
    OwnNotDeeper,
    /// The next operation of the activity that is less deep in calls.
    OwnLessDeep,
    /// The operation that the mark leads to.
    Marked(Marked),
    /// The first operation of an activity that does not exist yet.
    New,
    /// An operation on the same subject, of another activity.
    SameSubject,
    /// An operation with the activity as the other party.
    WithIt,
}

/// Which activities run during a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Freeing {
    /// All activities.
    All,
    /// All other activities; the activity itself performs its pending operation and is then on hold.
    Others,
}

const fn before(
    name: &'static str,
    label: &'static str,
    operations: &'static [Op],
) -> BreakpointKind {
    BreakpointKind {
        name,
        label,
        operations,
        activities: EVERYONE,
        is_before: true,
        is_by_sender: false,
    }
}

const fn after(
    name: &'static str,
    label: &'static str,
    operations: &'static [Op],
) -> BreakpointKind {
    BreakpointKind {
        is_before: false,
        ..before(name, label, operations)
    }
}

/// Only actors perform these operations.
const fn by_actors(of: BreakpointKind) -> BreakpointKind {
    BreakpointKind {
        activities: ACTORS,
        ..of
    }
}

const fn by_sender(of: BreakpointKind) -> BreakpointKind {
    BreakpointKind {
        is_by_sender: true,
        ..of
    }
}

/// A row for each kind: before or after which operations it stops, its name, its label, and what else it is.
macro_rules! breakpoints {
    ($($when:ident [$($operation:ident),+] $name:literal: $label:literal $(, $more:ident)*;)*) => {
        [$({
            let kind = $when($name, $label, &[$(Op::$operation),+]);
            $(let kind = $more(kind);)*
            kind
        }),*]
    };
}

static BREAKPOINTS: [BreakpointKind; 47] = breakpoints! {
    before [MessageSend, PromiseSend] "message-sender": "before a message is sent";
    before [Turn, Callback] "message-receiver": "before a message is processed, by where it was sent", by_sender, by_actors;
    before [Turn, Callback] "before-turn": "before the turn of a method", by_actors;
    after [Turn, Callback] "after-turn": "after the turn of a method", by_actors;
    before [Resolve] "resolver": "before a promise is resolved", by_actors;
    before [Callback] "resolution": "before a callback runs because its promise is resolved", by_actors;
    before [ChannelSend] "before-channel-send": "before a send into a channel";
    after [ChannelSend] "after-channel-send": "after a send into a channel";
    before [ChannelReceive] "before-channel-receive": "before a receive from a channel";
    after [ChannelReceive] "after-channel-receive": "after a receive from a channel";
    before [Select] "before-select": "before a selection from several channels";
    after [Select] "after-select": "after a selection from several channels";
    before [ChannelClose] "before-channel-close": "before an end of a channel is dropped";
    after [ChannelClose] "after-channel-close": "after an end of a channel was dropped";
    before [Create] "creation": "before an activity is created";
    after [Create] "after-creation": "after an activity was created";
    before [Begin] "begin": "before the first action of an activity";
    after [Begin] "after-begin": "after the first action of an activity";
    before [End] "before-end": "before the end of an activity";
    after [End] "after-end": "after the end of an activity";
    before [Join] "before-join": "before waiting for the end of an activity";
    after [Join] "after-join": "after waiting for the end of an activity";
    before [TransactionStart] "before-transaction": "before a transaction starts";
    before [TransactionCommit] "before-commit": "before a transaction commits";
    after [TransactionCommit] "after-commit": "after a transaction has committed";
    before [Lock] "before-lock": "before a lock is taken";
    after [Lock] "after-lock": "after a lock was taken";
    before [Unlock] "before-unlock": "before a lock is released";
    after [Unlock] "after-unlock": "after a lock was released";
    before [Wait] "before-wait": "before an activity begins to wait for a notification";
    after [Wait] "after-wait": "after an activity has begun to wait for a notification";
    before [Wake] "before-wake": "before an activity wakes up";
    after [Wake] "after-wake": "after an activity has woken up";
    before [Notify] "before-notify": "before a notification";
    after [Notify] "after-notify": "after a notification";
    before [AtomicRead] "before-atomic-read": "before an atomic value is read";
    after [AtomicRead] "after-atomic-read": "after an atomic value was read";
    before [AtomicWrite] "before-atomic-write": "before an atomic value is changed";
    after [AtomicWrite] "after-atomic-write": "after an atomic value was changed";
    before [Barrier] "before-barrier": "before an activity arrives at a barrier";
    after [Barrier] "after-barrier": "after an activity has arrived at a barrier";
    before [Question] "before-question": "before a question whose answer depends on timing";
    after [Question] "after-question": "after a question whose answer depends on timing";
    before [External] "before-external": "before external input is read";
    after [External] "after-external": "after external input was read";
    before [Choice] "before-choice": "before a choice";
    after [Choice] "after-choice": "after a choice";
};

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

/// A row for each kind: its name, the operations at which it can be taken (any, if there are none), its label, where it
/// leads, and what else it is.
macro_rules! steps {
    ($($name:literal $(at [$($at:ident),+])?: $label:literal => $goal:expr $(, $more:ident)*;)*) => {
        [$({
            let kind = go($name, $label, $goal);
            $(let kind = at(&[$(Op::$at),+], kind);)?
            $(let kind = $more(kind);)*
            kind
        }),*]
    };
}

static STEPS: [StepKind; 19] = steps! {
    "resume": "run to the next breakpoint" => Goal::Resume;
    "pause": "pause all activities" => Goal::Pause;
    "stop": "stop running this universe" => Goal::Stop;
    "into": "to the next operation of this activity" => to(&[], true, Whose::Own);
    "over": "…that is not deeper in calls" => to(&[], true, Whose::OwnNotDeeper);
    "return": "…that is less deep in calls" => to(&[], true, Whose::OwnLessDeep);
    "into-activity" at [Create]: "to the first action of what is created" => to(&[], true, Whose::New);
    "return-from-activity": "to the activity that joins this one" => to(&[Op::Join], false, Whose::WithIt);
    "to-channel-receiver" at [ChannelSend]: "to the activity that receives it" => to(&[Op::ChannelReceive], true, SENT), others;
    "to-channel-sender" at [ChannelReceive]: "to the activity that sends into the channel" => to(&[Op::ChannelSend], true, Whose::SameSubject), others;
    "to-next-transaction": "to the next transaction" => to(&[Op::TransactionStart], true, Whose::Own);
    "to-commit": "to the commit" => to(&[Op::TransactionCommit], true, Whose::Own);
    "after-commit": "to the end of the commit" => to(&[Op::TransactionCommit], false, Whose::Own);
    "to-receiver" at [MessageSend, PromiseSend]: "to where the message is processed" => to(TURNS, true, SENT), others;
    "to-resolver" at [MessageSend, PromiseSend]: "to where its promise is resolved" => to(&[Op::Resolve], true, SENT), others;
    "to-resolution" at [MessageSend, PromiseSend]: "to the callback that waits for its promise" => to(&[Op::Callback], true, SENT);
    "next-turn": "to the next turn of this activity" => to(TURNS, true, Whose::Own);
    "end-of-turn": "to the end of this turn" => to(TURNS, false, Whose::Own), within_turn;
    "return-to-resolution": "to the callback that waits for what this turn answers" => to(&[Op::Callback], true, RECEIVED), within_turn;
};

/// All kinds of breakpoints.
pub fn all_breakpoints() -> &'static [BreakpointKind] {
    &BREAKPOINTS
}

/// All kinds of steps.
pub fn all_steps() -> &'static [StepKind] {
    &STEPS
}

/// The kinds of breakpoints that apply to a language.
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

/// The kinds of steps that apply to a language.
pub fn steps<S: Semantics>(language: &S) -> impl Iterator<Item = &'static StepKind> {
    let kinds = language.kinds();
    let exists =
        move |some: &'static [Op]| some.is_empty() || some.iter().any(|kind| kinds.contains(kind));
    let has_calls = language.has_calls();
    STEPS.iter().filter(move |one| {
        (has_calls || !one.is_about_calls())
            && exists(one.at)
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
    /// Returns whether the step depends on the call depth of operations.
    pub fn is_about_calls(&self) -> bool {
        let Goal::Operation { whose, .. } = self.goal else {
            return false;
        };
        matches!(whose, Whose::OwnNotDeeper | Whose::OwnLessDeep)
    }

    /// Returns whether an activity with the pending operation `next`, in the turn `turn`, can take it.
    pub fn applies(&self, next: Option<&Operation<'_>>, turn: Option<&Operation<'_>>) -> bool {
        (self.at.is_empty() || next.is_some_and(|next| self.at.contains(&next.kind)))
            && (!self.is_within_turn || turn.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_operation_is_found_by_its_name() {
        for kind in OperationKind::ALL {
            assert_eq!(OperationKind::from_name(kind.name()), Some(kind));
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("\"{}\"", kind.name()));
        }
        assert_eq!(OperationKind::from_name("borrow"), None);
    }
}
