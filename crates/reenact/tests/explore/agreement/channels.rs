//! Channels of `sync::mpsc`: one receiver, several senders, every kind of bound.

use std::{sync::Arc, time::Duration};

use reenact::{
    sync::mpsc::{self, RecvTimeoutError, TryRecvError, TrySendError},
    thread,
};

use crate::oracle::{Chance, Log, Program, compare, seeds};

#[derive(Clone, Copy, Debug)]
enum Op {
    Send(usize),
    TrySend(usize),
    Receive(usize),
    TryReceive(usize),
    ReceiveInTime(usize),
    DropSender(usize),
    DropReceiver(usize),
}

/// Channels by their bound, and what each activity does. The first one has the receivers.
#[derive(Clone, Debug)]
struct Channels {
    bounds: Vec<Option<usize>>,
    activities: Vec<Vec<Op>>,
}

enum Sender {
    Free(mpsc::Sender<i32>),
    Bounded(mpsc::SyncSender<i32>),
}

impl Sender {
    fn send(&self, value: i32) -> i32 {
        let sent = match self {
            Sender::Free(sender) => sender.send(value),
            Sender::Bounded(sender) => sender.send(value),
        };
        if sent.is_ok() { 1 } else { -1 }
    }

    fn try_send(&self, value: i32) -> i32 {
        match self {
            Sender::Free(_) => self.send(value),
            Sender::Bounded(sender) => match sender.try_send(value) {
                Ok(()) => 1,
                Err(TrySendError::Full(_)) => 0,
                Err(TrySendError::Disconnected(_)) => -1,
            },
        }
    }

    fn another(&self) -> Sender {
        match self {
            Sender::Free(sender) => Sender::Free(sender.clone()),
            Sender::Bounded(sender) => Sender::Bounded(sender.clone()),
        }
    }
}

impl Program for Channels {
    /// Where somebody tries at a channel in which there may be no room, executions are begun in vain now and then.
    fn is_exact(&self) -> bool {
        let tries = |op: &Op| !matches!(op, Op::Send(_) | Op::Receive(_));
        let is_bounded = self.bounds.iter().any(Option::is_some);
        !(is_bounded && self.activities.iter().flatten().any(tries))
    }

    fn run(&self, log: &Log) {
        let mut receivers = Vec::new();
        let mut senders = Vec::new();
        for bound in &self.bounds {
            let (sender, receiver) = match bound {
                None => {
                    let (sender, receiver) = mpsc::channel();
                    (Sender::Free(sender), receiver)
                }
                Some(bound) => {
                    let (sender, receiver) = mpsc::sync_channel(*bound);
                    (Sender::Bounded(sender), receiver)
                }
            };
            senders.push(sender);
            receivers.push(Some(receiver));
        }
        let mut threads = Vec::new();
        let mut senders: Vec<_> = senders.into_iter().map(Some).collect();
        for (me, ops) in self.activities.iter().enumerate() {
            let (log, ops) = (log.clone(), ops.clone());
            let later = &self.activities[me + 1..];
            // Who uses a sender last has the first one: every one that goes is a step.
            let mut senders: Vec<_> = (0..senders.len())
                .map(|of| match uses(&ops, of) {
                    false => None,
                    true if later.iter().any(|ops| uses(ops, of)) => {
                        senders[of].as_ref().map(Sender::another)
                    }
                    true => senders[of].take(),
                })
                .collect();
            let mut receivers = match me {
                0 => std::mem::take(&mut receivers),
                _ => Vec::new(),
            };
            threads.push(thread::spawn(move || {
                for (value, op) in (10 * me as i32 + 1..).zip(ops) {
                    let seen = match op {
                        Op::Send(of) => senders[of].as_ref().map(|sender| sender.send(value)),
                        Op::TrySend(of) => senders[of].as_ref().map(|one| one.try_send(value)),
                        Op::DropSender(of) => senders[of].take().map(|_| 2),
                        Op::Receive(of) => match receivers.get(of) {
                            Some(Some(receiver)) => Some(receiver.recv().unwrap_or(-1)),
                            _ => None,
                        },
                        Op::TryReceive(of) => match receivers.get(of) {
                            Some(Some(receiver)) => {
                                Some(receiver.try_recv().unwrap_or_else(|error| match error {
                                    TryRecvError::Empty => -2,
                                    TryRecvError::Disconnected => -1,
                                }))
                            }
                            _ => None,
                        },
                        Op::ReceiveInTime(of) => match receivers.get(of) {
                            Some(Some(receiver)) => {
                                let received = receiver.recv_timeout(Duration::from_secs(1));
                                Some(received.unwrap_or_else(|error| match error {
                                    RecvTimeoutError::Timeout => -2,
                                    RecvTimeoutError::Disconnected => -1,
                                }))
                            }
                            _ => None,
                        },
                        Op::DropReceiver(of) => {
                            receivers.get_mut(of).and_then(Option::take).map(|_| 3)
                        }
                    };
                    if let Some(seen) = seen {
                        log.note(me, seen);
                    }
                }
            }));
        }
        drop(senders);
        drop(receivers);
        for thread in threads {
            thread.join().unwrap();
        }
    }
}

/// Whether one that does this needs a sender.
fn uses(ops: &[Op], sender: usize) -> bool {
    ops.iter().any(|op| match *op {
        Op::Send(of) | Op::TrySend(of) | Op::DropSender(of) => of == sender,
        _ => false,
    })
}

fn channels(chance: &mut Chance) -> Channels {
    let bounds = chance.some(1..=2, |chance| {
        [None, Some(0), Some(1), Some(2)][chance.below(4)]
    });
    let count = bounds.len();
    let mut activities = vec![chance.some(1..=3, |chance| {
        let of = chance.below(count);
        match chance.below(8) {
            0..4 => Op::Receive(of),
            4 => Op::TryReceive(of),
            5 => Op::ReceiveInTime(of),
            6 => Op::DropReceiver(of),
            _ => Op::Send(of),
        }
    })];
    activities.extend(chance.some(1..=2, |chance| {
        chance.some(1..=2, |chance| {
            let of = chance.below(count);
            match chance.below(6) {
                0..4 => Op::Send(of),
                4 => Op::TrySend(of),
                _ => Op::DropSender(of),
            }
        })
    }));
    Channels { bounds, activities }
}

#[test]
fn channels_agree_with_brute_force() {
    let compared = compare(seeds(120), channels);
    eprintln!("{compared:?}");
    assert!(compared.programs > compared.left_out, "{compared:?}");
}

/// ```text
/// sender 1 ── a ── a ──┐
/// sender 2 ── b ── b ──┼── receiver
/// sender 3 ── c ── c ──┘
/// ```
#[test]
fn a_receiver_sees_every_order() {
    for (each, executions) in [(1, 6), (2, 90), (3, 1680)] {
        for bound in [None, Some(0), Some(1)] {
            if each == 3 && bound.is_some() {
                continue;
            }
            let found = crate::oracle::explore(&Collect { each, bound });
            assert_eq!(found.executions, executions, "{bound:?}");
            assert_eq!(found.outcomes.len() as u64, executions, "{bound:?}");
        }
    }
}

#[derive(Clone, Debug)]
struct Collect {
    each: i32,
    bound: Option<usize>,
}

impl Program for Collect {
    fn run(&self, log: &Log) {
        let Collect { each, bound } = *self;
        let send: Arc<dyn Fn(i32) + Send + Sync>;
        let receiver = match bound {
            None => {
                let (sender, receiver) = mpsc::channel();
                send = Arc::new(move |value| sender.send(value).unwrap());
                receiver
            }
            Some(bound) => {
                let (sender, receiver) = mpsc::sync_channel(bound);
                send = Arc::new(move |value| sender.send(value).unwrap());
                receiver
            }
        };
        for me in 0..3 {
            let send = Arc::clone(&send);
            thread::spawn(move || (0..each).for_each(|_| send(me)));
        }
        for _ in 0..3 * each {
            log.note(0, receiver.recv().unwrap());
        }
    }
}
