//! Tasks that wait at an address, as threads do in a futex.
//!
//! No wake-up is lost: a waiter counts itself and then reads the word, under the lock of its bucket; a waker has
//! changed the word and then reads the count. So either the waiter sees the change, or the waker sees that a task
//! waits. While no task waits anywhere, waking a thread costs one additional load.

use std::{
    cell::Cell,
    collections::{BTreeMap, btree_map::Entry},
    ptr::NonNull,
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

/// A task that waits: on its stack.
///
/// # Invariants
///
/// 1. Everything but the parker is accessed under the lock of the bucket.
#[derive(Default)]
struct Waiter {
    parker: Parker,
    is_listed: Cell<bool>,
    before: Cell<Option<NonNull<Waiter>>>,
    after: Cell<Option<NonNull<Waiter>>>,
}

/// The waiters at one address, in the order in which they came. There may be a million.
#[derive(Default)]
struct Queue {
    first: Option<NonNull<Waiter>>,
    last: Option<NonNull<Waiter>>,
}

// SAFETY: A task in the queue is not resumed before it is removed, and invariant 1 protects its links.
unsafe impl Send for Queue {}

impl Queue {
    fn push(&mut self, waiter: &Waiter) {
        let this = NonNull::from(waiter);
        waiter.is_listed.set(true);
        waiter.before.set(self.last);
        match self.last {
            // SAFETY: A waiter lives on the stack of a task that is not resumed while it is in the queue.
            Some(last) => unsafe { last.as_ref() }.after.set(Some(this)),
            None => self.first = Some(this),
        }
        self.last = Some(this);
    }

    fn remove(&mut self, waiter: &Waiter) {
        waiter.is_listed.set(false);
        let (before, after) = (waiter.before.take(), waiter.after.take());
        match before {
            // SAFETY: A waiter lives on the stack of a task that is not resumed while it is in the queue.
            Some(before) => unsafe { before.as_ref() }.after.set(after),
            None => self.first = after,
        }
        match after {
            // SAFETY: A waiter lives on the stack of a task that is not resumed while it is in the queue.
            Some(after) => unsafe { after.as_ref() }.before.set(before),
            None => self.last = before,
        }
    }

    fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

const BUCKETS: usize = 64;

type Bucket = BTreeMap<usize, Queue>;

static WAITING: AtomicU32 = AtomicU32::new(0);
static TABLE: [Mutex<Bucket>; BUCKETS] = [const { Mutex::new(BTreeMap::new()) }; BUCKETS];

fn bucket(address: usize) -> MutexGuard<'static, Bucket> {
    let place =
        address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - BUCKETS.trailing_zeros());
    TABLE[place].lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits while `*word == expected`, until `deadline` at most; may return early. Returns false if the deadline has
/// passed.
pub(super) fn wait_while(
    carrier: &'static Carrier,
    word: &AtomicU32,
    expected: u32,
    deadline: Option<Instant>,
) -> bool {
    let address = word.as_ptr().addr();
    let waiter = Waiter::default();
    let mut bucket_of_it = bucket(address);
    WAITING.fetch_add(1, SeqCst);
    if word.load(SeqCst) != expected {
        WAITING.fetch_sub(1, SeqCst);
        return true;
    }
    bucket_of_it.entry(address).or_default().push(&waiter);
    let mut locked = Some(bucket_of_it);
    if waiter
        .parker
        .sleep_on(carrier, deadline, || drop(locked.take()))
    {
        return true;
    }
    // It has not been woken, or is just being woken.
    let mut bucket = bucket(address);
    if waiter.is_listed.get()
        && let Entry::Occupied(mut queue) = bucket.entry(address)
    {
        queue.get_mut().remove(&waiter);
        if queue.get().is_empty() {
            queue.remove();
        }
        WAITING.fetch_sub(1, SeqCst);
        return word.load(Relaxed) != expected;
    }
    drop(bucket);
    waiter.parker.park();
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
    let address = word.as_ptr().addr();
    let mut bucket = bucket(address);
    let Entry::Occupied(mut queue) = bucket.entry(address) else {
        return count;
    };
    let mut left = count;
    while left > 0
        && let Some(first) = queue.get().first
    {
        left -= 1;
        WAITING.fetch_sub(1, SeqCst);
        // SAFETY: It waits until it is woken, which happens once: it is removed from the queue. Under the lock, so that
        // a waiter whose time is up does not leave meanwhile.
        let first = unsafe { first.as_ref() };
        queue.get_mut().remove(first);
        first.parker.wake();
    }
    if queue.get().is_empty() {
        queue.remove();
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
