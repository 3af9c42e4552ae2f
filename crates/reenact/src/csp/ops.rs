//! The operations of the process model, by name.

use reenact_engine::{Op, OpInfo};

pub(super) const SEND: Op = Op::new(&OpInfo {
    code: 0x70,
    name: "send to a channel",
});
pub(super) const RECEIVE: Op = Op::new(&OpInfo {
    code: 0x71,
    name: "receive from a channel",
});
pub(super) const SELECT: Op = Op::new(&OpInfo {
    code: 0x72,
    name: "select",
});
pub(super) const IS_FINISHED: Op = Op::new(&OpInfo {
    code: 0x73,
    name: "is finished",
});
