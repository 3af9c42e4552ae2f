//! Worker threads for light activities: actors, and whatever else is many and short.
//!
//! A [`Task`] is scheduled when there is something for it to do and run by whichever worker comes to it. Each worker has
//! a queue and, before it, one place for the task that was scheduled last: its data is in the cache, and two tasks
//! that talk to each other stay on one core. Nobody is woken for a queue that its owner will have run before a sleeper
//! is on its feet; one worker that has nothing to do is on the *lookout* instead: it looks at the others every now and
//! then, and takes from a queue that would take its owner long, or that waits behind a long turn.
//!
//! The pool knows when there is no work left: no worker is awake and nothing is queued. See [`Pool::wait_until_quiet`].
//!
//! A task that has to wait (at a lock that is held, at a channel, for its turn in a replay) is put aside together with the
//! stack it runs on, and its worker goes on: see `pool/carrier.rs`. One that blocks in the kernel all the same keeps its worker
//! busy with nothing; [`about_to_block`] then sees to it that another one looks after its queue.

pub(crate) mod carrier;
mod ready;
mod sleepers;
pub(crate) mod stack;
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
            AtomicBool, AtomicPtr, AtomicU32,
            Ordering::{Acquire, Relaxed, SeqCst},
            fence,
        },
    },
    thread::JoinHandle,
    time::Duration,
};

use crossbeam_deque::{Injector, Steal, Stealer};

pub use self::worker::about_to_block;
use self::{
    carrier::{Carrier, Inbox},
    sleepers::Sleepers,
    worker::{Worker, current},
};
use crate::{
    Fact,
    activity::aside,
    apart, controller, explore, mode,
    raw::{Parker, now},
};

/// Something that a worker can run. The first field of whatever it is (`#[repr(C)]`).
pub struct Task {
    run: unsafe fn(NonNull<Task>),
}

impl Task {
    /// A task that is run by calling `run` with its address.
    ///
    /// # Safety
    ///
    /// `run` is called on a worker, once for each [`Pool::schedule`]; it must be sound to call it with the address that
    /// was scheduled.
    pub const unsafe fn new(run: unsafe fn(NonNull<Task>)) -> Task {
        Task { run }
    }

    /// Runs it.
    ///
    /// # Safety
    ///
    /// It was scheduled, and has not run since.
    pub(crate) unsafe fn run(task: NonNull<Task>) {
        // SAFETY: The caller's.
        unsafe { (task.as_ref().run)(task) }
    }
}

/// The address of a task on its way to a worker.
#[derive(Clone, Copy)]
struct Scheduled(NonNull<Task>);

// SAFETY: Whoever schedules a task promises that any worker may run it.
unsafe impl Send for Scheduled {}

impl Scheduled {
    fn run(self) {
        // SAFETY: See `Task::new` and `Pool::schedule`.
        unsafe { Task::run(self.0) }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Whether the calling code is a task that something runs.
pub fn is_task() -> bool {
    current().is_some() || explore::is_here()
}

/// Runs `task`, which the calling task consists of, without that being work whose end [`Pool::wait_until_quiet`] waits
/// for as long as it waits for something itself.
pub fn in_background<R>(task: impl FnOnce() -> R) -> R {
    explore::in_background();
    let carrier = Carrier::current();
    if let Some(carrier) = carrier {
        carrier.in_background.set(true);
    }
    let result = task();
    if let Some(carrier) = carrier {
        carrier.in_background.set(false);
    }
    result
}

/// Whether the calling code is a task that is put aside when it has to wait, so that its worker can go on.
#[inline]
pub fn can_be_put_aside() -> bool {
    Carrier::current().is_some()
}

/// Waits for something that nobody tells us of, as a task that is put aside meanwhile: asks again and again, at first soon.
/// For what only the standard library knows, such as the end of a thread.
pub fn ask_until_told<R>(mut ask: impl FnMut() -> Option<R>) -> R {
    const PAUSES: (Duration, Duration) = (Duration::from_micros(10), Duration::from_millis(1));
    let mut pause = PAUSES.0;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        Parker::new().park_until(Some(now() + pause));
        pause = (pause * 2).min(PAUSES.1);
    }
}

/// Waits for something that only the standard library knows, where the calling task can be put aside meanwhile. Elsewhere the
/// caller waits in the usual way; and in a controlled process, where it is known to come in a moment: who only asks now and
/// then would seem to wait for somebody else.
pub fn wait_aside(mut is_over: impl FnMut() -> bool) {
    if can_be_put_aside() && !mode::is_controlled() {
        ask_until_told(|| is_over().then_some(()));
    }
}

/// Whether the calling code is a task that does not run [in the background](in_background): others wait for its end.
pub fn is_in_turn() -> bool {
    let is_task = current().is_some() || explore::is_in_turn();
    is_task && !Carrier::current().is_some_and(|carrier| carrier.in_background.get())
}

/// Whether the calling task's worker has no other that could go on.
pub(crate) fn nothing_else_is_ready() -> bool {
    current().is_none_or(Worker::has_nothing_ready)
}

/// Lets others of the same worker run, where the calling code is a task that can be put aside. False if it is not.
pub fn give_way() -> bool {
    let carrier = Carrier::current();
    if let Some(carrier) = carrier {
        carrier.wait(&Parker::default(), None, || carrier.wake());
    }
    carrier.is_some()
}

crate::operations! {
    IDLE = 0x53 Join "wait until there is no work left";
}

/// Worker threads. Never freed: there are few, and their many tasks refer to them without counting.
#[derive(Clone, Copy)]
pub struct Pool {
    shared: &'static Shared,
}

struct Shared {
    /// Tasks scheduled by threads that are not workers.
    injector: Injector<Scheduled>,
    /// One place for each worker there may be; those past `size` are for workers that stand in for blocked ones.
    places: Box<[Place]>,
    size: usize,
    /// How many places have had a worker.
    begun: AtomicU32,
    /// How many workers are blocked in a turn.
    blocked: AtomicU32,
    /// How many tasks wait whose end somebody may wait for.
    waiting: AtomicU32,
    sleepers: Sleepers,
    /// Whether it makes sense to look for something before sleeping: not on one core.
    spins: bool,
    /// Work that is on its way from elsewhere: timers.
    expected: AtomicU32,
    quiet: Quiet,
    closing: AtomicBool,
    /// Tasks that run again when it is closed.
    until_closed: Mutex<Vec<Scheduled>>,
    threads: Mutex<Vec<(usize, JoinHandle<()>)>>,
}

/// What others see of a worker.
struct Place {
    /// The task that its worker scheduled last. Only that worker puts one here; anyone may take it.
    last: AtomicPtr<Task>,
    /// Its queue. Set before the worker's thread starts.
    stealer: Mutex<Option<Stealer<Scheduled>>>,
    /// How many tasks it has run, roughly: a lookout sees by it whether it is stuck in one.
    runs: AtomicU32,
    /// Whether it is blocked in one.
    is_blocked: AtomicBool,
    /// Those of its carriers that others have woken.
    inbox: Inbox,
    /// Whether it sleeps, or is about to: who puts something into the inbox wakes it.
    rests: AtomicBool,
    /// Whether it sleeps until it is time for one of its carriers to go on.
    sleeps_until: AtomicBool,
    /// How many of its carriers wait.
    waiting: AtomicU32,
    parker: Parker,
}

/// Who waits for the pool to have nothing to do.
#[derive(Default)]
struct Quiet {
    waiting: Mutex<Vec<Arc<Fact>>>,
}

/// Most workers that stand in for blocked ones.
const STAND_INS: usize = 256;

/// All pools there are.
static POOLS: Mutex<Vec<&'static Shared>> = Mutex::new(Vec::new());

/// Whether a task is queued in any pool, or will go on by itself. While nobody is awake, nobody takes one.
pub(crate) fn is_work_queued() -> bool {
    let pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    pools
        .iter()
        .any(|pool| pool.has_queued() || pool.sleeps_until())
}

/// Whether this is where a worker sleeps that has nothing to do. It may wake to look at the others, but not to go on with a
/// task of its own.
pub(crate) fn is_resting_place(address: usize) -> bool {
    let pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut places = pools.iter().flat_map(|pool| &pool.places);
    places.any(|place| place.parker.address() == address && !place.sleeps_until.load(SeqCst))
}

impl Pool {
    /// A pool with so many workers.
    pub fn new(size: NonZeroUsize) -> Pool {
        // Workers are counted from the beginning.
        mode::settle();
        let size = size.get();
        if let Some(pool) = explore::pool(size, || Pool::with_places(size, Box::default())) {
            return pool;
        }
        let places = (0..size + STAND_INS).map(|_| Place::new()).collect();
        let pool = Pool::with_places(size, places);
        POOLS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(pool.shared);
        for _ in 0..size {
            pool.shared.begin_worker();
        }
        pool
    }

    fn with_places(size: usize, places: Box<[Place]>) -> Pool {
        Pool {
            shared: Box::leak(Box::new(Shared {
                injector: Injector::new(),
                places,
                size,
                begun: AtomicU32::new(0),
                blocked: AtomicU32::new(0),
                waiting: AtomicU32::new(0),
                spins: cores() > 1,
                sleepers: Sleepers::default(),
                expected: AtomicU32::new(0),
                quiet: Quiet::default(),
                closing: AtomicBool::new(false),
                until_closed: Mutex::default(),
                threads: Mutex::default(),
            })),
        }
    }

    /// As if it were new: for one without workers.
    pub(crate) fn reopen(self) {
        self.shared.closing.store(false, SeqCst);
        self.shared.expected.store(0, SeqCst);
    }

    /// The pool whose worker the calling thread is; elsewhere the one that all models share, with a worker for each core
    /// (or as many as the environment variable `REENACT_WORKERS` says).
    pub fn current_or_shared() -> Pool {
        match Pool::current() {
            Some(pool) if !pool.is_closed() => pool,
            _ => Pool::shared(),
        }
    }

    /// The one that all models share. It is never closed.
    pub fn shared() -> Pool {
        static SHARED: OnceLock<Pool> = OnceLock::new();
        static EXPLORED: OnceLock<Pool> = OnceLock::new();
        if explore::is_here() {
            return *EXPLORED.get_or_init(|| Pool::with_places(cores(), Box::default()));
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

    /// How many workers it has.
    pub fn size(&self) -> usize {
        self.shared.size
    }

    /// The pool whose worker the calling thread is.
    pub fn current() -> Option<Pool> {
        current().map(|worker| Pool {
            shared: worker.shared,
        })
    }

    /// Lets a worker run the task, soon.
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

    /// As [`Pool::schedule`], for a task that will stay with the worker that begins it. Those that a thread schedules one
    /// after the other probably talk to each other: so no second worker is woken for the next one, which will come to it if
    /// the first has too much to do.
    ///
    /// # Safety
    ///
    /// As for [`Pool::schedule`].
    pub unsafe fn schedule_to_stay(self, task: NonNull<Task>) {
        match current() {
            Some(worker) if std::ptr::eq(worker.shared, self.shared) => {
                worker.schedule(Scheduled(task));
            }
            _ if controller::run(task) => {}
            _ if self.is_closed() => run_closed(Scheduled(task)),
            _ => {
                self.shared.injector.push(Scheduled(task));
                // As in `Shared::push`; and a worker that lies down looks here once more.
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

    /// As [`Pool::schedule`], behind everything else that the calling worker has to do.
    ///
    /// # Safety
    ///
    /// As for [`Pool::schedule`].
    pub unsafe fn schedule_last(self, task: NonNull<Task>) {
        match current() {
            Some(worker) if std::ptr::eq(worker.shared, self.shared) => {
                worker.enqueue(Scheduled(task));
            }
            _ => self.shared.inject(Scheduled(task)),
        }
    }

    /// As [`Pool::schedule`], on a worker, even if the pool is closed. Only where there is a controller are there any then.
    ///
    /// # Safety
    ///
    /// As for [`Pool::schedule`].
    pub unsafe fn hand_over(self, task: NonNull<Task>) {
        if controller::run(task) {
            return;
        }
        self.shared.push(Scheduled(task));
    }

    /// Whether it has been closed: whatever runs now runs to be told so.
    #[inline]
    pub fn is_closed(self) -> bool {
        self.shared.closing.load(Relaxed)
    }

    /// Says that work will come from elsewhere, until what is returned is dropped: the pool is not quiet before.
    pub fn expect_work(&self) -> Expected {
        self.shared.expected.fetch_add(1, SeqCst);
        Expected(self.shared)
    }

    /// Returns when no task is queued or running and no work is expected. Anything that is scheduled by other threads
    /// afterwards is another matter.
    ///
    /// # Panics
    ///
    /// On a worker of this pool, which would wait for itself.
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
        let fact = {
            let mut waiting = self.shared.quiet.lock();
            if self.shared.is_quiet() {
                return;
            }
            let fact = Arc::new(Fact::new());
            waiting.push(Arc::clone(&fact));
            fact
        };
        self.shared.if_quiet();
        fact.wait(&|| "there to be no work left".to_owned());
    }

    /// Keeps the task, which is scheduled, until the pool is closed. False if it is.
    ///
    /// # Safety
    ///
    /// As for [`Pool::schedule`].
    pub unsafe fn wait_until_closed(self, task: NonNull<Task>) -> bool {
        let mut until_closed = self.shared.until_closed();
        let waits = !self.is_closed();
        if waits {
            until_closed.push(Scheduled(task));
        }
        waits
    }

    /// Ends the workers. What is queued, and whatever is scheduled from now on, is run all the same, to find that the
    /// pool [is closed](Pool::is_closed).
    ///
    /// Returns when they have ended, unless called by one of them; those are left alone that have a task which waits for
    /// something, and end when it has. Where there is a controller they go on: who has more to do before the end is then not
    /// a matter of time, and may be still to come.
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
        for place in &self.shared.places[..self.shared.begun.load(SeqCst) as usize] {
            place.parker.unpark();
        }
        if current().is_none() {
            // What other threads scheduled at the last moment.
            self.shared.run_late();
            let threads = std::mem::take(
                &mut *self
                    .shared
                    .threads
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner),
            );
            for (index, thread) in threads {
                if self.shared.places[index].waiting.load(SeqCst) == 0 {
                    // A worker does not panic: whatever a task does is caught by it.
                    let _ = thread.join();
                }
            }
        }
    }
}

/// Work that will come from elsewhere.
pub struct Expected(&'static Shared);

impl Drop for Expected {
    fn drop(&mut self) {
        self.0.expected.fetch_sub(1, SeqCst);
        self.0.if_quiet();
    }
}

impl Place {
    fn new() -> Place {
        Place {
            last: AtomicPtr::new(std::ptr::null_mut()),
            stealer: Mutex::new(None),
            runs: AtomicU32::new(0),
            is_blocked: AtomicBool::new(false),
            inbox: Inbox::default(),
            rests: AtomicBool::new(false),
            sleeps_until: AtomicBool::new(false),
            waiting: AtomicU32::new(0),
            parker: Parker::default(),
        }
    }

    fn stealer(&self) -> Option<Stealer<Scheduled>> {
        self.stealer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Whether its queue has a task.
    fn has_queued(&self) -> bool {
        let stealer = self.stealer.lock().unwrap_or_else(PoisonError::into_inner);
        !self.last.load(SeqCst).is_null()
            || !self.inbox.is_surely_empty()
            || stealer.as_ref().is_some_and(|stealer| !stealer.is_empty())
    }

    /// Takes the task that was scheduled last, for any thread.
    fn take_last(&self) -> Option<Scheduled> {
        if self.last.load(Relaxed).is_null() {
            return None;
        }
        NonNull::new(self.last.swap(std::ptr::null_mut(), Acquire)).map(Scheduled)
    }
}

impl Quiet {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Fact>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn until_closed(&self) -> MutexGuard<'_, Vec<Scheduled>> {
        self.until_closed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether its workers have ended, or are about to.
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

    /// Lets a worker come for the task, of a pool that was open a moment ago.
    fn push_to_open(&'static self, task: Scheduled) {
        self.push(task);
        self.run_late();
    }

    /// If no worker will come any more, runs what is queued for them.
    ///
    /// Whoever queues a task looks here afterwards, and so do those who close the pool or end as workers once that is to be
    /// seen. Fences in between: either a task is queued before they look, or its scheduler sees that the pool is over.
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

    /// Lets a worker come for the task.
    fn push(&'static self, task: Scheduled) {
        self.injector.push(task);
        // Either this sees that a worker is blocked, or that one sees the task: see `about_to_block`.
        fence(SeqCst);
        if self.blocked.load(SeqCst) == 0 {
            self.wake_one();
        } else {
            self.stand_in();
        }
    }

    /// Whether a task is queued anywhere.
    fn has_queued(&self) -> bool {
        let begun = self.places.len().min(self.begun.load(SeqCst) as usize);
        !self.injector.is_empty() || self.places[..begun].iter().any(Place::has_queued)
    }

    /// Whether a worker sleeps until it is time for one of its tasks to go on.
    fn sleeps_until(&self) -> bool {
        let mut places = self.places.iter().take(self.begun.load(SeqCst) as usize);
        places.any(|place| place.sleeps_until.load(SeqCst))
    }

    /// Wakes a sleeping worker, if there is one.
    fn wake_one(&self) {
        if let Some(index) = self.sleepers.rouse() {
            self.places[index].parker.unpark();
        }
    }

    /// Starts another worker's thread, awake.
    fn begin_worker(&'static self) {
        let index = self.begun.fetch_add(1, SeqCst) as usize;
        if index >= self.places.len() {
            self.begun.fetch_sub(1, SeqCst);
            return;
        }
        let queue = crossbeam_deque::Worker::new_fifo();
        *self.places[index]
            .stealer
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(queue.stealer());
        self.sleepers.one_more_awake();
        let thread = std::thread::Builder::new().name(format!("worker-{index}"));
        let thread = apart(|| thread.spawn(move || Worker::new(self, index, queue).run()));
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

    /// Whether there is no work. In this order: who takes something is awake before.
    fn is_quiet(&self) -> bool {
        self.injector.is_empty()
            && self.expected.load(SeqCst) == 0
            && self.waiting.load(SeqCst) == 0
            && self.sleepers.nobody_awake()
            && self.injector.is_empty()
    }

    /// Tells those who wait for it that there is no work left, if so.
    fn if_quiet(&self) {
        if !self.is_quiet() {
            return;
        }
        let waiting = std::mem::take(&mut *self.quiet.lock());
        for fact in waiting {
            fact.establish();
        }
    }
}

/// Runs a task of a closed pool on the calling thread. What it schedules is run after it, not within.
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
    /// The worker that the thread is, if it is one.
    static CURRENT: Cell<*const Worker> = const { Cell::new(std::ptr::null()) };
}
