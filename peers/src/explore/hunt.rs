//! How long it takes to find a bug.
//!
//! The crate `reenact-bench` includes this file.

use serde::{Deserialize, Serialize};

/// How long it took to find the bug of a program.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Hunt {
    /// How many executions there were up to and with the first that had the bug: the median over the seeds. `None` if half
    /// of them or more did not find it.
    pub executions_until_bug_median: Option<u64>,
    /// How many seeds were tried.
    pub seeds: u64,
    /// How many of them found it.
    pub found: u64,
}

impl Hunt {
    /// From what each seed needed, where it found the bug.
    pub fn of(needed: &[Option<u64>]) -> Self {
        let mut sorted: Vec<_> = needed.iter().flatten().copied().collect();
        sorted.sort_unstable();
        Self {
            // Those that did not find it would come last.
            executions_until_bug_median: sorted.get(needed.len() / 2).copied(),
            seeds: needed.len() as u64,
            found: sorted.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Hunt;

    #[test]
    fn a_seed_that_found_nothing_needed_longest() {
        let hunt = Hunt::of(&[Some(5), None, Some(3)]);
        assert_eq!(hunt.executions_until_bug_median, Some(5));
        assert_eq!((hunt.found, hunt.seeds), (2, 3));
        let hunt = Hunt::of(&[Some(5), None, None]);
        assert_eq!(hunt.executions_until_bug_median, None);
    }
}
