//! Controllers: whoever decides when an operation may happen.
//!
//! Replay is one, exploration is another, a test that forces a schedule a third. In a controlled process every operation of
//! every model is announced before it takes effect, and nothing else decides. Models do not know which controller it is, nor
//! whether there is one.

use std::{
    cell::Cell,
    ptr::NonNull,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use reenact_trace::Origin;

use crate::{
    Activity, Announcement, Arrival, Asked, Change, Fact, Reply, Touch, activity::with_controlled,
    explore, mode, pool::Task, raw::Parker,
};

/// The answer to an operation that was announced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// It happens now, in whichever way is possible.
    Free,
    /// It happens now, and it is known to succeed.
    Go,
    /// It does not: a try that fails, a timed wait whose time is up, a channel without anybody at its other end.
    Decline,
    /// The answer to a question, a number from outside, or the value of a read that need not be made.
    Answer(u64),
    /// It happens now, in this one of the ways that are possible. A number of the same size as that of an answer, so
    /// that a decision fits into two registers.
    Way(u64),
}

/// What became of an operation, where its controller has to know.
pub enum Outcome<'a> {
    /// It has taken effect, and the activity gives the entity back. For a read or a write, with the value that is there now.
    Left(Option<Change>),
    /// Who has taken the entity shares it from now on, without a moment in between.
    Downgraded,
    /// What [`Access::Transact`](crate::Access::Transact) let begin is about to take effect, and it turns out to be what the
    /// announcement's access says: a take, a look, or, if that is `Transact` still, nothing. Then it cannot go on before
    /// somebody else takes the entity, and is announced again after it has left.
    Placed,
    /// A transaction has met objects; who wants to know which has them listed.
    Footprint(&'a dyn Fn() -> Vec<Touch<'a>>),
    /// Of several touches, this one has happened.
    Happened(usize),
    /// The activity came to send or to receive, and will not: its time is up.
    GaveUp,
    /// There is nobody at the other end of the channel.
    Disconnected,
    /// An end of a channel was dropped.
    Dropped {
        /// Whether it was the last of its kind.
        is_last: bool,
    },
}

/// An activity that comes into being.
pub enum Newborn<'a> {
    /// One that has a thread.
    Thread {
        /// Where it comes from.
        origin: Origin,
        /// Which of the children of its parent it is.
        index: u64,
        /// The name of its thread.
        name: &'a str,
    },
    /// One that workers run, a child of this one. It does not run before it has something to do.
    Light(&'a Activity),
}

/// How an activity ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Its own code has ended. [`Activity::ended`] is established after that.
    Returned,
    /// It will never run: its thread could not be started.
    NeverRan,
    /// The thread that ran it is going.
    ThreadGone,
}

/// Where an activity waits until somebody lets it go on.
#[derive(Clone, Copy)]
pub enum Spot<'a> {
    /// For something that becomes true once.
    Fact(&'a Fact),
    /// For being told.
    Parker(&'a Parker),
}

impl Spot<'_> {
    /// Whether there is nothing to wait for any more.
    pub fn is_over(&self) -> bool {
        match self {
            Spot::Fact(fact) => fact.is_established(),
            Spot::Parker(parker) => parker.is_told(),
        }
    }

    /// What tells it from others.
    pub fn address(&self) -> usize {
        match *self {
            Spot::Fact(fact) => std::ptr::from_ref(fact).addr(),
            Spot::Parker(parker) => std::ptr::from_ref(parker).addr(),
        }
    }
}

/// What an activity asks the world outside.
pub enum Question<'a> {
    /// A call: `hear` takes the answer, and says whether it can be one.
    Call {
        /// The operation.
        announcement: &'a Announcement<'a>,
        /// What is asked, for people.
        what: &'a str,
        /// What the program hands out.
        asked: Asked,
        /// Takes the answer.
        hear: &'a mut dyn FnMut(Reply<'_>) -> bool,
    },
    /// Something of the C library.
    Library(Captured),
    /// Something that is known to be missing, because it was kept out of the trace.
    Missing(&'a str),
    /// Whether anything more comes, asked by an activity that is a source. An answer means that nothing does.
    IsSourceOver,
    /// To sleep for so long. An answer means that the time has passed.
    Sleep(Duration),
}

/// What a program asks the C library for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Captured {
    /// The clock that only goes forward.
    Clock,
    /// The time of day.
    TimeOfDay,
    /// Random bytes.
    Random,
}

/// The answer to a [`Question`].
#[derive(Clone, Debug)]
pub enum Heard {
    /// It has been taken care of.
    Done,
    /// How much later it is than when the activity last asked, in nanoseconds, zigzag.
    Elapsed(u64),
    /// Bytes.
    Bytes(Arc<[u8]>),
}

/// What happens to the messages of a light activity.
#[derive(Clone, Copy, Debug)]
pub enum Message {
    /// It is ready for another one.
    Next,
    /// It handles this one, which was the [next](NextArrival::This).
    Handled(Arrival, u64),
    /// This one came after [`NextArrival::None`], which was not fine.
    Unexpected(Arrival),
    /// It runs without one: nobody refers to it any more, or its system ends.
    None,
}

/// Which message a light activity is to handle next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextArrival {
    /// Whichever comes.
    Any,
    /// This one.
    This(Arrival),
    /// None any more: if one comes all the same, `true` says that this is no difference.
    None(bool),
}

/// Decides when operations happen. Called on the threads of the activities themselves, which may be kept waiting.
pub trait Controller: Send + Sync {
    /// An activity comes into being. Returns its number.
    fn born(&self, newborn: Newborn<'_>) -> u32;

    /// The activity's own code is about to begin, on the calling thread. For a light one, `first` is whose message is predicted
    /// to be its first.
    fn begin(&self, _who: &Activity, _first: Option<u32>) {}

    /// The activity ends.
    fn end(&self, who: &Activity, how: Ending);

    /// An activity is about to do an operation; it does what is answered, when it is answered.
    ///
    /// Who takes something, looks at it or transacts has the entity until [`Outcome::Left`]; a read or a write is followed by
    /// that at once.
    fn operate(&self, who: &Activity, announcement: &Announcement<'_>) -> Decision;

    /// Whether it wants to be asked about what concerns nobody else, too: [`Access::Own`](crate::Access::Own).
    fn wants_own(&self) -> bool {
        false
    }

    /// What became of it.
    fn done(&self, who: &Activity, announcement: &Announcement<'_>, outcome: Outcome<'_>);

    /// The activity goes on when [`Spot::is_over`], which it may be already. `what` says for people what it waits for.
    fn park(&self, who: &Activity, at: Spot<'_>, what: &(dyn Fn() -> String + Sync));

    /// Those who wait there go on. Called by whoever made it so, which need not be an activity.
    fn unpark(&self, at: Spot<'_>);

    /// An activity asks the world outside. Without an answer, the world itself is asked.
    fn outside(&self, _who: &Activity, _question: Question<'_>) -> Option<Heard> {
        None
    }

    /// Whether what is outside of the program is played: then nobody brings anything from there.
    fn plays(&self) -> bool {
        false
    }

    /// Something about the messages of a light activity. Returns which it is to handle next.
    fn message(&self, _who: &Activity, _message: Message) -> NextArrival {
        NextArrival::Any
    }

    /// A task has something to do: runs it, some time. False if a worker is to do that.
    fn run(&self, _task: NonNull<Task>) -> bool {
        false
    }

    /// A worker, which runs activities that have something to do, wakes up; or it has found nothing to do.
    fn worker(&self, _is_awake: bool) {}
}

static CONTROLLER: RwLock<Option<Arc<dyn Controller>>> = RwLock::new(None);

thread_local! {
    /// Whether this thread opened the session through the API: it is the session's `main`.
    static OPENED_SESSION: Cell<bool> = const { Cell::new(false) };
}

/// Which controller it is: activities of an earlier one are not known to it.
static GENERATION: AtomicU32 = AtomicU32::new(0);

pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Acquire)
}

/// The controller and its generation.
pub(crate) fn current() -> Option<(Arc<dyn Controller>, u32)> {
    if let Some(controller) = explore::controller() {
        return Some((controller, 0));
    }
    let controller = CONTROLLER.read().unwrap_or_else(PoisonError::into_inner);
    Some((controller.clone()?, generation()))
}

pub(crate) fn one_more_awake() {
    if mode::is_controlled()
        && let Some((controller, _)) = current()
    {
        controller.worker(true);
    }
}

pub(crate) fn one_less_awake() {
    if mode::is_controlled()
        && let Some((controller, _)) = current()
    {
        controller.worker(false);
    }
}

/// Those who wait at this spot go on.
#[inline]
pub(crate) fn unpark(at: Spot<'_>) {
    match explore::here() {
        Some(execution) => execution.unpark(at),
        None => {
            if let Some((controller, _)) = current() {
                controller.unpark(at);
            }
        }
    }
}

/// The calling activity waits at this spot.
#[inline]
pub(crate) fn park(at: Spot<'_>, what: &(dyn Fn() -> String + Sync)) {
    match explore::here() {
        Some(execution) => execution.waits_at(at, what),
        None => {
            with_controlled(|me| me.controller.park(&me.activity, at, what));
        }
    }
}

/// Has the controller run a task. False if that is a worker's business.
#[inline]
pub(crate) fn run(task: NonNull<Task>) -> bool {
    mode::is_observed()
        && match explore::here() {
            Some(execution) => execution.run(task),
            None => current().is_some_and(|(controller, _)| controller.run(task)),
        }
}

pub(crate) fn install(controller: Option<Arc<dyn Controller>>) {
    let mut current = CONTROLLER.write().unwrap_or_else(PoisonError::into_inner);
    GENERATION.fetch_add(1, Ordering::Release);
    *current = controller;
}

pub(crate) fn is_session_thread() -> bool {
    OPENED_SESSION.get()
}

/// Marks the calling thread as the one that a session began on.
pub(crate) struct SessionThread(());

impl SessionThread {
    pub(crate) fn enter() -> SessionThread {
        OPENED_SESSION.set(true);
        SessionThread(())
    }
}

impl Drop for SessionThread {
    fn drop(&mut self) {
        OPENED_SESSION.set(false);
    }
}
