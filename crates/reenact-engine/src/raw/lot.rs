//! Tasks that wait at an address, as threads do in a futex.
//!
//! No wake-up is lost: who waits counts itself and then looks at the word, under the lock of its bucket; who wakes has
//! changed the word and then looks at the count. So either the one sees the change, or the other that somebody waits.
//! Where no task waits anywhere, waking a thread costs one look more than it did.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicU32,
            Ordering::{Relaxed, SeqCst},
            fence,
        },
    },
    time::Instant,
};

use super::Parker;
use crate::pool::carrier::Carrier;

struct Waiter {
    address: usize,
    parker: *const Parker,
}

// SAFETY: The parker is on the stack of who waits, who is not resumed before it is taken off the list.
unsafe impl Send for Waiter {}

const BUCKETS: usize = 64;

static WAITING: AtomicU32 = AtomicU32::new(0);
static TABLE: [Mutex<Vec<Waiter>>; BUCKETS] = [const { Mutex::new(Vec::new()) }; BUCKETS];

fn bucket(address: usize) -> MutexGuard<'static, Vec<Waiter>> {
    let place =
        address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - BUCKETS.trailing_zeros());
    TABLE[place].lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits while `*word == expected`, until `deadline` at most; perhaps not quite so long. False if the deadline has
/// passed.
pub(super) fn wait_while(
    carrier: &'static Carrier,
    word: &AtomicU32,
    expected: u32,
    deadline: Option<Instant>,
) -> bool {
    let address = word.as_ptr().addr();
    let parker = Parker::default();
    let mut waiters = bucket(address);
    WAITING.fetch_add(1, SeqCst);
    if word.load(SeqCst) != expected {
        WAITING.fetch_sub(1, SeqCst);
        return true;
    }
    waiters.push(Waiter {
        address,
        parker: &parker,
    });
    let mut waiters = Some(waiters);
    if parker.sleep_on(carrier, deadline, || drop(waiters.take())) {
        return true;
    }
    // Nobody has told it, or somebody is about to.
    let mut waiters = bucket(address);
    let place = waiters
        .iter()
        .position(|waiter| std::ptr::eq(waiter.parker, &parker));
    if let Some(place) = place {
        waiters.remove(place);
        WAITING.fetch_sub(1, SeqCst);
        return word.load(Relaxed) != expected;
    }
    drop(waiters);
    parker.park();
    true
}

/// Wakes tasks that wait at this address, so many at most. How many more may be woken.
pub(super) fn wake(word: &AtomicU32, count: u32) -> u32 {
    fence(SeqCst);
    if WAITING.load(SeqCst) == 0 {
        return count;
    }
    let address = word.as_ptr().addr();
    let mut left = count;
    let mut waiters = bucket(address);
    waiters.retain(|waiter| {
        if left == 0 || waiter.address != address {
            return true;
        }
        left -= 1;
        WAITING.fetch_sub(1, SeqCst);
        // SAFETY: It waits until it is told, which happens once: it is taken off the list. Under the lock, so that one
        // whose time is up does not go meanwhile.
        unsafe { (*waiter.parker).wake() };
        false
    });
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
        Fact,
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
            // SAFETY: Made below, and run once.
            let mut run = unsafe { Box::from_raw(task.cast::<Run>().as_ptr()) };
            run.what.take().unwrap()();
        }
        // SAFETY: See `run`.
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
        let done = Arc::new(Fact::new());
        let told = Arc::clone(&done);
        spawn(pool, move || {
            let (mutex, condvar) = (RawMutex::new(), RawCondvar::new());
            mutex.lock();
            let notified = condvar.wait(&mutex, Some(std::time::Duration::from_millis(1)));
            assert!(!notified);
            told.establish();
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
