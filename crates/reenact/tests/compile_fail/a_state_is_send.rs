//! An actor runs on whichever worker comes to it.

use std::cell::RefCell;
use std::rc::Rc;

fn main() {
    reenact::actor::spawn(Rc::new(RefCell::new(0)));
}
