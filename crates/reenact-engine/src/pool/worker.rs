//! One worker: what it runs next, and what it does when there is nothing.

use std::{
    cell::Cell,
    ptr::NonNull,
    sync::atomic::{
        Ordering::{Acquire, Relaxed, Release, SeqCst},
        fence,
    },
    time::{Duration, Instant},
};

use crossbeam_deque::{Steal, Stealer};

use super::{CURRENT, Place, Scheduled, Shared, run_closed, sleepers::Rest};
use crate::{activity, conduct};

/// After so many tasks in a row from the place for the last one, the queue has its turn: two tasks that keep each other
/// busy must not starve the rest.
const IN_A_ROW: u32 = 64;
/// Every so many tasks, a worker looks at what other threads have scheduled, even if its queue is not empty.
const LOOK_OUTSIDE: u32 = 61;
/// A queue that its worker needs at least so long for is worth taking from. What is run sooner is better left where it is:
/// many short turns that talk to each other are slower on two cores than on one.
const BACKLOG: Duration = Duration::from_micros(20);
/// How long a lookout sleeps between two looks: at first, and at most.
const LOOKOUT: (Duration, Duration) = (Duration::from_micros(50), Duration::from_micros(800));

pub(super) struct Worker {
    pub(super) shared: &'static Shared,
    index: usize,
    queue: crossbeam_deque::Worker<Scheduled>,
    runs: Cell<u32>,
    in_a_row: Cell<u32>,
    /// Queues of others, as far as they are known.
    others: Cell<Vec<(usize, Stealer<Scheduled>)>>,
    /// How many tasks each of the others had run when this one last looked, and when that was.
    seen_runs: Cell<Vec<u32>>,
    seen_at: Cell<Instant>,
}

/// The worker that the calling thread is.
#[inline(always)]
pub(super) fn current<'a>() -> Option<&'a Worker> {
    // SAFETY: The pointer is set by the worker's own thread for as long as it runs; the reference does not leave the
    // calls made by that thread.
    unsafe { CURRENT.get().as_ref() }
}

/// Says that the calling thread is about to sleep in the kernel for who knows how long. If it is a worker, others will
/// look after its queue.
pub fn about_to_block() -> Blocked {
    let worker = current();
    if let Some(worker) = worker {
        let shared = worker.shared;
        worker.place().is_blocked.store(true, SeqCst);
        shared.blocked.fetch_add(1, SeqCst);
        fence(SeqCst);
        // Not only what is in its own queue: this may be the one that stood in for others.
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
            worker.place().is_blocked.store(false, SeqCst);
        }
    }
}

impl Shared {
    /// A worker is blocked and there are tasks: another one has to run them.
    pub(super) fn stand_in(&'static self) {
        if let Some(index) = self.sleepers.rouse() {
            self.places[index].parker.unpark();
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
            seen_at: Cell::new(Instant::now()),
        }
    }

    pub(super) fn run(&self) {
        CURRENT.set(self);
        while !self.shared.is_over() {
            match self.next() {
                Some(task) => {
                    let runs = self.runs.get().wrapping_add(1);
                    self.runs.set(runs);
                    self.place().runs.store(runs, Relaxed);
                    task.run();
                }
                None => self.rest(),
            }
        }
        CURRENT.set(std::ptr::null());
        activity::stand_up();
        while let Some(task) = self.place().take_last().or_else(|| self.queue.pop()) {
            run_closed(task);
        }
    }

    fn place(&self) -> &Place {
        &self.shared.places[self.index]
    }

    /// Puts a task before all others of this worker.
    #[inline]
    pub(super) fn schedule(&self, task: Scheduled) {
        let place = &self.place().last;
        // Only this thread puts tasks here. Release: pairs with the Acquire in `Place::take_last`.
        if place.load(Relaxed).is_null() {
            place.store(task.0.as_ptr(), Release);
            if self.shared.sleepers.unwatched() {
                self.shared.wake_one();
            }
        } else if let Some(before) = NonNull::new(place.swap(task.0.as_ptr(), SeqCst)) {
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
    fn next(&self) -> Option<Scheduled> {
        let in_a_row = self.in_a_row.get();
        if in_a_row < IN_A_ROW
            && let Some(task) = self.take_last()
        {
            self.in_a_row.set(in_a_row + 1);
            return Some(task);
        }
        self.in_a_row.set(0);
        if self.runs.get().is_multiple_of(LOOK_OUTSIDE)
            && let Some(task) = self.take_from_outside()
        {
            return Some(task);
        }
        if let Some(task) = self.queue.pop() {
            return Some(task);
        }
        self.take_last()
            .or_else(|| self.take_from_outside())
            .or_else(|| self.take_from_others())
    }

    #[inline]
    fn take_last(&self) -> Option<Scheduled> {
        let place = self.place();
        // Where there is no other worker, nobody else takes from here. A stand-in is begun on this thread.
        if self.shared.begun.load(Relaxed) == 1 {
            let last = place.last.load(Acquire);
            if !last.is_null() {
                place.last.store(std::ptr::null_mut(), Relaxed);
            }
            return NonNull::new(last).map(Scheduled);
        }
        place.take_last()
    }

    fn take_from_outside(&self) -> Option<Scheduled> {
        loop {
            match self.shared.injector.steal_batch_and_pop(&self.queue) {
                Steal::Success(task) => return Some(task),
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    }

    /// Takes from a worker that has more than it will soon have run, going by how fast it was since the last look; or that
    /// is stuck in one turn.
    fn take_from_others(&self) -> Option<Scheduled> {
        let begun = self.shared.begun.load(SeqCst) as usize;
        if begun == 1 {
            return None;
        }
        let mut others = self.others.take();
        if others.len() + 1 < begun {
            others = (0..begun)
                .filter(|&index| index != self.index)
                .filter_map(|index| Some((index, self.shared.places[index].stealer()?)))
                .collect();
        }
        let now = Instant::now();
        let time = now.duration_since(self.seen_at.get());
        let is_long_ago = time >= BACKLOG;
        if is_long_ago {
            self.seen_at.set(now);
        }
        let mut seen = self.seen_runs.take();
        seen.resize(self.shared.places.len(), 0);
        let mut found = None;
        for (index, stealer) in &others {
            let place = &self.shared.places[*index];
            let runs = place.runs.load(Relaxed).wrapping_sub(seen[*index]);
            if is_long_ago {
                seen[*index] = seen[*index].wrapping_add(runs);
            }
            let stuck = place.is_blocked.load(SeqCst) || (is_long_ago && runs == 0);
            let needs = time.as_nanos() * stealer.len() as u128 / u128::from(runs.max(1));
            found = if stuck || (is_long_ago && needs >= BACKLOG.as_nanos()) {
                self.steal(stealer)
            } else {
                None
            };
            if found.is_none() && stuck {
                found = place.take_last();
            }
            if found.is_some() {
                break;
            }
        }
        self.others.set(others);
        self.seen_runs.set(seen);
        found
    }

    fn steal(&self, stealer: &Stealer<Scheduled>) -> Option<Scheduled> {
        loop {
            match stealer.steal_batch_and_pop(&self.queue) {
                Steal::Success(task) => return Some(task),
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    }

    /// Sleeps until there is something to do.
    fn rest(&self) {
        let shared = self.shared;
        let sleepers = &shared.sleepers;
        let mut patience = LOOKOUT.0;
        loop {
            let rest = sleepers.lie_down(self.index);
            if let Rest::Last = rest {
                shared.if_quiet();
            }
            conduct::one_less_awake();
            // What came in between, nobody was told of.
            if shared.is_over() || !shared.injector.is_empty() {
                sleepers.get_up(self.index);
                return;
            }
            let woken = match rest {
                Rest::Last | Rest::Sleep => self.place().parker.rest(None),
                Rest::Lookout => {
                    let woken = self.place().parker.rest(Some(patience));
                    patience = (patience * 2).min(LOOKOUT.1);
                    woken
                }
            };
            let was_roused = !sleepers.get_up(self.index);
            if woken || was_roused {
                return;
            }
            if let Some(task) = self.take_from_others() {
                self.queue.push(task);
                return;
            }
        }
    }
}
