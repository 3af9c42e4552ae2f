//! Events as they would come from shops, and the actor that has them come.

use std::fmt::Write;

use reenact::actor::FarRef;

use super::{
    Sale, Sizes,
    parsing::{Parsing, ParsingSends},
};

/// What happens in a shop: some sales, or something that is not even JSON.
pub(super) struct Event {
    pub(super) sales: Vec<Sale>,
    pub(super) is_malformed: bool,
}

/// The n-th event, which is the same in every run.
pub(super) fn event(number: usize, sizes: Sizes) -> Event {
    let mut random = Random(number as u64 + 1);
    let sales = (0..sizes.sales).map(|_| {
        let (project, month) = (random.below(sizes.projects), random.below(sizes.months));
        // Some projects grow, others do not.
        let amount = 1000 + random.below(500) + 40 * month * project;
        Sale {
            project,
            month,
            amount: amount as u64,
        }
    });
    Event {
        sales: sales.collect(),
        is_malformed: number % 23 == 22,
    }
}

impl Event {
    /// As a shop writes it, with more than anybody wants to know.
    fn to_json(&self, number: usize) -> String {
        let mut text = format!(
            r#"{{"shop": {{"number": {}, "tags": ["north", null]}}, "sales": ["#,
            number % 7
        );
        for (index, sale) in self.sales.iter().enumerate() {
            let Sale {
                project,
                month,
                amount,
            } = sale;
            let comma = if index > 0 { ", " } else { "" };
            write!(
                text,
                r#"{comma}{{"project": {project}, "customer": "no. \"{number}\"", "month": {month}, "amount": {amount}}}"#
            )
            .expect("a string takes it");
        }
        // The line breaks in the middle.
        text.push_str(if self.is_malformed { "" } else { "]}" });
        text
    }
}

/// Simulates the events.
pub(crate) struct Input {
    parsing: FarRef<Parsing>,
}

#[reenact::actor]
impl Input {
    pub(crate) fn simulate(&mut self, sizes: Sizes) {
        for number in 0..sizes.events {
            self.parsing.event(event(number, sizes).to_json(number));
        }
        self.parsing.end();
    }
}

impl Input {
    pub(super) fn new(parsing: FarRef<Parsing>) -> Input {
        Input { parsing }
    }
}

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) as usize % limit.max(1)
    }
}
