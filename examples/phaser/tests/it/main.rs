//! What the phaser promises: to its users, and to whoever records them.
//!
//! The program that is recorded is `examples/crowd.rs`, which Cargo builds with these tests. All of it can be copied for
//! another model: `run.rs` as it is.

mod behaviour;
mod differs;
mod explored;
mod guide;
mod killed;
mod replayed;
mod run;
