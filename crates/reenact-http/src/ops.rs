//! The operations of a server and its requests.

use reenact_engine::operations;

operations! {
    pub(crate) BIND = 0x90 External "bind";
    pub(crate) ARRIVAL = 0x91 External "request";
    pub(crate) HEADER = 0x92 External "header";
    pub(crate) HEADERS = 0x93 External "headers";
    pub(crate) BODY = 0x94 External "body";
    pub(crate) PEER = 0x95 External "peer address";
    pub(crate) RESPOND = 0x96 External "respond";
    pub(crate) STOP = 0x97 External "stop";
}
