//! Channels where they are explored: a send is a step, and so is a receive, and an end that goes.

use std::{cell::Cell, marker::PhantomData, panic::Location, sync::Arc};

use reenact_engine::{
    Op,
    explore::{Channel, End, Outcome, Patience},
};

use super::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};
use crate::ops;

/// A channel in which `bound` messages wait at most.
pub(super) fn pair<T>(bound: Option<usize>) -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Channel::new(bound.unwrap_or(usize::MAX)));
    channel.one_more(End::Sending);
    channel.one_more(End::Receiving);
    let sender = Sender(Arc::clone(&channel));
    (sender, Receiver(channel, PhantomData))
}

pub(super) struct Sender<T>(Arc<Channel<T>>);

impl<T> Sender<T> {
    #[track_caller]
    fn operate(&self, op: Op, patience: Patience, message: T) -> (Outcome, Option<T>) {
        let mut message = Some(message);
        let site = Location::caller();
        let outcome = self
            .0
            .operate(op, End::Sending, patience, &mut message, site);
        (outcome, message)
    }

    #[track_caller]
    pub(super) fn send(&self, message: T) -> Result<(), SendError<T>> {
        match self.operate(ops::SEND, Patience::Forever, message) {
            (Outcome::Closed, Some(message)) => Err(SendError(message)),
            _ => Ok(()),
        }
    }

    #[track_caller]
    pub(super) fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match self.operate(ops::TRY_SEND, Patience::None, message) {
            (Outcome::Closed, Some(message)) => Err(TrySendError::Disconnected(message)),
            (Outcome::Late, Some(message)) => Err(TrySendError::Full(message)),
            _ => Ok(()),
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.one_more(End::Sending);
        Sender(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    #[track_caller]
    fn drop(&mut self) {
        let site = Location::caller();
        self.0.one_less(ops::STOP_SENDING, End::Sending, site);
    }
}

/// As with std, for one thread at a time.
pub(super) struct Receiver<T>(Arc<Channel<T>>, PhantomData<Cell<()>>);

impl<T> Receiver<T> {
    #[track_caller]
    fn operate(&self, op: Op, patience: Patience) -> (Outcome, Option<T>) {
        let mut message = None;
        let site = Location::caller();
        let outcome = self
            .0
            .operate(op, End::Receiving, patience, &mut message, site);
        (outcome, message)
    }

    #[track_caller]
    pub(super) fn recv(&self) -> Result<T, RecvError> {
        let (_, message) = self.operate(ops::RECEIVE, Patience::Forever);
        message.ok_or(RecvError)
    }

    #[track_caller]
    pub(super) fn try_recv(&self) -> Result<T, TryRecvError> {
        let (outcome, message) = self.operate(ops::TRY_RECEIVE, Patience::None);
        message.ok_or(match outcome {
            Outcome::Closed => TryRecvError::Disconnected,
            _ => TryRecvError::Empty,
        })
    }

    /// Whether time is up is a choice of the schedule.
    #[track_caller]
    pub(super) fn recv_timeout(&self) -> Result<T, RecvTimeoutError> {
        let (outcome, message) = self.operate(ops::TRY_RECEIVE, Patience::Limited);
        message.ok_or(match outcome {
            Outcome::Closed => RecvTimeoutError::Disconnected,
            _ => RecvTimeoutError::Timeout,
        })
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        let site = Location::caller();
        self.0.one_less(ops::STOP_RECEIVING, End::Receiving, site);
    }
}
