//! Programs that are killed, run out of disk, end in the middle of something, or are not the recorded ones.
//!
//! What all of these tests have in common: recording does not change what the program does, a trace replays as far as
//! it goes, a replay that differs says so, and nothing hangs.

mod child_processes;
mod cores;
mod cut;
mod deadlocks;
mod drift;
mod ends;
mod foreign;
mod full_disk;
mod killed;
mod locals;
mod log;
mod many_threads;
mod unusable_traces;

#[path = "../support/mod.rs"]
mod support;
