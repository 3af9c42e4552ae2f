//! The sales system of the papers: one program of actors, processes, transactions and threads.
//!
//! It is the example of the crate `reenact`, whose source this is; here it is run at a size worth measuring. Its forecasts
//! are compared with those of a sequential computation in every run.

#[expect(dead_code, reason = "the example prints more than is measured")]
#[path = "../../reenact/examples/sales/system/all.rs"]
mod system;

use reenact::actor::System;

use self::system::Sizes;
use crate::{Measured, Setting, Workload};

/// The program.
pub const SALES: Workload = Workload::threads("sales", run);

/// How many snippets of JSON there are at scale 1.
const EVENTS: u64 = 20_000;

fn run(setting: &Setting) -> Measured {
    let sizes = Sizes {
        events: setting.times(EVENTS) as usize,
        sales: 5,
        projects: 8,
        months: 24,
    };
    Measured::around(|| system::run(System::current(), sizes).operations)
}

#[cfg(test)]
mod tests {
    use super::{SALES, Setting};

    #[test]
    fn the_forecasts_are_those_of_a_sequential_computation() {
        assert!(SALES.run(&Setting::tiny()).ops > 20);
    }
}
