//! Promises: values that are not there yet.
//!
//! A promise is settled once: resolved with a value, or broken with the reason why there will be none. Whoever waits
//! for it is told then: continuations of actors as turns of those actors, threads by waking up, promises that
//! were resolved with it by being settled in turn. A promise of a far reference takes messages before it is
//! resolved; they are forwarded in the order in which they came, before anybody is told.

mod cycle;
mod depth;
mod target;
mod wait;

use std::{
    fmt,
    panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use reenact_engine::{Access, Fact, Name, Op, announce, choose_at, thread::panic_is_observed};

use self::cycle::Link;
use super::{Broken, Context, FarRef, ops};

/// A value that is not there yet.
///
/// What [`FarRef`]s answer with. It can be cloned if the value can.
///
/// Threads [wait](Promise::wait) for it; actors say what is to happen [when](Promise::when) the value is there. A promise
/// of a far reference takes messages at once.
///
/// ```
/// use reenact::actor::{FarRef, Promise, Target, spawn};
///
/// let list: FarRef<Vec<u32>> = spawn(vec![1, 2]);
/// let length: Promise<usize> = list.ask(|list, _ctx| list.len());
/// assert_eq!(length.clone().wait().unwrap(), 2);
/// assert_eq!(length.wait().unwrap(), 2);
///
/// // A promise of an actor, and a message that is sent before the promise is resolved.
/// let (later, resolver) = Promise::<FarRef<Vec<u32>>>::pair();
/// let sum = later.ask(|list, _ctx| list.iter().sum::<u32>());
/// resolver.resolve(list);
/// assert_eq!(sum.wait().unwrap(), 3);
/// ```
pub struct Promise<R: Send + 'static> {
    shared: Arc<Shared<R>>,
}

/// The other side of a promise: whoever has it can settle the promise. Only the first attempt counts.
///
/// A promise whose resolvers are all gone is broken.
///
/// ```
/// use reenact::actor::Promise;
///
/// let (promise, resolver) = Promise::pair();
/// assert!(resolver.resolve("first"));
/// assert!(!resolver.resolve("too late"));
/// assert_eq!(promise.wait().unwrap(), "first");
///
/// let (promise, resolver) = Promise::<u32>::pair();
/// resolver.break_with(std::fmt::Error);
/// let broken = promise.wait().unwrap_err();
/// assert!(broken.downcast_ref::<std::fmt::Error>().is_some());
///
/// let (promise, resolver) = Promise::pair();
/// resolver.resolve_with(Promise::resolved(7));
/// assert_eq!(promise.wait().unwrap(), 7);
/// ```
pub struct Resolver<R: Send + 'static> {
    /// Shared among clones: the last one breaks the promise. Dropped before the other field, which may be all that keeps
    /// those who are to be told.
    last: Arc<Last<R>>,
    shared: Arc<Shared<R>>,
    /// Whether it has tried to settle the promise, which then is settled.
    has_tried: AtomicBool,
}

struct Shared<R> {
    state: Mutex<State<R>>,
    /// What a controller knows it by.
    name: Name,
    settled: Fact,
    /// The line that made it, for reports.
    made_at: &'static Location<'static>,
}

struct State<R> {
    phase: Phase<R>,
    /// Messages to what the promise stands for, first come first served.
    messages: Vec<Waiter<R>>,
    /// Those who want to be told.
    subscribers: Vec<Waiter<R>>,
    /// How to make more of the value, if there may be several who want it.
    clone: Option<fn(&R) -> R>,
    /// The promise that it follows.
    source: Option<Weak<dyn Link>>,
}

enum Phase<R> {
    /// Anybody may settle it.
    Open,
    /// It is resolved with another promise, and will be settled when that is.
    Following,
    /// It is settled, and whoever did it is still telling others.
    Telling,
    Settled(Result<R, Broken>),
    /// The only one who could want the value has it.
    Taken,
}

type Waiter<R> = Box<dyn FnOnce(Result<R, Broken>) + Send>;

/// Breaks a promise that nobody can resolve any more.
struct Last<R: Send + 'static>(Weak<Shared<R>>);

impl<R: Send + 'static> Drop for Last<R> {
    fn drop(&mut self) {
        if let Some(shared) = self.0.upgrade()
            && shared.claim()
        {
            // Part of what the last resolver does that goes.
            shared.tell(Err(Broken::abandoned()));
        }
    }
}

impl<R: Send + 'static> Promise<R> {
    /// A promise and what resolves it.
    #[track_caller]
    pub fn pair() -> (Promise<R>, Resolver<R>) {
        let shared = Shared::new();
        let resolver = Resolver {
            last: Arc::new(Last(Arc::downgrade(&shared))),
            shared: Arc::clone(&shared),
            has_tried: AtomicBool::new(false),
        };
        (Promise { shared }, resolver)
    }

    /// A promise and what settles it, for what does so exactly once.
    #[track_caller]
    pub(super) fn owed() -> (Promise<R>, Debt<R>) {
        let shared = Shared::new();
        let debt = Debt(Some(Arc::clone(&shared)));
        (Promise { shared }, debt)
    }

    /// A promise that is resolved already.
    #[track_caller]
    pub fn resolved(value: R) -> Promise<R> {
        Promise::settled_already(Ok(value))
    }

    /// A promise that is broken already.
    #[track_caller]
    pub fn broken(broken: Broken) -> Promise<R> {
        Promise::settled_already(Err(broken))
    }

    #[track_caller]
    fn settled_already(outcome: Result<R, Broken>) -> Promise<R> {
        let shared = Shared::new();
        // Nobody else has it: that is no operation.
        if shared.claim() {
            shared.tell(outcome);
        }
        Promise { shared }
    }

    /// Runs `action` with the value, as a turn of the actor whose context this is. If the promise is broken, so is the
    /// one that is returned.
    #[track_caller]
    pub fn when<A, U>(
        self,
        ctx: &mut Context<A>,
        action: impl FnOnce(&mut A, &mut Context<A>, R) -> U + Send + 'static,
    ) -> Promise<U>
    where
        A: Send + 'static,
        U: Send + 'static,
    {
        let continuation = ctx.continuation(&action);
        self.followed(move |outcome, debt| match outcome {
            Ok(value) => continuation.run(move |this, ctx| debt.pay(|| action(this, ctx, value))),
            Err(broken) => debt.settle(Err(broken)),
        })
    }

    /// Runs `action` with the reason if the promise is broken, as a turn of the actor whose context this is; what it
    /// returns stands in for the value.
    #[track_caller]
    pub fn when_broken<A>(
        self,
        ctx: &mut Context<A>,
        action: impl FnOnce(&mut A, &mut Context<A>, Broken) -> R + Send + 'static,
    ) -> Promise<R>
    where
        A: Send + 'static,
    {
        let continuation = ctx.continuation(&action);
        self.followed(move |outcome, debt| match outcome {
            Ok(value) => debt.settle(Ok(value)),
            Err(broken) => {
                continuation.run(move |this, ctx| debt.pay(|| action(this, ctx, broken)))
            }
        })
    }

    /// Runs `action` with whatever becomes of the promise, as a turn of the actor whose context this is.
    #[track_caller]
    pub fn when_settled<A, U>(
        self,
        ctx: &mut Context<A>,
        action: impl FnOnce(&mut A, &mut Context<A>, Result<R, Broken>) -> U + Send + 'static,
    ) -> Promise<U>
    where
        A: Send + 'static,
        U: Send + 'static,
    {
        let continuation = ctx.continuation(&action);
        self.followed(move |outcome, debt| {
            continuation.run(move |this, ctx| debt.pay(|| action(this, ctx, outcome)));
        })
    }

    /// A promise that follows this one: `settle` settles it, when this one is.
    #[track_caller]
    fn followed<U: Send + 'static>(
        self,
        settle: impl FnOnce(Result<R, Broken>, Debt<U>) + Send + 'static,
    ) -> Promise<U> {
        let (promise, debt) = Promise::owed();
        promise.shared.follow(&self.shared);
        self.shared
            .subscribe(Box::new(move |outcome| settle(outcome, debt)));
        promise
    }
}

impl<R: Send + 'static> Promise<Promise<R>> {
    /// The promise that this is a promise of.
    #[track_caller]
    pub fn flatten(self) -> Promise<R> {
        self.followed(move |outcome, debt| match outcome {
            Ok(inner) => debt.settle_with(inner),
            Err(broken) => debt.settle(Err(broken)),
        })
    }
}

impl<R: Send + Clone + 'static> Clone for Promise<R> {
    fn clone(&self) -> Promise<R> {
        self.shared.state().clone = Some(R::clone);
        Promise {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<R: Send + 'static> fmt::Debug for Promise<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Promise<{}>", std::any::type_name::<R>())
    }
}

impl<R: Send + 'static> Resolver<R> {
    /// Resolves the promise, unless it has been settled before. Whether it was this that did.
    #[track_caller]
    pub fn resolve(&self, value: R) -> bool {
        self.claim() && {
            self.shared.tell(Ok(value));
            true
        }
    }

    /// Breaks the promise, unless it has been settled before. Whether it was this that did.
    #[track_caller]
    pub fn break_with(&self, error: impl std::error::Error + Send + Sync + 'static) -> bool {
        self.claim() && {
            self.shared.tell(Err(Broken::by(error)));
            true
        }
    }

    /// Resolves the promise with another one: it will be settled as that is. Whether it was this that did.
    ///
    /// A promise that is, by way of others, resolved with itself is broken, with a reason that names them all.
    #[track_caller]
    pub fn resolve_with(&self, other: Promise<R>) -> bool {
        self.claim() && {
            Shared::follow_to_the_end(&self.shared, other);
            true
        }
    }

    /// Whether the promise is the caller's to settle. Which of several comes first is a matter of timing.
    #[track_caller]
    fn claim(&self) -> bool {
        self.has_tried.store(true, Relaxed);
        let name = &self.shared.name;
        let claim = || self.shared.claim().into();
        choose_at(ops::RESOLVE, name, Access::Write, 1, claim) == 1 && {
            // In a replay it is decided by the trace, and nobody has claimed it yet.
            self.shared.claim();
            true
        }
    }
}

impl<R: Send + 'static> Clone for Resolver<R> {
    fn clone(&self) -> Resolver<R> {
        Resolver {
            shared: Arc::clone(&self.shared),
            last: Arc::clone(&self.last),
            has_tried: AtomicBool::new(self.has_tried.load(Relaxed)),
        }
    }
}

impl<R: Send + 'static> Drop for Resolver<R> {
    fn drop(&mut self) {
        // With the last one the promise is broken, unless it is settled; which one is last, others may tell.
        if !self.has_tried.load(Relaxed) {
            self.shared.is_met(ops::DROP_RESOLVER);
        }
    }
}

impl<R: Send + 'static> fmt::Debug for Resolver<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resolver<{}>", std::any::type_name::<R>())
    }
}

/// A resolver that nobody else has, and that settles its promise once. If it is dropped, the promise is broken.
pub(super) struct Debt<R: Send + 'static>(Option<Arc<Shared<R>>>);

impl<R: Send + 'static> Debt<R> {
    pub(super) fn settle(mut self, outcome: Result<R, Broken>) {
        if let Some(shared) = self.0.take() {
            shared.settle(outcome);
        }
    }

    fn settle_with(mut self, other: Promise<R>) {
        if let Some(shared) = self.0.take() {
            shared.is_met(ops::RESOLVE);
            shared.claim();
            Shared::follow_to_the_end(&shared, other);
        }
    }

    /// Settles the promise with what `action` returns. If it panics, that breaks the promise, and goes on.
    #[inline]
    pub(super) fn pay(self, action: impl FnOnce() -> R) {
        match catch_unwind(AssertUnwindSafe(action)) {
            Ok(value) => self.settle(Ok(value)),
            Err(panic) => {
                panic_is_observed();
                self.settle(Err(Broken::panicked(&*panic)));
                resume_unwind(panic);
            }
        }
    }
}

impl<R: Send + 'static> Drop for Debt<R> {
    fn drop(&mut self) {
        if let Some(shared) = self.0.take() {
            shared.settle(Err(Broken::stopped()));
        }
    }
}

impl<R: Send + 'static> Shared<R> {
    #[track_caller]
    fn new() -> Arc<Shared<R>> {
        Arc::new(Shared {
            state: Mutex::new(State {
                phase: Phase::Open,
                messages: Vec::new(),
                subscribers: Vec::new(),
                clone: None,
                source: None,
            }),
            name: Name::new(),
            settled: Fact::new(),
            made_at: Location::caller(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The calling activity is about to do something to it that others could tell. Nothing is recorded of that: what it leads to
    /// is.
    #[inline]
    #[track_caller]
    fn is_met(&self, op: Op) {
        announce(op, &self.name, Access::Write);
    }

    /// Makes the promise the caller's to settle. False if it is not open.
    fn claim(&self) -> bool {
        let mut state = self.state();
        let open = matches!(state.phase, Phase::Open);
        if open {
            state.phase = Phase::Following;
        }
        open
    }

    /// Settles the promise, unless somebody else did.
    fn settle(self: &Arc<Self>, outcome: Result<R, Broken>) {
        self.is_met(ops::RESOLVE);
        if self.claim() {
            self.tell(outcome);
        }
    }

    /// Settles a promise that is the caller's to settle, and tells everybody.
    fn tell(self: &Arc<Self>, outcome: Result<R, Broken>) {
        let this = Arc::clone(self);
        depth::bounded(move || this.tell_all(outcome));
    }

    fn tell_all(&self, outcome: Result<R, Broken>) {
        let mut state = self.state();
        state.phase = Phase::Telling;
        state.source = None;
        let clone = state.clone;
        // Messages that come meanwhile queue up behind those that are there.
        loop {
            let messages = std::mem::take(&mut state.messages);
            if messages.is_empty() {
                break;
            }
            drop(state);
            for message in messages {
                message(copy(&outcome, clone));
            }
            // Others may have come to it meanwhile.
            self.is_met(ops::RESOLVE);
            state = self.state();
        }
        let mut subscribers = std::mem::take(&mut state.subscribers);
        // The last one has the value itself, if nobody else can want it.
        let last = if state.clone.is_none() {
            subscribers.pop()
        } else {
            None
        };
        let clone = state.clone;
        match last {
            Some(last) => {
                state.phase = Phase::Taken;
                drop(state);
                last(outcome);
            }
            None => {
                let outcomes: Vec<_> = subscribers.iter().map(|_| copy(&outcome, clone)).collect();
                state.phase = Phase::Settled(outcome);
                drop(state);
                for (subscriber, outcome) in subscribers.into_iter().zip(outcomes) {
                    subscriber(outcome);
                }
            }
        }
        self.settled.establish();
    }

    /// Has `waiter` called when the promise is settled, which it may be.
    fn subscribe(&self, waiter: Waiter<R>) {
        self.is_met(ops::SUBSCRIBE);
        let mut state = self.state();
        match &state.phase {
            Phase::Open | Phase::Following | Phase::Telling => state.subscribers.push(waiter),
            Phase::Settled(_) | Phase::Taken => {
                let outcome = state.value();
                drop(state);
                waiter(outcome);
            }
        }
    }
}

impl<R> State<R> {
    /// The outcome, for one who wants it.
    fn value(&mut self) -> Result<R, Broken> {
        match &self.phase {
            Phase::Settled(outcome) if self.clone.is_some() || outcome.is_err() => {
                copy(outcome, self.clone)
            }
            _ => match std::mem::replace(&mut self.phase, Phase::Taken) {
                Phase::Settled(outcome) => outcome,
                _ => unreachable!(
                    "only a promise that was never cloned gives its value away, and it does so once"
                ),
            },
        }
    }
}

fn copy<R>(outcome: &Result<R, Broken>, clone: Option<fn(&R) -> R>) -> Result<R, Broken> {
    match outcome {
        Ok(value) => Ok(clone
            .expect("more than one wants the value only if it can be cloned")(
            value
        )),
        Err(broken) => Err(broken.clone()),
    }
}
