//! Activities and operation kinds: the vocabulary that the engine, the strategies and the debugger share.

#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

/// An activity: an actor, a thread, a process, a task. The same number means the same activity in every execution of a
/// program, and in every universe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Activity(pub u32);

/// The kind of a pending operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
    /// Performs the first of several channel operations that is possible.
    Select,
    /// Drops an end of a channel.
    ChannelClose,
    /// Creates an activity.
    Create,
    /// Performs the first operation of an activity.
    Begin,
    /// Ends the activity.
    End,
    /// Waits for the end of an activity.
    Join,
    /// Starts a transaction.
    TransactionStart,
    /// Commits a transaction.
    TransactionCommit,
    /// Acquires a lock.
    Lock,
    /// Releases a lock.
    Unlock,
    /// Begins to wait for a notification.
    Wait,
    /// Continues after a notification or a timeout.
    Wake,
    /// Wakes waiters.
    Notify,
    /// Reads an atomic value.
    AtomicRead,
    /// Changes an atomic value.
    AtomicWrite,
    /// Arrives at a barrier.
    Barrier,
    /// Queries something whose answer depends on timing.
    Question,
    /// Queries an external source.
    External,
    /// Takes one of several choices, with no other activity involved.
    Choice,
    /// Continues with local computation.
    Local,
}

impl OperationKind {
    /// All operation kinds.
    pub const ALL: [OperationKind; 27] = [
        Self::MessageSend,
        Self::PromiseSend,
        Self::Resolve,
        Self::Turn,
        Self::Callback,
        Self::ChannelSend,
        Self::ChannelReceive,
        Self::Select,
        Self::ChannelClose,
        Self::Create,
        Self::Begin,
        Self::End,
        Self::Join,
        Self::TransactionStart,
        Self::TransactionCommit,
        Self::Lock,
        Self::Unlock,
        Self::Wait,
        Self::Wake,
        Self::Notify,
        Self::AtomicRead,
        Self::AtomicWrite,
        Self::Barrier,
        Self::Question,
        Self::External,
        Self::Choice,
        Self::Local,
    ];

    /// The identifier that programs exchange. The same as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MessageSend => "message-send",
            Self::PromiseSend => "promise-send",
            Self::Resolve => "resolve",
            Self::Turn => "turn",
            Self::Callback => "callback",
            Self::ChannelSend => "channel-send",
            Self::ChannelReceive => "channel-receive",
            Self::Select => "select",
            Self::ChannelClose => "channel-close",
            Self::Create => "create",
            Self::Begin => "begin",
            Self::End => "end",
            Self::Join => "join",
            Self::TransactionStart => "transaction-start",
            Self::TransactionCommit => "transaction-commit",
            Self::Lock => "lock",
            Self::Unlock => "unlock",
            Self::Wait => "wait",
            Self::Wake => "wake",
            Self::Notify => "notify",
            Self::AtomicRead => "atomic-read",
            Self::AtomicWrite => "atomic-write",
            Self::Barrier => "barrier",
            Self::Question => "question",
            Self::External => "external",
            Self::Choice => "choice",
            Self::Local => "local",
        }
    }

    /// The operation kind with this name.
    pub fn from_name(name: &str) -> Option<OperationKind> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// A noun for the object that such an operation usually concerns.
    pub const fn object(self) -> &'static str {
        match self {
            Self::MessageSend | Self::Turn | Self::Callback => "mailbox",
            Self::PromiseSend | Self::Resolve => "promise",
            Self::ChannelSend | Self::ChannelReceive | Self::Select | Self::ChannelClose => {
                "channel"
            }
            Self::Create | Self::Begin | Self::End | Self::Join => "activity",
            Self::TransactionStart | Self::TransactionCommit => "variable",
            Self::Lock | Self::Unlock => "lock",
            Self::Wait | Self::Wake | Self::Notify => "condvar",
            Self::AtomicRead | Self::AtomicWrite => "atomic",
            Self::Barrier => "barrier",
            Self::Question | Self::External | Self::Choice | Self::Local => "object",
        }
    }

    /// The name to show to users.
    pub fn label(self) -> &'static str {
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
