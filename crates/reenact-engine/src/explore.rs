//! Exploration: runs a program many times, each time under another schedule.
//!
//! All activities of an execution run on one thread, each on its own fiber (`fiber.rs`), and take turns: before each
//! operation, an activity announces the operation and waits until it is chosen (`execution.rs`). The caller that drives
//! the execution through [`Run`](reenact_explore::Run) chooses, step by step; this module does not know the strategies.
//! Threads that are not part of an execution are not affected: for them, the mode is off. When a whole program is
//! explored, each execution is a process with real threads, which take turns in the same way (`process.rs`).
//!
//! An explored program must behave the same whenever it runs under the same schedule. Clocks and random bytes from the
//! C library are the same in all executions (`outside.rs`). The program is responsible for the state that it keeps in
//! statics. Any remaining difference is detected and reported as a divergence.

mod event;
pub(crate) mod execution;
mod failure;
mod fiber;
mod follow;
mod gap;
mod input;
mod message;
mod names;
pub(crate) mod object_state;
mod objects;
mod outside;
mod overflow;
mod process;
pub mod protocol;
mod recorded;
mod request;
mod retrace;
mod run;
mod schedule;
mod search;
mod serve;
mod stuck;
mod subject;
mod supervisor;
mod task_stack;
mod timed;

use std::{
    any::Any,
    cell::Cell,
    panic::PanicHookInfo,
    sync::{
        Arc, Once,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use self::execution::view;
pub use self::{
    event::Event,
    failure::{BlockedActivity, Failure, Panic},
    follow::{Followed, follow, write_down},
    gap::{Gap, Reads, StuckActivity},
    run::{Explored, LocalRun},
    schedule::{Line, NoSchedule, Schedule},
    search::{Finding, Found, ParseStrategyError, Search, Strategy},
    subject::{Describe, Subject},
};
pub(crate) use self::{execution::Execution, input::read as read_input};
use crate::{
    Access, Announcement, Controller, Decision, Op, Touch, activity::HOT, pool::Pool,
    unrecorded::Uncaptured,
};

thread_local! {
    /// The execution that the calling code is part of; null if there is none.
    static HERE: Cell<*const Execution> = const { Cell::new(std::ptr::null()) };
}

/// Returns whether the calling code is part of an explored execution.
#[inline]
pub(crate) fn is_here() -> bool {
    !HERE.get().is_null()
}

/// Returns the execution that the calling code is part of.
#[inline]
pub(crate) fn here<'a>() -> Option<&'a Execution> {
    // SAFETY: `HERE` is set only while an execution runs, by code that holds an `Arc` of it.
    unsafe { HERE.get().as_ref() }
}

/// Returns the execution that the calling code is part of, as its controller.
pub(crate) fn controller() -> Option<Arc<dyn Controller>> {
    here().map(Execution::controller)
}

/// Returns whether this process is an explored execution with its own threads.
#[inline]
pub(crate) fn is_process() -> bool {
    process::is_here()
}

/// Shows the result of the closure that `look` returns under `name` whenever the state of this execution is inspected.
/// Does nothing unless this process is an explored execution. The closure is called while all threads wait.
#[inline]
pub fn watch<F: Fn() -> String + Send + 'static>(name: &str, look: impl FnOnce() -> F) {
    if is_process() {
        process::watch(name, Box::new(look()));
    }
}

/// Makes the calling OS thread this activity. Returns when it is the activity's turn.
pub(crate) fn begin_thread(number: u32) {
    process::begin_thread(number);
}

/// Returns whether the calling code is explored and has an OS thread to itself.
pub(crate) fn is_on_thread() -> bool {
    here().is_some_and(Execution::is_on_thread)
}

/// Returns the number of a thread that the calling activity creates without Reenact and that is to be explored.
pub(crate) fn foreign_child() -> u32 {
    here().map_or(0, Execution::foreign_child)
}

/// Notes that the calling code creates a thread that is not explored.
pub(crate) fn note_thread() {
    if let Some(execution) = here() {
        let who = execution.current_name();
        execution.supervisor.note(Gap::Thread(who));
    }
}

/// Notes that the calling code reads something that differs from execution to execution.
pub(crate) fn note_uncaptured(what: Uncaptured) {
    if let Some(execution) = here() {
        execution.supervisor.note_read(Reads::of(what));
    }
}

/// Waits for the end of an activity.
pub(crate) fn wait_for_end(number: u32) {
    if let Some(execution) = here()
        && let Some(activity) = execution.activity(number)
    {
        execution.waits_for_end(&activity);
    }
}

/// Reports that the thread that was to run this activity will not start.
pub(crate) fn end_not_started(number: u32) {
    process::end_not_started(number);
}

/// Reports that the calling thread has ended.
pub(crate) fn end_thread() {
    process::end_thread();
}

/// Explores the program as the environment requests. Returns in the child processes, in which the program continues.
pub(crate) fn start_from_environment() {
    process::start_from_environment();
}

/// Follows a schedule in this process as the environment requests.
pub(crate) fn follow_from_environment() {
    process::follow_from_environment();
}

/// Makes the calling code this light activity. Returns false if it is not explored.
#[inline]
pub(crate) fn sits(number: u32) -> bool {
    let Some(execution) = here() else {
        return false;
    };
    execution.sits(number);
    HOT.with(|hot| hot.fiber.set(execution.controlled(number)));
    true
}

/// Chooses one of `ways` ways to continue; exploration tries each of them. Returns none if the calling code is not
/// explored.
#[track_caller]
pub fn any_of(op: Op, ways: u32) -> Option<u32> {
    is_here().then_some(())?;
    let decision = crate::object::announce(&Announcement {
        ways: Some(&|| ways),
        ..Announcement::new(op, Access::Choose)
    });
    match decision {
        Decision::Way(way) => Some(way as u32),
        _ => None,
    }
}

/// Returns whether a wait that begins now may end without a reason. An exploration tries both if that was requested, as
/// often as requested for each activity.
#[inline]
#[track_caller]
pub fn wakes_spuriously(op: Op) -> bool {
    here().is_some_and(|execution| execution.wakes_spuriously(op))
}

/// Returns whether the calling code is explored around a recorded run.
pub fn is_around_recording() -> bool {
    here().is_some_and(|execution| execution.state().recorded.is_some())
}

/// Waits until no light activity has work and `is_idle` returns true.
pub(crate) fn wait_until_idle(op: Op, is_idle: &dyn Fn() -> bool) {
    if let Some(execution) = here() {
        crate::object::announce(&Announcement {
            touches: &[Touch::new(&execution.idle, Access::Write)],
            ..Announcement::new(op, Access::Write)
        });
        execution.wait_until_idle(is_idle);
    }
}

/// Returns a pool for the execution that the calling code is part of.
pub(crate) fn pool(size: usize, make: impl FnOnce() -> Pool) -> Option<Pool> {
    here().map(|execution| execution.pool(size, make))
}

/// Returns whether the calling code is an explored turn of a light activity.
pub(crate) fn is_in_turn() -> bool {
    here().is_some_and(|execution| execution.is_in_turn())
}

/// Excludes the calling activity from those that [`wait_until_idle`] waits for.
#[inline]
pub(crate) fn in_background() {
    if let Some(execution) = here() {
        execution.in_background();
    }
}

/// Notes that the calling activity has panicked. That is a failure unless the panic has been observed.
pub(crate) fn has_panicked() {
    if let Some(execution) = here() {
        execution.has_panicked();
    }
}

/// Returns whether the execution that the calling code is part of is over and its activities are unwinding: panics are
/// then ignored.
pub(crate) fn is_leaving() -> bool {
    here().is_some_and(|execution| execution.is_ending())
}

/// Waits while `word` has this value, if the calling code is explored; otherwise returns false.
pub(crate) fn wait_while(word: &AtomicU32, value: u32) -> bool {
    let Some(execution) = here() else {
        return false;
    };
    execution.block(&|| word.load(Relaxed) != value);
    true
}

/// Installs a panic hook that notes the panics of explored code, and prints them only if the output of the execution is
/// shown.
fn listen_to_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match here() {
            Some(execution) => {
                execution.panics(panic_of(info));
                if process::is_shown() {
                    before(info);
                }
            }
            None => before(info),
        }));
    });
}

fn panic_of(info: &PanicHookInfo<'_>) -> Panic {
    Panic {
        message: message_of(info.payload()),
        place: info.location().map(ToString::to_string),
    }
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a value that is no text".to_owned())
}
