//! Activities of the trace that have not come yet.

/// Which of the trace's activities have not come. There may be millions.
pub(super) struct Unborn {
    /// All of them, ascending.
    numbers: Vec<u32>,
    has_come: Vec<bool>,
}

impl Unborn {
    pub(super) fn new(numbers: Vec<u32>) -> Unborn {
        debug_assert!(numbers.is_sorted());
        Unborn {
            has_come: vec![false; numbers.len()],
            numbers,
        }
    }

    /// How many activities the trace has.
    pub(super) fn all(&self) -> usize {
        self.numbers.len()
    }

    /// An activity comes. Whether the trace has it, and it had not come.
    pub(super) fn remove(&mut self, number: u32) -> bool {
        match self.numbers.binary_search(&number) {
            Ok(place) => !std::mem::replace(&mut self.has_come[place], true),
            Err(_) => false,
        }
    }

    /// Those that have not come.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        let numbers = self.numbers.iter().zip(&self.has_come);
        numbers
            .filter(|(_, has_come)| !**has_come)
            .map(|(&number, _)| number)
    }
}
