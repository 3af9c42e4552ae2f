//! What `reenact::csp` promises: processes, channels and selections behave as documented, and what was recorded is what is
//! replayed, with however many workers.
//!
//! The programs that are recorded are those of `examples/programs/csp`, which Cargo builds with these tests.

mod bad_days;
mod behaviour;
mod crowds;
mod drift;
mod generated;
mod oracle;
mod races;

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
