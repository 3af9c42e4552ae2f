//! Programs are explored: every way they can go, each class of executions once.

mod agreement;
mod claims;
mod cores;
mod counts;
mod failures;
mod fairness;
mod granularity;
mod limits;
mod lines;
mod oracle;
mod primitives;
mod reports;
mod schedules;
mod spurious;
mod tested;
