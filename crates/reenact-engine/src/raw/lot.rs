//! Tasks that wait at an address, as threads do in a futex.
//!
//! No wake-up is lost: who waits counts itself and then looks at the word, under the lock of its bucket; who wakes has
//! changed the word and then looks at the count. So either the one sees the change, or the other that somebody waits.
//! Where no task waits anywhere, waking a thread costs one look more than it did.

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
/// 1. Everything but the parker is touched under the lock of the bucket.
#[derive(Default)]
struct Waiter {
    parker: Parker,
    is_listed: Cell<bool>,
    before: Cell<Option<NonNull<Waiter>>>,
    after: Cell<Option<NonNull<Waiter>>>,
}

/// Those who wait at one address, in the order in which they came. There may be a million.
#[derive(Default)]
struct Queue {
    first: Option<NonNull<Waiter>>,
    last: Option<NonNull<Waiter>>,
}

// SAFETY: Who is in it is not resumed before it is taken out; see invariant 1.
unsafe impl Send for Queue {}

impl Queue {
    fn push(&mut self, waiter: &Waiter) {
        let this = NonNull::from(waiter);
        waiter.is_listed.set(true);
        waiter.before.set(self.last);
        match self.last {
            // SAFETY: Who is in the queue is there.
            Some(last) => unsafe { last.as_ref() }.after.set(Some(this)),
            None => self.first = Some(this),
        }
        self.last = Some(this);
    }

    fn remove(&mut self, waiter: &Waiter) {
        waiter.is_listed.set(false);
        let (before, after) = (waiter.before.take(), waiter.after.take());
        match before {
            // SAFETY: As in `push`.
            Some(before) => unsafe { before.as_ref() }.after.set(after),
            None => self.first = after,
        }
        match after {
            // SAFETY: As in `push`.
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

/// Waits while `*word == expected`, until `deadline` at most; perhaps not quite so long. False if the deadline has
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
    // Nobody has told it, or somebody is about to.
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

/// Whether threads are to be woken before tasks, for once: as long as there are tasks that wait, they would not be otherwise.
/// Not by turns, since only the kernel knows whether there are threads at all.
pub(super) fn is_threads_turn() -> bool {
    const TURNS: u32 = 8;
    static TURN: AtomicU32 = AtomicU32::new(0);
    WAITING.load(Relaxed) > 0 && TURN.fetch_add(1, Relaxed).is_multiple_of(TURNS)
}

/// Wakes tasks that wait at this address, so many at most. How many more may be woken.
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
        // SAFETY: It waits until it is told, which happens once: it is taken out of the queue. Under the lock, so that one
        // whose time is up does not go meanwhile.
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
