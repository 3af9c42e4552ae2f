//! Programs of threads and transactions, on libraries for them.
//!
//! The programs are those of `reenact-bench`, whose files are compiled here against other libraries.

#[path = "../../crates/reenact-bench/src/stm/program.rs"]
mod program;

pub(crate) mod on_fast_stm;
pub(crate) mod on_stm;

pub use program::Program;
