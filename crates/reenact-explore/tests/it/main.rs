//! Exhaustive exploration by running again: counts that are known, and agreement with trying everything.

mod bounds;
mod brute_force;
mod cells;
mod counts;
mod divergence;
mod divided;
mod estimate;
mod exploration;
mod generated;
mod known;
mod language;
mod minimal;
mod sampling;
mod speed;
mod strategies;
mod surroundings;
