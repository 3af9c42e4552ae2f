//! `std::sync::mpsc`, recorded.
//!
//! A program that is neither recorded, replayed nor explored gets std's channels, behind one branch. All other
//! programs, and processes, get a channel of [`csp`]: the n-th send meets the n-th receive, and each end has an order
//! of its own.

use std::{
    fmt,
    iter::FusedIterator,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::mpsc as std_mpsc,
    time::Duration,
};

pub use std_mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use reenact_engine::{
    is_active,
    pool::{can_be_put_aside, poll_until_woken},
    raw::now,
};

use crate::csp;

/// Whether a channel created now must be one of [`csp`]: where it is recorded; and where a process creates it, which
/// will probably wait at it, because std's channels can block only threads.
fn is_ours() -> bool {
    is_active() || can_be_put_aside()
}

/// Creates an unbounded channel: senders never wait.
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    if is_ours() {
        let (sender, receiver) = csp::unbounded();
        return (
            Sender(SenderKind::Ours(sender)),
            Receiver(ReceiverKind::Ours(receiver)),
        );
    }
    let (sender, receiver) = std_mpsc::channel();
    (
        Sender(SenderKind::Plain(sender)),
        Receiver(ReceiverKind::Plain(receiver)),
    )
}

/// Creates a channel that buffers at most `bound` messages. With 0, each send waits for its receive.
#[must_use]
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    if is_ours() {
        let (sender, receiver) = csp::bounded(bound);
        return (
            SyncSender(SyncSenderKind::Ours(sender)),
            Receiver(ReceiverKind::Ours(receiver)),
        );
    }
    let (sender, receiver) = std_mpsc::sync_channel(bound);
    (
        SyncSender(SyncSenderKind::Plain(sender)),
        Receiver(ReceiverKind::Plain(receiver)),
    )
}

/// The sending half of [`channel`].
pub struct Sender<T>(SenderKind<T>);

enum SenderKind<T> {
    Plain(std_mpsc::Sender<T>),
    Ours(csp::Sender<T>),
}

impl<T> Sender<T> {
    /// Sends a message; returns it as an error if there is no receiver any more.
    #[inline]
    #[track_caller]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        match &self.0 {
            SenderKind::Plain(sender) => sender.send(t),
            SenderKind::Ours(sender) => sender.send(t),
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Sender(match &self.0 {
            SenderKind::Plain(sender) => SenderKind::Plain(sender.clone()),
            SenderKind::Ours(sender) => SenderKind::Ours(sender.clone()),
        })
    }
}

/// The sending half of [`sync_channel`].
pub struct SyncSender<T>(SyncSenderKind<T>);

enum SyncSenderKind<T> {
    Plain(std_mpsc::SyncSender<T>),
    Ours(csp::Sender<T>),
}

impl<T> SyncSender<T> {
    /// Sends a message, waiting for room; returns it as an error if there is no receiver any more.
    #[inline]
    #[track_caller]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        match &self.0 {
            SyncSenderKind::Plain(sender) if can_be_put_aside() => send_aside(sender, t),
            SyncSenderKind::Plain(sender) => sender.send(t),
            SyncSenderKind::Ours(sender) => sender.send(t),
        }
    }

    /// Sends a message if there is room now.
    #[inline]
    #[track_caller]
    pub fn try_send(&self, t: T) -> Result<(), TrySendError<T>> {
        match &self.0 {
            SyncSenderKind::Plain(sender) => sender.try_send(t),
            SyncSenderKind::Ours(sender) => sender.try_send(t),
        }
    }
}

/// Sends from a process by polling until there is room. A channel of bound 0 has, or will have, a receiver that waits
/// in the kernel: a process would not have been given such a channel.
fn send_aside<T>(sender: &std_mpsc::SyncSender<T>, message: T) -> Result<(), SendError<T>> {
    let mut message = Some(message);
    poll_until_woken(|| match sender.try_send(message.take()?) {
        Ok(()) => Some(Ok(())),
        Err(TrySendError::Disconnected(message)) => Some(Err(SendError(message))),
        Err(TrySendError::Full(back)) => {
            message = Some(back);
            None
        }
    })
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> Self {
        SyncSender(match &self.0 {
            SyncSenderKind::Plain(sender) => SyncSenderKind::Plain(sender.clone()),
            SyncSenderKind::Ours(sender) => SyncSenderKind::Ours(sender.clone()),
        })
    }
}

/// The receiving half of a channel.
pub struct Receiver<T>(ReceiverKind<T>);

enum ReceiverKind<T> {
    Plain(std_mpsc::Receiver<T>),
    Ours(csp::Receiver<T>),
}

impl<T> Receiver<T> {
    /// Receives the next message, waiting for it; an error if all senders are gone.
    #[inline]
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        match &self.0 {
            ReceiverKind::Plain(receiver) if can_be_put_aside() => {
                poll_until_woken(|| match receiver.try_recv() {
                    Ok(message) => Some(Ok(message)),
                    Err(TryRecvError::Disconnected) => Some(Err(RecvError)),
                    Err(TryRecvError::Empty) => None,
                })
            }
            ReceiverKind::Plain(receiver) => receiver.recv(),
            ReceiverKind::Ours(receiver) => receiver.recv(),
        }
    }

    /// Receives the next message, if there is one now.
    #[inline]
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match &self.0 {
            ReceiverKind::Plain(receiver) => receiver.try_recv(),
            ReceiverKind::Ours(receiver) => receiver.try_recv(),
        }
    }

    /// Receives the next message, waiting for `timeout` at most.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match &self.0 {
            ReceiverKind::Plain(receiver) if can_be_put_aside() => {
                let deadline = now().checked_add(timeout);
                poll_until_woken(|| match receiver.try_recv() {
                    Ok(message) => Some(Ok(message)),
                    Err(TryRecvError::Disconnected) => Some(Err(RecvTimeoutError::Disconnected)),
                    Err(TryRecvError::Empty) => deadline
                        .is_some_and(|deadline| now() >= deadline)
                        .then_some(Err(RecvTimeoutError::Timeout)),
                })
            }
            ReceiverKind::Plain(receiver) => receiver.recv_timeout(timeout),
            ReceiverKind::Ours(receiver) => receiver.recv_timeout(timeout),
        }
    }

    /// Iterates over all messages until the senders are gone, waiting for each.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    /// Iterates over the messages that are available now.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }
}

/// Iterator returned by [`Receiver::iter`].
#[derive(Debug)]
pub struct Iter<'a, T> {
    receiver: &'a Receiver<T>,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T> FusedIterator for Iter<'_, T> {}

/// Iterator returned by [`Receiver::try_iter`].
#[derive(Debug)]
pub struct TryIter<'a, T> {
    receiver: &'a Receiver<T>,
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.try_recv().ok()
    }
}

/// Iterator over all messages that owns its receiver.
#[derive(Debug)]
pub struct IntoIter<T> {
    receiver: Receiver<T>,
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T> FusedIterator for IntoIter<T> {}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self }
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

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
