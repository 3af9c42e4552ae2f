//! Actors: communicating event loops with promises.
//!
//! An actor has a state that nothing else can access, and a mailbox. Others hold *far references* to it, through which
//! they send messages; the actor handles one message at a time, each in its own *turn*. A result that is not known yet
//! is a *promise*: threads can wait for it, actors can continue when it is settled ([`Promise::when`]), and messages
//! can be sent to it. Nothing in an actor needs a lock, and no actor ever blocks on another. Actors are cheap: an idle
//! one is one small allocation.
//!
//! Actors suit programs that consist of many small state machines, or are easier to understand as such: servers, games,
//! simulations, pipelines, anything that would otherwise be threads around locks. They do not suit number crunching
//! over shared arrays, nor waiting on sockets: a turn that blocks occupies one of the few workers. All actors live in
//! one process; there is no supervision and no networking.
//!
//! `docs/actors.md` in the repository is a guide, from the first actor to the replay of a bad message order.
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
//! # Guarantees
//!
//! - Turns of one actor do not overlap, and each runs to its end.
//! - Messages from one sender to one actor arrive in the order in which they were sent. Messages sent to a promise are
//!   forwarded in the order in which they reached it, before anyone observes that it is resolved.
//! - A message sent before a promise is resolved is in its receiver's mailbox before any activity that waits for that
//!   promise continues.
//! - A promise is settled at most once. A promise that can no longer be settled, because its last resolver is gone, is
//!   broken.
//! - Messages carry only owned, [`Send`] data, so an actor's state cannot leak by accident.
//!
//! # Nondeterminism
//!
//! - **What can go more than one way:** the order in which an actor handles messages of different senders; these
//!   include its own continuations, which arrive when promises are settled, and messages that were sent to a promise.
//!   Whether there was room in a bounded mailbox; which of several resolvers was first; whether the time limit expired
//!   before a thread's promise was settled; how many workers there are. The program cannot observe which worker runs an
//!   actor, or when.
//! - **What is recorded:** the sender of each message, unless it was predicted. After a message of a sender, the
//!   prediction is the sender that followed it last time; the first time, it is the same sender again or, after two
//!   senders with consecutive numbers, the next in that order. A continuation is identified by its number among those
//!   of its actor, a message through a promise by its number among those that its sender sent that way. With the other
//!   strategy (`REENACT_STRATEGY=sender`), senders record instead which position in the receiver's order a message got,
//!   unless no other activity has sent to it since; continuations and messages through promises are still recorded by
//!   the receiver. The other four are recorded as choices: that there was no room, that the resolver was too late, that
//!   the time limit expired (only where this happened); and the number of workers.
//! - **What replay waits for:** an actor handles only the message that is next, and stashes those that arrive too
//!   early. It blocks no worker meanwhile: it is idle until the message arrives. Timers fire at once; threads that wait
//!   for a promise wait until it is settled.
//! - **What exploration branches on:** the order in which messages enter an actor's mailbox. Sending a message is a
//!   step, and handling it is another. So is each operation on a promise: settling it, asking for its result, dropping
//!   a resolver that has not tried to settle it, and forwarding what was sent to it. The schedule decides when a timer
//!   fires, and whether a time limit expires before a promise is settled. Waiting until no work is left is a step, and
//!   what follows it comes after all turns.
//! - **What is dependent:** two sends to the same mailbox; a send and the end of the actor; sends to a bounded mailbox
//!   and the turns that make room in it. Any two operations on the same promise. Waiting until no work is left, and
//!   sends by activities that are not actors.

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

/// What happens to an actor when a turn panics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnPanic {
    /// The actor stops: its state may be inconsistent.
    #[default]
    Stop,
    /// The actor continues with the next message.
    Keep,
}
