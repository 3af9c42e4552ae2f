//! The recorded flavour of channels: a queue that is used in the order of a recorded lock.
//!
//! Sending and receiving are operations, dropping one's end is not: channel ends live in structures that are shared with
//! `Arc`, and which thread drops the last reference to one is nobody's decision and not recorded. That an end is gone is
//! a [`Fact`]; whoever found it gone when recording waits for that in a replay. So the queue itself is under a plain
//! lock, which those who drop use alone.

use std::{
    cell::Cell,
    collections::VecDeque,
    marker::PhantomData,
    sync::{
        Arc, Mutex as PlainMutex, MutexGuard as PlainGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use reenact_engine::{Fact, choose, is_replaying, raw::now};

use super::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};
use crate::{
    ops,
    sync::{Condvar, Mutex, MutexGuard},
};

pub(super) struct Channel<T> {
    order: Mutex<()>,
    /// Something came, or the last sender went. Waited for with `order`.
    came: Condvar,
    /// Something was taken, or the receiver went. Waited for with `order`.
    went: Condvar,
    state: PlainMutex<State<T>>,
    senders: AtomicUsize,
    no_senders: Fact,
    no_receiver: Fact,
    /// None: without bound.
    bound: Option<usize>,
}

/// # Invariants
///
/// 1. `taken` counts messages that left the queue, so the message that was sent as number `n` is in the queue as long as
///    `taken < n`.
/// 2. As long as there is a receiver, all fields are changed only with `order` locked.
/// 3. Without a receiver the queue is empty, unless senders wait for their receive.
struct State<T> {
    queue: VecDeque<T>,
    sent: u64,
    taken: u64,
    /// Whether the receiver waits right now: only then does a channel without a buffer accept a message at once.
    receiver_waits: bool,
}

impl<T> Channel<T> {
    pub(super) fn pair(bound: Option<usize>) -> (Sender<T>, Receiver<T>) {
        let channel = Arc::new(Channel {
            order: Mutex::new(()),
            came: Condvar::new(),
            went: Condvar::new(),
            state: PlainMutex::new(State {
                queue: VecDeque::new(),
                sent: 0,
                taken: 0,
                receiver_waits: false,
            }),
            senders: AtomicUsize::new(1),
            no_senders: Fact::new(),
            no_receiver: Fact::new(),
            bound,
        });
        let sender = Sender {
            channel: Arc::clone(&channel),
        };
        let receiver = Receiver {
            channel,
            _not_sync: PhantomData,
        };
        (sender, receiver)
    }

    #[track_caller]
    fn order(&self) -> MutexGuard<'_, ()> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes who waits, after an end has gone. In a replay nobody waits for that.
    fn nudge(&self, condition: &Condvar) {
        if !is_replaying() {
            // Whoever has looked for the end and found it there is waiting after this.
            self.order.pass_through();
            condition.nudge();
        }
    }

    fn state(&self) -> PlainGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_room(&self) -> bool {
        let state = self.state();
        // Not what is in the queue: a receiver that goes empties that, and when it does is not recorded.
        let waiting = state.sent - state.taken;
        match self.bound {
            None => true,
            // A message on its way from hand to hand.
            Some(0) => waiting == 0,
            Some(bound) => waiting < bound as u64,
        }
    }

    /// Adds a message; its number. If the receiver is gone by now, which the sender was not told, nobody will miss it,
    /// except a sender that waits for its receive.
    fn put(&self, message: T) -> u64 {
        let mut state = self.state();
        state.sent += 1;
        let number = state.sent;
        let missed = if self.bound != Some(0) && self.no_receiver.is_established() {
            Some(message)
        } else {
            state.queue.push_back(message);
            None
        };
        drop(state);
        drop(missed);
        number
    }
}

/// Whether the other end is gone. If the recorded program was told so, it is once this returns.
#[track_caller]
fn is_gone(end: &Fact, what: &str) -> bool {
    let gone = choose(ops::IS_DISCONNECTED, 0, || end.is_established().into()) != 0;
    if gone {
        end.wait_if_conducted(&|| format!("the end of {what} of a channel"));
    }
    gone
}

pub(super) struct Sender<T> {
    channel: Arc<Channel<T>>,
}

impl<T> Sender<T> {
    #[track_caller]
    fn receiver_is_gone(&self) -> bool {
        is_gone(&self.channel.no_receiver, "the receiver")
    }

    #[track_caller]
    pub(super) fn send(&self, message: T) -> Result<(), SendError<T>> {
        let channel = &*self.channel;
        let mut order = channel.order();
        loop {
            if self.receiver_is_gone() {
                return Err(SendError(message));
            }
            if channel.has_room() {
                break;
            }
            order = wait(&channel.went, order);
        }
        let number = channel.put(message);
        channel.came.notify_one();
        if channel.bound == Some(0) {
            while channel.state().taken < number {
                if self.receiver_is_gone() {
                    let message = channel.state().queue.pop_back();
                    return Err(SendError(message.expect("it was not taken")));
                }
                order = wait(&channel.went, order);
            }
        }
        Ok(())
    }

    #[track_caller]
    pub(super) fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let channel = &*self.channel;
        let _order = channel.order();
        if self.receiver_is_gone() {
            return Err(TrySendError::Disconnected(message));
        }
        let accepted =
            channel.has_room() && (channel.bound != Some(0) || channel.state().receiver_waits);
        if !accepted {
            return Err(TrySendError::Full(message));
        }
        channel.put(message);
        channel.came.notify_one();
        Ok(())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.channel.senders.fetch_add(1, Ordering::Relaxed);
        Sender {
            channel: Arc::clone(&self.channel),
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // AcqRel: what every sender did is done before the receiver learns that there is none.
        if self.channel.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.channel.no_senders.establish();
            self.channel.nudge(&self.channel.came);
        }
    }
}

pub(super) struct Receiver<T> {
    channel: Arc<Channel<T>>,
    /// As with std, one thread at a time.
    _not_sync: PhantomData<Cell<()>>,
}

impl<T> Receiver<T> {
    #[track_caller]
    pub(super) fn recv(&self) -> Result<T, RecvError> {
        let mut order = self.channel.order();
        loop {
            match self.take() {
                Err(TryRecvError::Empty) => {
                    self.channel.state().receiver_waits = true;
                    order = wait(&self.channel.came, order);
                    self.channel.state().receiver_waits = false;
                }
                Err(TryRecvError::Disconnected) => return Err(RecvError),
                Ok(message) => return Ok(message),
            }
        }
    }

    #[track_caller]
    pub(super) fn try_recv(&self) -> Result<T, TryRecvError> {
        let _order = self.channel.order();
        self.take()
    }

    /// Whether time is up is decided by the waits alone, which are recorded; never by the clock.
    #[track_caller]
    pub(super) fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        let start = now();
        let mut timed_out = false;
        let mut order = self.channel.order();
        loop {
            match self.take() {
                Err(TryRecvError::Empty) if timed_out => return Err(RecvTimeoutError::Timeout),
                Err(TryRecvError::Empty) => {
                    let left = timeout.saturating_sub(now().saturating_duration_since(start));
                    self.channel.state().receiver_waits = true;
                    let result;
                    (order, result) = self
                        .channel
                        .came
                        .wait_timeout(order, left)
                        .unwrap_or_else(PoisonError::into_inner);
                    self.channel.state().receiver_waits = false;
                    timed_out = result.timed_out();
                }
                Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
                Ok(message) => return Ok(message),
            }
        }
    }

    /// With `order` locked, so that nothing comes while we ask whether anything can.
    #[track_caller]
    fn take(&self) -> Result<T, TryRecvError> {
        let channel = &*self.channel;
        let mut state = channel.state();
        let Some(message) = state.queue.pop_front() else {
            drop(state);
            return Err(if is_gone(&channel.no_senders, "the senders") {
                TryRecvError::Disconnected
            } else {
                TryRecvError::Empty
            });
        };
        state.taken += 1;
        drop(state);
        match channel.bound {
            None => {}
            // The one whose message it was waits beside those who wait for room.
            Some(0) => channel.went.notify_all(),
            Some(_) => channel.went.notify_one(),
        }
        Ok(message)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.channel.state();
        self.channel.no_receiver.establish();
        let rest = match self.channel.bound {
            // Whoever handed these over takes them back.
            Some(0) => VecDeque::new(),
            _ => std::mem::take(&mut state.queue),
        };
        drop(state);
        self.channel.nudge(&self.channel.went);
        drop(rest);
    }
}

#[track_caller]
fn wait<'a>(condition: &Condvar, order: MutexGuard<'a, ()>) -> MutexGuard<'a, ()> {
    condition
        .wait(order)
        .unwrap_or_else(PoisonError::into_inner)
}
