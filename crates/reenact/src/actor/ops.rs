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
pub(super) const WORKERS: Op = Op::new(&OpInfo {
    code: 0x43,
    name: "ask for the number of workers",
});
pub(super) const TRY_SEND: Op = Op::new(&OpInfo {
    code: 0x44,
    name: "try to send",
});
pub(super) const SUBSCRIBE: Op = Op::new(&OpInfo {
    code: 0x45,
    name: "ask for what a promise becomes",
});
pub(super) const DROP_RESOLVER: Op = Op::new(&OpInfo {
    code: 0x46,
    name: "drop a resolver",
});
