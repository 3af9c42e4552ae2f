//! Actors of generated programs.

use reenact::actor::{Builder, OnPanic, System};

/// An actor that goes on after a panic or does not, with so much room in its mailbox.
pub(crate) fn build_actor(system: System, keeps: bool, mailbox: Option<u32>) -> Builder {
    let builder = system.build().on_panic(match keeps {
        true => OnPanic::Keep,
        false => OnPanic::Stop,
    });
    match mailbox {
        Some(room) => builder.mailbox(room.max(1)),
        None => builder,
    }
}
