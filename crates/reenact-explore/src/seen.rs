//! The execution type that all explorations other than [`Explorer`](super::Explorer) pass to visitors.

use super::{Runs, Step, Verdict};

/// An execution that has ended.
pub struct Seen<'a, R: Runs> {
    /// The number of the execution, from 0.
    pub number: u64,
    /// How it ended.
    pub verdict: Verdict,
    /// The run, in its final state.
    pub run: &'a R::Run,
    /// The steps. Taking them again leads to the same final state.
    pub schedule: &'a [Step],
}
