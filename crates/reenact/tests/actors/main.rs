//! What `reenact::actor` promises: actors behave as documented, and what was recorded is what is replayed, whoever of
//! senders and receivers records, with however many workers.
//!
//! The programs that are recorded are those of `examples/programs/actors`, which Cargo builds with these tests.

mod bad_days;
mod generated;
mod life;
mod messages;
mod mixed;
mod oracle;
mod promises;
mod races;
mod workers;

#[path = "../bad_days/acknowledged.rs"]
mod acknowledged;
#[allow(
    dead_code,
    unused_macros,
    unused_imports,
    reason = "shared with other tests, which use more of it"
)]
#[path = "../bad_days/checks.rs"]
mod checks;
#[allow(dead_code, reason = "shared with other tests, which use more of it")]
#[path = "../bad_days/stage.rs"]
mod stage;
