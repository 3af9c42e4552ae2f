//! Exploring: a program is run again and again, each time another way.
//!
//! All activities of an execution run on one thread, each on a fiber of its own (`fiber.rs`), and take turns: whoever comes
//! to an operation says what it is about to do and waits until it is chosen (`world.rs`). Who is chosen is up to whoever drives
//! the execution through [`Run`](reenact_multiverse::explore::Run), step by step: the strategies are not known here. Threads
//! that do not take part do not notice: to them the process is off. A whole program is a process for each execution, with
//! threads of its own that take turns in the same way (`whole.rs`).
//!
//! A program that is explored must do the same whenever it is run with the same schedule. What it asks the C library for is
//! the same in all executions (`outside.rs`); what it keeps in statics is its own business, and whatever differs for no
//! reason that is known here is found out and said.

mod errand;
mod event;
mod failure;
mod fiber;
mod follow;
mod names;
mod objects;
mod outside;
mod overflow;
mod recorded;
mod retrace;
mod run;
mod schedule;
mod search;
mod serve;
mod strand;
mod subject;
pub(crate) mod thing;
mod whole;
pub(crate) mod world;

use std::{
    any::Any,
    cell::Cell,
    panic::PanicHookInfo,
    sync::{
        Arc, Once,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

pub(crate) use self::world::World;
use self::world::view;
pub use self::{
    event::Event,
    failure::{Failure, Panic, Waiting},
    follow::{Followed, Misfit, follow, write_down},
    run::{Execution, Explored},
    schedule::{Line, NoSchedule, Schedule},
    search::{Finding, Found, NoWay, Search, Way},
    subject::{Subject, Told},
};
use crate::{Access, Announcement, Controller, Decision, Op, Touch, activity::HOT, pool::Pool};

thread_local! {
    /// The execution that the calling code is part of.
    static HERE: Cell<*const World> = const { Cell::new(std::ptr::null()) };
}

/// Whether the calling code is part of an execution that is explored.
#[inline]
pub(crate) fn is_here() -> bool {
    !HERE.get().is_null()
}

/// The execution that the calling code is part of.
#[inline]
pub(crate) fn here<'a>() -> Option<&'a World> {
    // SAFETY: Set as long as one runs, by who has it.
    unsafe { HERE.get().as_ref() }
}

/// The same, as its controller.
pub(crate) fn controller() -> Option<Arc<dyn Controller>> {
    here().map(World::controller)
}

/// Whether this process is an execution that is explored, with threads of its own.
pub(crate) fn is_whole() -> bool {
    whole::is_here()
}

/// Where this process is an execution that is explored, what `look` says can be seen under this name, whenever somebody looks. It
/// is asked while all threads wait.
#[inline]
pub fn watch<F: Fn() -> String + Send + 'static>(name: &str, look: impl FnOnce() -> F) {
    if is_whole() {
        whole::watch(name, Box::new(look()));
    }
}

/// The calling thread, which the system has made, is this activity. Returns when it is its turn.
pub(crate) fn begin_thread(number: u32) {
    whole::begin_thread(number);
}

/// Whether the calling code is explored, and has a thread of the system for itself.
pub(crate) fn is_on_thread() -> bool {
    here().is_some_and(World::is_on_thread)
}

/// A thread that the calling activity makes without us, and that is to be explored: its number.
pub(crate) fn foreign_child() -> u32 {
    here().map_or(0, World::foreign_child)
}

/// Waits for the end of an activity.
pub(crate) fn wait_for_end(number: u32) {
    if let Some(world) = here()
        && let Some(activity) = world.activity(number).cloned()
    {
        world.waits_for_end(&activity);
    }
}

/// A thread that was to run this activity will not.
pub(crate) fn end_unborn(number: u32) {
    whole::end_unborn(number);
}

/// The calling thread has ended.
pub(crate) fn end_thread() {
    whole::end_thread();
}

/// Begins to explore because the environment says so. Returns in the children, in which the program goes on.
pub(crate) fn start_from_environment() {
    whole::start_from_environment();
}

/// Follows a schedule in this process because the environment says so.
pub(crate) fn follow_from_environment() {
    whole::follow_from_environment();
}

/// The calling code is going to be this light activity. False where nothing is explored.
#[inline]
pub(crate) fn sits(number: u32) -> bool {
    let Some(world) = here() else {
        return false;
    };
    world.sits(number);
    HOT.with(|hot| hot.fiber.set(world.controlled(number)));
    true
}

/// Which of so many ways to go, each of which will have its turn; none where the calling code is not explored.
#[track_caller]
pub fn any_of(op: Op, ways: u32) -> Option<u32> {
    is_here().then_some(())?;
    let decision = crate::entity::announce(&Announcement {
        ways: Some(&|| ways),
        ..Announcement::new(op, Access::Choose)
    });
    match decision {
        Decision::Way(way) => Some(way as u32),
        _ => None,
    }
}

/// Waits until no light activity has anything to do, and `is_idle` says so too.
pub(crate) fn wait_until_idle(op: Op, is_idle: &dyn Fn() -> bool) {
    if let Some(world) = here() {
        crate::entity::announce(&Announcement {
            touches: &[Touch::new(&world.idle, Access::Write)],
            ..Announcement::new(op, Access::Write)
        });
        world.wait_until_idle(is_idle);
    }
}

/// A pool for the execution that the calling code is part of.
pub(crate) fn pool(size: usize, make: impl FnOnce() -> Pool) -> Option<Pool> {
    here().map(|world| world.pool(size, make))
}

/// Whether the calling code is a turn of a light activity that is explored.
pub(crate) fn is_in_turn() -> bool {
    here().is_some_and(|world| world.is_in_turn())
}

/// The calling activity is nobody whose end others wait for when they wait until all is quiet.
#[inline]
pub(crate) fn in_background() {
    if let Some(world) = here() {
        world.in_background();
    }
}

/// The calling activity has panicked; if nobody was told, that is a failure.
pub(crate) fn has_panicked() {
    if let Some(world) = here() {
        world.has_panicked();
    }
}

/// Whether the execution that the calling code is part of is over, and everybody leaves: what panics then does so for no reason
/// of its own.
pub(crate) fn is_leaving() -> bool {
    here().is_some_and(|world| world.is_ending())
}

/// Waits while a word has this value, if it is one that is explored who waits: false if not.
pub(crate) fn wait_while(word: &AtomicU32, value: u32) -> bool {
    let Some(world) = here() else {
        return false;
    };
    world.block(&|| word.load(Relaxed) != value);
    true
}

/// Sees to it that panics of what is explored are noted, and printed only by who looks for them.
fn listen_to_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match here() {
            Some(world) => {
                world.panics(panic_of(info));
                if whole::is_shown() {
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
