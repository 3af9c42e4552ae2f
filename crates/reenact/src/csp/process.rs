//! Processes: functions that run on their own, many of them on few workers.

use std::{
    fmt,
    panic::{AssertUnwindSafe, Location, catch_unwind},
    ptr::NonNull,
    sync::{Arc, Mutex, PoisonError},
    thread::Result,
};

use reenact_engine::{
    ActivitySlot, Latch, life,
    pool::{Pool, Task, give_way, in_background, is_task},
    thread::note_panic,
};

use super::ops;

/// A process that has not started, on its way to a worker.
#[repr(C)]
struct Process<F, T> {
    task: Task,
    slot: ActivitySlot,
    code: F,
    ending: Arc<Ending<T>>,
    site: &'static Location<'static>,
}

/// The outcome of a process, shared with its handle.
struct Ending<T> {
    outcome: Mutex<Option<Result<T>>>,
    has_come: Latch,
    /// The process's number, if it has one.
    number: Option<u32>,
}

/// Spawns a function as a process, on one of the workers.
///
/// It starts soon, and stays on the worker that starts it. Within a process or an actor's turn it uses the same workers
/// as that one, elsewhere the shared ones: one for each core, or as many as the environment variable `REENACT_WORKERS`
/// says.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let slot = ActivitySlot::born();
    let ending = Arc::new(Ending {
        outcome: Mutex::new(None),
        has_come: Latch::new(),
        number: slot.number(),
    });
    let process = Box::new(Process {
        // SAFETY: It is scheduled below, as the type that `run` expects.
        task: unsafe { Task::new(run::<F, T>) },
        slot,
        code: f,
        ending: Arc::clone(&ending),
        site: Location::caller(),
    });
    let process = NonNull::from(Box::leak(process));
    // SAFETY: `run` frees it, and only `run` may schedule it again.
    unsafe { Pool::current_or_shared().schedule_to_stay(process.cast()) };
    JoinHandle { ending }
}

impl<T> Ending<T> {
    fn end(&self, outcome: Result<T>) {
        let mut place = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some(outcome);
    }

    /// Notes whether somebody has observed this process's panic.
    fn note_panic(&self, is_observed: bool) {
        if let Some(number) = self.number {
            note_panic(number, is_observed);
        }
    }
}

/// Runs a process from its start to its end.
///
/// # Safety
///
/// `task` is a scheduled process of these types.
unsafe fn run<F: FnOnce() -> T, T>(task: NonNull<Task>) {
    if !is_task() {
        // Its workers ended before it started, so a shared worker runs it.
        // SAFETY: The caller passes a scheduled process, and it has not run.
        unsafe { Pool::shared().schedule(task) };
        return;
    }
    // SAFETY: The caller passes a process that `spawn` leaked, and it is taken back once.
    let process = unsafe { Box::from_raw(task.cast::<Process<F, T>>().as_ptr()) };
    let Process {
        slot,
        code,
        ending,
        site,
        ..
    } = *process;
    slot.enter();
    in_background(|| {
        life::begins(site);
        let outcome = catch_unwind(AssertUnwindSafe(code));
        if outcome.is_err() {
            ending.note_panic(false);
        }
        life::ends(site);
        ending.end(outcome);
        slot.end();
        ending.has_come.establish();
    });
}

/// A handle to a spawned process. Dropping it detaches the process.
pub struct JoinHandle<T> {
    ending: Arc<Ending<T>>,
}

impl<T> JoinHandle<T> {
    /// Waits for the process to end, and returns its result or panic.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        let ending = &self.ending;
        life::joins(&ending.has_come, ending.number, || self.wait_for_end());
        self.ending.note_panic(true);
        let mut outcome = self
            .ending
            .outcome
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        outcome.take().expect("a process ends with an outcome")
    }

    /// Whether the process has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        let has_come = || self.ending.has_come.is_established();
        let is_finished = life::has_ended(ops::IS_FINISHED, self.ending.number, has_come);
        if is_finished {
            self.wait_for_end();
        }
        is_finished
    }

    fn wait_for_end(&self) {
        self.ending
            .has_come
            .wait(&|| "the end of a process".to_owned());
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Yields to other activities.
pub fn yield_now() {
    if !give_way() {
        std::thread::yield_now();
    }
}
