//! An execution, as it is shown by everything that runs programs other than one of each class.

use super::{Runs, Step, Verdict};

/// An execution that has come to its end.
pub struct Seen<'a, R: Runs> {
    /// Its number, from 0.
    pub number: u64,
    /// How it ended.
    pub verdict: Verdict,
    /// The run, at its end.
    pub run: &'a R::Run,
    /// The steps. Taking them again leads to the same end.
    pub schedule: &'a [Step],
}
