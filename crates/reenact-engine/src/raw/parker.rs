//! A place to wait until one is told to go on, for threads and tasks alike.

use std::{
    cell::Cell,
    hint::cold_path,
    sync::atomic::{
        AtomicU32,
        Ordering::{AcqRel, Acquire, Relaxed, Release},
    },
    time::{Duration, Instant},
};

use super::{now, sleep_while, wake_threads};
use crate::{
    Spot, controller, mode,
    pool::{about_to_block, carrier::Carrier},
};

/// A place for one activity to wait until it is told to go on.
///
/// # State
///
/// | value | meaning | set by | left by |
/// |---|---|---|---|
/// | `EMPTY` | nobody waits, nobody was told | who was told and takes note of it; who gives up | |
/// | `TOLD` | who waits, or will, may go on | [`Parker::unpark`] | who waits |
/// | `THREAD` | a thread sleeps | the thread | `unpark`; the thread, when its time is up |
/// | `TASK` | a task waits; `carrier` says which | the task | `unpark`; its worker, when its time is up |
/// | `OFF_STACK` | the same, without a time limit, and whoever tells it knows that it waits | the task | the task |
///
/// # Invariants
///
/// 1. `carrier` is written by who waits before the state says so, and read by the one who takes it out of that state.
#[derive(Default)]
pub struct Parker {
    state: AtomicU32,
    carrier: Cell<Option<&'static Carrier>>,
}

const EMPTY: u32 = 0;
const TOLD: u32 = 1;
const THREAD: u32 = 2;
const TASK: u32 = 3;
const OFF_STACK: u32 = 4;

// SAFETY: Invariant 1.
unsafe impl Send for Parker {}
// SAFETY: Invariant 1.
unsafe impl Sync for Parker {}

impl Parker {
    /// Nobody waits, nobody was told.
    pub const fn new() -> Parker {
        Parker {
            state: AtomicU32::new(EMPTY),
            carrier: Cell::new(None),
        }
    }

    /// Waits until [`Parker::unpark`], which may have come before.
    pub fn park(&self) {
        self.park_until(None);
    }

    /// As [`Parker::park`], until `deadline` at most. True if it was told.
    pub fn park_until(&self, deadline: Option<Instant>) -> bool {
        if self.was_told() {
            return true;
        }
        let Some(carrier) = Carrier::current() else {
            let _blocked = about_to_block();
            return self.sleep(deadline);
        };
        self.carrier.set(Some(carrier));
        if self.is_now(EMPTY, TASK) {
            carrier.wait(self, deadline, || {});
        }
        self.was_told()
    }

    /// Waits until [`Parker::wake`], or until the time is up. True if it was told.
    ///
    /// `publish` makes it known to whoever is to wake it, which happens once; nobody knows of it before. It lets go of the
    /// lock that protects the list of those who wait, say.
    #[inline]
    pub fn wait(&self, deadline: Option<Instant>, mut publish: impl FnMut()) -> bool {
        match Carrier::current() {
            Some(carrier) => self.sleep_on(carrier, deadline, publish),
            None => {
                publish();
                // Who is to answer is often about to.
                if self.look(THREAD_LOOKS) {
                    return true;
                }
                let _blocked = about_to_block();
                self.sleep(deadline)
            }
        }
    }

    #[inline]
    pub(crate) fn sleep_on(
        &self,
        carrier: &'static Carrier,
        deadline: Option<Instant>,
        publish: impl FnMut(),
    ) -> bool {
        self.carrier.set(Some(carrier));
        match deadline {
            None => {
                self.state.store(OFF_STACK, Relaxed);
                carrier.wait(self, None, publish);
                self.state.store(EMPTY, Relaxed);
                true
            }
            Some(_) => {
                self.state.store(TASK, Relaxed);
                carrier.wait(self, deadline, publish);
                self.was_told()
            }
        }
    }

    /// Waits as part of an operation of a model, until [`Parker::wake`]. `publish` is as for [`Parker::wait`]; `what` says for
    /// people what it waits for.
    #[inline]
    pub fn wait_in_operation(&self, mut publish: impl FnMut(), what: &(dyn Fn() -> String + Sync)) {
        if mode::is_controlled() {
            cold_path();
            publish();
            self.wait_controlled(what);
        } else {
            self.wait(None, publish);
        }
    }

    #[cold]
    fn wait_controlled(&self, what: &(dyn Fn() -> String + Sync)) {
        controller::park(Spot::Parker(self), what);
        self.state.store(EMPTY, Relaxed);
    }

    /// As [`Parker::park_until`], as part of an operation of a model, until [`Parker::unpark_in_operation`]. Where there is a
    /// controller, no time passes: a time limit is up at once.
    pub fn park_in_operation(&self, deadline: Option<Instant>) -> bool {
        if !mode::is_controlled() {
            return self.park_until(deadline);
        }
        if deadline.is_some() {
            return self.was_told();
        }
        self.wait_controlled(&|| "somebody to let it go on".to_owned());
        true
    }

    /// As [`Parker::unpark`], for who is, or will be, in [`Parker::park_in_operation`].
    pub fn unpark_in_operation(&self) {
        match mode::is_controlled() {
            true => self.tell_controlled(),
            false => self.unpark(),
        }
    }

    #[cold]
    fn tell_controlled(&self) {
        // Release: pairs with the Acquire in `is_told`.
        self.state.store(TOLD, Release);
        controller::unpark(Spot::Parker(self));
    }

    /// As [`Parker::wake`], for who is in [`Parker::wait_in_operation`].
    #[inline]
    pub fn wake_in_operation(&self) {
        if mode::is_controlled() {
            self.tell_controlled();
        } else {
            self.wake();
        }
    }

    /// Whether it was told, which is still to be taken note of.
    pub(crate) fn is_told(&self) -> bool {
        self.state.load(Acquire) == TOLD
    }

    /// Lets who is in [`Parker::wait`] go on. Called once for each.
    #[inline]
    pub fn wake(&self) {
        if self.state.load(Relaxed) == OFF_STACK
            && let Some(carrier) = self.carrier.get()
        {
            carrier.wake();
        } else {
            self.unpark();
        }
    }

    /// Lets who parks, or will park, go on.
    pub fn unpark(&self) {
        // Acquire: pairs with the Release in `is_now`. Release: pairs with the Acquire in `was_told`.
        match self.state.swap(TOLD, AcqRel) {
            THREAD => {
                wake_threads(&self.state, 1);
            }
            TASK => {
                if let Some(carrier) = self.carrier.get() {
                    carrier.wake();
                }
            }
            _ => {}
        }
    }

    /// The time of a task is up: whether it had not been told.
    ///
    /// # Safety
    ///
    /// The task waits at this parker.
    pub(crate) unsafe fn give_up(parker: *const Parker) -> bool {
        // SAFETY: The caller's.
        unsafe { (*parker).is_now(TASK, EMPTY) }
    }

    /// Where a thread sleeps that waits here, as the kernel knows it.
    pub(crate) fn address(&self) -> usize {
        self.state.as_ptr().addr()
    }

    /// Sleeps as a worker does that has nothing to do: for this long at most. True if it was told to go on.
    pub(crate) fn rest(&self, at_most: Option<Duration>) -> bool {
        self.sleep(at_most.map(|at_most| now() + at_most))
    }

    /// Looks for [`Parker::unpark`] this often before giving up. True if it came.
    pub fn spin(&self, times: u32) -> bool {
        for _ in 0..times {
            if self.was_told() {
                return true;
            }
            std::hint::spin_loop();
        }
        false
    }

    /// As [`Parker::spin`], in ever longer intervals, letting others run in the later ones.
    fn look(&self, times: u32) -> bool {
        for time in 0..times {
            if self.was_told() {
                return true;
            }
            if time < 7 {
                (0..1 << time).for_each(|_| std::hint::spin_loop());
            } else {
                std::thread::yield_now();
            }
        }
        false
    }

    /// The thread sleeps, whatever runs on it.
    fn sleep(&self, deadline: Option<Instant>) -> bool {
        loop {
            if self.was_told() {
                return true;
            }
            self.is_now(EMPTY, THREAD);
            if !sleep_while(&self.state, THREAD, deadline) {
                return !self.is_now(THREAD, EMPTY) && self.was_told();
            }
        }
    }

    /// Whether it was told; that is done with then.
    #[inline]
    fn was_told(&self) -> bool {
        // Acquire: pairs with the Release in `unpark`.
        self.state.load(Acquire) == TOLD && self.state.swap(EMPTY, Acquire) == TOLD
    }

    fn is_now(&self, before: u32, after: u32) -> bool {
        // Release: pairs with the Acquire in `unpark`.
        self.state
            .compare_exchange(before, after, AcqRel, Relaxed)
            .is_ok()
    }
}

/// How often a thread looks for an answer before it sleeps.
const THREAD_LOOKS: u32 = 11;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn being_told_before_parking_counts() {
        let parker = Parker::default();
        parker.unpark();
        parker.park();
    }

    #[test]
    fn a_thread_whose_time_is_up_goes_on() {
        let parker = Parker::default();
        let soon = now() + Duration::from_millis(1);
        assert!(!parker.park_until(Some(soon)));
        parker.unpark();
        assert!(parker.park_until(Some(soon)));
    }
}
