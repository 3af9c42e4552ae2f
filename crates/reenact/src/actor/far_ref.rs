//! Far references: the only access to an actor.

use std::{
    fmt,
    hash::{Hash, Hasher},
    ptr::NonNull,
};

use reenact_engine::settled;

use super::{
    Broken, Context, Promise,
    cell::{ActorCell, ActorCore, Refused},
    message::{Closure, Message, MethodCall, Request},
    ops,
};

/// A target for messages to an `A`: a far reference, or a promise of one.
///
/// The attribute [`actor`](macro@crate::actor) adds the actor's methods to both. Only this crate implements it.
pub trait Target<A: Send + 'static> {
    /// Sends a message without an answer.
    #[doc(hidden)]
    #[track_caller]
    fn send_message<M: Message<A, Answer = ()>>(&self, message: M);

    /// Sends a message whose result resolves the returned promise.
    #[doc(hidden)]
    #[track_caller]
    fn ask_message<M, R>(&self, message: M) -> Promise<R>
    where
        M: Message<A, Answer = R>,
        R: Send + 'static;

    /// Sends a message without an answer.
    #[inline(always)]
    #[track_caller]
    fn send<F>(&self, message: F)
    where
        F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    {
        self.send_message(Closure(message));
    }

    /// Sends a message whose result resolves the returned promise.
    #[inline]
    #[track_caller]
    fn ask<F, R>(&self, message: F) -> Promise<R>
    where
        F: FnOnce(&mut A, &mut Context<A>) -> R + Send + 'static,
        R: Send + 'static,
    {
        self.ask_message(Closure(message))
    }

    /// Sends a method call, for the attribute: its arguments, the call, and how to show the call and the actor. The
    /// closures have no size, so the message is as large as `carried`.
    #[doc(hidden)]
    #[inline(always)]
    #[track_caller]
    fn send_call<C, F, L, S>(&self, carried: C, run: F, label: L, state: S)
    where
        C: Send + 'static,
        F: FnOnce(&mut A, &mut Context<A>, C) + Send + 'static,
        L: Fn(&C) -> String + Send + 'static,
        S: Fn(&A) -> Option<String> + Copy + Send + Sync + 'static,
    {
        self.send_message(MethodCall {
            carried,
            run,
            label,
            state,
        });
    }

    /// Sends a method call whose result resolves the returned promise.
    #[doc(hidden)]
    #[inline]
    #[track_caller]
    fn ask_call<C, F, L, S, R>(&self, carried: C, run: F, label: L, state: S) -> Promise<R>
    where
        C: Send + 'static,
        F: FnOnce(&mut A, &mut Context<A>, C) -> R + Send + 'static,
        L: Fn(&C) -> String + Send + 'static,
        S: Fn(&A) -> Option<String> + Copy + Send + Sync + 'static,
        R: Send + 'static,
    {
        self.ask_message(MethodCall {
            carried,
            run,
            label,
            state,
        })
    }
}

/// A reference to an actor, which may run on any worker: it allows only sending messages.
///
/// An actor without far references ends when it has read its mailbox.
///
/// The attribute [`actor`](macro@crate::actor) adds the methods of its actor. Without it, messages are closures:
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

// SAFETY: A far reference only appends to the mailbox and counts references, which is allowed from any thread; messages
// are `Send`, and so is the state, which may be dropped on another thread as a result.
unsafe impl<A: Send + 'static> Send for FarRef<A> {}
// SAFETY: Appending to the mailbox and counting references take `&self` and are synchronized.
unsafe impl<A: Send + 'static> Sync for FarRef<A> {}

impl<A: Send + 'static> FarRef<A> {
    /// Takes over a reference that is already counted.
    pub(super) fn from_counted(cell: NonNull<ActorCell<A>>) -> FarRef<A> {
        FarRef { cell }
    }

    #[inline(always)]
    pub(super) fn cell(&self) -> &ActorCell<A> {
        // SAFETY: The cell lives as long as it has references.
        unsafe { self.cell.as_ref() }
    }

    /// Sends a message without an answer, and returns whether the mailbox accepted it.
    ///
    /// An accepted message is handled unless the actor stops before.
    #[track_caller]
    pub fn try_send<F>(&self, message: F) -> Result<(), SendError>
    where
        F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    {
        let sent = self.cell().send(Closure(message));
        if sent == Err(Refused::Full) {
            return Err(SendError::Full);
        }
        // Whether the actor had stopped depends on timing, and here the caller observes it.
        match settled(ops::TRY_SEND, 1, sent.is_ok().into()) {
            0 => Err(SendError::Stopped),
            _ => Ok(()),
        }
    }

    fn core(&self) -> NonNull<ActorCore> {
        self.cell.cast()
    }
}

impl<A: Send + 'static> Target<A> for FarRef<A> {
    #[inline(always)]
    #[track_caller]
    fn send_message<M: Message<A, Answer = ()>>(&self, message: M) {
        // A caller that needs the result uses `try_send`.
        let _ = self.cell().send(message);
    }

    #[inline]
    #[track_caller]
    fn ask_message<M, R>(&self, message: M) -> Promise<R>
    where
        M: Message<A, Answer = R>,
        R: Send + 'static,
    {
        if self.cell().reserve(&message).is_err() {
            return Promise::broken(Broken::full());
        }
        let (promise, debt) = Promise::owed();
        // If the actor has stopped, the debt is dropped, which breaks the promise.
        let _ = self.cell().send_reserved(Request { message, debt });
        promise
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
        // SAFETY: This reference is counted, and not used afterwards.
        unsafe { ActorCore::drop_reference(self.core()) };
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
        match self.cell().core.slot.number() {
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

/// Why a message was not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendError {
    /// The actor's mailbox is bounded, and full.
    Full,
    /// The actor has stopped.
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
