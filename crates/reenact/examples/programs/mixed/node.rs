//! Actors.

use std::sync::PoisonError;

use reenact::actor::{Broken, Context};

use super::{body::Body, fuel::Fuel};

/// An actor.
pub(super) struct Node {
    pub(super) body: Body,
}

impl Node {
    /// A message: does what the script says.
    pub(super) fn handle(
        &mut self,
        ctx: &mut Context<Node>,
        script: usize,
        fuel: Fuel,
        from: &str,
    ) {
        self.body.seen.note((script, fuel.amount(), from));
        if let Some(fuel) = fuel.spend() {
            let world = std::sync::Arc::clone(&self.body.world);
            self.body.follow(world.script(script), fuel, Some(ctx));
        }
    }

    /// The same, answered.
    pub(super) fn answer(
        &mut self,
        ctx: &mut Context<Node>,
        script: usize,
        fuel: Fuel,
        from: &str,
    ) -> u64 {
        self.handle(ctx, script, fuel, from);
        self.body.seen.digest()
    }

    pub(super) fn answered(&mut self, what: &str, outcome: Result<u64, Broken>) {
        self.body.seen.note(what);
        self.body.note_outcome(outcome);
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let world = &self.body.world;
        let mut gone = world.gone.lock().unwrap_or_else(PoisonError::into_inner);
        let before = gone.insert(self.body.name.clone(), self.body.seen.digest());
        assert_eq!(before, None, "an actor ends once");
    }
}
