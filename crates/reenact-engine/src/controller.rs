//! Controllers decide when operations happen.
//!
//! Replay is a controller, exploration is another, and a test that forces a schedule may be a third. In a controlled
//! process every operation of every model is announced before it takes effect, and only the controller decides. Models
//! know neither which controller it is nor whether there is one.

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
    Announcement, Arrival, Asked, Change, ControlledActivity, Latch, Reply, Stream, Touch,
    activity::with_controlled, explore, mode, pool::Task, raw::Parker,
};

/// The controller's answer to an announced operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// It happens now, with any possible outcome.
    Free,
    /// It happens now, and is known to succeed.
    Go,
    /// It fails: a try operation fails, a timed wait times out, or the other end of a channel is disconnected.
    Decline,
    /// The answer to a question, a number from outside the program, or the value of a read that is skipped.
    Answer(u64),
    /// The operation happens now, in this one of the possible ways. The number has the size of an answer, so that a
    /// decision fits into two registers.
    Way(u64),
}

/// The outcome of an operation, reported to the controller.
pub enum Outcome<'a> {
    /// It has taken effect, and the activity releases the object. For a read or a write: the current value.
    Left(Option<Change>),
    /// The activity that had taken the object now shares it, without releasing it in between.
    Downgraded,
    /// An operation that began with [`Access::Transact`](crate::Access::Transact) is about to take effect, and the
    /// announcement's access now says what it is: a take, a look, or, if it is still `Transact`, nothing. In the last
    /// case it cannot continue until another activity takes the object, and it is announced again after it has left.
    Placed,
    /// A transaction has used objects. The function lists them; it is called only if they are needed.
    Footprint(&'a dyn Fn() -> Vec<Touch<'a>>),
    /// Of several touches, the one of this index has happened.
    Happened(usize),
    /// A send or receive that was begun has timed out.
    GaveUp,
    /// The other end of the channel is disconnected.
    Disconnected,
    /// An end of a channel has been dropped.
    Dropped {
        /// Whether it was the last sender or the last receiver.
        is_last: bool,
    },
}

/// A new activity.
pub enum Newborn<'a> {
    /// An activity with its own thread.
    Thread {
        /// The origin of the activity.
        origin: Origin,
        /// Its index among the children of its parent.
        index: u64,
        /// The name of its thread.
        name: &'a str,
    },
    /// A light activity, which workers run, and its parent. It does not run until it has something to do.
    Light(&'a ControlledActivity),
}

/// How an activity ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Its own code has returned. [`ControlledActivity::ended`] is established after that.
    Returned,
    /// It never runs: its thread could not be started.
    NeverRan,
    /// The thread that ran it exits.
    ThreadGone,
}

/// What a parked activity waits for.
#[derive(Clone, Copy)]
pub enum Spot<'a> {
    /// A latch to be established.
    Latch(&'a Latch),
    /// A parker to be notified.
    Parker(&'a Parker),
}

impl Spot<'_> {
    /// Returns whether the wait is over.
    pub fn is_over(&self) -> bool {
        match self {
            Spot::Latch(latch) => latch.is_established(),
            Spot::Parker(parker) => parker.is_notified(),
        }
    }

    /// Returns the address of the latch or parker, which identifies the spot.
    pub fn address(&self) -> usize {
        match *self {
            Spot::Latch(latch) => std::ptr::from_ref(latch).addr(),
            Spot::Parker(parker) => std::ptr::from_ref(parker).addr(),
        }
    }
}

/// A question of an activity to the outside of the program.
pub enum Question<'a> {
    /// A call to the outside. `hear` takes the answer, and returns whether the answer is valid for this call.
    Call {
        /// The operation.
        announcement: &'a Announcement<'a>,
        /// A description of the call, for people.
        what: &'a str,
        /// The data that the program hands out.
        asked: Asked,
        /// Takes the answer.
        hear: &'a mut dyn FnMut(Reply<'_>) -> bool,
    },
    /// A call of the C library.
    Library(Captured),
    /// A text that is to be printed. Any answer means that it has been dealt with.
    Print {
        /// Where it is printed.
        stream: Stream,
        /// The text.
        text: &'a [u8],
    },
    /// A wait with a time limit that is not an operation, as in a library.
    Wait,
    /// The activity is about to end the process.
    Exit,
    /// Data that is known to be missing, because it was kept out of the trace.
    Missing(&'a str),
    /// Whether the source that asks has ended. Any answer means that it has.
    IsSourceOver,
    /// A sleep of this duration. Any answer means that the time has passed.
    Sleep(Duration),
}

/// The functions of the C library that are captured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Captured {
    /// The monotonic clock.
    Clock,
    /// The time of day.
    TimeOfDay,
    /// Random bytes.
    Random,
}

/// The answer to a [`Question`].
#[derive(Clone, Debug)]
pub enum Heard {
    /// The question has been dealt with.
    Done,
    /// The difference to the activity's last reading of that clock, in nanoseconds, zigzag-encoded.
    Elapsed(u64),
    /// Whether the wait timed out.
    TimedOut(bool),
    /// Bytes.
    Bytes(Arc<[u8]>),
    /// How much of a text was written, or the error number.
    Written(Result<usize, i32>),
}

/// An event about the messages of a light activity.
#[derive(Clone, Copy, Debug)]
pub enum Message {
    /// It is ready for another message.
    Next,
    /// It handles this message, which was the [next](NextArrival::This) one.
    Handled(Arrival, u64),
    /// This message arrived after [`NextArrival::None`], which is a divergence.
    Unexpected(Arrival),
    /// It runs without a message: the last reference to it has been dropped, or its system ends.
    None,
}

/// Which message a light activity handles next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextArrival {
    /// Whichever arrives.
    Any,
    /// This message.
    This(Arrival),
    /// No further message. `true` means that a message that arrives all the same is not a divergence.
    None(bool),
}

/// Decides when operations happen. Its methods are called on the threads of the activities, and may block them.
pub trait Controller: Send + Sync {
    /// Registers a new activity and returns its number.
    fn born(&self, newborn: Newborn<'_>) -> u32;

    /// The activity's own code is about to begin, on the calling thread. For a light activity, `first` is the predicted
    /// sender of its first message.
    fn begin(&self, _who: &ControlledActivity, _first: Option<u32>) {}

    /// The activity ends.
    fn end(&self, who: &ControlledActivity, how: Ending);

    /// Announces an operation that the activity is about to do. The activity does what the decision says when this
    /// returns.
    ///
    /// A take, a look or a transaction holds the object until [`Outcome::Left`]; a read or a write is followed by
    /// `Left` at once.
    fn operate(&self, who: &ControlledActivity, announcement: &Announcement<'_>) -> Decision;

    /// Returns whether the controller also wants to be asked about operations that affect only their own activity:
    /// [`Access::Own`](crate::Access::Own).
    fn wants_own(&self) -> bool {
        false
    }

    /// Reports the outcome of an announced operation.
    fn done(&self, who: &ControlledActivity, announcement: &Announcement<'_>, outcome: Outcome<'_>);

    /// Blocks the activity until [`Spot::is_over`], which may be true already. `what` describes for people what it
    /// waits for.
    fn park(&self, who: &ControlledActivity, at: Spot<'_>, what: &(dyn Fn() -> String + Sync));

    /// Wakes the activities that wait at this spot. The caller need not be an activity.
    fn unpark(&self, at: Spot<'_>);

    /// Answers a question to the outside. With `None`, the real outside is asked.
    fn outside(&self, _who: &ControlledActivity, _question: Question<'_>) -> Option<Heard> {
        None
    }

    /// Returns whether the outside is played from a trace. Then real sources are not started.
    fn plays(&self) -> bool {
        false
    }

    /// Reports an event about the messages of a light activity. Returns which message it handles next.
    fn message(&self, _who: &ControlledActivity, _message: Message) -> NextArrival {
        NextArrival::Any
    }

    /// Schedules a task. Returns false if a worker of the pool is to run it.
    fn run(&self, _task: NonNull<Task>) -> bool {
        false
    }

    /// A worker, which runs light activities, has woken up or has run out of work.
    fn worker(&self, _is_awake: bool) {}
}

static CONTROLLER: RwLock<Option<Arc<dyn Controller>>> = RwLock::new(None);

thread_local! {
    /// Whether this thread opened the session through the API, and so is the session's `main`.
    static OPENED_SESSION: Cell<bool> = const { Cell::new(false) };
}

/// Counts the controllers that have been installed: a controller does not know the activities of an earlier one.
static GENERATION: AtomicU32 = AtomicU32::new(0);

pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Acquire)
}

/// Returns the controller and its generation.
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

/// Wakes the activities that wait at this spot.
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

/// Makes the calling activity wait at this spot.
#[inline]
pub(crate) fn park(at: Spot<'_>, what: &(dyn Fn() -> String + Sync)) {
    match explore::here() {
        Some(execution) => execution.wait_at(at, what),
        None => {
            with_controlled(|me| me.controller.park(&me.activity, at, what));
        }
    }
}

/// Lets the controller schedule a task. Returns false if a worker of the pool is to run it.
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

/// Marks the calling thread as the one on which a session began.
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
