//! The benchmarks of Reenact: the programs, the runner and the harness.
//!
//! What this crate is for: printing the numbers that the documentation quotes, by
//! `cargo xtask bench SUITE`. What it is not for: correctness. The programs assert their own
//! results, because a fast wrong run is worth nothing, but the tests of the primitives live with
//! the primitives.
//!
//! - [`workloads`](on_std) are written once and compiled twice, against `std::{sync, thread}`
//!   ([`on_std`]) and against `reenact::{sync, thread}` ([`on_reenact`]). That the same source
//!   compiles against both is itself part of what Reenact promises.
//! - [`savina`] has the programs of actors, [`csp`] those of processes and channels, [`stm`] those of transactions,
//!   [`sales`] one of all of them. The package `peers` has the others on other libraries.
//! - [`explored`] has small programs of threads whose executions are explored; the binary `reenact-bench-explore` explores
//!   one of them once.
//! - The binary `reenact-bench-round` runs one workload once and prints its [`Measured`].
//! - The binary `reenact-bench` is the [`harness`]: it runs the variants of a comparison as
//!   interleaved child processes and prints the ratios.

#![deny(unsafe_code)]

pub mod circuit;
pub mod cores;
pub mod csp;
pub mod explored;
pub mod harness;
mod measured;
pub mod on_reenact;
pub mod on_std;
pub mod random;
pub mod sales;
pub mod savina;
mod setting;
pub mod stats;
pub mod stm;
pub mod travel;
mod workload;

pub use measured::Measured;
pub use setting::Setting;
pub use workload::{Workload, end_with_any_panic};

/// Everything that runs on Reenact.
pub fn workloads() -> Vec<Workload> {
    [
        on_reenact::WORKLOADS,
        savina::WORKLOADS,
        &csp::BY_PROCESSES,
        &csp::BY_THREADS,
        &stm::PROGRAMS,
        &[sales::SALES],
    ]
    .concat()
}
