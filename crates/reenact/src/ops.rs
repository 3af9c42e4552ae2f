//! The operations of the threads-and-locks model, by name, and how those of others are named.

macro_rules! operations {
    ($($name:ident = $code:literal $word:literal;)*) => {
        $(pub(crate) const $name: reenact_engine::Op = reenact_engine::Op::new(&reenact_engine::OpInfo { code: $code, name: $word });)*
    };
}

pub(crate) use operations;

operations! {
    LOCK = 1 "lock";
    UNLOCK = 2 "unlock";
    READ = 3 "read";
    WRITE = 4 "write";
    READ_END = 5 "read end";
    WRITE_END = 6 "write end";
    WAIT = 7 "wait";
    NOTIFY = 8 "notify";
    LOAD = 9 "load";
    STORE = 10 "store";
    MODIFY = 11 "read-modify-write";
    IS_FINISHED = 12 "is finished";
    PARALLELISM = 13 "available parallelism";
    TRY_LOCK = 15 "try lock";
    TRY_READ = 16 "try read";
    TRY_WRITE = 17 "try write";
    IS_DISCONNECTED = 14 "is disconnected";
    IS_POISONED = 18 "is poisoned";
    SEND = 19 "send";
    TRY_SEND = 20 "try send";
    RECEIVE = 21 "receive";
    TRY_RECEIVE = 22 "try receive";
    STOP_SENDING = 23 "drop a sender";
    STOP_RECEIVING = 24 "drop the receiver";
    CHOOSE = 25 "choose";
}
