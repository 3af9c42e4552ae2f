//! Carriers: the stacks on which workers run tasks.
//!
//! A worker's loop is not on the stack of its thread but on one that can be left in the middle. If a task has to wait, be
//! it a process at a channel or an actor's turn at a lock, the whole carrier is put aside and the worker goes on with
//! another one; when the wait is over, it comes back to the first, which is still where it was. So waiting costs no
//! thread, and a task that never waits costs no stack: it runs on the loop's.
//!
//! A carrier belongs to the worker that made it, for good. What a task has on its stack, borrowed or bound to its thread,
//! therefore stays sound however often it waits.
//!
//! Whoever is about to wait says what is to be done once it is off its stack (let go of the lock that protects the list
//! of those who wait, usually). Until then nobody can find it, so nobody can wake it too early, and neither side needs an
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

/// Why a carrier gives the thread back to its worker.
pub(super) enum Pause {
    /// Its task waits.
    Waits,
    /// It has run its tasks, and found that another carrier can go on.
    Free,
}

/// A stack with a worker's loop on it, and perhaps a task that waits.
///
/// # Invariants
///
/// 1. Everything but `next` is touched by the thread of its worker only; `next` by who has it in its hands to wake it.
/// 2. It is in at most one place: running, free, in the ready list or an inbox of its worker, or known to a [`Parker`].
pub(crate) struct Carrier {
    coroutine: UnsafeCell<Option<Coroutine<(), Pause, (), Stack>>>,
    yielder: Cell<*const Yielder<(), Pause>>,
    shared: &'static Shared,
    /// Which worker it belongs to.
    pub(super) home: usize,
    /// The next one in the inbox or in the ready list.
    next: AtomicPtr<Carrier>,
    /// Whether what runs on it is work that somebody may wait for the end of; see [`super::in_background`].
    pub(super) in_background: Cell<bool>,
    /// When its wait is over in any case, by which a timer is known; and where it waits.
    pub(super) timer: Cell<Option<(Instant, u64)>>,
    pub(super) parker: Cell<*const Parker>,
}

// SAFETY: See the invariants.
unsafe impl Sync for Carrier {}

impl Carrier {
    /// A carrier for this worker. Never freed; its stack may be.
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

    /// Gives it a stack, if it has none.
    pub(super) fn furnish(&'static self) -> io::Result<()> {
        // SAFETY: Invariant 1, and it does not run.
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

    /// Gives its stack back. It has left its loop.
    pub(super) fn clear(&self) {
        // SAFETY: Invariant 1, and it does not run.
        drop(unsafe { (*self.coroutine.get()).take() });
    }

    /// Goes on with what it does, until it pauses; none if its worker is to end.
    pub(super) fn resume(&self) -> Option<Pause> {
        // SAFETY: Invariant 1. It does not run: who runs is not in the hands of its worker.
        let coroutine = unsafe { &mut *self.coroutine.get() };
        match coroutine.as_mut()?.resume(()) {
            CoroutineResult::Yield(pause) => Some(pause),
            CoroutineResult::Return(()) => None,
        }
    }

    /// Gives the thread back to its worker. Returns when that resumes it.
    pub(super) fn pause(&self, pause: Pause) {
        // SAFETY: Set when the carrier began to run, which it does, and valid until it returns.
        let yielder = unsafe { &*self.yielder.get() };
        yielder.suspend(pause);
    }

    /// The carrier that the calling code runs on, if it may wait there. Not while it panics: others on this thread would
    /// find that they do.
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
        // SAFETY: It is called before this returns, when nothing here has moved.
        unsafe { worker.when_off(&mut then) };
        aside(|| self.pause(Pause::Waits));
        if let Some(timer) = self.timer.take() {
            worker.clear_timer(timer);
        }
    }

    /// Lets it go on. The caller is the only one to do so, since it began to wait.
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

/// Carriers that others have woken, for their worker.
#[derive(Default)]
pub(super) struct Inbox {
    /// The one that came last.
    last: AtomicPtr<Carrier>,
}

impl Inbox {
    /// Whether there is none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.last.load(Relaxed).is_null()
    }

    /// The same, after all that came before.
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

    /// All of them, in the order in which they came.
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
