//! An answer leaves the turn, and its actor goes on changing.

use reenact::actor::{FarRef, Target};

fn peek(actor: &FarRef<Vec<u32>>) {
    actor.ask(|list, _| list.first().unwrap());
}

fn main() {}
