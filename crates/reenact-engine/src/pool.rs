//! Worker threads for light activities: actors, and other activities that are many and short.
//!
//! A [`Task`] is scheduled when it has something to do, and any worker may run it. Each worker has a queue and, before
//! it, a slot for the task that was scheduled last: its data is in the cache, and two tasks that communicate stay on
//! one core. No worker is woken for tasks that their own worker would finish before a sleeping one has woken up.
//! Instead, one idle worker is on the *lookout*: it inspects the others from time to time, and steals from a queue that
//! is long, or that waits behind a long turn.
//!
//! The pool knows when there is no work left: no worker is awake and nothing is queued. See [`Pool::wait_until_quiet`].
//!
//! A task that has to wait (for a lock, at a channel, for its turn in a replay) is suspended together with its stack,
//! and its worker runs other tasks: see `pool/carrier.rs`. A task that blocks in the kernel nevertheless blocks its
//! worker; [`about_to_block`] then lets another worker take over its queue.

pub(crate) mod carrier;
mod ready;
mod remote;
mod sleepers;
pub(crate) mod stack;
mod task;
#[cfg(test)]
mod tests;
mod worker;

use std::{
    cell::{Cell, RefCell},
    num::NonZeroUsize,
    ptr::NonNull,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{
            AtomicBool, AtomicU32,
            Ordering::{Relaxed, SeqCst},
            fence,
        },
    },
    thread::JoinHandle,
};

use crossbeam_deque::{Injector, Steal};

pub(crate) use self::task::nothing_else_is_ready;
use self::{
    remote::Remote,
    sleepers::Sleepers,
    task::Scheduled,
    worker::{Worker, current},
};
pub use self::{
    task::{
        Task, can_be_put_aside, give_way, in_background, is_in_turn, is_task, poll_until_woken,
        wait_aside,
    },
    worker::about_to_block,
};
use crate::{Latch, activity::aside, controller, explore, mode, untracked};

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

crate::operations! {
    IDLE = 0x53 Join "wait until there is no work left";
}

/// A pool of worker threads. Never freed: there are few pools, and their tasks refer to them without counting.
#[derive(Clone, Copy)]
pub struct Pool {
    shared: &'static Shared,
}

struct Shared {
    /// Tasks scheduled by threads that are not workers.
    injector: Injector<Scheduled>,
    /// One for each possible worker; those from `size` on are for workers that stand in for blocked ones.
    remotes: Box<[Remote]>,
    size: usize,
    /// How many workers have been started.
    begun: AtomicU32,
    /// How many workers are blocked in a turn.
    blocked: AtomicU32,
    /// How many suspended tasks are not in the background.
    waiting: AtomicU32,
    sleepers: Sleepers,
    /// Whether spinning before sleeping makes sense: not on one core.
    spins: bool,
    /// How many [`ExpectedWork`] exist: work that will come from elsewhere, such as timers.
    expected: AtomicU32,
    idle_waiters: IdleWaiters,
    closing: AtomicBool,
    /// Tasks that run again when the pool is closed.
    until_closed: Mutex<Vec<Scheduled>>,
    threads: Mutex<Vec<(usize, JoinHandle<()>)>>,
}

/// Threads that wait for the pool to become idle.
#[derive(Default)]
struct IdleWaiters {
    waiting: Mutex<Vec<Arc<Latch>>>,
}

/// Maximum number of workers that stand in for blocked ones.
const STAND_INS: usize = 256;

/// All pools.
static POOLS: Mutex<Vec<&'static Shared>> = Mutex::new(Vec::new());

/// Whether any pool has a queued task, or a task with a timer. While no worker is awake, none takes one.
pub(crate) fn is_work_queued() -> bool {
    let pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    pools
        .iter()
        .any(|pool| pool.has_queued() || pool.sleeps_until())
}

/// Whether this is the address on which an idle worker sleeps. Such a worker may wake to inspect the others, but not to
/// go on with a task of its own.
pub(crate) fn is_resting_place(address: usize) -> bool {
    let pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut remotes = pools.iter().flat_map(|pool| &pool.remotes);
    remotes.any(|remote| remote.parker.address() == address && !remote.sleeps_until.load(SeqCst))
}

impl Pool {
    /// Creates a pool with `size` workers.
    pub fn new(size: NonZeroUsize) -> Pool {
        // The mode must be known first: workers are counted from the beginning.
        mode::settle();
        let size = size.get();
        if let Some(pool) = explore::pool(size, || Pool::with_remotes(size, Box::default())) {
            return pool;
        }
        let remotes = (0..size + STAND_INS).map(|_| Remote::new()).collect();
        let pool = Pool::with_remotes(size, remotes);
        POOLS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(pool.shared);
        for _ in 0..size {
            pool.shared.begin_worker();
        }
        pool
    }

    fn with_remotes(size: usize, remotes: Box<[Remote]>) -> Pool {
        Pool {
            shared: Box::leak(Box::new(Shared {
                injector: Injector::new(),
                remotes,
                size,
                begun: AtomicU32::new(0),
                blocked: AtomicU32::new(0),
                waiting: AtomicU32::new(0),
                spins: cores() > 1,
                sleepers: Sleepers::default(),
                expected: AtomicU32::new(0),
                idle_waiters: IdleWaiters::default(),
                closing: AtomicBool::new(false),
                until_closed: Mutex::default(),
                threads: Mutex::default(),
            })),
        }
    }

    /// Resets a pool without workers to its initial state.
    #[cfg(feature = "explore")]
    pub(crate) fn reopen(self) {
        self.shared.closing.store(false, SeqCst);
        self.shared.expected.store(0, SeqCst);
    }

    /// Returns the pool of the calling worker; on other threads the shared pool, with a worker for each core (or as
    /// many as the environment variable `REENACT_WORKERS` says).
    pub fn current_or_shared() -> Pool {
        match Pool::current() {
            Some(pool) if !pool.is_closed() => pool,
            _ => Pool::shared(),
        }
    }

    /// Returns the pool that all models share. It is never closed.
    pub fn shared() -> Pool {
        static SHARED: OnceLock<Pool> = OnceLock::new();
        static EXPLORED: OnceLock<Pool> = OnceLock::new();
        if explore::is_here() {
            return *EXPLORED.get_or_init(|| Pool::with_remotes(cores(), Box::default()));
        }
        *SHARED.get_or_init(|| {
            let asked = std::env::var("REENACT_WORKERS").ok();
            let asked = asked.and_then(|asked| asked.parse().ok());
            Pool::new(
                asked
                    .or(NonZeroUsize::new(cores()))
                    .unwrap_or(NonZeroUsize::MIN),
            )
        })
    }

    /// Returns the number of workers.
    pub fn size(&self) -> usize {
        self.shared.size
    }

    /// Returns the pool of the calling worker; `None` on other threads.
    pub fn current() -> Option<Pool> {
        current().map(|worker| Pool {
            shared: worker.shared,
        })
    }

    /// Schedules the task: a worker runs it soon.
    ///
    /// # Safety
    ///
    /// The task lives until it has run, and is not scheduled again before it runs.
    #[inline]
    pub unsafe fn schedule(self, task: NonNull<Task>) {
        match current() {
            Some(worker) if std::ptr::eq(worker.shared, self.shared) => {
                worker.schedule(Scheduled(task));
            }
            _ => self.shared.inject(Scheduled(task)),
        }
    }

    /// Like [`Pool::schedule`], for a task that stays with the worker that starts it. Tasks that a thread schedules one
    /// after the other probably communicate, so no second worker is woken for the next one; a second worker still gets
    /// it if the first has too much to do.
    ///
    /// # Safety
    ///
    /// The same as for [`Pool::schedule`].
    pub unsafe fn schedule_to_stay(self, task: NonNull<Task>) {
        match current() {
            Some(worker) if std::ptr::eq(worker.shared, self.shared) => {
                worker.schedule(Scheduled(task));
            }
            _ if controller::run(task) => {}
            _ if self.is_closed() => run_closed(Scheduled(task)),
            _ => {
                self.shared.injector.push(Scheduled(task));
                // For the fence, see `Shared::push`. A worker checks the injector again before it sleeps.
                fence(SeqCst);
                if self.shared.blocked.load(SeqCst) != 0 {
                    self.shared.stand_in();
                } else if self.shared.sleepers.nobody_awake() {
                    self.shared.wake_one();
                }
                self.shared.run_late();
            }
        }
    }

    /// Like [`Pool::schedule`], but after everything else that the calling worker has to do.
    ///
    /// # Safety
    ///
    /// The same as for [`Pool::schedule`].
    pub unsafe fn schedule_last(self, task: NonNull<Task>) {
        match current() {
            Some(worker) if std::ptr::eq(worker.shared, self.shared) => {
                worker.enqueue(Scheduled(task));
            }
            _ => self.shared.inject(Scheduled(task)),
        }
    }

    /// Like [`Pool::schedule`], but always on a worker, even if the pool is closed. A closed pool has workers only in a
    /// controlled process.
    ///
    /// # Safety
    ///
    /// The same as for [`Pool::schedule`].
    pub unsafe fn hand_over(self, task: NonNull<Task>) {
        if controller::run(task) {
            return;
        }
        self.shared.push(Scheduled(task));
    }

    /// Returns whether the pool has been closed: tasks still run, but only to find that out.
    #[inline]
    pub fn is_closed(self) -> bool {
        self.shared.closing.load(Relaxed)
    }

    /// Announces work that will come from elsewhere: the pool is not idle before the result is dropped.
    pub fn expect_work(&self) -> ExpectedWork {
        self.shared.expected.fetch_add(1, SeqCst);
        ExpectedWork(self.shared)
    }

    /// Waits until no task is queued or running and no work is expected. Does not take account of tasks that other
    /// threads schedule afterwards.
    ///
    /// # Panics
    ///
    /// Panics on a worker of this pool, which would wait for itself.
    pub fn wait_until_quiet(&self) {
        assert!(
            !current().is_some_and(|worker| std::ptr::eq(worker.shared, self.shared)),
            "a turn cannot wait until there is no work left: it is work itself"
        );
        if explore::is_here() {
            assert!(
                !explore::is_in_turn(),
                "a turn cannot wait until there is no work left: it is work itself"
            );
            explore::wait_until_idle(IDLE, &|| self.shared.expected.load(SeqCst) == 0);
            return;
        }
        let latch = {
            let mut waiting = self.shared.idle_waiters.lock();
            if self.shared.is_quiet() {
                return;
            }
            let latch = Arc::new(Latch::new());
            waiting.push(Arc::clone(&latch));
            latch
        };
        self.shared.if_quiet();
        latch.wait(&|| "there to be no work left".to_owned());
    }

    /// Keeps the task, which counts as scheduled, until the pool is closed. Returns false if it is closed already.
    ///
    /// # Safety
    ///
    /// The same as for [`Pool::schedule`].
    pub unsafe fn wait_until_closed(self, task: NonNull<Task>) -> bool {
        let mut until_closed = self.shared.until_closed();
        let waits = !self.is_closed();
        if waits {
            until_closed.push(Scheduled(task));
        }
        waits
    }

    /// Ends the workers. Queued tasks, and tasks that are scheduled from now on, still run, to find that the pool [is
    /// closed](Pool::is_closed).
    ///
    /// Returns when the workers have ended, unless a worker calls it. It does not wait for workers that have a
    /// suspended task, which end when that task does. In a controlled process, workers do not end: what happens before
    /// the end does not depend on timing there, and may be still to come.
    pub fn close(&self) {
        let mut until_closed = self.shared.until_closed();
        self.shared.closing.store(true, SeqCst);
        let tasks = std::mem::take(&mut *until_closed);
        drop(until_closed);
        if !self.shared.is_over() {
            tasks.into_iter().for_each(|task| self.shared.push(task));
            return;
        }
        tasks.into_iter().for_each(run_closed);
        for remote in &self.shared.remotes[..self.shared.begun.load(SeqCst) as usize] {
            remote.parker.unpark();
        }
        if current().is_none() {
            // Tasks that other threads have scheduled at the last moment.
            self.shared.run_late();
            let threads = std::mem::take(
                &mut *self
                    .shared
                    .threads
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner),
            );
            for (index, thread) in threads {
                if self.shared.remotes[index].waiting.load(SeqCst) == 0 {
                    // A worker does not panic: tasks catch their own panics.
                    let _ = thread.join();
                }
            }
        }
    }
}

/// Work that will come from elsewhere.
pub struct ExpectedWork(&'static Shared);

impl Drop for ExpectedWork {
    fn drop(&mut self) {
        if let Some(execution) = explore::here() {
            execution.expected_work_is_done();
        }
        self.0.expected.fetch_sub(1, SeqCst);
        self.0.if_quiet();
    }
}

impl IdleWaiters {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Latch>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn until_closed(&self) -> MutexGuard<'_, Vec<Scheduled>> {
        self.until_closed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the workers have ended, or are about to.
    #[inline]
    fn is_over(&self) -> bool {
        self.closing.load(SeqCst) && !mode::is_controlled()
    }

    fn inject(&'static self, task: Scheduled) {
        if controller::run(task.0) {
            return;
        }
        if self.closing.load(Relaxed) {
            run_closed(task);
        } else {
            self.push_to_open(task);
        }
    }

    /// Queues the task for a worker of a pool that was open a moment ago.
    fn push_to_open(&'static self, task: Scheduled) {
        self.push(task);
        self.run_late();
    }

    /// Runs queued tasks if no worker will take them any more.
    ///
    /// A thread that queues a task calls this afterwards, and so do threads that close the pool and workers that end,
    /// once the pool is closed. The fence ensures that either they find the task, or the thread that queued it sees
    /// that the pool is over.
    fn run_late(&self) {
        fence(SeqCst);
        if !self.is_over() {
            return;
        }
        loop {
            match self.injector.steal() {
                Steal::Success(task) => run_closed(task),
                Steal::Empty => return,
                Steal::Retry => {}
            }
        }
    }

    /// Queues the task and lets a worker take it.
    fn push(&'static self, task: Scheduled) {
        self.injector.push(task);
        // Either this sees that a worker is blocked, or that worker sees the task: see `about_to_block`.
        fence(SeqCst);
        if self.blocked.load(SeqCst) == 0 {
            self.wake_one();
        } else {
            self.stand_in();
        }
    }

    /// Whether a task is queued anywhere.
    fn has_queued(&self) -> bool {
        let begun = self.remotes.len().min(self.begun.load(SeqCst) as usize);
        !self.injector.is_empty() || self.remotes[..begun].iter().any(Remote::has_queued)
    }

    /// Whether a worker sleeps with a deadline because one of its tasks has a timer.
    fn sleeps_until(&self) -> bool {
        let mut remotes = self.remotes.iter().take(self.begun.load(SeqCst) as usize);
        remotes.any(|remote| remote.sleeps_until.load(SeqCst))
    }

    /// Wakes a sleeping worker, if there is one.
    fn wake_one(&self) {
        if let Some(index) = self.sleepers.rouse() {
            self.remotes[index].parker.unpark();
        }
    }

    /// Starts the thread of another worker, which counts as awake.
    fn begin_worker(&'static self) {
        let index = self.begun.fetch_add(1, SeqCst) as usize;
        if index >= self.remotes.len() {
            self.begun.fetch_sub(1, SeqCst);
            return;
        }
        let queue = crossbeam_deque::Worker::new_fifo();
        *self.remotes[index]
            .stealer
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(queue.stealer());
        self.sleepers.one_more_awake();
        let thread = std::thread::Builder::new().name(format!("worker-{index}"));
        let thread = untracked(|| thread.spawn(move || Worker::new(self, index, queue).run()));
        match thread {
            Ok(thread) => self
                .threads
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push((index, thread)),
            // A pool without a single worker cannot go on; with fewer it is slower.
            Err(error) if index == 0 => panic!("cannot start a worker thread: {error}"),
            Err(_) => self.sleepers.one_less_awake(),
        }
    }

    /// Whether there is no work. The order matters: a worker counts as awake before it takes a task.
    fn is_quiet(&self) -> bool {
        self.injector.is_empty()
            && self.expected.load(SeqCst) == 0
            && self.waiting.load(SeqCst) == 0
            && self.sleepers.nobody_awake()
            && self.injector.is_empty()
    }

    /// If there is no work left, wakes the threads that wait for that.
    fn if_quiet(&self) {
        if !self.is_quiet() {
            return;
        }
        let waiting = std::mem::take(&mut *self.idle_waiters.lock());
        for latch in waiting {
            latch.establish();
        }
    }
}

/// Runs a task of a closed pool on the calling thread. Tasks that it schedules run after it, not within.
fn run_closed(task: Scheduled) {
    thread_local! {
        static RUNNING: RefCell<Option<Vec<Scheduled>>> = const { RefCell::new(None) };
    }
    fn next() -> Option<Scheduled> {
        RUNNING.with_borrow_mut(|running| {
            let next = running.as_mut()?.pop();
            if next.is_none() {
                *running = None;
            }
            next
        })
    }
    let is_first = RUNNING.with_borrow_mut(|running| {
        let is_first = running.is_none();
        running.get_or_insert_default().push(task);
        is_first
    });
    if is_first {
        // The thread may have an activity of its own.
        aside(|| {
            while let Some(task) = next() {
                task.run();
            }
        });
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool")
            .field("size", &self.size())
            .finish_non_exhaustive()
    }
}

thread_local! {
    /// The worker that runs on this thread; null if none does.
    static CURRENT: Cell<*const Worker> = const { Cell::new(std::ptr::null()) };
}
