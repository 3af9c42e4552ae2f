//! `Condvar`.
//!
//! A waiter releases the lock and reacquires it; only its new position in the lock's order, and whether it timed out,
//! can differ between runs. So notifications are not recorded, and do nothing in a replay.

use std::{fmt, sync::LockResult, time::Duration};

use reenact_engine::{
    Access, Object, Op,
    explore::{is_around_recording, wakes_spuriously},
    raw::{RawCondvar, RawMutex, is_unlimited, now},
};

use super::MutexGuard;
use crate::ops;

/// A condition variable: [`std::sync::Condvar`], recorded.
pub struct Condvar {
    raw: RawCondvar,
    object: Object,
}

/// Whether a timed wait returned because of its time limit.
#[derive(Debug, PartialEq, Eq, Copy, Clone)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether the wait was known to have timed out.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl Condvar {
    /// Creates a condition variable without waiters.
    #[must_use]
    #[track_caller]
    pub const fn new() -> Condvar {
        Condvar {
            raw: RawCondvar::new(),
            object: Object::new(),
        }
    }

    /// Releases the lock, waits for a notification, and reacquires the lock.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        match wakes_spuriously(ops::WAKE_SPURIOUSLY) {
            true => {
                let waits = [ops::WAIT, ops::WAKE];
                let wait = |mutex: &RawMutex| self.raw.wait(mutex, None);
                guard.wait(waits, &self.object, true, wait).0
            }
            false => self.wait_as([ops::WAIT, ops::WAKE], guard),
        }
    }

    /// Waits as [`Condvar::wait`] does, for types that are built on a condition variable and have operations of their
    /// own.
    #[track_caller]
    pub(crate) fn wait_as<'a, T>(
        &self,
        ops: [Op; 2],
        guard: MutexGuard<'a, T>,
    ) -> LockResult<MutexGuard<'a, T>> {
        let wait = |mutex: &RawMutex| self.raw.wait(mutex, None);
        guard.wait(ops, &self.object, false, wait).0
    }

    /// Waits as long as `condition` holds.
    #[track_caller]
    pub fn wait_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Waits for a notification, for `dur` at most.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        dur: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        wakes_spuriously(ops::WAKE_SPURIOUSLY);
        self.wait_timeout_as([ops::WAIT, ops::WAKE], guard, dur)
    }

    /// Waits as [`Condvar::wait_as`] does, for `dur` at most.
    #[track_caller]
    pub(crate) fn wait_timeout_as<'a, T>(
        &self,
        ops: [Op; 2],
        guard: MutexGuard<'a, T>,
        dur: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let wait = |mutex: &RawMutex| self.raw.wait(mutex, Some(dur));
        // A recording does not say when a timed wait was notified: a path through it needs the time limit.
        let is_timed = !is_unlimited(dur) || is_around_recording();
        let (guard, signalled) = guard.wait(ops, &self.object, is_timed, wait);
        let result = WaitTimeoutResult(!signalled);
        match guard {
            Ok(guard) => Ok((guard, result)),
            Err(error) => Err(std::sync::PoisonError::new((error.into_inner(), result))),
        }
    }

    /// Waits for a notification, for `ms` milliseconds at most. Returns whether it came.
    #[deprecated(note = "replaced by `Condvar::wait_timeout`")]
    #[track_caller]
    pub fn wait_timeout_ms<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        ms: u32,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        match self.wait_timeout(guard, Duration::from_millis(ms.into())) {
            Ok((guard, result)) => Ok((guard, !result.timed_out())),
            Err(error) => {
                let (guard, result) = error.into_inner();
                Err(std::sync::PoisonError::new((guard, !result.timed_out())))
            }
        }
    }

    /// Waits as long as `condition` holds, for `dur` at most. Only the outcomes of the single waits decide when to
    /// stop, never the clock itself: they are recorded, it is not.
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        dur: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let start = now();
        let mut timed_out = false;
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            if timed_out {
                return Ok((guard, WaitTimeoutResult(true)));
            }
            let result;
            (guard, result) = self.wait_timeout(
                guard,
                dur.saturating_sub(now().saturating_duration_since(start)),
            )?;
            timed_out = result.timed_out();
        }
    }

    /// Wakes one waiter.
    #[inline]
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify_one_as(ops::NOTIFY);
    }

    #[inline]
    #[track_caller]
    pub(crate) fn notify_one_as(&self, op: Op) {
        self.object.announce(op, Access::Notify { all: false });
        self.raw.notify_one();
    }

    /// Wakes all waiters.
    #[inline]
    #[track_caller]
    pub fn notify_all(&self) {
        self.notify_all_as(ops::NOTIFY);
    }

    #[inline]
    #[track_caller]
    pub(crate) fn notify_all_as(&self, op: Op) {
        self.object.announce(op, Access::Notify { all: true });
        self.raw.notify_all();
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
