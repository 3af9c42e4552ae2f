//! Optimal dynamic partial-order reduction: one execution of each class.

mod clocked_log;
mod driver;
mod plan;
mod portion;
mod reversal;
mod wakeup;

pub(super) use self::{
    clocked_log::ClockedLog,
    driver::OptimalDriver,
    portion::{Portion, portions},
};
