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

mod channel;
mod errand;
mod event;
mod failure;
mod fiber;
mod follow;
pub(crate) mod mailbox;
mod names;
mod outside;
mod overflow;
mod queue;
mod recorded;
mod run;
mod schedule;
mod search;
mod serve;
mod strand;
mod subject;
mod thing;
mod whole;
mod world;

use std::{
    any::Any,
    cell::Cell,
    panic::{Location, PanicHookInfo},
    sync::{
        Arc, Once,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

pub(crate) use self::world::World;
use self::world::view;
pub use self::{
    channel::{Channel, Outcome},
    event::{Event, How},
    failure::{Failure, Panic, Waiting},
    follow::{Followed, Misfit, follow, write_down},
    queue::{Patience, Possible, Queue},
    run::{Execution, Explored},
    schedule::{Line, NoSchedule, Schedule},
    search::{Finding, Found, NoWay, Search, Way},
    subject::{Subject, Told},
    thing::End,
    world::Meeting,
};
use crate::{
    Conductor, Op,
    pool::{Pool, Task},
};

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

/// The same, as its conductor.
pub(crate) fn conductor() -> Option<Arc<dyn Conductor>> {
    here().map(World::conductor)
}

/// Whether the calling code is part of an execution that is explored.
#[inline]
pub fn is_explored() -> bool {
    is_here()
}

/// Whether this process is an execution that is explored, with threads of its own.
pub fn is_whole() -> bool {
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

/// What an exploration knows something by that is no [`Entity`](crate::Entity): a promise, a variable of transactions.
#[derive(Default)]
pub struct Name(AtomicU64);

impl Name {
    /// Of something that nobody has met.
    pub const fn new() -> Name {
        Name(AtomicU64::new(0))
    }
}

impl std::fmt::Debug for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Name")
    }
}

/// Something that activities meet at, as an exploration knows it.
pub trait Named {
    #[doc(hidden)]
    fn cell(&self) -> &AtomicU64;
}

impl Named for Name {
    fn cell(&self) -> &AtomicU64 {
        &self.0
    }
}

impl Named for crate::Clock {
    fn cell(&self) -> &AtomicU64 {
        &self.entity.wanted
    }
}

impl Named for crate::Entity {
    fn cell(&self) -> &AtomicU64 {
        &self.wanted
    }
}

/// Where the calling code is explored: waits until it may do this, which it is to do at once. False elsewhere.
///
/// `possible` says whether it can be done now; it is asked whenever somebody has done something.
#[inline]
#[track_caller]
pub fn meet(op: Op, thing: &impl Named, how: How, possible: &dyn Fn() -> bool) -> bool {
    let Some(world) = here() else {
        return false;
    };
    world.meets(&Meeting {
        op,
        how,
        thing: thing.cell(),
        possible: Some(possible),
        room: usize::MAX,
        more: &[],
        awaits: &[],
        answers: 1,
        count: None,
        site: Location::caller(),
    });
    true
}

/// As [`meet`], with everything that can be said of it. Which of the answers it is; none elsewhere.
pub fn meet_as(meeting: &Meeting<'_>) -> Option<u32> {
    here().map(|world| world.meets(meeting))
}

/// As [`meet`], for a transaction that goes on when one of these has changed.
pub fn meet_after_change(
    op: Op,
    thing: &impl Named,
    of: &[&Name],
    possible: &dyn Fn() -> bool,
    site: &'static Location<'static>,
) {
    let Some(world) = here() else {
        return;
    };
    let awaits: Vec<_> = of.iter().map(|name| name.cell()).collect();
    world.meets(&Meeting {
        op,
        how: How::Transact,
        thing: thing.cell(),
        possible: Some(possible),
        room: usize::MAX,
        more: &[],
        awaits: &awaits,
        answers: 1,
        count: None,
        site,
    });
}

/// What the transaction of the calling activity has met, and how, in its last step.
pub fn has_met<'a>(met: impl Iterator<Item = (How, &'a Name)>, site: &'static Location<'static>) {
    if let Some(world) = here() {
        let mut met = met.map(|(how, name)| (how, name.cell()));
        world.has_met(&mut met, site);
    }
}

/// One of so many answers, each of which will have its turn; none where the calling code is not explored.
#[track_caller]
pub fn any_of(op: Op, answers: u32) -> Option<u32> {
    static NO_ONE_S: AtomicU64 = AtomicU64::new(0);
    let world = here()?;
    Some(world.meets(&Meeting {
        op,
        how: How::Choose,
        thing: &NO_ONE_S,
        possible: None,
        room: usize::MAX,
        more: &[],
        awaits: &[],
        answers,
        count: None,
        site: Location::caller(),
    }))
}

/// Gives up a lock and waits for a signal where the calling code is explored: whether there was one.
pub(crate) fn wait(
    op: Op,
    lock: &impl Named,
    condition: &impl Named,
    timed: bool,
    site: &'static Location<'static>,
    release: impl FnOnce(),
) -> bool {
    here().is_some_and(|world| world.waits(op, lock.cell(), condition.cell(), timed, site, release))
}

/// Who has taken it looks at it from now on. False where nothing is explored.
pub(crate) fn downgrade(thing: &impl Named) -> bool {
    here()
        .inspect(|world| world.downgrades(thing.cell()))
        .is_some()
}

/// Signals those who wait, or one of them. False where nothing is explored.
pub(crate) fn notify(
    op: Op,
    condition: &impl Named,
    all: bool,
    site: &'static Location<'static>,
) -> bool {
    let Some(world) = here() else {
        return false;
    };
    world.meets(&Meeting {
        op,
        how: How::Notify,
        thing: condition.cell(),
        possible: None,
        room: usize::MAX,
        more: &[],
        awaits: &[],
        answers: if all { ALL } else { 1 },
        count: None,
        site,
    });
    true
}

/// In place of a number of answers: not one of those who wait, but all.
const ALL: u32 = u32::MAX;

/// The calling code is going to be this activity. False where nothing is explored.
pub(crate) fn sits(number: u32) -> bool {
    here().inspect(|world| world.sits(number)).is_some()
}

/// Waits until no light activity has anything to do, and `is_idle` says so too.
pub(crate) fn wait_until_idle(op: Op, is_idle: &dyn Fn() -> bool) {
    if let Some(world) = here() {
        meet(op, &world.idle, How::Write, &|| true);
        world.wait_until_idle(is_idle);
    }
}

/// A pool for the execution that the calling code is part of.
pub(crate) fn pool(size: usize, make: impl FnOnce() -> Pool) -> Option<Pool> {
    here().map(|world| world.pool(size, make))
}

/// Whether the calling code is a turn of a light activity that is explored.
pub fn is_in_turn() -> bool {
    is_here() && crate::activity::Hot::seat().is_some()
}

/// The calling activity panicked, and somebody is told of it.
pub fn is_told_of_panic() {
    if let Some(world) = here() {
        world.forgets_panic();
    }
}

/// The calling activity has panicked; if nobody was told, that is a failure.
pub fn has_panicked() {
    if let Some(world) = here() {
        world.has_panicked();
    }
}

/// What the calling activity does next comes after what made it run.
pub fn comes_after_now() {
    if let Some(world) = here() {
        world.comes_after_now();
    }
}

/// Runs `body` as the activity of this number, as soon as whoever runs now waits. False where nothing is explored.
///
/// # Safety
///
/// What it borrows is there until it has ended.
#[inline]
pub unsafe fn start(number: u32, body: impl FnOnce()) {
    if let Some(world) = here() {
        // SAFETY: The caller's.
        unsafe { world.start(number, body) };
    }
}

/// The activity of this number was ended by a panic, and nobody has been told; or somebody has been.
pub fn is_missed(number: u32, is_missed: bool) {
    if let Some(world) = here() {
        world.is_missed(number, is_missed);
    }
}

/// Whether the execution that the calling code is part of is over, and everybody leaves: what panics then does so for no reason
/// of its own.
pub fn is_leaving() -> bool {
    here().is_some_and(|world| world.is_ending())
}

/// Lets the activity sleep, in a time of its own. False where nothing is explored.
pub fn sleep(time: Duration) -> bool {
    here().inspect(|world| world.sleeps(time)).is_some()
}

/// What the model of the activity of this number keeps with it, where it is explored.
pub fn kept<T: Clone + 'static>(number: u32, first: impl FnOnce() -> T) -> Option<T> {
    here()?.kept(number, first)
}

/// The number of the calling activity where it is explored, and what the program calls it.
pub fn myself() -> Option<(u32, Option<&'static str>)> {
    let world = here()?;
    let number = world.state().current();
    Some((number, world.name_given(number)))
}

/// Waits while a word has this value, if it is one that is explored who waits: false if not.
pub(crate) fn wait_while(word: &AtomicU32, value: u32) -> bool {
    let Some(world) = here() else {
        return false;
    };
    world.block(&|| word.load(Relaxed) != value);
    true
}

/// A light activity has something to do. False where nothing is explored.
pub(crate) fn schedule(task: std::ptr::NonNull<Task>) -> bool {
    let Some(world) = here() else {
        return false;
    };
    if world.is_ending() {
        // Nobody runs any more, and what is left is to be freed.
        let current = world.state().current();
        // SAFETY: Who schedules it promises that it may be run.
        crate::activity::aside(|| unsafe { Task::run(task) });
        world.sits(current);
        return true;
    }
    world.schedules(move || {
        // SAFETY: Who schedules it promises that it may be run.
        unsafe { Task::run(task) }
    });
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
