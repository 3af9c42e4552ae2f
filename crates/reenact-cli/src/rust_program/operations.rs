//! Operations of a Rust program as text.
//!
//! The verbs and nouns come from the operation itself, so that any model can define its own.

use reenact_engine::{Access, explore::protocol::OperationReport, third_person, with_object};
use reenact_multiverse::OperationKind;

use super::{message, report_cache::NamedReport};

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
pub(super) fn does(
    operation: &OperationReport,
    seen: &NamedReport,
    way: Option<u32>,
    file: &str,
) -> String {
    let mut text = third_person(&waits_to(operation, seen));
    if operation.choices > 1
        && let Some(way) = way
    {
        text += &format!(", way {} of {}", way + 1, operation.choices);
    }
    if let Some(location) = &operation.location
        && location.file != file
    {
        text += &format!(" in {}", location.file);
    }
    text
}

/// Describes an operation in the infinitive, such as `lock mutex@12`.
pub(super) fn waits_to(operation: &OperationReport, seen: &NamedReport) -> String {
    if let Some(message) = &operation.message {
        return message::sentence(message, &seen.report);
    }
    let is_release = operation.touches.first().map(|touch| touch.0) == Some(Access::Release);
    let name = match is_release && !operation.name.starts_with("unlock") {
        // The model has one name for acquiring and releasing.
        true => "unlock",
        false => &operation.name,
    };
    match (operation.object(), &operation.with) {
        (Some(object), _) => with_object(name, &operation.noun, &seen.name(object)),
        (None, Some((_, other))) => with_object(name, &operation.noun, other),
        (None, None) => name.to_owned(),
    }
}
