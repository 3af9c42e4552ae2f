//! Exhaustive exploration by running again: counts that are known, and agreement with trying everything.

mod brute_force;
mod counts;
mod divergence;
mod estimate;
mod exploration;
mod generated;
mod language;
mod speed;
