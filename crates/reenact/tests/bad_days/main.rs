//! Bad days: programs that are killed, run out of disk, end in the middle of something, or are not the recorded ones.
//!
//! What all of these tests have in common: recording does not change what the program does, a trace replays as far as
//! it goes, a replay that differs says so, and nothing hangs.

#[allow(dead_code, reason = "shared with other tests, which use more of it")]
mod acknowledged;
#[allow(dead_code, reason = "shared with other tests, which use more of it")]
mod checks;
mod cores;
mod crowds;
mod cut;
mod drift;
mod ends;
mod everybody_waits;
mod foreign;
mod full_disk;
mod killed;
mod locals;
mod log;
mod no_place;
mod processes;
mod stage;
