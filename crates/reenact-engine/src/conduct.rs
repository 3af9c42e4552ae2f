//! Conductors: whoever decides when an operation may happen.
//!
//! Replay is one; a controller that explores, or a test that forces a schedule, is another. In a conducted process
//! every operation of every model comes here before it takes effect and nothing else decides.

use std::{
    cell::Cell,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU32, Ordering},
    },
};

use reenact_trace::Origin;

use crate::{Activity, Arrival, Asked, Fact, Operation, Reply, explore, mode};

/// The answer to an activity that arrives at an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// It happens now.
    Go,
    /// A try that fails, or a timed wait whose time is up.
    Decline,
    /// The answer to a question, a number from outside, or the value of an observation that need not be made.
    Answer(u64),
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

/// What the C library said.
#[derive(Clone, Debug)]
pub enum Recollection {
    /// How much later it is than when the activity last asked, in nanoseconds, zigzag.
    Elapsed(u64),
    /// Bytes.
    Bytes(Arc<[u8]>),
}

/// Decides when operations happen. Called on the threads of the activities themselves, which may be kept waiting.
pub trait Conductor: Send + Sync {
    /// An activity comes into being: `index` counts among the children of its parent. Returns its number.
    fn born(&self, origin: Origin, index: u64, name: &str) -> u32;

    /// An activity is about to do an operation; it does what is answered, when it is answered.
    ///
    /// After [`Decision::Go`] to a take, look or wait the activity has the entity until [`Conductor::leave`]; an
    /// update or observation is followed by `leave` at once.
    fn arrive(&self, operation: &Operation<'_>) -> Decision;

    /// Whether what is outside of the program is played: then it is asked for every answer from there.
    fn plays(&self) -> bool {
        false
    }

    /// An activity asks the world outside: `hear` takes the answer, and says whether it can be one. `what` is what is asked,
    /// for people. Who does not call it lets the world be asked.
    fn external(
        &self,
        _operation: &Operation<'_>,
        _what: &str,
        _asked: Asked,
        _hear: &mut dyn FnMut(Reply<'_>) -> bool,
    ) {
    }

    /// An activity asks the C library for something: what it said, if that is to be played.
    fn recall(&self, _activity: &Activity, _what: Captured) -> Option<Recollection> {
        None
    }

    /// An activity asks for something that is known to be missing, because it was kept out of the trace.
    fn misses(&self, _activity: &Activity, _what: &str) {}

    /// Whether nothing more comes from an activity that is a source.
    fn is_over(&self, _activity: &Activity) -> bool {
        true
    }

    /// What [`Access::Transact`](crate::Access::Transact) let begin is about to take effect, and it turns out to be a take,
    /// a look, or, if that is the access still, nothing: it cannot go on before somebody else takes the entity, and comes
    /// again after it has left.
    fn turns_out(&self, _operation: &Operation<'_>) {}

    /// The activity gives the entity back: what it did there has taken effect. For an update or an observation, with
    /// the value that the entity has now.
    fn leave(&self, operation: &Operation<'_>, value: Option<u64>);

    /// The activity goes on when this is true, which it may be already. `what` says what it is.
    fn wait_for_fact(&self, activity: &Activity, fact: &Fact, what: &dyn Fn() -> String);

    /// This is true now. Called by whoever made it so, which need not be an activity.
    fn established(&self, fact: &Fact);

    /// The activity's own code is about to begin, on the calling thread.
    fn begins(&self, _activity: &Activity) {}

    /// The activity's own code has ended. The fact that it has is established after that.
    fn ended(&self, activity: &Activity);

    /// The activity will never run: its thread could not be started.
    fn stillborn(&self, activity: &Activity) {
        self.ended(activity);
    }

    /// The thread that ran the activity is going.
    fn thread_gone(&self, _activity: &Activity) {}

    /// A light activity comes into being: a child of `parent`. Returns its number. It does not run before it has
    /// something to do.
    fn light_born(&self, parent: &Activity) -> u32 {
        self.born(Origin::Child(parent.number), 0, "")
    }

    /// A light activity is about to do something for the first time. `first` is whose message is predicted to be its
    /// first.
    fn light_begins(&self, _number: u32, _first: u32) {}

    /// A light activity has ended.
    fn light_ended(&self, activity: &Activity) {
        self.ended(activity);
    }

    /// Which message a light activity is to handle next.
    fn next_arrival(&self, _activity: &Activity) -> NextArrival {
        NextArrival::Any
    }

    /// A light activity handles a message. Called where [`Conductor::next_arrival`] allowed it.
    fn arrived(&self, _activity: &Activity, _arrival: Arrival, _tag: u64) {}

    /// A message came to a light activity after [`NextArrival::None`], which was not fine.
    fn unexpected(&self, _activity: &Activity, _arrival: Arrival) {}

    /// At which position of the receiver's order a message is, where senders record: its sender asks before it sends.
    fn position(&self, _activity: &Activity, _key: u64) -> u64 {
        0
    }

    /// A worker, which runs activities that have something to do, is awake.
    fn worker_awake(&self) {}

    /// A worker has found nothing to do.
    fn worker_asleep(&self) {}
}

static CONDUCTOR: RwLock<Option<Arc<dyn Conductor>>> = RwLock::new(None);

thread_local! {
    /// Whether this thread opened the session through the API: it is the session's `main`.
    static OPENED_SESSION: Cell<bool> = const { Cell::new(false) };
}

/// Which conductor it is: activities of an earlier one are not known to it.
static GENERATION: AtomicU32 = AtomicU32::new(0);

pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Acquire)
}

/// The conductor and its generation.
pub(crate) fn current() -> Option<(Arc<dyn Conductor>, u32)> {
    if let Some(conductor) = explore::conductor() {
        return Some((conductor, 0));
    }
    let conductor = CONDUCTOR.read().unwrap_or_else(PoisonError::into_inner);
    Some((conductor.clone()?, generation()))
}

pub(crate) fn one_more_awake() {
    if mode::is_conducted()
        && let Some((conductor, _)) = current()
    {
        conductor.worker_awake();
    }
}

pub(crate) fn one_less_awake() {
    if mode::is_conducted()
        && let Some((conductor, _)) = current()
    {
        conductor.worker_asleep();
    }
}

pub(crate) fn install(conductor: Option<Arc<dyn Conductor>>) {
    let mut current = CONDUCTOR.write().unwrap_or_else(PoisonError::into_inner);
    GENERATION.fetch_add(1, Ordering::Release);
    *current = conductor;
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
