//! A continuation is another turn: it gets the state again, and cannot keep the one it was registered with.

use reenact::actor::{Context, FarRef};

struct Cellar;

#[reenact::actor]
impl Cellar {
    pub fn take(&mut self) -> u32 {
        1
    }
}

struct Waiter {
    cellar: FarRef<Cellar>,
    served: u32,
}

#[reenact::actor]
impl Waiter {
    pub fn serve(&mut self, ctx: &mut Context<Self>) {
        let promise = self.cellar.take();
        promise.when(ctx, |_, _, bottles| self.served += bottles);
    }
}

fn main() {}
