//! Tasks that wait at an address, as threads do in a futex.
//!
//! No wake-up is lost: a waiter counts itself and then reads the word, under the lock of its bucket; a waker has
//! changed the word and then reads the count. So either the waiter sees the change, or the waker sees that a task
//! waits. While no task waits anywhere, waking a thread costs one additional load.

use std::{ptr::NonNull, time::Instant};

use super::{Parker, WaiterTable};
use crate::loom::{
    AtomicU32,
    Ordering::{Relaxed, SeqCst},
    fence,
};

/// The parker of a task that waits, on the stack of that task.
struct Sleeper(NonNull<Parker>);

// SAFETY: A parker is `Sync`, and it exists while the table refers to it: see `wait_while`.
unsafe impl Send for Sleeper {}

static WAITING: AtomicU32 = AtomicU32::new(0);
static TABLE: WaiterTable<Sleeper> = WaiterTable::new();

/// Waits while `*word == expected`, until `deadline` at most; may return early. Returns false if the deadline has
/// passed.
pub(super) fn wait_while(word: &AtomicU32, expected: u32, deadline: Option<Instant>) -> bool {
    let parker = Parker::new();
    let mut waiters = TABLE.lock(word.as_ptr().addr());
    WAITING.fetch_add(1, SeqCst);
    if word.load(SeqCst) != expected {
        WAITING.fetch_sub(1, SeqCst);
        return true;
    }
    // This function returns, and the parker ends, only after the entry has been removed: by `wake`, which then notifies
    // the parker under the lock, or below.
    let key = waiters.add(0, Sleeper(NonNull::from(&parker)));
    let mut locked = Some(waiters);
    if parker.wait(deadline, || drop(locked.take())) {
        return true;
    }
    // It has not been woken, or is just being woken.
    if TABLE.remove(key).is_some() {
        WAITING.fetch_sub(1, SeqCst);
        return word.load(Relaxed) != expected;
    }
    parker.park();
    true
}

/// Returns whether threads are to be woken before tasks this time: otherwise they would never be woken while tasks
/// wait. They do not simply alternate, since only the kernel knows whether any threads wait.
pub(super) fn is_threads_turn() -> bool {
    const TURNS: u32 = 8;
    static TURN: AtomicU32 = AtomicU32::new(0);
    WAITING.load(Relaxed) > 0 && TURN.fetch_add(1, Relaxed).is_multiple_of(TURNS)
}

/// Wakes at most this many tasks that wait at this address. Returns how many more may be woken.
pub(super) fn wake(word: &AtomicU32, count: u32) -> u32 {
    fence(SeqCst);
    if count == 0 || WAITING.load(SeqCst) == 0 {
        return count;
    }
    let mut waiters = TABLE.lock(word.as_ptr().addr());
    let mut left = count;
    while left > 0
        && let Some(first) = waiters.pop_first()
    {
        left -= 1;
        WAITING.fetch_sub(1, SeqCst);
        // SAFETY: The task does not leave `wait_while` before this notifies it, because its entry was in the table; and
        // if its time is up meanwhile, it first waits for the lock of the table, which is held here.
        unsafe { first.0.as_ref() }.wake();
    }
    left
}

#[cfg(test)]
mod tests {
    use std::{
        num::NonZeroUsize,
        sync::{Arc, atomic::AtomicU64},
    };

    use super::*;
    use crate::{
        Latch,
        pool::{Pool, Task, give_way},
        raw::{RawCondvar, RawMutex},
    };

    #[repr(C)]
    struct Run {
        task: Task,
        what: Option<Box<dyn FnOnce() + Send>>,
    }

    fn spawn(pool: Pool, what: impl FnOnce() + Send + 'static) {
        unsafe fn run(task: std::ptr::NonNull<Task>) {
            // SAFETY: `spawn` leaked this box, and a task runs once.
            let mut run = unsafe { Box::from_raw(task.cast::<Run>().as_ptr()) };
            run.what.take().unwrap()();
        }
        // SAFETY: `run` is given the task of a leaked `Run`, of which it is the first field.
        let task = unsafe { Task::new(run) };
        let what: Option<Box<dyn FnOnce() + Send>> = Some(Box::new(what));
        let run = Box::leak(Box::new(Run { task, what }));
        // SAFETY: It lives until it runs, once.
        unsafe { pool.schedule(std::ptr::NonNull::from(run).cast()) };
    }

    /// ```text
    /// task 1   lock, give way ............ unlock
    /// task 2                   lock (waits) ....... unlock
    /// ```
    #[test]
    fn a_task_that_waits_for_a_lock_does_not_keep_its_worker() {
        let pool = Pool::new(NonZeroUsize::MIN);
        let (lock, sum) = (Arc::new(RawMutex::new()), Arc::new(AtomicU64::new(0)));
        for _ in 0..100 {
            let (lock, sum) = (Arc::clone(&lock), Arc::clone(&sum));
            spawn(pool, move || {
                for _ in 0..100 {
                    lock.lock();
                    let before = sum.load(Relaxed);
                    give_way();
                    sum.store(before + 1, Relaxed);
                    lock.unlock();
                }
            });
        }
        pool.wait_until_quiet();
        assert_eq!(sum.load(Relaxed), 10_000);
        pool.close();
    }

    #[test]
    fn a_task_whose_time_is_up_goes_on() {
        let pool = Pool::new(NonZeroUsize::MIN);
        let done = Arc::new(Latch::new());
        let finished = Arc::clone(&done);
        spawn(pool, move || {
            let (mutex, condvar) = (RawMutex::new(), RawCondvar::new());
            mutex.lock();
            let notified = condvar.wait(&mutex, Some(std::time::Duration::from_millis(1)));
            assert!(!notified);
            finished.establish();
        });
        done.wait(&String::new);
        pool.close();
    }

    #[test]
    fn a_thread_and_tasks_share_a_lock() {
        let pool = Pool::new(NonZeroUsize::new(2).unwrap());
        let (lock, sum) = (Arc::new(RawMutex::new()), Arc::new(AtomicU64::new(0)));
        let add = |lock: Arc<RawMutex>, sum: Arc<AtomicU64>| {
            for _ in 0..20_000 {
                lock.lock();
                let before = sum.load(Relaxed);
                sum.store(before + 1, Relaxed);
                lock.unlock();
            }
        };
        for _ in 0..8 {
            let (lock, sum) = (Arc::clone(&lock), Arc::clone(&sum));
            spawn(pool, move || add(lock, sum));
        }
        add(Arc::clone(&lock), Arc::clone(&sum));
        pool.wait_until_quiet();
        assert_eq!(sum.load(Relaxed), 180_000);
        pool.close();
    }
}
