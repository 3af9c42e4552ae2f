//! Optimal dynamic partial-order reduction: one execution of each class.

mod course;
mod history;
mod plan;
mod portion;
mod reversal;
mod wakeup;

pub(super) use self::{
    course::Course,
    history::History,
    portion::{Portion, portions},
};
