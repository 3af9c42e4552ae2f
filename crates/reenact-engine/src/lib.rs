//! The engine: every operation of every concurrency model passes through this crate.
//!
//! A model (locks, channels, actors, …) is free in how it works, but every operation whose order or outcome is not
//! determined by the program goes through an [`Object`], or through [`choose`] or [`outside`] if it has none. The
//! engine then does what the mode of the process asks for: nothing (off), write what was not predicted to the trace
//! (record), or let a [`Controller`] decide when the operation happens (replay, exploration, debugging). That is the
//! whole contract: models do not know the mode; only this crate does.
//!
//! To add a model: pick the [`Access`] that says how your operation uses its object, define an [`Op`] for it, and call
//! the method of `Object` of that name. A [`Latch`] is a condition that becomes true once and that others wait for. A
//! [`Clock`] orders changes that affect many objects at once. Threads announce their children with [`Birth`]; light
//! activities have an [`ActivitySlot`]. Clock readings that your model makes while it waits are not the program's: the
//! engine does not record them inside the closures that it calls; elsewhere use [`raw::now`] or [`untracked`].
//! `docs/add-a-model.md` in the repository explains all this step by step, with a model that is added from outside.

mod activity;
mod activity_slot;
mod arrivals;
mod attempt;
mod captured;
mod clock;
mod controller;
mod delta_cache;
mod ends;
#[cfg_attr(not(feature = "explore"), path = "explore_absent.rs")]
pub mod explore;
mod external;
mod kernel;
mod latch;
pub mod life;
pub mod log;
mod loom;
mod meeting;
mod mode;
mod object;
mod operation;
pub mod pool;
mod printed;
#[cfg_attr(
    not(all(feature = "refine", target_arch = "x86_64")),
    path = "probes_absent.rs"
)]
pub mod probes;
pub mod raw;
mod record;
mod refusal;
mod replay;
mod seeds;
mod session;
mod site;
mod source;
pub mod thread;
mod timer;
mod unrecorded;
mod withheld;

pub use activity::{
    Birth, ControlledActivity, Life, Lineage, Ticket, current_number, is_active, sender,
};
pub use activity_slot::{ActivitySlot, Reception, Sending, continuation};
pub use arrivals::{Arrival, NUMBERED};
pub use attempt::{begin_attempt, end_attempt, is_attempting};
pub use clock::{Clock, TransactionTurn};
pub use controller::{
    Captured, Controller, Decision, Ending, Heard, Message, Newborn, NextArrival, Outcome,
    Question, Spot,
};
pub use ends::{End, Ends, Patience, Selected};
pub use external::{
    Asked, External, Reply, buffer, external, is_played, really_writes, stay_untracked, untracked,
};
pub use latch::Latch;
pub use meeting::{Party, chose};
pub use object::{Object, announce_at as announce, choose, choose_at, outside, settled};
pub use operation::{
    Access, Announcement, Change, Envelope, Name, Named, ObjectName, Op, OpInfo, OperationKind,
    Touch, Values, third_person, with_object,
};
pub use printed::Stream;
pub use reenact_trace::{Origin, TraceError};
pub use seeds::Map;
pub use session::{controlled, record_to};
pub use site::at;
pub use source::Source;
pub use timer::fire_after;
pub use unrecorded::{Unrecorded, unrecorded};
pub use withheld::is_withheld;
