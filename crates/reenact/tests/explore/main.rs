//! Programs are explored: every way they can go, each class of executions once.

mod counts;
mod failures;
mod schedules;
mod tested;
