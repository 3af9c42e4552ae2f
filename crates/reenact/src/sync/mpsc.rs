//! `std::sync::mpsc`, recorded.
//!
//! These are channels of [`csp`] with the names and the traits of std's: the n-th send meets the n-th receive, and each
//! end has an order of its own.

use std::{
    cell::Cell,
    fmt,
    marker::PhantomData,
    panic::{RefUnwindSafe, UnwindSafe},
    time::Duration,
};

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use crate::csp;

/// Creates an unbounded channel: senders never wait.
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = csp::unbounded();
    (Sender(sender), Receiver::new(receiver))
}

/// Creates a channel that buffers at most `bound` messages. With 0, each send waits for its receive.
#[must_use]
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let (sender, receiver) = csp::bounded(bound);
    (SyncSender(sender), Receiver::new(receiver))
}

/// The sending half of [`channel`].
pub struct Sender<T>(csp::Sender<T>);

impl<T> Sender<T> {
    /// Sends a message; returns it as an error if there is no receiver any more.
    #[inline]
    #[track_caller]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        self.0.send(t)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Sender(self.0.clone())
    }
}

/// The sending half of [`sync_channel`].
pub struct SyncSender<T>(csp::Sender<T>);

impl<T> SyncSender<T> {
    /// Sends a message, waiting for room; returns it as an error if there is no receiver any more.
    #[inline]
    #[track_caller]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        self.0.send(t)
    }

    /// Sends a message if there is room now.
    #[inline]
    #[track_caller]
    pub fn try_send(&self, t: T) -> Result<(), TrySendError<T>> {
        self.0.try_send(t)
    }
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> Self {
        SyncSender(self.0.clone())
    }
}

/// The receiving half of a channel.
pub struct Receiver<T> {
    inner: csp::Receiver<T>,
    /// Like std's, it is used by one thread at a time.
    _not_sync: PhantomData<Cell<()>>,
}

impl<T> Receiver<T> {
    fn new(inner: csp::Receiver<T>) -> Receiver<T> {
        Receiver {
            inner,
            _not_sync: PhantomData,
        }
    }

    /// Receives the next message, waiting for it; an error if all senders are gone.
    #[inline]
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.inner.recv()
    }

    /// Receives the next message, if there is one now.
    #[inline]
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.inner.try_recv()
    }

    /// Receives the next message, waiting for `timeout` at most.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.inner.recv_timeout(timeout)
    }
}

csp::iterators!();

macro_rules! opaque {
    ($($name:ident)*) => {$(
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl<T> UnwindSafe for $name<T> {}
        impl<T> RefUnwindSafe for $name<T> {}
    )*};
}

opaque! { Sender SyncSender Receiver }
