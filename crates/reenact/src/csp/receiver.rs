//! The receiving end of a channel.

use std::{
    fmt,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::Arc,
    time::Duration,
};

use reenact_engine::Op;

use super::{
    RecvError, RecvTimeoutError, TryRecvError,
    channel::{Channel, Side},
    ops,
    select::{ChannelOperation, Timeout},
};

/// The receiving end of a channel. When the last clone is dropped, the channel disconnects: sends fail, and messages
/// that were not received are lost.
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
}

impl<T> Receiver<T> {
    pub(super) fn new(channel: Arc<Channel<T>>) -> Receiver<T> {
        channel.one_more(Side::Receiving);
        Receiver { channel }
    }

    /// Receives the next message, waiting for it. Returns an error if all senders are gone.
    #[inline]
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        let mut message = None;
        self.channel.operate(Side::Receiving, &mut message);
        message.ok_or(RecvError)
    }

    /// Receives the next message, if there is one now.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let received = self.receive_within(ops::TRY_RECEIVE, Timeout::Now);
        received.map_err(|error| match error {
            RecvTimeoutError::Timeout => TryRecvError::Empty,
            RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
        })
    }

    /// Receives the next message, waiting for `timeout` at most.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.receive_within(ops::RECEIVE_TIMEOUT, Timeout::After(timeout))
    }

    #[track_caller]
    fn receive_within(&self, op: Op, timeout: Timeout) -> Result<T, RecvTimeoutError> {
        let mut receiving = self.receiving().alone(op);
        match receiving.within(timeout) {
            true => receiving
                .received()
                .map_err(|_| RecvTimeoutError::Disconnected),
            false => Err(RecvTimeoutError::Timeout),
        }
    }

    /// Returns a receive as a case of a selection.
    #[doc(hidden)]
    pub fn receiving(&self) -> ChannelOperation<'_, T> {
        ChannelOperation::new(&self.channel, Side::Receiving, None)
    }

    /// Whether both belong to the same channel.
    #[must_use]
    pub fn same_channel(&self, other: &Receiver<T>) -> bool {
        Arc::ptr_eq(&self.channel, &other.channel)
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Receiver<T> {
        Receiver::new(Arc::clone(&self.channel))
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        self.channel.one_less(Side::Receiving);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

super::iterators::iterators!();
