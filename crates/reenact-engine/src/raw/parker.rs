//! Parking until notified, for threads and tasks alike.

use std::{
    cell::Cell,
    hint::cold_path,
    time::{Duration, Instant},
};

use super::{now, sleep_while, spin_while, wake_threads};
use crate::{
    Spot, controller,
    loom::{
        AtomicU32,
        Ordering::{AcqRel, Acquire, Relaxed, Release},
        checks, spin_loop, yield_now,
    },
    mode,
    pool::{about_to_block, carrier::Carrier},
};

/// Lets one activity wait until it is notified.
///
/// # State
///
/// | value | meaning | set by | left by |
/// |---|---|---|---|
/// | `EMPTY` | no waiter, not notified | the waiter, when it consumes a notification or gives up | |
/// | `NOTIFIED` | notified: the waiter, or the next one, may continue | [`Parker::unpark`] | the waiter |
/// | `THREAD` | a thread sleeps | the thread | `unpark`; the thread, when its time is up |
/// | `TASK` | a task waits; `carrier` says which | the task | `unpark`; its worker, when its time is up |
/// | `OFF_STACK` | a task waits without a time limit, and its waker knows that it waits | the task | the task |
///
/// # Invariants
///
/// 1. `carrier` is written by the waiter before the state says that it waits, and read by the one that takes it out of
///    that state.
#[derive(Default)]
pub struct Parker {
    state: AtomicU32,
    carrier: Cell<Option<&'static Carrier>>,
}

const EMPTY: u32 = 0;
const NOTIFIED: u32 = 1;
const THREAD: u32 = 2;
const TASK: u32 = 3;
const OFF_STACK: u32 = 4;

// SAFETY: Invariant 1: `carrier` is never accessed by two threads at the same time.
unsafe impl Send for Parker {}
// SAFETY: Invariant 1: `carrier` is never accessed by two threads at the same time.
unsafe impl Sync for Parker {}

impl Parker {
    /// A parker without a waiter, not notified.
    pub const fn new() -> Parker {
        Parker {
            state: AtomicU32::new(EMPTY),
            carrier: Cell::new(None),
        }
    }

    /// Waits until [`Parker::unpark`], which may have been called before.
    pub fn park(&self) {
        self.park_until(None);
    }

    /// Like [`Parker::park`], until `deadline` at most. Returns whether it was notified.
    pub fn park_until(&self, deadline: Option<Instant>) -> bool {
        if self.consume_notification() {
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
        self.consume_notification()
    }

    /// Waits until [`Parker::wake`], or until the time is up. Returns whether it was notified.
    ///
    /// `publish` makes the waiter known to its waker, for example by releasing the lock that protects the list of
    /// waiters. It is called once; no other thread knows of the waiter before.
    #[inline]
    pub fn wait(&self, deadline: Option<Instant>, mut publish: impl FnMut()) -> bool {
        match Carrier::current() {
            Some(carrier) => self.sleep_on(carrier, deadline, publish),
            None => {
                publish();
                // The reply is often imminent.
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
                self.consume_notification()
            }
        }
    }

    /// Waits as part of an operation of a model, until [`Parker::wake`]. `publish` is as for [`Parker::wait`]; `what`
    /// describes for people what it waits for.
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

    /// Like [`Parker::park_until`], as part of an operation of a model, until [`Parker::unpark_in_operation`]. Under a
    /// controller no time passes: a time limit is over at once.
    pub fn park_in_operation(&self, deadline: Option<Instant>) -> bool {
        if !mode::is_controlled() {
            return self.park_until(deadline);
        }
        if deadline.is_some() {
            return self.consume_notification();
        }
        self.wait_controlled(&|| "a notification".to_owned());
        true
    }

    /// Like [`Parker::unpark`], for a waiter that is, or will be, in [`Parker::park_in_operation`].
    pub fn unpark_in_operation(&self) {
        match mode::is_controlled() {
            true => self.notify_controlled(),
            false => self.unpark(),
        }
    }

    #[cold]
    fn notify_controlled(&self) {
        // Release: pairs with the Acquire in `is_notified`.
        self.state.store(NOTIFIED, Release);
        controller::unpark(Spot::Parker(self));
    }

    /// Like [`Parker::wake`], for a waiter in [`Parker::wait_in_operation`].
    #[inline]
    pub fn wake_in_operation(&self) {
        if mode::is_controlled() {
            self.notify_controlled();
        } else {
            self.wake();
        }
    }

    /// Returns whether it was notified and the notification has not been consumed.
    pub(crate) fn is_notified(&self) -> bool {
        self.state.load(Acquire) == NOTIFIED
    }

    /// Wakes the waiter in [`Parker::wait`]. Called once for each wait.
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

    /// Wakes the waiter, or lets the next one continue at once.
    pub fn unpark(&self) {
        // Acquire: pairs with the Release in `is_now`. Release: pairs with the Acquire in `consume_notification`.
        match self.state.swap(NOTIFIED, AcqRel) {
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

    /// Ends the wait of a task whose time is up. Returns whether it had not been notified.
    ///
    /// # Safety
    ///
    /// The task waits at this parker.
    pub(crate) unsafe fn give_up(parker: *const Parker) -> bool {
        // SAFETY: The caller guarantees that the task waits at this parker, so the parker exists.
        unsafe { (*parker).is_now(TASK, EMPTY) }
    }

    /// Returns the futex address at which a waiting thread sleeps.
    pub(crate) fn address(&self) -> usize {
        self.state.as_ptr().addr()
    }

    /// Sleeps as an idle worker: for this long at most. Returns whether it was notified.
    pub(crate) fn rest(&self, at_most: Option<Duration>) -> bool {
        self.sleep(at_most.map(|at_most| now() + at_most))
    }

    /// Checks for [`Parker::unpark`] this often, spinning. Returns whether it was notified.
    pub fn spin(&self, times: u32) -> bool {
        !spin_while(times, || !self.consume_notification())
    }

    /// Like [`Parker::spin`], in ever longer intervals, yielding in the later ones.
    fn look(&self, times: u32) -> bool {
        for time in 0..times {
            if self.consume_notification() {
                return true;
            }
            if time < 7 {
                (0..1 << time).for_each(|_| spin_loop());
            } else {
                yield_now();
            }
        }
        false
    }

    /// Puts the thread to sleep, whatever runs on it.
    fn sleep(&self, deadline: Option<Instant>) -> bool {
        loop {
            if self.consume_notification() {
                return true;
            }
            self.is_now(EMPTY, THREAD);
            if !sleep_while(&self.state, THREAD, deadline) {
                return !self.is_now(THREAD, EMPTY) && self.consume_notification();
            }
        }
    }

    /// Consumes a notification. Returns whether there was one.
    #[inline]
    fn consume_notification(&self) -> bool {
        // Acquire: pairs with the Release in `unpark`.
        self.state.load(Acquire) == NOTIFIED && self.state.swap(EMPTY, Acquire) == NOTIFIED
    }

    fn is_now(&self, before: u32, after: u32) -> bool {
        // Release: pairs with the Acquire in `unpark`.
        self.state
            .compare_exchange(before, after, AcqRel, Relaxed)
            .is_ok()
    }
}

/// How often a thread checks for a reply before it sleeps.
const THREAD_LOOKS: u32 = checks(11);

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
