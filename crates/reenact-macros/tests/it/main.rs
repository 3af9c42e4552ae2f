//! Actors as users write them: what the attribute emits compiles, and its messages arrive.

// Messages are public, whoever can reach the actor.
#![allow(unreachable_pub)]

mod fake;
mod generic;
mod labels;
mod math;
mod shapes;
