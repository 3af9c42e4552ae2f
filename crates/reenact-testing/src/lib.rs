//! What the tests of all crates share. Not for users, and never published.

#![forbid(unsafe_code)]

pub mod executable;
pub mod generated;
