//! An `Rc` that two actors had would be counted by both at once.

use std::rc::Rc;

use reenact::actor::{FarRef, Target};

fn share(actor: &FarRef<u32>, shared: Rc<u32>) {
    actor.send(move |state, _| *state = *shared);
}

fn main() {}
