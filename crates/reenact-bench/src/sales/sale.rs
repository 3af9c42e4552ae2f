//! What is sold, and how it is told.

use crate::random::Random;

/// The number of projects.
pub(super) const PROJECTS: usize = 3;
/// The number of weeks over which sales are spread.
pub(super) const WEEKS: usize = 52;

const NAMES: [&str; PROJECTS] = ["strawberry", "apple", "banana"];
const CUSTOMERS: [&str; 4] = ["Medesign", "Gadtron", "Rooforia", "Sureplex"];

/// One sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sale {
    pub(super) project: usize,
    pub(super) week: usize,
    pub(super) price: u64,
    pub(super) quantity: u64,
}

impl Sale {
    pub(super) fn next(random: &mut Random) -> Self {
        Self {
            project: random.below(PROJECTS as u64) as usize,
            week: random.below(WEEKS as u64) as usize,
            price: 1 + random.below(10),
            quantity: 1 + random.below(100),
        }
    }

    pub(super) fn revenue(&self) -> u64 {
        self.price * self.quantity
    }

    /// The project of this name.
    pub(super) fn project(name: &str) -> Option<usize> {
        NAMES.iter().position(|&its| its == name)
    }

    /// The sale as it comes in, among other things that nobody wants to know.
    pub(super) fn to_json(self) -> String {
        let Self {
            project,
            week,
            price,
            quantity,
        } = self;
        let project = NAMES[project];
        let customer = CUSTOMERS[week % CUSTOMERS.len()];
        format!(
            r#"{{"price": {price}, "quantity": {quantity}, "customer": {{"name": "{customer}", "address": ["993 Kensington Walk", "Cassel"], "regular": true}}, "project": "{project}", "week": {week}}}"#
        )
    }
}
