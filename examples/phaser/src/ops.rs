//! The operations of the model, by name.

use reenact_engine::{Op, OpInfo};

pub(crate) const REGISTER: Op = Op::new(&OpInfo {
    code: 1,
    name: "register with a phaser",
});
pub(crate) const ARRIVE: Op = Op::new(&OpInfo {
    code: 2,
    name: "arrive at a phaser",
});
pub(crate) const LEAVE: Op = Op::new(&OpInfo {
    code: 3,
    name: "leave a phaser",
});
pub(crate) const IS_OVER: Op = Op::new(&OpInfo {
    code: 4,
    name: "wait for a phase, for some time",
});
