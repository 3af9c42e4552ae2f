//! Where the operations of all concurrency models pass.
//!
//! A model (locks, channels, actors, …) does its work with whatever it likes, but every operation whose order or
//! outcome is not determined by the program goes through an [`Entity`], or through [`choose`] and [`outside`] where
//! there is none. The engine then does what the process's mode asks for: nothing (off), write down what was not
//! predicted (record), or let a [`Controller`] decide when it happens (replay, or anything else that wants control).
//! That is the whole contract; models know no modes, and nothing but this crate does.
//!
//! For whoever adds a model: pick the [`Access`] that says how your operation meets its entity, give it an [`Op`],
//! and call the method of `Entity` of that name. What becomes true once, and is awaited by others, is a [`Fact`]; where many
//! things change as one, their order is that of a [`Clock`]. Threads announce their children with [`Birth`], light
//! activities have a [`Seat`]. What your model asks the clock for while it waits is not the program's; the engine sees to that
//! where it calls you, elsewhere ask [`raw::now`] or do it [`apart`]. `docs/add-a-model.md` in the repository goes through it step by step, with a model that is
//! added from outside.

mod activity;
mod arrivals;
mod attempt;
mod captured;
mod clock;
mod controller;
mod ends;
mod entity;
pub mod explore;
mod external;
mod fact;
pub mod life;
pub mod log;
mod meeting;
mod mode;
mod operation;
pub mod pool;
pub mod raw;
mod record;
mod replay;
mod seat;
mod seeds;
mod session;
mod site;
mod source;
pub mod thread;
mod timer;
mod views;
mod withheld;

pub use activity::{Activity, Birth, Life, Lineage, Ticket, current_number, is_active, sender};
pub use arrivals::{Arrival, NUMBERED};
pub use attempt::{begin_attempt, end_attempt, is_attempting};
pub use clock::{Clock, Turn};
pub use controller::{
    Captured, Controller, Decision, Ending, Heard, Message, Newborn, NextArrival, Outcome,
    Question, Spot,
};
pub use ends::{End, Ends, Patience, Selected};
pub use entity::{Entity, announce_at as announce, choose, choose_at, outside, settled};
pub use external::{
    Asked, External, Reply, apart, buffer, external, is_played, really_writes, stay_apart,
};
pub use fact::Fact;
pub use meeting::{Party, chose};
pub use operation::{
    Access, Announcement, Change, Envelope, Name, Named, ObjectName, Op, OpInfo, OperationKind,
    Touch, Values, third_person, with_object,
};
pub use reenact_trace::{Origin, TraceError};
pub use seat::{Reception, Seat, Sending, continuation};
pub use seeds::Map;
pub use session::{controlled, record_to};
pub use site::at;
pub use source::Source;
pub use timer::fire_after;
pub use withheld::is_withheld;
