//! Operations of a Rust program, in sentences.
//!
//! The words are those of the operation itself, whoever has defined it.

use reenact_engine::Access;
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
    let other = doing.with.and_then(|with| seen.told.activity(with));
    match (doing.thing(), other) {
        (Some(thing), _) => with_object(operation, &doing.object, &seen.name(thing)),
        (None, Some(other)) => with_object(operation, &doing.object, &other.place),
        (None, None) => operation.to_owned(),
    }
}

/// The operation, about the object of this name: in place of "a channel", if it says that, or after it.
fn with_object(operation: &str, object: &str, name: &str) -> String {
    for article in ["a", "an"] {
        let general = format!("{article} {object}");
        if let Some((before, after)) = operation.split_once(&general) {
            return format!("{before}{name}{after}");
        }
    }
    match operation.contains(' ') {
        true => format!("{operation} ({name})"),
        false => format!("{operation} {name}"),
    }
}

/// From `try to lock` to `tries to lock`.
fn third_person(operation: &str) -> String {
    let (verb, rest) = match operation.find(' ') {
        Some(at) => operation.split_at(at),
        None => (operation, ""),
    };
    let is_vowel = |letter: char| "aeiou".contains(letter);
    match verb.strip_suffix('y') {
        Some(stem) if !stem.ends_with(is_vowel) => format!("{stem}ies{rest}"),
        _ if ["s", "x", "z", "ch", "sh", "o"]
            .iter()
            .any(|end| verb.ends_with(end)) =>
        {
            format!("{verb}es{rest}")
        }
        _ => format!("{verb}s{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_becomes_a_sentence() {
        for (operation, object, sentence) in [
            ("lock", "mutex", "locks it"),
            ("try to lock a mutex", "mutex", "tries to lock it"),
            ("arrive at a phaser", "phaser", "arrives at it"),
            ("read an rwlock", "rwlock", "reads it"),
            ("pass a barrier", "barrier", "passes it"),
            (
                "send to a channel, for some time",
                "channel",
                "sends to it, for some time",
            ),
            ("handle a message", "mailbox", "handles a message (it)"),
            ("unpark", "parking", "unparks it"),
            ("relay", "channel", "relays it"),
            ("notify", "condvar", "notifies it"),
        ] {
            assert_eq!(
                third_person(&with_object(operation, object, "it")),
                sentence
            );
        }
    }
}
