//! The operations of the process model, by name.

use reenact_engine::{Op, OpInfo};

/// What a trace says of a selection: which case has happened, the first being predicted; or that none has in time. The same
/// whatever other cases there are, so that it does not mean something else in a program that has others.
pub(super) fn answer(case: Option<usize>) -> u64 {
    match case {
        Some(0) => 0,
        None => 1,
        Some(case) => case as u64 + 1,
    }
}

/// The case that has happened, by what a trace says.
pub(super) fn case(answer: u64) -> Option<usize> {
    match answer {
        0 => Some(0),
        1 => None,
        answer => Some(usize::try_from(answer - 1).unwrap_or(usize::MAX)),
    }
}

pub(super) const SEND: Op = Op::new(&OpInfo {
    code: 0x70,
    name: "send to a channel",
});
pub(super) const RECEIVE: Op = Op::new(&OpInfo {
    code: 0x71,
    name: "receive from a channel",
});
pub(super) const STOP_SENDING: Op = Op::new(&OpInfo {
    code: 0x74,
    name: "drop a sender",
});
pub(super) const STOP_RECEIVING: Op = Op::new(&OpInfo {
    code: 0x75,
    name: "drop a receiver",
});
pub(super) const SELECT: Op = Op::new(&OpInfo {
    code: 0x72,
    name: "select",
});
pub(super) const IS_FINISHED: Op = Op::new(&OpInfo {
    code: 0x73,
    name: "is finished",
});
