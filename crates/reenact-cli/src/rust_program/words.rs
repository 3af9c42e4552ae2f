//! Operations of a Rust program, in sentences.
//!
//! The words are those of the operation itself, whoever has defined it.

use reenact_engine::{Access, third_person, with_object};
use reenact_multiverse::OperationKind;

use super::{known::Seen, told::Doing};

/// What a Rust program can be about to do.
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

/// What concerns nobody else.
pub(super) static OWN: [OperationKind; 5] = [
    OperationKind::Create,
    OperationKind::Begin,
    OperationKind::End,
    OperationKind::Join,
    OperationKind::External,
];

/// What an operation does, in a sentence without its subject: `locks mutex@12`. With which of its ways, if it has several
/// and that is known; and in which file, if not in that of which people say the lines.
pub(super) fn does(doing: &Doing, seen: &Seen, way: Option<u32>, file: &str) -> String {
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

/// What somebody waits to do: `lock mutex@12`.
pub(super) fn waits_to(doing: &Doing, seen: &Seen) -> String {
    if let Some(message) = &doing.message {
        return message.sentence(&seen.told);
    }
    let is_release = doing.touches.first().map(|touch| touch.0) == Some(Access::Release);
    let operation = match is_release && !doing.operation.starts_with("unlock") {
        // Of a model that has one name for taking something and for giving it back.
        true => "unlock",
        false => &doing.operation,
    };
    match (doing.thing(), &doing.with) {
        (Some(thing), _) => with_object(operation, &doing.object, &seen.name(thing)),
        (None, Some((_, other))) => with_object(operation, &doing.object, other),
        (None, None) => operation.to_owned(),
    }
}
