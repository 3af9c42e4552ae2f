//! Activities of the trace that have not yet started.

/// Which activities of the trace have not yet started. There may be millions.
pub(super) struct NotStarted {
    /// All activities of the trace, ascending.
    numbers: Vec<u32>,
    has_come: Vec<bool>,
}

impl NotStarted {
    pub(super) fn new(numbers: Vec<u32>) -> NotStarted {
        debug_assert!(numbers.is_sorted());
        NotStarted {
            has_come: vec![false; numbers.len()],
            numbers,
        }
    }

    /// How many activities the trace has.
    pub(super) fn all(&self) -> usize {
        self.numbers.len()
    }

    /// Marks an activity as started. Returns whether the trace has it and it had not started.
    pub(super) fn remove(&mut self, number: u32) -> bool {
        match self.numbers.binary_search(&number) {
            Ok(place) => !std::mem::replace(&mut self.has_come[place], true),
            Err(_) => false,
        }
    }

    /// Returns the activities that have not yet started.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        let numbers = self.numbers.iter().zip(&self.has_come);
        numbers
            .filter(|(_, has_come)| !**has_come)
            .map(|(&number, _)| number)
    }
}
