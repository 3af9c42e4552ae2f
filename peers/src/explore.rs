//! Small programs of threads, on libraries that explore their interleavings.
//!
//! Unlike the other programs, these are not run for what they do: a round runs one of them many times, and every
//! execution goes another way, at random or until there is no other.

mod explored;
mod hunt;
pub mod programs;
mod quiet;

pub(crate) mod on_loom;
pub(crate) mod on_shuttle;
pub(crate) mod on_traceforge;

pub use explored::Explored;
pub use hunt::Hunt;
