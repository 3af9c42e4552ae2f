//! Promises: values that are not available yet.
//!
//! A promise is settled once: resolved with a value, or broken with the reason why there will be none. Its waiters are
//! notified then: continuations run as turns of their actors, threads wake up, and promises that were resolved with it
//! are settled in turn. A promise of a far reference accepts messages before it is resolved; they are forwarded in the
//! order in which they came, before any waiter is notified.

mod cycle;
mod depth;
#[cfg(all(test, loom))]
mod model;
mod target;
mod wait;

use std::{
    fmt,
    panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind},
    sync::{
        Arc, PoisonError, Weak,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use reenact_engine::{Access, Name, Op, announce, choose_at, thread::panic_is_observed};

use self::cycle::Link;
use super::{Broken, Context, FarRef, ops};
use crate::loom::{Latch, Mutex, MutexGuard};

/// A value that is not available yet.
///
/// Messages through a [`FarRef`] are answered with a promise. It can be cloned if its value can.
///
/// Threads [wait](Promise::wait) for it; actors register what happens [when](Promise::when) the value is available. A
/// promise of a far reference accepts messages at once.
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

/// The other end of a promise, which settles it. Only the first attempt counts.
///
/// A promise is broken when all its resolvers have been dropped.
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
    /// Shared among clones: dropping the last one breaks the promise. Declared, and so dropped, before `shared`, which
    /// may be all that keeps the waiters that have to be notified.
    last: Arc<Last<R>>,
    shared: Arc<Shared<R>>,
    /// Whether it has tried to settle the promise, which is settled then.
    has_tried: AtomicBool,
}

struct Shared<R> {
    state: Mutex<State<R>>,
    /// The name by which a controller knows the promise.
    name: Name,
    settled: Latch,
    /// The source location that created it, for reports.
    made_at: &'static Location<'static>,
}

struct State<R> {
    phase: Phase<R>,
    /// Messages to forward, in the order in which they were sent.
    messages: Vec<Waiter<R>>,
    /// Waiters to notify.
    subscribers: Vec<Waiter<R>>,
    /// How to clone the value, if several waiters may need it.
    clone: Option<fn(&R) -> R>,
    /// The promise that this one follows.
    source: Option<Weak<dyn Link>>,
}

enum Phase<R> {
    /// Any resolver may settle it.
    Open,
    /// It is claimed: it is being settled, or is resolved with another promise and will be settled with that.
    Following,
    /// It is settled, and its waiters are being notified.
    Notifying,
    Settled(Result<R, Broken>),
    /// The only waiter has taken the value.
    Taken,
}

type Waiter<R> = Box<dyn FnOnce(Result<R, Broken>) + Send>;

/// Breaks the promise when its last resolver is dropped.
struct Last<R: Send + 'static>(Weak<Shared<R>>);

impl<R: Send + 'static> Drop for Last<R> {
    fn drop(&mut self) {
        if let Some(shared) = self.0.upgrade()
            && shared.claim()
        {
            // This is part of the last resolver's drop operation.
            shared.notify(Err(Broken::abandoned()));
        }
    }
}

impl<R: Send + 'static> Promise<R> {
    /// Creates a promise and its resolver.
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

    /// Creates a promise and a resolver that settles it exactly once.
    #[track_caller]
    pub(super) fn owed() -> (Promise<R>, Debt<R>) {
        let shared = Shared::new();
        let debt = Debt(Some(Arc::clone(&shared)));
        (Promise { shared }, debt)
    }

    /// Creates a resolved promise.
    #[track_caller]
    pub fn resolved(value: R) -> Promise<R> {
        Promise::settled_already(Ok(value))
    }

    /// Creates a broken promise.
    #[track_caller]
    pub fn broken(broken: Broken) -> Promise<R> {
        Promise::settled_already(Err(broken))
    }

    #[track_caller]
    fn settled_already(outcome: Result<R, Broken>) -> Promise<R> {
        let shared = Shared::new();
        // No other activity can access it yet, so this is not an operation.
        if shared.claim() {
            shared.notify(outcome);
        }
        Promise { shared }
    }

    /// Runs `action` with the value, as a turn of the actor whose context this is. If the promise is broken, so is the
    /// returned one.
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

    /// Runs `action` with the reason if the promise is broken, as a turn of the actor whose context this is; its result
    /// replaces the value.
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

    /// Runs `action` with the outcome of the promise, as a turn of the actor whose context this is.
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

    /// Returns a promise that follows this one: `settle` settles it, when this one is settled.
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
    /// Returns a promise that is settled as the inner promise is.
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
    /// Resolves the promise, unless it is already settled. Returns whether this call settled it.
    #[track_caller]
    pub fn resolve(&self, value: R) -> bool {
        self.claim() && {
            self.shared.notify(Ok(value));
            true
        }
    }

    /// Breaks the promise, unless it is already settled. Returns whether this call settled it.
    #[track_caller]
    pub fn break_with(&self, error: impl std::error::Error + Send + Sync + 'static) -> bool {
        self.claim() && {
            self.shared.notify(Err(Broken::by(error)));
            true
        }
    }

    /// Resolves the promise with another one: it will be settled as that is. Returns whether this call resolved it.
    ///
    /// A promise that is resolved with itself, directly or through others, is broken, with a reason that names them
    /// all.
    #[track_caller]
    pub fn resolve_with(&self, other: Promise<R>) -> bool {
        self.claim() && {
            Shared::follow_to_the_end(&self.shared, other);
            true
        }
    }

    /// Claims the promise: returns whether the caller may settle it. Which of several resolvers comes first depends on
    /// timing.
    #[track_caller]
    fn claim(&self) -> bool {
        self.has_tried.store(true, Relaxed);
        let name = &self.shared.name;
        let claim = || self.shared.claim().into();
        choose_at(ops::RESOLVE, name, Access::Write, 1, claim) == 1 && {
            // In a replay the trace decides, and the closure above has not run.
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
        // Dropping the last one breaks the promise, unless it is settled; others can observe which one is last.
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

/// A unique resolver that settles its promise once. Dropping it breaks the promise.
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

    /// Settles the promise with the result of `action`. If that panics, breaks the promise and resumes the panic.
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
            settled: Latch::new(),
            made_at: Location::caller(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Announces an operation on the promise that others can observe. The operation itself is not recorded; its
    /// consequences are.
    #[inline]
    #[track_caller]
    fn is_met(&self, op: Op) {
        announce(op, &self.name, Access::Write);
    }

    /// Claims the promise for the caller to settle. Returns false if it is not open.
    fn claim(&self) -> bool {
        let mut state = self.state();
        let open = matches!(state.phase, Phase::Open);
        if open {
            state.phase = Phase::Following;
        }
        open
    }

    /// Settles the promise, unless it is already settled.
    fn settle(self: &Arc<Self>, outcome: Result<R, Broken>) {
        self.is_met(ops::RESOLVE);
        if self.claim() {
            self.notify(outcome);
        }
    }

    /// Settles a promise that the caller has claimed, and notifies all waiters.
    fn notify(self: &Arc<Self>, outcome: Result<R, Broken>) {
        let this = Arc::clone(self);
        depth::bounded(move || this.notify_all(outcome));
    }

    fn notify_all(&self, outcome: Result<R, Broken>) {
        let mut state = self.state();
        state.phase = Phase::Notifying;
        state.source = None;
        let clone = state.clone;
        // Messages that arrive meanwhile queue up behind those already there.
        loop {
            let messages = std::mem::take(&mut state.messages);
            if messages.is_empty() {
                break;
            }
            drop(state);
            for message in messages {
                message(copy(&outcome, clone));
            }
            // Other activities may have used the promise meanwhile.
            self.is_met(ops::RESOLVE);
            state = self.state();
        }
        let mut subscribers = std::mem::take(&mut state.subscribers);
        // The last waiter gets the value itself, if there can be no others.
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

    /// Calls `waiter` when the promise is settled; at once if it already is.
    fn subscribe(&self, waiter: Waiter<R>) {
        self.is_met(ops::SUBSCRIBE);
        let mut state = self.state();
        match &state.phase {
            Phase::Open | Phase::Following | Phase::Notifying => state.subscribers.push(waiter),
            Phase::Settled(_) | Phase::Taken => {
                let outcome = state.value();
                drop(state);
                waiter(outcome);
            }
        }
    }
}

impl<R> State<R> {
    /// Returns the outcome for one waiter.
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
