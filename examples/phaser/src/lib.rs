//! Phasers: barriers that parties join and leave as they like.
//!
//! The work of all parties goes through the same phases. A phase is over when every party has arrived at its end. A party
//! may go on with other work before it waits for that, and parties may come and go: who [registers](Phaser::register)
//! takes part from the current phase on, who drops its [`Party`] does not any more. An action may be run between one
//! phase and the next, by whoever arrives last.
//!
//! ```
//! use phaser::Phaser;
//! use reenact::{csp, thread};
//!
//! let phaser = Phaser::new();
//! let (mut one, mut two) = (phaser.register(), phaser.register());
//! // A party is a thread, a process or whatever else it is given to.
//! let thread = thread::spawn(move || (0..3).map(|_| one.arrive_and_wait()).collect::<Vec<_>>());
//! let process = csp::spawn(move || (0..3).map(|_| two.arrive_and_wait()).collect::<Vec<_>>());
//! let (one, two) = (thread.join().unwrap(), process.join().unwrap());
//! assert!((0..3).all(|phase| one[phase] != two[phase]), "one of them was the last");
//! ```
//!
//! This crate is an example: it is a concurrency model that Reenact does not have, added with nothing but what
//! `reenact-engine` offers to everybody. `docs/add-a-model.md` in the repository walks through it.
//!
//! # Nondeterminism
//!
//! - *What can go more than one way*: in which order parties arrive, register and leave. On that depends who arrives last,
//!   and so runs the action; and with which phase somebody who registers begins. Whether the time of a
//!   [timed wait](Party::wait_timeout) was up before the phase was over.
//! - *What is recorded*: of each of these steps its position in the order of the phaser's steps, unless the step before was
//!   of the same activity; of a timed wait that the time was up.
//! - *What replay waits for*: the same position. That a phase is over is no step of who waits for it: it follows from
//!   the steps of others. So nothing is recorded of a wait, and a replay waits as the recorded program did.
//! - *What exploration branches on*: which step is next; both outcomes of a timed wait.
//! - *What is dependent*: all steps of the same phaser.

mod ops;
mod ordered;
mod party;
mod phaser;

pub use self::{party::Party, phaser::Phaser};
