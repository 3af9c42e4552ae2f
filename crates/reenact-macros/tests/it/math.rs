//! The actor of the documentation, across a module boundary.

use crate::fake::actor::{FarRef, Promise};

mod actors {
    use crate::fake::actor::{self, FarRef, Promise};

    pub struct Math {
        result: u64,
    }

    #[reenact_macros::actor(crate = crate::fake)]
    impl Math {
        pub fn new() -> Math {
            Math { result: 0 }
        }

        /// One way.
        pub fn double(&mut self, n: u64) {
            self.result = self.doubled(n);
        }

        /// Answered.
        pub fn get_result(&self) -> u64 {
            self.result
        }

        /// Answered when it is done.
        #[allow(clippy::unused_unit)]
        pub fn reset(&mut self) -> () {
            self.result = 0;
        }

        /// Answered by another actor.
        pub fn forward(
            &mut self,
            _ctx: &mut actor::Context<Self>,
            to: FarRef<Self>,
        ) -> Promise<u64> {
            to.get_result()
        }

        pub fn me(&mut self, ctx: &mut actor::Context<Math>) -> FarRef<Self> {
            ctx.me.clone()
        }

        fn doubled(&self, n: u64) -> u64 {
            2 * n
        }
    }
}

use actors::{Math, MathSends};

#[test]
fn messages_arrive_and_are_answered() {
    let math = FarRef::new(Math::new());
    math.double(21);
    assert_eq!(math.get_result().wait(), 42);
    let done: Promise<()> = math.reset();
    done.wait();
    assert_eq!(math.get_result().wait(), 0);
}

#[test]
fn a_returned_promise_is_flattened() {
    let (here, there) = (FarRef::new(Math::new()), FarRef::new(Math::new()));
    there.double(4);
    let answer: Promise<u64> = here.forward(there);
    assert_eq!(answer.wait(), 8);
}

#[test]
fn promises_of_far_references_take_messages_too() {
    let math = FarRef::new(Math::new());
    math.me().double(3);
    assert_eq!(math.me().get_result().wait(), 6);
}

#[test]
fn the_methods_are_still_there() {
    let mut math = Math::new();
    math.double(5);
    assert_eq!(math.get_result(), 10);
}
