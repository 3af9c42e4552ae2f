//! The same with the attribute: the message is refused where it is declared.

use std::rc::Rc;

struct Keeper;

#[reenact::actor]
impl Keeper {
    pub fn keep(&mut self, _what: Rc<u32>) {}
}

fn main() {}
