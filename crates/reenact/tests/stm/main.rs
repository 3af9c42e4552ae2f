//! What `reenact::stm` promises: transactions are atomic, isolated and opaque, no sleeper is forgotten, and what was
//! recorded is what is replayed.
//!
//! The programs that are recorded are those of `examples/programs/stm`, which Cargo builds with these tests.

mod failures;
mod generated;
mod histories;
mod opacity;
mod replayed;
#[allow(dead_code, reason = "shared with other tests, which use more of it")]
#[path = "../it/run.rs"]
mod run;
mod semantics;
mod values;
mod wake_ups;

#[path = "../support/mod.rs"]
mod support;
