//! A context is a turn's, and there is another one in the next turn.

use reenact::actor::{Context, Promise};

struct Actor;

impl Actor {
    fn later(&mut self, ctx: &mut Context<Actor>, soon: Promise<()>, late: Promise<()>) {
        let kept = &mut *ctx;
        soon.when(ctx, move |_, _, ()| kept.stop());
        late.when(ctx, |_, _, ()| ());
    }
}

fn main() {}
