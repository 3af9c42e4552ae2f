//! A worker: what it runs next, and how it sleeps when there is nothing to run.

mod idle;

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    ptr::NonNull,
    sync::atomic::{
        Ordering::{Acquire, Relaxed, Release, SeqCst},
        fence,
    },
    time::{Duration, Instant},
};

use crossbeam_deque::Stealer;

use super::{
    CURRENT, Remote, Scheduled, Shared,
    carrier::{Carrier, Pause},
    ready::Ready,
    run_closed,
};
use crate::{
    activity,
    raw::{Parker, now},
    seeds,
};

/// After this many tasks in a row that were just scheduled or woken, the queue has its turn: two tasks that keep each
/// other busy must not starve the rest.
const IN_A_ROW: u32 = 64;
/// Once in this many tasks, a worker checks for tasks from other threads, even if its queue is not empty.
const LOOK_OUTSIDE: u32 = 61;
/// How many carriers without a task a worker keeps together with their stacks.
const FREE: usize = 64;
/// How often a worker checks for woken carriers before it sleeps: at least, and at most. An answer from another core
/// often comes sooner than a sleeping worker could be woken.
const SPINS: (u32, u32) = (16, 1024);

/// What a worker runs next.
enum Runnable {
    Task(Scheduled),
    /// Resumes a task that has waited.
    Carrier(&'static Carrier),
}

/// A worker, on its own thread.
///
/// All its code runs on carriers; the thread's own stack only switches from one to the next. See [`super::carrier`].
pub(super) struct Worker {
    pub(super) shared: &'static Shared,
    pub(super) index: usize,
    queue: crossbeam_deque::Worker<Scheduled>,
    runs: Cell<u32>,
    in_a_row: Cell<u32>,
    /// Queues of other workers, as far as they are known.
    others: Cell<Vec<(usize, Stealer<Scheduled>)>>,
    /// How many tasks each of the others had run at the last inspection, and when that was.
    seen_runs: Cell<Vec<u32>>,
    seen_at: Cell<Instant>,
    /// The carrier that runs.
    pub(super) on: Cell<Option<&'static Carrier>>,
    /// The carrier to resume next.
    chosen: Cell<Option<&'static Carrier>>,
    /// The function to call when the running carrier is off its stack.
    then: Cell<Option<*mut (dyn FnMut() + 'static)>>,
    /// Carriers whose wait is over.
    ready: Ready,
    /// Carriers without a task, and in `bare` those that have no stack either.
    free: RefCell<Vec<&'static Carrier>>,
    bare: RefCell<Vec<&'static Carrier>>,
    /// Whether the carrier that is resumed next has to leave its loop.
    retire: Cell<bool>,
    /// How many carriers wait.
    waiting: Cell<u32>,
    timers: RefCell<BTreeMap<(Instant, u64), &'static Carrier>>,
    next_timer: Cell<u64>,
    spins: Cell<u32>,
}

/// Returns the worker that runs on the calling thread.
#[inline(always)]
pub(super) fn current<'a>() -> Option<&'a Worker> {
    // SAFETY: The pointer is set by the worker's own thread for as long as it runs; the reference does not leave the
    // calls made by that thread.
    unsafe { CURRENT.get().as_ref() }
}

/// Announces that the calling thread is about to block in the kernel for an unknown time. If it is a worker, others
/// take over its queue until the result is dropped.
pub fn about_to_block() -> Blocked {
    let worker = current();
    if let Some(worker) = worker {
        let shared = worker.shared;
        worker.remote().is_blocked.store(true, SeqCst);
        shared.blocked.fetch_add(1, SeqCst);
        fence(SeqCst);
        // Not only its own queue: this worker may be standing in for others.
        if shared.has_queued() {
            shared.stand_in();
        }
    }
    Blocked(worker.is_some())
}

/// A thread that may be blocked, until this is dropped.
pub struct Blocked(bool);

impl Drop for Blocked {
    fn drop(&mut self) {
        if self.0
            && let Some(worker) = current()
        {
            worker.shared.blocked.fetch_sub(1, SeqCst);
            worker.remote().is_blocked.store(false, SeqCst);
        }
    }
}

impl Shared {
    /// Passes a woken carrier to its worker; called on other threads.
    pub(super) fn send_home(&'static self, carrier: &'static Carrier) {
        let home = carrier.home;
        let remote = &self.remotes[home];
        remote.inbox.push(carrier);
        // Either this sees that the worker rests, or the worker sees the carrier before it sleeps.
        fence(SeqCst);
        if remote.rests.load(SeqCst) && self.sleepers.rouse_this(home) {
            remote.parker.unpark();
        }
    }

    /// Lets another worker run the queued tasks when a worker is blocked.
    pub(super) fn stand_in(&'static self) {
        if let Some(index) = self.sleepers.rouse() {
            self.remotes[index].parker.unpark();
        } else if (self.begun.load(SeqCst) as usize)
            < self.size + self.blocked.load(SeqCst) as usize
        {
            self.begin_worker();
        }
    }
}

impl Worker {
    pub(super) fn new(
        shared: &'static Shared,
        index: usize,
        queue: crossbeam_deque::Worker<Scheduled>,
    ) -> Worker {
        Worker {
            index,
            queue,
            shared,
            runs: Cell::new(0),
            in_a_row: Cell::new(0),
            others: Cell::default(),
            seen_runs: Cell::default(),
            seen_at: Cell::new(now()),
            on: Cell::new(None),
            chosen: Cell::new(None),
            then: Cell::new(None),
            ready: Ready::default(),
            free: RefCell::default(),
            bare: RefCell::default(),
            retire: Cell::new(false),
            waiting: Cell::new(0),
            timers: RefCell::default(),
            next_timer: Cell::new(0),
            spins: Cell::new(SPINS.0),
        }
    }

    /// Runs carriers, one after the other.
    pub(super) fn run(&self) {
        CURRENT.set(self);
        activity::HOT.with(|hot| hot.is_ours.set(true));
        seeds::give_to_worker();
        loop {
            let carrier = match self.chosen.take().or_else(|| self.take_ready_in_a_row()) {
                Some(carrier) => {
                    self.goes_on(carrier);
                    carrier
                }
                None => self.free_carrier(),
            };
            self.on.set(Some(carrier));
            let pause = carrier.resume();
            self.on.set(None);
            match pause {
                Some(Pause::Waits) => self.waits(carrier),
                Some(Pause::Free) => self.keep(carrier),
                None => {
                    carrier.clear();
                    break;
                }
            }
        }
        // No task is on their stacks.
        for carrier in self.free.take() {
            self.let_retire(carrier);
        }
        CURRENT.set(std::ptr::null());
        activity::stand_up();
        while let Some(task) = self.remote().take_last().or_else(|| self.queue.pop()) {
            run_closed(task);
        }
        self.shared.run_late();
    }

    /// The loop of a carrier: runs one task after the other.
    pub(super) fn work(&self) {
        while !self.retire.get() && !self.is_done() {
            match self.next() {
                Some(Runnable::Task(task)) => {
                    self.one_more_run();
                    task.run();
                }
                Some(Runnable::Carrier(carrier)) => {
                    self.chosen.set(Some(carrier));
                    if let Some(this) = self.on.get() {
                        this.pause(Pause::Free);
                    }
                }
                None => self.rest(),
            }
        }
    }

    fn one_more_run(&self) {
        let runs = self.runs.get().wrapping_add(1);
        self.runs.set(runs);
        self.remote().runs.store(runs, Relaxed);
    }

    /// Whether the worker can end.
    fn is_done(&self) -> bool {
        self.shared.is_over() && self.waiting.get() == 0 && self.ready.is_empty()
    }

    fn remote(&self) -> &Remote {
        &self.shared.remotes[self.index]
    }

    /// Called when a carrier begins to wait.
    fn waits(&self, carrier: &'static Carrier) {
        self.set_waiting(self.waiting.get() + 1);
        if !carrier.in_background.get() {
            self.shared.waiting.fetch_add(1, SeqCst);
        }
        if let Some(then) = self.then.take() {
            // SAFETY: The function is on the stack of the carrier, which does not run before this worker resumes it.
            unsafe { (*then)() };
        }
    }

    /// Called before a carrier whose wait is over is resumed.
    fn goes_on(&self, carrier: &Carrier) {
        self.one_more_run();
        self.set_waiting(self.waiting.get() - 1);
        if !carrier.in_background.get() {
            self.shared.waiting.fetch_sub(1, SeqCst);
        }
    }

    fn set_waiting(&self, waiting: u32) {
        self.waiting.set(waiting);
        self.remote().waiting.store(waiting, Relaxed);
    }

    /// Returns a carrier without a task.
    fn free_carrier(&self) -> &'static Carrier {
        if let Some(carrier) = self.free.borrow_mut().pop() {
            return carrier;
        }
        let bare = self.bare.borrow_mut().pop();
        let furnished = match bare {
            Some(carrier) => carrier.furnish().map(|()| carrier),
            None => Carrier::new(self),
        };
        furnished.unwrap_or_else(|error| {
            eprintln!(
                "reenact: cannot have a stack for one more task, with {} of this worker waiting: {error}\n\
                 Fewer at a time, or more memory mappings (vm.max_map_count), would help.",
                self.waiting.get()
            );
            std::process::abort()
        })
    }

    /// Keeps a carrier that has no task; frees its stack if there are too many.
    fn keep(&self, carrier: &'static Carrier) {
        let mut free = self.free.borrow_mut();
        if free.len() < FREE {
            free.push(carrier);
            return;
        }
        drop(free);
        self.let_retire(carrier);
        self.bare.borrow_mut().push(carrier);
    }

    /// Lets a carrier that has no task leave its loop, and frees its stack.
    fn let_retire(&self, carrier: &'static Carrier) {
        self.retire.set(true);
        let pause = carrier.resume();
        self.retire.set(false);
        debug_assert!(pause.is_none(), "a loop that is to be left is left");
        carrier.clear();
    }

    /// Sets the function to call when the running carrier is off its stack.
    ///
    /// # Safety
    ///
    /// `then` is valid until it has been called.
    pub(super) unsafe fn when_off(&self, then: &mut (dyn FnMut() + '_)) {
        // SAFETY: Only the lifetime changes; the caller guarantees that the function is valid until it is called.
        let then: &mut (dyn FnMut() + 'static) = unsafe { std::mem::transmute(then) };
        self.then.set(Some(then));
    }

    #[inline]
    pub(super) fn is_home_of(&self, carrier: &Carrier) -> bool {
        carrier.belongs_to(self.shared, self.index)
    }

    /// Adds a carrier of this worker to the ready queue.
    #[inline]
    pub(super) fn make_ready(&self, carrier: &'static Carrier) {
        self.ready.push(carrier);
    }

    /// Wakes the carrier at the deadline, if it still waits then.
    pub(super) fn set_timer(&self, carrier: &'static Carrier, deadline: Instant) {
        let timer = (deadline, self.next_timer.get());
        self.next_timer.set(timer.1 + 1);
        carrier.timer.set(Some(timer));
        self.timers.borrow_mut().insert(timer, carrier);
    }

    pub(super) fn clear_timer(&self, timer: (Instant, u64)) {
        self.timers.borrow_mut().remove(&timer);
    }

    /// Wakes carriers whose deadlines have passed.
    fn look_at_timers(&self) {
        let mut timers = self.timers.borrow_mut();
        if timers.is_empty() {
            return;
        }
        let now = now();
        while let Some(first) = timers.first_entry()
            && first.key().0 <= now
        {
            let carrier = first.remove();
            carrier.timer.set(None);
            // SAFETY: The carrier waits at this parker, which is on its stack, until this worker resumes it.
            if unsafe { Parker::give_up(carrier.parker.get()) } {
                self.ready.push(carrier);
            }
        }
    }

    /// Returns the time until the next timer is due.
    fn next_deadline(&self) -> Option<Duration> {
        let timers = self.timers.borrow();
        let (deadline, _) = *timers.first_key_value()?.0;
        Some(deadline.saturating_duration_since(now()))
    }

    pub(super) fn has_nothing_ready(&self) -> bool {
        self.ready.is_empty() && self.remote().inbox.is_surely_empty()
    }

    #[inline]
    fn take_ready(&self) -> Option<&'static Carrier> {
        let inbox = &self.remote().inbox;
        if !inbox.is_empty() {
            inbox.take(|carrier| self.ready.push(carrier));
        }
        self.ready.pop()
    }

    #[inline]
    fn take_ready_in_a_row(&self) -> Option<&'static Carrier> {
        let in_a_row = self.in_a_row.get();
        if in_a_row >= IN_A_ROW {
            return None;
        }
        self.in_a_row.set(in_a_row + 1);
        self.take_ready()
    }

    /// Schedules a task before all others of this worker.
    #[inline]
    pub(super) fn schedule(&self, task: Scheduled) {
        let last = &self.remote().last;
        // Only this thread stores tasks here. Release: pairs with the Acquire in `Remote::take_last`.
        if last.load(Relaxed).is_null() {
            last.store(task.0.as_ptr(), Release);
            if self.shared.sleepers.unwatched() {
                self.shared.wake_one();
            }
        } else if let Some(before) = NonNull::new(last.swap(task.0.as_ptr(), SeqCst)) {
            self.enqueue(Scheduled(before));
        }
    }

    pub(super) fn enqueue(&self, task: Scheduled) {
        self.queue.push(task);
        let sleepers = &self.shared.sleepers;
        if sleepers.unwatched() {
            self.shared.wake_one();
        }
    }

    #[inline]
    fn next(&self) -> Option<Runnable> {
        if let Some(carrier) = self.take_ready_in_a_row() {
            return Some(Runnable::Carrier(carrier));
        }
        if self.in_a_row.get() < IN_A_ROW {
            if let Some(task) = self.take_last() {
                return Some(Runnable::Task(task));
            }
        } else if let Some(task) = self.take_last() {
            // This time behind the queue.
            self.queue.push(task);
        }
        self.in_a_row.set(0);
        if self.runs.get().is_multiple_of(LOOK_OUTSIDE) {
            self.look_at_timers();
            if let Some(task) = self.take_from_outside() {
                return Some(Runnable::Task(task));
            }
        }
        if let Some(task) = self.queue.pop() {
            return Some(Runnable::Task(task));
        }
        self.look_at_timers();
        if let Some(carrier) = self.take_ready() {
            return Some(Runnable::Carrier(carrier));
        }
        let task = self
            .take_from_outside()
            .or_else(|| self.take_from_others())?;
        Some(Runnable::Task(task))
    }

    #[inline]
    fn take_last(&self) -> Option<Scheduled> {
        let remote = self.remote();
        // If there is no other worker, no other thread takes from here. A stand-in that was just started does so only
        // if it sees that this worker is blocked; and this worker, when it no longer is, sees that there is another.
        if self.shared.begun.load(SeqCst) == 1 {
            let last = remote.last.load(Acquire);
            if !last.is_null() {
                remote.last.store(std::ptr::null_mut(), Relaxed);
            }
            return NonNull::new(last).map(Scheduled);
        }
        remote.take_last()
    }
}
