//! Operations of a Rust program: which they are in the catalogue, and how they are told.

use reenact_multiverse::OperationKind;

use super::{
    known::Seen,
    told::{Doing, Way},
};

/// What a Rust program can be about to do. It is not about to create an activity, to begin or to join: these concern nobody
/// else, so they are part of the step before them. The last one is a step only where somebody could tell when it happens.
static KINDS: [OperationKind; 10] = [
    OperationKind::Lock,
    OperationKind::ChannelSend,
    OperationKind::ChannelReceive,
    OperationKind::MessageSend,
    OperationKind::Turn,
    OperationKind::Resolve,
    OperationKind::TransactionCommit,
    OperationKind::Choice,
    OperationKind::Local,
    OperationKind::Unlock,
];

pub(super) fn kinds(has_unlocks: bool) -> &'static [OperationKind] {
    match has_unlocks {
        true => &KINDS,
        false => &KINDS[..KINDS.len() - 1],
    }
}

/// What an operation is in the catalogue.
pub(super) fn kind(doing: &Doing) -> OperationKind {
    let Some(&(way, _)) = doing.touches.first() else {
        return OperationKind::Local;
    };
    match way {
        Way::Take | Way::Look | Way::TryTake | Way::TryLook => OperationKind::Lock,
        Way::Release => OperationKind::Unlock,
        Way::Write if doing.is_resolution() => OperationKind::Resolve,
        Way::Send | Way::TrySend if doing.is_of_actor() => OperationKind::MessageSend,
        Way::Receive | Way::TryReceive if doing.is_of_actor() => OperationKind::Turn,
        Way::Send | Way::TrySend => OperationKind::ChannelSend,
        Way::Receive | Way::TryReceive => OperationKind::ChannelReceive,
        Way::Transact => OperationKind::TransactionCommit,
        Way::Choose => OperationKind::Choice,
        _ => OperationKind::Local,
    }
}

/// What an operation does, in a sentence without its subject: `takes lock@12`. With which of its ways, if it has several
/// and that is known; and in which file, if not in that of which people say the lines.
pub(super) fn does(doing: &Doing, seen: &Seen, way: Option<u32>, file: &str) -> String {
    let mut text = sentence(doing, seen, 0);
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

/// What somebody waits to do: `take lock@12`.
pub(super) fn waits_to(doing: &Doing, seen: &Seen) -> String {
    sentence(doing, seen, 1)
}

/// In the form of `takes`, or of `take`.
fn sentence(doing: &Doing, seen: &Seen, form: usize) -> String {
    if let Some(message) = &doing.message {
        return message.sentence(&seen.told, form);
    }
    let way = doing.touches.first().map_or(Way::Other, |touch| touch.0);
    let verbs = match way {
        Way::Take => ["takes", "take"],
        Way::Look => ["shares", "share"],
        Way::TryTake => ["tries to take", "try to take"],
        Way::TryLook => ["tries to share", "try to share"],
        Way::Release => ["gives back", "give back"],
        Way::Read => ["reads", "read"],
        Way::Write if doing.is_resolution() => ["resolves", "resolve"],
        Way::Write => ["changes", "change"],
        Way::Send => ["sends into", "send into"],
        Way::Receive if doing.is_of_actor() => ["handles a message of", "handle a message of"],
        Way::Receive => ["receives from", "receive from"],
        Way::TrySend => ["tries to send into", "try to send into"],
        Way::TryReceive => ["tries to receive from", "try to receive from"],
        Way::StopSending => ["stops sending into", "stop sending into"],
        Way::StopReceiving => ["stops receiving from", "stop receiving from"],
        Way::Wait => ["begins to wait for", "begin to wait for"],
        Way::Wake => ["goes on after", "be signalled by"],
        Way::Notify => ["signals", "signal"],
        Way::Transact => ["commits a transaction", "commit a transaction"],
        Way::Choose => ["chooses", "choose"],
        Way::Ask | Way::Other => ["does: ", "do: "],
    };
    let verb = verbs[form];
    match (way, doing.thing()) {
        (Way::Ask | Way::Other, _) => format!("{verb}{}", doing.operation),
        (Way::Transact | Way::Choose, _) | (_, None) => verb.to_owned(),
        (_, Some(thing)) => format!("{verb} {}", seen.name(thing)),
    }
}
