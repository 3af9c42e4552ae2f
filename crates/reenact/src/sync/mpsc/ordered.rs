//! The recorded flavour of channels: a queue under a recorded lock.

use std::{
    cell::Cell,
    collections::VecDeque,
    marker::PhantomData,
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

use super::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};
use crate::sync::{Condvar, Mutex, MutexGuard};

pub(super) struct Channel<T> {
    state: Mutex<State<T>>,
    /// Something came, or the last sender went.
    came: Condvar,
    /// Something was taken, or the receiver went.
    went: Condvar,
}

/// # Invariants
///
/// 1. `taken` counts messages that left the queue, so the message that was sent as number `n` is in the queue as long as
///    `taken < n`.
/// 2. Without a receiver the queue is empty.
struct State<T> {
    queue: VecDeque<T>,
    /// None: without bound.
    bound: Option<usize>,
    sent: u64,
    taken: u64,
    senders: usize,
    has_receiver: bool,
    /// Whether the receiver waits right now: only then does a channel without a buffer accept a message at once.
    receiver_waits: bool,
}

impl<T> State<T> {
    fn has_room(&self) -> bool {
        match self.bound {
            None => true,
            // A message on its way from hand to hand.
            Some(0) => self.queue.is_empty(),
            Some(bound) => self.queue.len() < bound,
        }
    }

    fn put(&mut self, message: T) -> u64 {
        self.queue.push_back(message);
        self.sent += 1;
        self.sent
    }
}

impl<T> Channel<T> {
    pub(super) fn pair(bound: Option<usize>) -> (Sender<T>, Receiver<T>) {
        let channel = Arc::new(Channel {
            state: Mutex::new(State {
                queue: VecDeque::new(),
                bound,
                sent: 0,
                taken: 0,
                senders: 1,
                has_receiver: true,
                receiver_waits: false,
            }),
            came: Condvar::new(),
            went: Condvar::new(),
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
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct Sender<T> {
    channel: Arc<Channel<T>>,
}

impl<T> Sender<T> {
    #[track_caller]
    pub(super) fn send(&self, message: T) -> Result<(), SendError<T>> {
        let channel = &*self.channel;
        let mut state = channel.lock();
        while state.has_receiver && !state.has_room() {
            state = wait(&channel.went, state);
        }
        if !state.has_receiver {
            return Err(SendError(message));
        }
        let number = state.put(message);
        channel.came.notify_one();
        if state.bound == Some(0) {
            while state.has_receiver && state.taken < number {
                state = wait(&channel.went, state);
            }
            if state.taken < number {
                let message = state.queue.pop_back().expect("it was not taken");
                return Err(SendError(message));
            }
        }
        Ok(())
    }

    #[track_caller]
    pub(super) fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let mut state = self.channel.lock();
        let accepted = state.has_room() && (state.bound != Some(0) || state.receiver_waits);
        match (state.has_receiver, accepted) {
            (false, _) => Err(TrySendError::Disconnected(message)),
            (true, false) => Err(TrySendError::Full(message)),
            (true, true) => {
                state.put(message);
                self.channel.came.notify_one();
                Ok(())
            }
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.channel.lock().senders += 1;
        Sender {
            channel: Arc::clone(&self.channel),
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.channel.lock();
        state.senders -= 1;
        if state.senders == 0 {
            self.channel.came.notify_all();
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
        let mut state = self.channel.lock();
        loop {
            match self.take(&mut state) {
                Err(TryRecvError::Empty) => {
                    state.receiver_waits = true;
                    state = wait(&self.channel.came, state);
                    state.receiver_waits = false;
                }
                Err(TryRecvError::Disconnected) => return Err(RecvError),
                Ok(message) => return Ok(message),
            }
        }
    }

    #[track_caller]
    pub(super) fn try_recv(&self) -> Result<T, TryRecvError> {
        self.take(&mut self.channel.lock())
    }

    /// Whether time is up is decided by the waits alone, which are recorded; never by the clock.
    #[track_caller]
    pub(super) fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        let start = Instant::now();
        let mut timed_out = false;
        let mut state = self.channel.lock();
        loop {
            match self.take(&mut state) {
                Err(TryRecvError::Empty) if timed_out => return Err(RecvTimeoutError::Timeout),
                Err(TryRecvError::Empty) => {
                    state.receiver_waits = true;
                    let left = timeout.saturating_sub(start.elapsed());
                    let result;
                    (state, result) = self
                        .channel
                        .came
                        .wait_timeout(state, left)
                        .unwrap_or_else(PoisonError::into_inner);
                    timed_out = result.timed_out();
                    state.receiver_waits = false;
                }
                Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
                Ok(message) => return Ok(message),
            }
        }
    }

    fn take(&self, state: &mut State<T>) -> Result<T, TryRecvError> {
        match state.queue.pop_front() {
            Some(message) => {
                state.taken += 1;
                match state.bound {
                    None => {}
                    // The one whose message it was waits beside those who wait for room.
                    Some(0) => self.channel.went.notify_all(),
                    Some(_) => self.channel.went.notify_one(),
                }
                Ok(message)
            }
            None if state.senders == 0 => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.channel.lock();
        state.has_receiver = false;
        let rest = match state.bound {
            // Whoever handed these over takes them back.
            Some(0) => VecDeque::new(),
            _ => std::mem::take(&mut state.queue),
        };
        self.channel.went.notify_all();
        drop(state);
        drop(rest);
    }
}

#[track_caller]
fn wait<'a, T>(condition: &Condvar, state: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition
        .wait(state)
        .unwrap_or_else(PoisonError::into_inner)
}
