//! The operations of a server and its requests.

use reenact_engine::operations;

operations! {
    pub(crate) BIND = 0xc0 External "bind";
    pub(crate) ARRIVAL = 0xc1 External "request";
    pub(crate) HEADER = 0xc2 External "header";
    pub(crate) HEADERS = 0xc3 External "headers";
    pub(crate) BODY = 0xc4 External "body";
    pub(crate) PEER = 0xc5 External "peer address";
    pub(crate) RESPOND = 0xc6 External "respond";
    pub(crate) STOP = 0xc7 External "stop";
}
