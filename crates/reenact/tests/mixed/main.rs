//! Everything at once: threads, locks, atomics, actors, promises, processes, channels and transactions, in programs that
//! nobody wrote.
//!
//! The programs are run by `examples/programs/mixed.rs`, which Cargo builds with these tests.

mod generated;

#[path = "../support/mod.rs"]
mod support;
