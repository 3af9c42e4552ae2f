//! Why every program ends: whoever causes something hands on less fuel than it had, and only the program's first line makes any.

use super::language::Program;

/// How many more messages, threads and processes may be caused by one another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fuel(usize);

impl Fuel {
    /// What those have that are there from the beginning.
    pub(super) fn of(program: &Program) -> Fuel {
        Fuel(program.fuel)
    }

    /// What whoever is caused has left to cause others with. None if it causes nothing any more.
    pub(super) fn spend(self) -> Option<Fuel> {
        self.0.checked_sub(1).map(Fuel)
    }

    /// Enough for one who causes nothing, if there is that much.
    pub(super) fn at_most_one(self) -> Fuel {
        Fuel(self.0.min(1))
    }

    /// As a number to note.
    pub(super) fn amount(self) -> usize {
        self.0
    }
}
