//! The operations of the actor model, by name.

use reenact_engine::operations;

operations! {
    pub(super) RESOLVE = 0x40 Resolve "resolve";
    pub(super) WAIT_FOR_PROMISE = 0x41 Question "wait for a promise" of "promise";
    pub(super) SEND_BOUNDED = 0x42 MessageSend "send to a bounded mailbox";
    pub(super) WORKERS = 0x43 External "ask for the number of workers";
    pub(super) TRY_SEND = 0x44 MessageSend "try to send";
    pub(super) SUBSCRIBE = 0x45 Local "ask for what a promise becomes" of "promise";
    pub(super) DROP_RESOLVER = 0x46 Resolve "drop a resolver";
}
