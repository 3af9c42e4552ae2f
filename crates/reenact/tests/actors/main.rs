//! What `reenact::actor` promises: actors behave as documented, and what was recorded is what is replayed, whoever of
//! senders and receivers records, with however many workers.
//!
//! The programs that are recorded are those of `examples/programs/actors`, which Cargo builds with these tests.

mod failures;
mod generated;
mod life;
mod messages;
mod mixed;
mod oracle;
mod promises;
mod races;
mod workers;

#[path = "../support/mod.rs"]
mod support;
