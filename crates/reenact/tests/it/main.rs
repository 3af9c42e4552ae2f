//! What `reenact::{thread, sync}` promises: it behaves as std's, and what was recorded is what is replayed.
//!
//! The programs that are recorded are those of `examples/programs`, which Cargo builds with these tests.

mod atomic;
mod barrier;
mod condvar;
mod generated;
mod lazy_lock;
mod mpsc;
mod mutex;
mod once;
mod once_lock;
mod ported;
mod reenact_behaviour;
mod run;
mod rwlock;
mod scoped;
mod std_behaviour;
mod thread;
mod traits;
