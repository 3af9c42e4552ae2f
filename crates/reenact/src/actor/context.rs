//! The context of a turn.

use std::{marker::PhantomData, panic::Location, ptr::NonNull, time::Duration};

use reenact_engine::pool::Pool;

use super::{
    FarRef, Promise, System,
    cell::ActorCell,
    message::{Code, Continued},
    timer,
};

/// The context of a turn: access to its actor. It exists only while a turn runs.
///
/// A method of an actor gets it by declaring it as its first parameter; it is not part of the message.
///
/// ```
/// use std::time::Duration;
///
/// use reenact::actor::{Context, FarRef, Promise, spawn};
///
/// struct Parent {
///     children: Vec<FarRef<Child>>,
/// }
///
/// struct Child {
///     parent: FarRef<Parent>,
/// }
///
/// #[reenact::actor]
/// impl Parent {
///     pub fn have_child(&mut self, ctx: &mut Context<Self>) -> usize {
///         let parent = ctx.me();
///         let child = ctx.spawn(Child { parent });
///         self.children.push(child);
///         self.children.len()
///     }
///
///     pub fn retire(&mut self, ctx: &mut Context<Self>) -> Promise<()> {
///         ctx.after(Duration::from_millis(1)).when(ctx, |_parent, ctx, ()| ctx.stop())
///     }
/// }
///
/// let parent = spawn(Parent { children: Vec::new() });
/// assert_eq!(parent.have_child().wait().unwrap(), 1);
/// parent.retire().wait().unwrap();
/// assert!(parent.have_child().wait().unwrap_err().is_stopped());
/// ```
pub struct Context<A: Send + 'static> {
    cell: NonNull<ActorCell<A>>,
    _stays_here: PhantomData<*mut A>,
}

impl<A: Send + 'static> Context<A> {
    pub(super) fn new(cell: NonNull<ActorCell<A>>) -> Context<A> {
        Context {
            cell,
            _stays_here: PhantomData,
        }
    }

    #[inline(always)]
    pub(super) fn cell(&self) -> &ActorCell<A> {
        // SAFETY: Only the actor's consumer uses a context, and the actor lives while the consumer runs it.
        unsafe { self.cell.as_ref() }
    }

    /// Returns a far reference to the actor itself.
    pub fn me(&self) -> FarRef<A> {
        self.cell().core.add_own_reference();
        FarRef::from_counted(self.cell)
    }

    /// Spawns an actor on the same workers.
    pub fn spawn<B: Send + 'static>(&self, state: B) -> FarRef<B> {
        self.system().spawn(state)
    }

    /// Returns the system that the actor belongs to.
    pub fn system(&self) -> System {
        System::of(self.pool())
    }

    /// Stops the actor after this turn. The messages left in its mailbox are dropped, which breaks the promises that
    /// they were to resolve.
    pub fn stop(&mut self) {
        self.cell().core.stopping.set(true);
    }

    /// Returns a promise that is resolved after `delay`.
    #[track_caller]
    pub fn after(&self, delay: Duration) -> Promise<()> {
        timer::after(self.pool(), delay)
    }

    fn pool(&self) -> Pool {
        self.cell().core.pool
    }

    /// Reserves the next continuation of this actor, which will run `code`.
    #[track_caller]
    pub(super) fn continuation<G>(&self, code: &G) -> Continuation<A, G> {
        Continuation {
            number: self.cell().core.next_continuation(),
            actor: self.me(),
            site: Location::caller(),
            code: Code::of(code),
        }
    }
}

/// A turn that an actor will take when the promise that it waits for is settled.
pub(super) struct Continuation<A: Send + 'static, G> {
    /// Its number among the continuations of its actor.
    number: u64,
    actor: FarRef<A>,
    /// The source location that registered it.
    site: &'static Location<'static>,
    code: Code<G>,
}

impl<A: Send + 'static, G: 'static> Continuation<A, G> {
    /// Sends `run` to the actor as a turn.
    pub(super) fn run(self, run: impl FnOnce(&mut A, &mut Context<A>) + Send + 'static) {
        let address = reenact_engine::continuation(self.number);
        let code = self.code;
        let message = Continued { run, code };
        let cell = self.actor.cell();
        let _ = cell.send_numbered(address, self.site, message);
    }
}
