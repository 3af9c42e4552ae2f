//! The operations of the actor model, by name.

use reenact_engine::{Op, OpInfo};

pub(super) const RESOLVE: Op = Op::new(&OpInfo {
    code: 0x40,
    name: "resolve",
});
pub(super) const WAIT_FOR_PROMISE: Op = Op::new(&OpInfo {
    code: 0x41,
    name: "wait for a promise",
});
pub(super) const SEND_BOUNDED: Op = Op::new(&OpInfo {
    code: 0x42,
    name: "send to a bounded mailbox",
});
