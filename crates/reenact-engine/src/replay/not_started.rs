//! Activities of the trace that have not yet started.

use std::{
    collections::HashSet,
    hash::{BuildHasherDefault, DefaultHasher},
    ops::Range,
};

/// Which activities of the trace have not yet started. There may be billions, if the trace says so: what this takes
/// depends on the trace's size, and on how many have started.
pub(super) struct NotStarted {
    /// The numbers of all activities of the trace, ascending.
    all: Vec<Range<u64>>,
    have_come: HashSet<u32, BuildHasherDefault<DefaultHasher>>,
}

impl NotStarted {
    /// All activities, as ranges of numbers.
    pub(super) fn new(all: Vec<Range<u64>>) -> NotStarted {
        debug_assert!(all.is_sorted_by_key(|range| range.start));
        NotStarted {
            all,
            have_come: HashSet::default(),
        }
    }

    /// How many activities have not yet started.
    pub(super) fn len(&self) -> u64 {
        let all: u64 = self.all.iter().map(|range| range.end - range.start).sum();
        all - self.have_come.len() as u64
    }

    /// Marks an activity as started. Returns whether the trace has it and it had not started.
    pub(super) fn remove(&mut self, number: u32) -> bool {
        let after = self
            .all
            .partition_point(|range| range.start <= number.into());
        let range = after.checked_sub(1).map(|index| &self.all[index]);
        range.is_some_and(|range| range.contains(&number.into())) && self.have_come.insert(number)
    }

    /// Returns the activities that have not yet started.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        let numbers = self.all.iter().cloned().flatten();
        numbers
            .map(|number| number as u32)
            .filter(|number| !self.have_come.contains(number))
    }
}
