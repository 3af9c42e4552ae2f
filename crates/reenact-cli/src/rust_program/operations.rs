//! Operations of a Rust program as text.
//!
//! The verbs and nouns come from the operation itself, so that any model can define its own.

use reenact_engine::{Access, third_person, with_object};
use reenact_multiverse::OperationKind;

use super::{answer::Doing, answer_cache::NamedAnswer};

/// The kinds of operations of a Rust program.
pub(super) static KINDS: [OperationKind; 24] = [
    OperationKind::MessageSend,
    OperationKind::Resolve,
    OperationKind::Turn,
    OperationKind::ChannelSend,
    OperationKind::ChannelReceive,
    OperationKind::Select,
    OperationKind::ChannelClose,
    OperationKind::Create,
    OperationKind::Begin,
    OperationKind::End,
    OperationKind::Join,
    OperationKind::TransactionCommit,
    OperationKind::Lock,
    OperationKind::Unlock,
    OperationKind::Wait,
    OperationKind::Wake,
    OperationKind::Notify,
    OperationKind::AtomicRead,
    OperationKind::AtomicWrite,
    OperationKind::Barrier,
    OperationKind::Question,
    OperationKind::External,
    OperationKind::Choice,
    OperationKind::Local,
];

/// The kinds of operations that no other activity can observe.
pub(super) static OWN: [OperationKind; 5] = [
    OperationKind::Create,
    OperationKind::Begin,
    OperationKind::End,
    OperationKind::Join,
    OperationKind::External,
];

/// Describes an operation without its subject, such as `locks mutex@12`. Adds which of its results it has if there are
/// several and `way` is known, and its file if that is not `file`.
pub(super) fn does(doing: &Doing, seen: &NamedAnswer, way: Option<u32>, file: &str) -> String {
    let mut text = third_person(&waits_to(doing, seen));
    if doing.ways > 1
        && let Some(way) = way
    {
        text += &format!(", way {} of {}", way + 1, doing.ways);
    }
    if doing.file != file && doing.site().is_some() {
        text += &format!(" in {}", doing.file);
    }
    text
}

/// Describes an operation in the infinitive, such as `lock mutex@12`.
pub(super) fn waits_to(doing: &Doing, seen: &NamedAnswer) -> String {
    if let Some(message) = &doing.message {
        return message.sentence(&seen.answer);
    }
    let is_release = doing.touches.first().map(|touch| touch.0) == Some(Access::Release);
    let operation = match is_release && !doing.operation.starts_with("unlock") {
        // The model has one name for acquiring and releasing.
        true => "unlock",
        false => &doing.operation,
    };
    match (doing.object(), &doing.with) {
        (Some(object), _) => with_object(operation, &doing.object, &seen.name(object)),
        (None, Some((_, other))) => with_object(operation, &doing.object, other),
        (None, None) => operation.to_owned(),
    }
}
