//! The programs on the coroutines of may, with a rendezvous made of its channels.
//!
//! may has no channel without a buffer. Here a rendezvous is a message and its acknowledgement, both over may's channel for
//! one sender and one receiver where there is one sender, and otherwise the message over the one for many. Alternatives
//! that were tried, in millions of round trips per second on one worker: two channels for one sender 7.6, one of these and
//! `park` of the sender 3.5, the channel for many and `park` 2.2 (3.4 if a receiver tries before it waits), a
//! mutex with queues of parked coroutines 2.9, and without a rendezvous 8.3 and 2.6. With two workers, `park` was
//! seen to sleep for ever.

use may::{
    coroutine::JoinHandle,
    go,
    sync::{mpsc, spsc},
};

#[path = "../../../crates/reenact-bench/src/csp/programs/table.rs"]
mod table;

/// Runs a program of this size on so many workers.
pub(crate) fn run(size: super::sizes::Size, workers: usize) -> crate::Measured {
    may::config().set_workers(workers);
    table::run(size)
}

pub(super) fn spawn<T: Send + 'static>(
    process: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    go!(process)
}

struct Sender<T> {
    messages: Messages<T>,
    acknowledgements: spsc::Receiver<()>,
}

enum Messages<T> {
    /// By the only sender.
    Only(spsc::Sender<T>),
    /// By the sender of this number.
    OneOfMany(mpsc::Sender<(usize, T)>, usize),
}

enum Receiver<T> {
    FromOne(spsc::Receiver<T>, spsc::Sender<()>),
    FromMany(mpsc::Receiver<(usize, T)>, Vec<spsc::Sender<()>>),
}

#[derive(Debug)]
struct Disconnected;

impl<T> Sender<T> {
    #[inline]
    fn send(&self, message: T) -> Result<(), Disconnected> {
        let sent = match &self.messages {
            Messages::Only(messages) => messages.send(message).is_ok(),
            Messages::OneOfMany(messages, number) => messages.send((*number, message)).is_ok(),
        };
        if !sent {
            return Err(Disconnected);
        }
        self.acknowledgements.recv().map_err(|_| Disconnected)
    }
}

impl<T> Receiver<T> {
    #[inline]
    fn recv(&self) -> Result<T, Disconnected> {
        let (message, acknowledgements) = match self {
            Self::FromOne(messages, acknowledgements) => {
                let message = messages.recv().map_err(|_| Disconnected)?;
                (message, acknowledgements)
            }
            Self::FromMany(messages, acknowledgements) => {
                // To wait is what is slow in this channel, and it does not try before it does.
                let next = messages.try_recv().or_else(|_| messages.recv());
                let (number, message) = next.map_err(|_| Disconnected)?;
                (message, &acknowledgements[number])
            }
        };
        acknowledgements.send(()).map_err(|_| Disconnected)?;
        Ok(message)
    }
}

fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (messages, to_receive) = spsc::channel();
    let (acknowledge, acknowledgements) = spsc::channel();
    let sender = Sender {
        messages: Messages::Only(messages),
        acknowledgements,
    };
    (sender, Receiver::FromOne(to_receive, acknowledge))
}

fn channel_from_many<T>(senders: usize) -> (Vec<Sender<T>>, Receiver<T>) {
    let (messages, to_receive) = mpsc::channel();
    let sender = |number| {
        let (acknowledge, acknowledgements) = spsc::channel();
        let messages = Messages::OneOfMany(messages.clone(), number);
        let sender = Sender {
            messages,
            acknowledgements,
        };
        (sender, acknowledge)
    };
    let (senders, acknowledge) = (0..senders).map(sender).unzip();
    (senders, Receiver::FromMany(to_receive, acknowledge))
}
