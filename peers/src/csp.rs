//! Programs of processes and channels, on libraries that have them.
//!
//! The programs and their sizes are those of `reenact-bench`, whose files are compiled here against other libraries.

#![allow(
    clippy::duplicate_mod,
    reason = "compiling the same source against every library is the comparison"
)]

#[path = "../../crates/reenact-bench/src/csp/sizes.rs"]
pub mod sizes;

pub(crate) mod on_crossbeam;
pub(crate) mod on_may;
pub(crate) mod on_may_mpsc;
pub(crate) mod on_std;

pub(crate) use crate::work;
