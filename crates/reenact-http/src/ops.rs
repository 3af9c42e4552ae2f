//! The operations of a server and its requests.

use reenact_engine::{Op, OpInfo};

macro_rules! operations {
    ($($name:ident = $code:literal $word:literal;)*) => {
        $(pub(crate) const $name: Op = Op::new(&OpInfo { code: $code, name: $word });)*
    };
}

operations! {
    BIND = 0x90 "bind";
    ARRIVAL = 0x91 "request";
    HEADER = 0x92 "header";
    HEADERS = 0x93 "headers";
    BODY = 0x94 "body";
    PEER = 0x95 "peer address";
    RESPOND = 0x96 "respond";
    STOP = 0x97 "stop";
}
