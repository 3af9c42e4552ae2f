//! Optimal dynamic partial-order reduction: one execution of each class.

mod driver;
mod history;
mod plan;
mod portion;
mod reversal;
mod wakeup;

pub(super) use self::{
    driver::OptimalDriver,
    history::History,
    portion::{Portion, portions},
};
