//! Far references: the only way to an actor.

use std::{
    fmt,
    hash::{Hash, Hasher},
    ptr::NonNull,
};

use reenact_engine::settled;

use super::{
    Broken, Context, Promise,
    cell::{ActorCell, Core, Refused},
    message::{Asked, Call, Closure, Message},
    ops,
};

/// Whatever messages for an `A` can be sent to: a far reference, or a promise of one.
///
/// The attribute [`actor`](macro@crate::actor) makes methods of these two.
pub trait Target<A: Send + 'static> {
    /// Sends a message to which there is no answer.
    fn send<F>(&self, message: F)
    where
        F: FnOnce(&mut A, &mut Context<A>) + Send + 'static;

    /// Sends a message whose result resolves the promise that is returned.
    fn ask<F, R>(&self, message: F) -> Promise<R>
    where
        F: FnOnce(&mut A, &mut Context<A>) -> R + Send + 'static,
        R: Send + 'static;

    /// As [`Target::send`], for a call of a method: what it carries, the call, and how to show both it and the actor. For the
    /// attribute; code has no size, so the message is what it carries.
    #[doc(hidden)]
    #[track_caller]
    fn send_call<C, F, L, S>(&self, carried: C, run: F, _label: L, _state: S)
    where
        C: Send + 'static,
        F: FnOnce(&mut A, &mut Context<A>, C) + Send + 'static,
        L: Fn(&C) -> String + Send + 'static,
        S: Fn(&A) -> Option<String> + Copy + Send + Sync + 'static,
    {
        self.send(move |this, ctx| run(this, ctx, carried));
    }

    /// The same for [`Target::ask`].
    #[doc(hidden)]
    #[track_caller]
    fn ask_call<C, F, L, S, R>(&self, carried: C, run: F, _label: L, _state: S) -> Promise<R>
    where
        C: Send + 'static,
        F: FnOnce(&mut A, &mut Context<A>, C) -> R + Send + 'static,
        L: Fn(&C) -> String + Send + 'static,
        S: Fn(&A) -> Option<String> + Copy + Send + Sync + 'static,
        R: Send + 'static,
    {
        self.ask(move |this, ctx| run(this, ctx, carried))
    }
}

/// A reference to an actor that may run anywhere: messages can be sent through it, and nothing else.
///
/// An actor of which there is no far reference any more ends when it has read its mailbox.
///
/// The attribute [`actor`](macro@crate::actor) gives it the methods of its actor. Without it, messages are closures:
///
/// ```
/// use reenact::actor::{FarRef, Target, spawn};
///
/// let list: FarRef<Vec<u32>> = spawn(Vec::new());
/// list.send(|list, _ctx| list.push(1));
/// list.send(|list, _ctx| list.push(2));
/// let sum = list.ask(|list, _ctx| list.iter().sum::<u32>());
/// assert_eq!(sum.wait().unwrap(), 3);
///
/// // Two that refer to the same actor are equal.
/// assert_eq!(list.clone(), list);
/// ```
pub struct FarRef<A: Send + 'static> {
    cell: NonNull<ActorCell<A>>,
}

// SAFETY: A far reference only appends to the mailbox and counts, both of which may be done from anywhere; what is sent
// is `Send`, and the state, which may be dropped elsewhere because of it, is too.
unsafe impl<A: Send + 'static> Send for FarRef<A> {}
// SAFETY: As above.
unsafe impl<A: Send + 'static> Sync for FarRef<A> {}

impl<A: Send + 'static> FarRef<A> {
    /// Takes over a reference that has been counted.
    pub(super) fn from_counted(cell: NonNull<ActorCell<A>>) -> FarRef<A> {
        FarRef { cell }
    }

    #[inline(always)]
    pub(super) fn cell(&self) -> &ActorCell<A> {
        // SAFETY: It is there as long as it is referred to.
        unsafe { self.cell.as_ref() }
    }

    /// Sends a message to which there is no answer, and says whether it was taken.
    ///
    /// A message that was taken is handled unless the actor stops before it gets there.
    #[track_caller]
    pub fn try_send<F>(&self, message: F) -> Result<(), SendError>
    where
        F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    {
        let sent = self.cell().send(Closure(message));
        if sent == Err(Refused::Full) {
            return Err(SendError::Full);
        }
        // Whether the actor had stopped is a matter of timing, and here somebody wants to know.
        match settled(ops::TRY_SEND, 1, sent.is_ok().into()) {
            0 => Err(SendError::Stopped),
            _ => Ok(()),
        }
    }

    #[inline]
    #[track_caller]
    fn ask_message<R: Send + 'static>(&self, message: impl Message<A, Answer = R>) -> Promise<R> {
        if self.cell().reserve(&message).is_err() {
            return Promise::broken(Broken::full());
        }
        let (promise, debt) = Promise::owed();
        // If the actor has stopped, the debt is dropped, and says so.
        let _ = self.cell().send_reserved(Asked { message, debt });
        promise
    }

    fn core(&self) -> NonNull<Core> {
        self.cell.cast()
    }
}

impl<A: Send + 'static> Target<A> for FarRef<A> {
    #[inline(always)]
    #[track_caller]
    fn send<F>(&self, message: F)
    where
        F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    {
        // Who wants to know what became of it asks.
        let _ = self.cell().send(Closure(message));
    }

    #[track_caller]
    fn ask<F, R>(&self, message: F) -> Promise<R>
    where
        F: FnOnce(&mut A, &mut Context<A>) -> R + Send + 'static,
        R: Send + 'static,
    {
        self.ask_message(Closure(message))
    }

    #[inline(always)]
    #[track_caller]
    fn send_call<C, F, L, S>(&self, carried: C, run: F, label: L, state: S)
    where
        C: Send + 'static,
        F: FnOnce(&mut A, &mut Context<A>, C) + Send + 'static,
        L: Fn(&C) -> String + Send + 'static,
        S: Fn(&A) -> Option<String> + Copy + Send + Sync + 'static,
    {
        let _ = self.cell().send(Call {
            carried,
            run,
            label,
            state,
        });
    }

    #[track_caller]
    fn ask_call<C, F, L, S, R>(&self, carried: C, run: F, label: L, state: S) -> Promise<R>
    where
        C: Send + 'static,
        F: FnOnce(&mut A, &mut Context<A>, C) -> R + Send + 'static,
        L: Fn(&C) -> String + Send + 'static,
        S: Fn(&A) -> Option<String> + Copy + Send + Sync + 'static,
        R: Send + 'static,
    {
        self.ask_message(Call {
            carried,
            run,
            label,
            state,
        })
    }
}

impl<A: Send + 'static> Clone for FarRef<A> {
    #[inline]
    fn clone(&self) -> FarRef<A> {
        self.cell().core.add_reference();
        FarRef { cell: self.cell }
    }
}

impl<A: Send + 'static> Drop for FarRef<A> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: This one is counted, and gone.
        unsafe { Core::drop_reference(self.core()) };
    }
}

impl<A: Send + 'static> PartialEq for FarRef<A> {
    /// Whether both refer to the same actor.
    fn eq(&self, other: &FarRef<A>) -> bool {
        self.cell == other.cell
    }
}

impl<A: Send + 'static> Eq for FarRef<A> {}

impl<A: Send + 'static> Hash for FarRef<A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Addresses differ between a recording and its replays; numbers do not.
        match self.cell().core.seat.number() {
            Some(number) => number.hash(state),
            None => self.cell.hash(state),
        }
    }
}

impl<A: Send + 'static> fmt::Debug for FarRef<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FarRef<{}>", std::any::type_name::<A>())
    }
}

/// Why a message was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendError {
    /// The mailbox of its actor is bounded, and full.
    Full,
    /// Its actor has stopped.
    Stopped,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendError::Full => "the actor's mailbox is full",
            SendError::Stopped => "the actor has stopped",
        })
    }
}

impl std::error::Error for SendError {}
