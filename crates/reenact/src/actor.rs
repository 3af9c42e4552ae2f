//! Actors: communicating event loops with promises.

mod broken;
mod cell;
mod chunk;
mod context;
mod far_ref;
mod mailbox;
mod ops;
mod promise;
mod stash;
mod system;
mod timer;
mod turns;

pub use self::{
    broken::Broken,
    context::Context,
    far_ref::{FarRef, SendError, Target},
    promise::{Promise, Resolver},
    system::{Builder, System, spawn},
};

/// What becomes of an actor when a turn panics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnPanic {
    /// It stops: its state may be in disorder.
    #[default]
    Stop,
    /// It goes on with the next message.
    Keep,
}
