//! The operations of threads and locks, by name.

use reenact_engine::operations;

operations! {
    pub(crate) LOCK = 1 Lock "lock";
    pub(crate) UNLOCK = 2 Unlock "unlock";
    pub(crate) READ = 3 Lock "read";
    pub(crate) WRITE = 4 Lock "write";
    pub(crate) READ_END = 5 Unlock "read end";
    pub(crate) WRITE_END = 6 Unlock "write end";
    pub(crate) WAIT = 7 Wait "wait";
    pub(crate) NOTIFY = 8 Notify "notify";
    pub(crate) LOAD = 9 AtomicRead "load";
    pub(crate) STORE = 10 AtomicWrite "store";
    pub(crate) MODIFY = 11 AtomicWrite "read-modify-write";
    pub(crate) IS_FINISHED = 12 Question "is finished";
    pub(crate) PARALLELISM = 13 External "available parallelism";
    pub(crate) TRY_LOCK = 15 Lock "try lock";
    pub(crate) TRY_READ = 16 Lock "try read";
    pub(crate) TRY_WRITE = 17 Lock "try write";
    pub(crate) IS_POISONED = 18 Question "is poisoned";
    pub(crate) CHOOSE = 25 Choice "choose";
}
