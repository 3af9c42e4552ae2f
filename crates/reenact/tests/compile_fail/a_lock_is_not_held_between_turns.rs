//! A guard belongs to the thread that locked, and the next turn may run on another one.

use reenact::actor::{Context, Promise};
use reenact::sync::Mutex;

static LOCK: Mutex<u32> = Mutex::new(0);

struct Actor;

impl Actor {
    fn work(&mut self, ctx: &mut Context<Actor>, soon: Promise<()>) {
        let guard = LOCK.lock().unwrap();
        soon.when(ctx, move |_, _, ()| drop(guard));
    }
}

fn main() {}
