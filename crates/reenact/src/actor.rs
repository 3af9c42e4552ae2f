//! Actors: communicating event loops with promises.
//!
//! An actor is a value that nobody else can touch, a mailbox, and nothing more. Others have *far references* to it,
//! through which they send messages; it handles one at a time, each in a *turn* of its own. What is not known yet is a
//! *promise*: it can be waited for by threads, continued by actors ([`Promise::when`]), and sent to. Nothing in an actor
//! needs a lock, and no actor ever blocks on another. Actors are cheap: an idle one is one small allocation.
//!
//! It is for programs that are many small state machines, and for those that are easier to understand as such: servers,
//! games, simulations, pipelines, anything that would otherwise be threads around locks. It is not for number crunching
//! over shared arrays, nor for waiting on sockets: a turn that blocks keeps one of the few workers. Actors are in one
//! process; there is no supervision and no network here.
//!
//! `docs/actors.md` in the repository is a guide from the first actor to the replay of a bad order of messages.
//!
//! ```
//! use reenact::actor::{Context, FarRef, Promise, spawn};
//!
//! struct Account {
//!     balance: i64,
//! }
//!
//! #[reenact::actor]
//! impl Account {
//!     /// Sent one way.
//!     pub fn deposit(&mut self, amount: i64) {
//!         self.balance += amount;
//!     }
//!
//!     /// Answered by a promise.
//!     pub fn balance(&self) -> i64 {
//!         self.balance
//!     }
//!
//!     /// Answered by the promise that it returns.
//!     pub fn move_all(&mut self, ctx: &mut Context<Self>, to: FarRef<Account>) -> Promise<i64> {
//!         to.deposit(self.balance);
//!         self.balance = 0;
//!         to.balance().when(ctx, |_this, _ctx, balance| balance)
//!     }
//! }
//!
//! let [ours, yours] = [10, 20].map(|balance| spawn(Account { balance }));
//! ours.deposit(5);
//! assert_eq!(ours.move_all(yours).wait().unwrap(), 35);
//! assert_eq!(ours.balance().wait().unwrap(), 0);
//! ```
//!
//! # What is guaranteed
//!
//! - Turns of one actor do not overlap, and each runs to its end.
//! - Messages from one sender to one actor arrive in the order in which they were sent. Those sent to a promise are
//!   passed on in the order in which they came to it, before anybody is told that it is resolved.
//! - What is sent before a promise is resolved is in its mailbox before whoever waits for that promise goes on.
//! - A promise is settled once, or its resolvers are still there. One that nobody can settle any more is broken.
//! - Messages carry only what is owned and [`Send`], so an actor's state cannot get out by accident.
//!
//! # Nondeterminism
//!
//! - **What can go more than one way:** in which order an actor handles messages of different senders; among these are
//!   its own continuations, which come when promises are settled, and messages that were sent to a promise. Whether there
//!   was room in a bounded mailbox; which of several resolvers was first; whether the time was up before a thread's promise
//!   was settled; how many workers there are. Which worker runs an actor, and when, cannot be told by the program.
//! - **What is recorded:** of each message, whose it is, unless it is the one that was predicted: after a message of a sender
//!   comes one of whoever followed that sender last time; the first time one of the same sender, or after two whose numbers
//!   are neighbours, of the next in that order. A continuation is known by its number among those of its actor, a message through a
//!   promise by its number among those that its sender sent that way. With the other strategy (`REENACT_STRATEGY=sender`)
//!   senders record instead which position in its receiver's order a message got, unless nobody else has sent to it since;
//!   continuations and what goes through promises remain with the receiver. The other four as choices: only where there
//!   was no room, the resolver came too late, the time was up; and the number of workers.
//! - **What replay waits for:** an actor handles only the message that is next, and keeps those that come too early. It
//!   blocks no worker for that: it is idle until the message is there. Timers fire at once; threads that wait for a promise
//!   wait for it to be settled.
//! - **What exploration branches on:** in which order messages come into the mailbox of an actor, each of which is sent in a
//!   step of its own, and handled in another. What is done to a promise is a step: settling it, asking for what it becomes, dropping
//!   a resolver that has not tried to settle it; passing on what was sent to it are others. A timer fires when the schedule says so, and whether
//!   time is up before a promise is settled is up to it, too. To wait until there is no work left is a step, and what follows
//!   comes after all turns.
//! - **What is dependent:** two sends to the same mailbox; a send and the end of the actor; sends to a bounded mailbox and the turns that
//!   make room in it. Whatever is done to the same promise. Waiting until there is no work left, and sends by who is not an actor.

mod broken;
mod cell;
mod chunk;
mod context;
mod far_ref;
#[doc(hidden)]
pub mod inspect;
mod mailbox;
mod message;
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
