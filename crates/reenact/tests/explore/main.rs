//! Programs are explored: every way they can go, each class of executions once.

mod agreement;
mod cores;
mod counts;
mod failures;
mod fairness;
mod granularity;
mod lines;
mod oracle;
mod primitives;
mod schedules;
mod tested;
