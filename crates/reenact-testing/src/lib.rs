//! Shared by the tests of all crates. It is not for users, and is never published.

#![forbid(unsafe_code)]

pub mod behaviours;
pub mod executable;
pub mod generated;
pub mod language;
pub mod patience;
pub mod programs;
mod tests;
