//! Tasks, and what a task can do: wait aside, give way, and run in the background.

use std::{ptr::NonNull, time::Duration};

use super::{
    carrier::Carrier,
    worker::{Worker, current},
};
use crate::{
    explore, mode,
    raw::{Parker, now},
};

/// A unit of work for a worker. Must be the first field of the type that contains it, which is `#[repr(C)]`.
pub struct Task {
    run: unsafe fn(NonNull<Task>),
}

impl Task {
    /// Creates a task that is run by calling `run` with its address.
    ///
    /// # Safety
    ///
    /// `run` is called on a worker, once for each [`Pool::schedule`](super::Pool::schedule); it must be sound to call
    /// it with the address that was scheduled.
    pub const unsafe fn new(run: unsafe fn(NonNull<Task>)) -> Task {
        Task { run }
    }

    /// Runs the task.
    ///
    /// # Safety
    ///
    /// The task was scheduled, and has not run since.
    pub(crate) unsafe fn run(task: NonNull<Task>) {
        // SAFETY: The caller guarantees that the task was scheduled and has not run since, which is when `run` may be
        // called.
        unsafe { (task.as_ref().run)(task) }
    }
}

/// The address of a scheduled task.
#[derive(Clone, Copy)]
pub(super) struct Scheduled(pub(super) NonNull<Task>);

// SAFETY: The caller of `Pool::schedule` guarantees that any worker may run the task.
unsafe impl Send for Scheduled {}

impl Scheduled {
    pub(super) fn run(self) {
        // SAFETY: The task was scheduled and is run once, as `Task::new` and `Pool::schedule` require.
        unsafe { Task::run(self.0) }
    }
}

/// Returns whether the calling code is part of a task.
pub fn is_task() -> bool {
    current().is_some() || explore::is_here()
}

/// Runs `task`, the body of the calling task, as background work:
/// [`Pool::wait_until_quiet`](super::Pool::wait_until_quiet) does not wait for it while it waits for something itself.
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

/// Returns whether the calling code is a task that is suspended when it has to wait, so that its worker can go on.
#[inline]
pub fn can_be_put_aside() -> bool {
    Carrier::current().is_some()
}

/// Polls `ask` until it returns a value, suspending the calling task in between, at first only briefly. For events of
/// which only the standard library knows, such as the end of a thread.
pub fn poll_until_woken<R>(mut ask: impl FnMut() -> Option<R>) -> R {
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

/// Waits for an event of which only the standard library knows, if the calling task can be suspended meanwhile.
/// Otherwise returns at once, and the caller blocks as usual. Also returns at once in a controlled process, where the
/// event is known to happen in a moment: a task that polls would seem to wait for another activity.
pub fn wait_aside(mut is_over: impl FnMut() -> bool) {
    if can_be_put_aside() && !mode::is_controlled() {
        poll_until_woken(|| is_over().then_some(()));
    }
}

/// Returns whether the calling code is a task that does not run [in the background](in_background), so that others wait
/// for its end.
pub fn is_in_turn() -> bool {
    let is_task = current().is_some() || explore::is_in_turn();
    is_task && !Carrier::current().is_some_and(|carrier| carrier.in_background.get())
}

/// Whether the calling task's worker has no other task that is ready.
pub(crate) fn nothing_else_is_ready() -> bool {
    current().is_none_or(Worker::has_nothing_ready)
}

/// Lets other tasks of the same worker run, if the calling code is a task that can be suspended. Returns false if it is
/// not. An exploration is told in any case.
pub fn give_way() -> bool {
    if let Some(execution) = explore::here() {
        execution.yields();
    }
    let carrier = Carrier::current();
    if let Some(carrier) = carrier {
        carrier.wait(&Parker::default(), None, || carrier.wake());
    }
    carrier.is_some()
}
