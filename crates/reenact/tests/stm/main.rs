//! What `reenact::stm` promises: transactions are atomic, isolated and opaque, no sleeper is forgotten, and what was
//! recorded is what is replayed.
//!
//! The programs that are recorded are those of `examples/programs/stm`, which Cargo builds with these tests.

#[allow(dead_code, reason = "shared with other tests, which use more of it")]
#[path = "../bad_days/acknowledged.rs"]
mod acknowledged;
mod bad_days;
#[allow(
    dead_code,
    unused_macros,
    unused_imports,
    reason = "shared with other tests, which use more of it"
)]
#[path = "../bad_days/checks.rs"]
mod checks;
mod generated;
mod histories;
mod opacity;
mod replayed;
#[allow(dead_code, reason = "shared with other tests, which use more of it")]
#[path = "../it/run.rs"]
mod run;
mod semantics;
#[allow(dead_code, reason = "shared with other tests, which use more of it")]
#[path = "../bad_days/stage.rs"]
mod stage;
mod values;
mod wake_ups;
