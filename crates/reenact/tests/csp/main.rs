//! What `reenact::csp` promises: processes, channels and selections behave as documented, and what was recorded is what is
//! replayed, with however many workers.
//!
//! The programs that are recorded are those of `examples/programs/csp`, which Cargo builds with these tests.

mod behaviour;
mod drift;
mod failures;
mod generated;
mod many_processes;
mod oracle;
mod races;

#[path = "../support/mod.rs"]
mod support;
