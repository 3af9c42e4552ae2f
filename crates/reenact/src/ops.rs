//! The operations of threads and locks, by name.

use reenact_engine::operations;

operations! {
    pub(crate) LOCK = 1 Lock "lock" of "mutex";
    pub(crate) UNLOCK = 2 Unlock "unlock" of "mutex";
    pub(crate) READ = 3 Lock "read" of "rwlock";
    pub(crate) WRITE = 4 Lock "write" of "rwlock";
    pub(crate) READ_END = 5 Unlock "unlock after reading" of "rwlock";
    pub(crate) WRITE_END = 6 Unlock "unlock after writing" of "rwlock";
    pub(crate) WAIT = 7 Wait "wait for a condvar";
    pub(crate) WAKE = 7 Wake "wake from a condvar";
    pub(crate) NOTIFY = 8 Notify "notify";
    pub(crate) LOAD = 9 AtomicRead "load";
    pub(crate) STORE = 10 AtomicWrite "store";
    pub(crate) MODIFY = 11 AtomicWrite "read-modify-write";
    pub(crate) IS_FINISHED = 12 Question "ask whether a thread is finished";
    pub(crate) PARALLELISM = 13 External "ask for the available parallelism";
    pub(crate) TRY_LOCK = 15 Lock "try to lock a mutex" of "mutex";
    pub(crate) TRY_READ = 16 Lock "try to read an rwlock" of "rwlock";
    pub(crate) TRY_WRITE = 17 Lock "try to write an rwlock" of "rwlock";
    pub(crate) IS_POISONED = 18 Question "ask whether a lock is poisoned";
    pub(crate) ARRIVE_AT_BARRIER = 19 Barrier "arrive at a barrier";
    pub(crate) WAIT_AT_BARRIER = 20 Wait "wait at a barrier" of "queue";
    pub(crate) PASS_BARRIER = 20 Wake "pass a barrier" of "queue";
    pub(crate) OPEN_BARRIER = 21 Notify "open a barrier" of "queue";
    pub(crate) PARK = 22 Wait "park this thread" of "parker";
    pub(crate) WAIT_PARKED = 23 Wait "wait to be unparked" of "queue";
    pub(crate) WAKE_PARKED = 23 Wake "wake after being unparked" of "queue";
    pub(crate) UNPARK = 24 Notify "unpark a thread" of "parker";
    pub(crate) CHOOSE = 25 Choice "choose";
    pub(crate) WAKE_SPURIOUSLY = 27 Choice "decide whether to wake spuriously";
    pub(crate) WAKE_UP_PARKED = 26 Notify "wake a parked thread" of "queue";
}
