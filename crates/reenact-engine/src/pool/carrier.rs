//! Carriers: the stacks on which workers run tasks.
//!
//! The loop of a worker does not run on the stack of its thread but on one that can be suspended. If a task has to
//! wait, such as a process at a channel or an actor's turn at a lock, the whole carrier is suspended and the worker
//! goes on with another one; when the wait is over, it resumes the first. So waiting needs no thread, and a task that
//! never waits needs no stack: it runs on that of the loop.
//!
//! A carrier always belongs to the worker that created it. So what a task has on its stack, even if it is borrowed or
//! bound to its thread, stays sound however often the task waits.
//!
//! A task that is about to wait passes a function to call once it is off its stack, which usually releases the lock of
//! the list of waiters. Until then no thread can find it, so none can wake it too early, and neither side needs an
//! atomic instruction for that.

use std::{
    cell::{Cell, UnsafeCell},
    io,
    sync::atomic::{
        AtomicPtr,
        Ordering::{Acquire, Relaxed, Release, SeqCst},
    },
    time::Instant,
};

use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::{
    Shared,
    stack::Stack,
    worker::{Worker, current},
};
use crate::{activity::aside, raw::Parker};

/// Why a carrier returns to its worker.
pub(super) enum Pause {
    /// Its task waits.
    Waits,
    /// It has run its tasks, and found that another carrier can go on.
    Free,
}

/// A stack with a worker's loop on it, and possibly a task that waits.
///
/// # Invariants
///
/// 1. Only the thread of its worker accesses the fields, except `next`, which is accessed by the thread that wakes the
///    carrier.
/// 2. It is in at most one place: running, free, in the ready list or the inbox of its worker, or known to a
///    [`Parker`].
pub(crate) struct Carrier {
    coroutine: UnsafeCell<Option<Coroutine<(), Pause, (), Stack>>>,
    yielder: Cell<*const Yielder<(), Pause>>,
    shared: &'static Shared,
    /// The index of its worker.
    pub(super) home: usize,
    /// The next carrier in the inbox or in the ready list.
    next: AtomicPtr<Carrier>,
    /// Whether its task is background work, for which no thread waits; see [`super::in_background`].
    pub(super) in_background: Cell<bool>,
    /// The deadline of its wait and the number of the timer; `parker` is where it waits.
    pub(super) timer: Cell<Option<(Instant, u64)>>,
    pub(super) parker: Cell<*const Parker>,
}

// SAFETY: By invariant 1, only one thread accesses the fields that are not atomic.
unsafe impl Sync for Carrier {}

impl Carrier {
    /// Creates a carrier for this worker. Never freed; its stack may be.
    pub(super) fn new(worker: &Worker) -> io::Result<&'static Carrier> {
        let carrier: &'static Carrier = Box::leak(Box::new(Carrier {
            coroutine: UnsafeCell::new(None),
            yielder: Cell::new(std::ptr::null()),
            shared: worker.shared,
            home: worker.index,
            next: AtomicPtr::new(std::ptr::null_mut()),
            in_background: Cell::new(false),
            timer: Cell::new(None),
            parker: Cell::new(std::ptr::null()),
        }));
        carrier.furnish()?;
        Ok(carrier)
    }

    /// Allocates its stack, if it has none.
    pub(super) fn furnish(&'static self) -> io::Result<()> {
        // SAFETY: By invariant 1 no other thread has access, and the carrier does not run.
        let coroutine = unsafe { &mut *self.coroutine.get() };
        if coroutine.is_none() {
            let stack = Stack::new()?;
            *coroutine = Some(Coroutine::with_stack(stack, move |yielder, ()| {
                self.yielder.set(yielder);
                if let Some(worker) = current() {
                    worker.work();
                }
            }));
        }
        Ok(())
    }

    /// Frees its stack. The carrier has left its loop.
    pub(super) fn clear(&self) {
        // SAFETY: By invariant 1 no other thread has access, and the carrier does not run.
        drop(unsafe { (*self.coroutine.get()).take() });
    }

    /// Resumes it until it pauses; returns `None` if it has left its loop.
    pub(super) fn resume(&self) -> Option<Pause> {
        // SAFETY: By invariant 1 no other thread has access. The carrier does not run, since the caller is its worker,
        // off that stack.
        let coroutine = unsafe { &mut *self.coroutine.get() };
        match coroutine.as_mut()?.resume(()) {
            CoroutineResult::Yield(pause) => Some(pause),
            CoroutineResult::Return(()) => None,
        }
    }

    /// Returns to the worker. This call returns when the worker resumes the carrier.
    pub(super) fn pause(&self, pause: Pause) {
        // SAFETY: Set when the carrier started to run, and valid until its loop returns; the caller runs on it.
        let yielder = unsafe { &*self.yielder.get() };
        yielder.suspend(pause);
    }

    /// Returns the carrier that the calling code runs on, if it may wait there. `None` while the code panics: other
    /// tasks on this thread would find that the thread is panicking.
    #[inline]
    pub(crate) fn current() -> Option<&'static Carrier> {
        let carrier = current()?.on.get()?;
        if std::thread::panicking() {
            return None;
        }
        Some(carrier)
    }

    /// Waits. `then` is called when the carrier is off its stack; from then on it may be woken. Called on the carrier.
    #[inline]
    pub(crate) fn wait(
        &'static self,
        parker: &Parker,
        deadline: Option<Instant>,
        mut then: impl FnMut(),
    ) {
        let Some(worker) = current() else {
            return;
        };
        self.parker.set(parker);
        if let Some(deadline) = deadline {
            worker.set_timer(self, deadline);
        }
        // SAFETY: `then` is called before this function returns, while this stack frame stays in place.
        unsafe { worker.when_off(&mut then) };
        aside(|| self.pause(Pause::Waits));
        if let Some(timer) = self.timer.take() {
            worker.clear_timer(timer);
        }
    }

    /// Makes it ready. Called only once for each wait.
    #[inline]
    pub(crate) fn wake(&'static self) {
        match current() {
            Some(worker) if worker.is_home_of(self) => worker.make_ready(self),
            _ => self.shared.send_home(self),
        }
    }

    #[inline]
    pub(super) fn next(&self) -> Option<&'static Carrier> {
        // SAFETY: Carriers are never freed.
        unsafe { self.next.load(Relaxed).as_ref() }
    }

    #[inline]
    pub(super) fn set_next(&self, next: Option<&'static Carrier>) {
        let next = next.map_or(std::ptr::null_mut(), |next| {
            std::ptr::from_ref(next).cast_mut()
        });
        self.next.store(next, Relaxed);
    }

    /// Whether it belongs to this worker.
    #[inline]
    pub(super) fn belongs_to(&self, shared: &Shared, index: usize) -> bool {
        self.home == index && std::ptr::eq(self.shared, shared)
    }
}

/// Carriers that other threads have woken, for their worker: a lock-free stack.
#[derive(Default)]
pub(super) struct Inbox {
    /// The carrier that was pushed last.
    last: AtomicPtr<Carrier>,
}

impl Inbox {
    /// Whether it is empty, without synchronisation.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.last.load(Relaxed).is_null()
    }

    /// Whether it is empty, sequentially consistent.
    pub(super) fn is_surely_empty(&self) -> bool {
        self.last.load(SeqCst).is_null()
    }

    pub(super) fn push(&self, carrier: &'static Carrier) {
        let mut last = self.last.load(Relaxed);
        loop {
            carrier.next.store(last, Relaxed);
            let this = std::ptr::from_ref(carrier).cast_mut();
            // Release: pairs with the Acquire in `take`.
            match self
                .last
                .compare_exchange_weak(last, this, Release, Relaxed)
            {
                Ok(_) => return,
                Err(now) => last = now,
            }
        }
    }

    /// Takes all carriers, in the order in which they were pushed.
    pub(super) fn take(&self, mut each: impl FnMut(&'static Carrier)) {
        // SAFETY: Carriers are never freed.
        let mut at = unsafe { self.last.swap(std::ptr::null_mut(), Acquire).as_ref() };
        let mut first: Option<&'static Carrier> = None;
        // They are linked from the last to the first.
        while let Some(carrier) = at {
            at = carrier.next();
            carrier.set_next(first);
            first = Some(carrier);
        }
        while let Some(carrier) = first {
            first = carrier.next();
            each(carrier);
        }
    }
}
