//! A promise is resolved by one actor and read by another.

use std::rc::Rc;

fn main() {
    let _ = reenact::actor::Promise::<Rc<u32>>::pair();
}
