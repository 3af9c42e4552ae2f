//! The less usual ways to write a method.

#![allow(
    clippy::duplicate_underscore_argument,
    clippy::needless_arbitrary_self_type,
    clippy::non_minimal_cfg
)]

use reenact_macros::actor;

use crate::fake::actor::{FarRef, Target};

pub struct Point {
    x: i64,
    y: i64,
}

/// Names that the expansion uses itself, in all the places where they could be in the way.
struct Odd {
    sum: i64,
}

#[actor(crate = crate::fake)]
impl Odd {
    const WIDTH: usize = 2;

    pub fn hide(&mut self, this: i64, ctx: i64, _ctx: i64, message: i64) {
        self.sum += this + 10 * ctx + 100 * _ctx + 1000 * message;
    }

    pub fn patterns(
        &mut self,
        mut a: i64,
        Point { x, y }: Point,
        arg2: i64,
        (b, _): (i64, i64),
        _: u8,
    ) {
        a += x + y + arg2 + b;
        self.sum = a;
    }

    pub fn r#type(&self, r#fn: i64) -> i64 {
        self.sum + r#fn
    }

    pub const fn sum(self: &Self) -> i64 {
        self.sum
    }

    pub extern "C" fn twice(self: &mut Odd) -> i64 {
        self.sum * 2
    }

    pub fn array(&self, of: [i64; Self::WIDTH]) -> [i64; Odd::WIDTH] {
        of
    }

    /// The name of the runtime's own method.
    pub fn send(&mut self, n: i64) -> i64 {
        n
    }

    #[cfg(any())]
    pub fn absent(&mut self, of: NoSuchType) {}

    #[cfg(all())]
    pub fn present(&mut self) -> bool {
        true
    }

    // None of these is a message, so they may be anything.
    pub(self) fn private<'a>(&'a self, text: &'a str) -> &'a str {
        text
    }

    #[allow(dead_code)]
    async fn later(self) {}

    pub fn consumed(odd: Odd) -> i64 {
        odd.sum
    }
}

#[test]
fn no_name_is_in_the_way() {
    let odd = FarRef::new(Odd { sum: 0 });
    odd.hide(1, 2, 3, 4);
    assert_eq!(odd.sum().wait(), 4321);
    assert_eq!(odd.r#type(1).wait(), 4322);
    assert_eq!(OddSends::send(&odd, 5).wait(), 5);
    Target::send(&odd, |odd: &mut Odd, _| odd.sum = 1);
    assert_eq!(odd.twice().wait(), 2);
}

#[test]
fn patterns_take_the_message_apart_on_arrival() {
    let odd = FarRef::new(Odd { sum: 0 });
    odd.patterns(1, Point { x: 2, y: 3 }, 4, (5, 0), 0);
    assert_eq!(odd.sum().wait(), 15);
    assert_eq!(odd.array([1, 2]).wait(), [1, 2]);
}

#[test]
fn configuration_decides_which_messages_there_are() {
    assert!(FarRef::new(Odd { sum: 0 }).present().wait());
    assert_eq!(Odd { sum: 0 }.private("text"), "text");
    assert_eq!(Odd::consumed(Odd { sum: 3 }), 3);
}

#[actor(crate = crate::fake)]
#[cfg(any())]
impl NoSuchActor {
    pub fn absent(&mut self) {}
}

macro_rules! counter {
    ($name:ident, $ty:ty, $count:ident) => {
        struct $name($ty);

        #[actor(crate = crate::fake)]
        impl $name {
            pub fn add(&mut self, $count: $ty, count: $ty) -> $ty {
                self.0 += $count * count;
                self.0
            }
        }
    };
}

counter!(Counter, u8, n);

#[test]
fn a_macro_can_write_the_actor() {
    assert_eq!(FarRef::new(Counter(1)).add(2, 3).wait(), 7);
}

#[test]
fn an_actor_can_be_inside_a_function() {
    struct Local;

    #[actor(crate = crate::fake)]
    impl Local {
        pub fn hello(&self) -> &'static str {
            "hello"
        }
    }

    assert_eq!(FarRef::new(Local).hello().wait(), "hello");
}
