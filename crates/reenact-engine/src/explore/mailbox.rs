//! Mailboxes of light activities, where they are explored.

use std::panic::Location;

use super::{End, Name, Named, event::How, here, meet, thing::Passed, world::Meeting};
use crate::{Op, activity::Hot};

/// A message is about to be sent.
pub(crate) fn send(
    op: Op,
    mailbox: &Name,
    how: How,
    room: usize,
    site: &'static Location<'static>,
) {
    let Some(world) = here() else {
        return;
    };
    // Whether there is anything left to do can be asked by whoever sends from elsewhere.
    let idle = world.idle.cell();
    let from_outside = [(How::Read, idle, usize::MAX)];
    let more = match Hot::seat() {
        None => from_outside.as_slice(),
        Some(_) => &[],
    };
    world.meets(&Meeting {
        op,
        how,
        thing: mailbox.cell(),
        possible: None,
        room,
        more,
        awaits: &[],
        answers: 1,
        count: None,
        site,
    });
}

/// It has been.
pub(crate) fn has_sent(mailbox: &Name) {
    if let Some(world) = here() {
        world.passed(mailbox.cell(), Passed::Sent);
    }
}

/// A message, which is there, is about to be handled.
#[track_caller]
pub(crate) fn receive(op: Op, mailbox: &Name, room: usize) {
    if let Some(world) = here() {
        world.meets(&Meeting {
            op,
            how: How::Receive,
            thing: mailbox.cell(),
            // It would not be asked if there were none.
            possible: Some(&|| true),
            room,
            more: &[],
            awaits: &[],
            answers: 1,
            count: None,
            site: Location::caller(),
        });
        world.passed(mailbox.cell(), Passed::Received(0));
    }
}

/// Nothing more is received.
#[track_caller]
pub(crate) fn stop(op: Op, mailbox: &Name) {
    if meet(op, mailbox, How::StopReceiving, &|| true)
        && let Some(world) = here()
    {
        let stopped = Passed::Stopped(End::Receiving, true);
        world.passed(mailbox.cell(), stopped);
    }
}
