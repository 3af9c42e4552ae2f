//! The sending end of a channel.

use std::{
    fmt,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::Arc,
    time::Duration,
};

use reenact_engine::Op;

use super::{
    SendError, TrySendError,
    channel::{Channel, Side},
    ops,
    select::{ChannelOperation, Timeout},
};

/// The sending end of a channel. When the last clone is dropped, the channel disconnects: receivers get the messages
/// that were sent, then an error.
pub struct Sender<T> {
    channel: Arc<Channel<T>>,
}

/// Why a message was not sent in time.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum SendTimeoutError<T> {
    /// The time limit expired: no receiver took the message, and there was no room.
    Timeout(T),
    /// There is no receiver any more.
    Disconnected(T),
}

impl<T> Sender<T> {
    pub(super) fn new(channel: Arc<Channel<T>>) -> Sender<T> {
        channel.one_more(Side::Sending);
        Sender { channel }
    }

    /// Sends a message, waiting until it is received or there is room for it. Returns it as an error if there is no
    /// receiver any more.
    #[inline]
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let mut message = Some(message);
        match (
            self.channel.operate(Side::Sending, &mut message),
            message.take(),
        ) {
            (false, Some(message)) => Err(SendError(message)),
            _ => Ok(()),
        }
    }

    /// Sends a message if a receiver waits for it or there is room.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match self.send_within(ops::TRY_SEND, message, Timeout::Now) {
            Err(SendTimeoutError::Timeout(message)) => Err(TrySendError::Full(message)),
            Err(SendTimeoutError::Disconnected(message)) => {
                Err(TrySendError::Disconnected(message))
            }
            Ok(()) => Ok(()),
        }
    }

    /// Sends a message, waiting for `timeout` at most.
    #[track_caller]
    pub fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_within(ops::SEND_TIMEOUT, message, Timeout::After(timeout))
    }

    #[track_caller]
    fn send_within(&self, op: Op, message: T, timeout: Timeout) -> Result<(), SendTimeoutError<T>> {
        let mut sending = self.sending(message).alone(op);
        match sending.within(timeout) {
            true => sending
                .sent()
                .map_err(|error| SendTimeoutError::Disconnected(error.0)),
            false => match sending.into_message() {
                Some(message) => Err(SendTimeoutError::Timeout(message)),
                None => Ok(()),
            },
        }
    }

    /// Returns a send as a case of a selection.
    #[doc(hidden)]
    pub fn sending(&self, message: T) -> ChannelOperation<'_, T> {
        ChannelOperation::new(&self.channel, Side::Sending, Some(message))
    }

    /// Whether both belong to the same channel.
    #[must_use]
    pub fn same_channel(&self, other: &Sender<T>) -> bool {
        Arc::ptr_eq(&self.channel, &other.channel)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        Sender::new(Arc::clone(&self.channel))
    }
}

impl<T> Drop for Sender<T> {
    #[track_caller]
    fn drop(&mut self) {
        self.channel.one_less(Side::Sending);
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}

impl<T> fmt::Display for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendTimeoutError::Timeout(_) => "nobody received the message in time",
            SendTimeoutError::Disconnected(_) => "the channel has no receiver any more",
        })
    }
}

impl<T: fmt::Debug> std::error::Error for SendTimeoutError<T> {}
