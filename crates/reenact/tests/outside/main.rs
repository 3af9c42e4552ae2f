//! What comes from outside: a program that is recorded replays from its trace alone, with the files gone and the network
//! off.
//!
//! The programs are those of `examples/outside`, which Cargo builds with these tests.

mod captured;
mod everyone;
mod files;
mod generated;
mod killed;
mod oracle;
mod printed;
mod processes;
mod sockets;
mod sources;
mod traits;
mod values;
mod written;

#[path = "../support/mod.rs"]
mod support;
