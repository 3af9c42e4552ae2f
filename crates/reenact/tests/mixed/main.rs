//! Everything at once: threads, locks, atomics, actors, promises, processes, channels and transactions, in programs that
//! nobody wrote.
//!
//! The programs are run by `examples/programs/mixed.rs`, which Cargo builds with these tests.

mod generated;

#[allow(dead_code, reason = "shared with other tests, which use more of it")]
#[path = "../bad_days/stage.rs"]
mod stage;
