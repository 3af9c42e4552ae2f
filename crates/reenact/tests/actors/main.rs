//! What `reenact::actor` promises: actors behave as documented, and what was recorded is what is replayed, whoever of
//! senders and receivers records, with however many workers.
//!
//! The programs that are recorded are those of `examples/programs/actors`, which Cargo builds with these tests.

mod generated;
mod mixed;
mod oracle;
mod races;
#[allow(dead_code, reason = "shared with other tests, which use more of it")]
#[path = "../bad_days/stage.rs"]
mod stage;
