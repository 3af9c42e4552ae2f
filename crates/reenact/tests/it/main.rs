//! What `reenact::{thread, sync}` promises: it behaves as std's, and what was recorded is what is replayed.

mod generated;
mod reenact_behaviour;
mod run;
mod std_behaviour;
