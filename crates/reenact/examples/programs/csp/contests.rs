//! Many small contests at channels, one after the other: `programs csp contests ROUNDS SEED`.
//!
//! There are lefts and rights, threads and processes among them. A left can meet a right at several channels, of which some
//! lead from left to right and some the other way round; everybody always offers to meet at the first one. So as long as
//! there are as many lefts as rights, and each of them meets as often, nobody is ever left alone: who waits for good has
//! been forgotten.
//!
//! ```text
//! left     send a │ receive b      receive b │ send a (for a while) │ send c      …
//! right    receive a │ send b │ receive c                receive a                …
//! ```

use std::{
    collections::HashMap,
    sync::{Arc, mpsc},
    time::Duration,
};

use reenact::{
    csp::{self, Receiver, RecvTimeoutError, SendTimeoutError, Sender},
    thread,
};

use super::number;
use crate::support::{Dice, Seen, jitter};

pub(super) fn run(name: &str, arguments: &[String]) -> bool {
    match name {
        "contests" => contests(number(arguments, 0), number(arguments, 1)),
        "closing-contests" => closing_contests(number(arguments, 0), number(arguments, 1)),
        _ => return false,
    }
    true
}

/// Aborts the process when it has not heard of a new round for so long.
struct Watchdog(mpsc::Sender<usize>);

impl Watchdog {
    fn new() -> Watchdog {
        const PATIENCE: Duration = Duration::from_secs(20);
        let (progress, hears) = mpsc::channel();
        std::thread::spawn(move || {
            let mut last = 0;
            loop {
                match hears.recv_timeout(PATIENCE) {
                    Ok(round) => last = round,
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        eprintln!("somebody has been forgotten in round {last}");
                        std::process::abort();
                    }
                    Err(mpsc::RecvTimeoutError::Disconnected) => return,
                }
            }
        });
        Watchdog(progress)
    }

    fn round(&self, round: usize) {
        let _ = self.0.send(round);
    }
}

/// A message, which is known by its number.
type Message = u64;

/// Both ends of a channel, and whether it leads from left to right.
#[derive(Clone)]
struct Channel {
    sender: Sender<Message>,
    receiver: Receiver<Message>,
    to_the_right: bool,
}

/// What somebody has sent and received.
#[derive(Default)]
struct Account {
    sent: Vec<Message>,
    received: Vec<Message>,
    seen: Seen,
}

struct Party {
    is_left: bool,
    channels: Vec<Channel>,
    meetings: usize,
    dice: Dice,
    next: Message,
    account: Account,
}

/// How long to wait.
#[derive(Clone, Copy)]
enum Patience {
    Forever,
    None,
    For(Duration),
}

impl Party {
    fn sends(&self, channel: usize) -> bool {
        self.channels[channel].to_the_right == self.is_left
    }

    fn sent(&mut self) {
        self.account.sent.push(self.next);
        self.account.seen.note(("sent", self.next));
        self.next += 1;
    }

    fn received(&mut self, message: Message) {
        self.account.received.push(message);
        self.account.seen.note(("received", message));
    }

    fn act(mut self) -> Account {
        for _ in 0..self.meetings {
            loop {
                jitter();
                let patience = match self.dice.roll(4) {
                    0 => Patience::None,
                    1 => Patience::For(Duration::from_micros(self.dice.roll(60) as u64)),
                    _ => Patience::Forever,
                };
                if self.meet(patience) {
                    break;
                }
                self.account.seen.note("in vain");
            }
        }
        self.account
    }

    /// Offers to meet somebody. Whether somebody came.
    fn meet(&mut self, patience: Patience) -> bool {
        match self.dice.roll(3) {
            0 => self.meet_at_one(0, patience),
            // The first channel, and two others, in any order: there may be some more than once.
            _ => {
                let count = self.channels.len();
                let mut at = [0, self.dice.roll(count), self.dice.roll(count)];
                at.rotate_left(self.dice.roll(3));
                self.meet_at_some(at, patience)
            }
        }
    }

    fn meet_at_one(&mut self, at: usize, patience: Patience) -> bool {
        let channel = self.channels[at].clone();
        if self.sends(at) {
            let sent = match patience {
                Patience::Forever => channel.sender.send(self.next).map_err(|error| error.0),
                Patience::None => channel
                    .sender
                    .try_send(self.next)
                    .map_err(|error| match error {
                        csp::TrySendError::Full(message) => message,
                        csp::TrySendError::Disconnected(_) => {
                            unreachable!("everybody has both ends")
                        }
                    }),
                Patience::For(time) => {
                    let sent = channel.sender.send_timeout(self.next, time);
                    sent.map_err(|error| match error {
                        SendTimeoutError::Timeout(message) => message,
                        SendTimeoutError::Disconnected(_) => {
                            unreachable!("everybody has both ends")
                        }
                    })
                }
            };
            match sent {
                Ok(()) => self.sent(),
                Err(back) => assert_eq!(back, self.next, "it is given back"),
            }
            sent.is_ok()
        } else {
            let received = match patience {
                Patience::Forever => channel.receiver.recv().ok(),
                Patience::None => channel.receiver.try_recv().ok(),
                Patience::For(time) => channel.receiver.recv_timeout(time).ok(),
            };
            received
                .into_iter()
                .for_each(|message| self.received(message));
            received.is_some()
        }
    }

    fn meet_at_some(&mut self, at: [usize; 3], patience: Patience) -> bool {
        let channels = at.map(|at| self.channels[at].clone());
        let sends = at.map(|at| self.sends(at));
        let next = self.next;
        // What is not to be done is done at a channel where nobody comes.
        let (nobody_receives, nobody_sends) = csp::channel::<Message>();
        let to = |case: usize| match sends[case] {
            true => &channels[case].sender,
            false => &nobody_receives,
        };
        let from = |case: usize| match sends[case] {
            true => &nobody_sends,
            false => &channels[case].receiver,
        };
        /// As many ways to say that as there are ways to wait.
        macro_rules! select {
            ($($default:tt)*) => {
                csp::select! {
                    send(to(0), next) -> sent => sent.map(|()| None).ok(),
                    recv(from(0)) -> message => message.map(Some).ok(),
                    send(to(1), next) -> sent => sent.map(|()| None).ok(),
                    recv(from(1)) -> message => message.map(Some).ok(),
                    send(to(2), next) -> sent => sent.map(|()| None).ok(),
                    recv(from(2)) -> message => message.map(Some).ok(),
                    $($default)*
                }
            };
        }
        let met = match patience {
            Patience::Forever => select!(),
            Patience::None => select!(default => None),
            Patience::For(time) => select!(default(time) => None),
        };
        match met {
            Some(Some(message)) => self.received(message),
            Some(None) => self.sent(),
            None => {}
        }
        met.is_some()
    }
}

/// Lefts and rights meet.
fn contests(rounds: usize, seed: usize) {
    let watchdog = Watchdog::new();
    let mut seen = Seen::default();
    let mut dice = Dice::new(seed);
    for round in 0..rounds {
        watchdog.round(round);
        let pairs = 1 + dice.roll(3);
        let meetings = 1 + dice.roll(8);
        let channels: Vec<_> = (0..1 + dice.roll(3))
            .map(|_| {
                let (sender, receiver) = csp::channel();
                let to_the_right = dice.roll(2) == 0;
                Channel {
                    sender,
                    receiver,
                    to_the_right,
                }
            })
            .collect();
        let (mut threads, mut processes) = (Vec::new(), Vec::new());
        for number in 0..2 * pairs {
            let party = Party {
                is_left: number % 2 == 0,
                channels: channels.clone(),
                meetings,
                dice: Dice::new(dice.roll(1 << 30)),
                next: (number as Message) << 32,
                account: Account::default(),
            };
            // Threads are dear.
            if dice.roll(4) == 0 {
                threads.push(thread::spawn(move || party.act()));
            } else {
                processes.push(csp::spawn(move || party.act()));
            }
        }
        let threads = threads.into_iter().map(|thread| thread.join().unwrap());
        let processes = processes.into_iter().map(|process| process.join().unwrap());
        let accounts: Vec<_> = threads.chain(processes).collect();
        balance(&accounts);
        accounts
            .iter()
            .for_each(|account| seen.note(account.seen.digest()));
    }
    println!("{:016x}", seen.digest());
}

/// Everything that was sent was received, once.
fn balance(accounts: &[Account]) {
    let mut balance: HashMap<Message, i64> = HashMap::new();
    for account in accounts {
        for message in &account.sent {
            *balance.entry(*message).or_default() += 1;
        }
        for message in &account.received {
            *balance.entry(*message).or_default() -= 1;
        }
    }
    balance.retain(|_, count| *count != 0);
    assert!(balance.is_empty(), "{balance:?}");
}

/// Senders and receivers at channels with little room, until all senders or all receivers have gone.
fn closing_contests(rounds: usize, seed: usize) {
    let watchdog = Watchdog::new();
    let mut seen = Seen::default();
    let mut dice = Dice::new(seed);
    for round in 0..rounds {
        watchdog.round(round);
        let rooms = [0, 1, 2].map(|_| [0, 0, 1, 3][dice.roll(4)]);
        let (senders, receivers): (Vec<_>, Vec<_>) = rooms.into_iter().map(csp::bounded).unzip();
        let senders: Arc<[Sender<Message>]> = senders.into();
        let receivers: Arc<[Receiver<Message>]> = receivers.into();
        // If the receivers are those who go first, what is in the buffers then is lost.
        let enough = (dice.roll(2) == 0).then(|| 1 + dice.roll(6));
        let (mut threads, mut processes) = (Vec::new(), Vec::new());
        let mut start = |part: Box<dyn FnOnce() -> Account + Send>| match dice.roll(4) {
            0 => threads.push(thread::spawn(part)),
            _ => processes.push(csp::spawn(part)),
        };
        for me in 0..2 {
            let senders = Arc::clone(&senders);
            start(Box::new(move || send(me, &senders, enough.is_some())));
        }
        for me in 0..2 {
            let receivers = Arc::clone(&receivers);
            start(Box::new(move || receive(me, &receivers, enough)));
        }
        drop((senders, receivers));
        let threads = threads.into_iter().map(|thread| thread.join().unwrap());
        let processes = processes.into_iter().map(|process| process.join().unwrap());
        let accounts: Vec<_> = threads.chain(processes).collect();
        if enough.is_none() {
            balance(&accounts);
        } else {
            let sent: usize = accounts.iter().map(|account| account.sent.len()).sum();
            let received: usize = accounts.iter().map(|account| account.received.len()).sum();
            let room: usize = rooms.iter().sum();
            assert!(
                sent >= received && sent <= received + room,
                "{sent} sent, {received} received, with room for {room}"
            );
        }
        accounts
            .iter()
            .for_each(|account| seen.note(account.seen.digest()));
    }
    println!("{:016x}", seen.digest());
}

/// Sends to some of the channels, or to all as long as anybody receives.
fn send(me: usize, to: &[Sender<Message>], for_good: bool) -> Account {
    let mut account = Account::default();
    let mut dice = Dice::new(me);
    let count = if for_good { usize::MAX } else { 12 };
    for number in 0..count {
        jitter();
        let message = ((me as Message) << 32) + number as Message;
        let at = dice.roll(3);
        let sent = match dice.roll(3) {
            0 => to[at].send(message).is_ok(),
            1 => csp::select! {
                send(to[0], message) -> sent => sent.is_ok(),
                send(to[at], message) -> sent => sent.is_ok(),
            },
            _ => match to[at].send_timeout(message, Duration::from_micros(20)) {
                Ok(()) => true,
                Err(SendTimeoutError::Timeout(_)) => continue,
                Err(SendTimeoutError::Disconnected(_)) => false,
            },
        };
        if !sent {
            account.seen.note("closed");
            return account;
        }
        account.seen.note(message);
        account.sent.push(message);
    }
    account
}

/// Receives from all channels until nobody sends, or until it has had enough.
fn receive(me: usize, from: &[Receiver<Message>], enough: Option<usize>) -> Account {
    let mut account = Account::default();
    let mut dice = Dice::new(me + 100);
    let mut open = [true; 3];
    while open.contains(&true) && enough.is_none_or(|enough| account.received.len() < enough) {
        jitter();
        let (at, message) = match dice.roll(2) {
            0 => {
                let at = dice.roll(3);
                match from[at].recv_timeout(Duration::from_micros(20)) {
                    Err(RecvTimeoutError::Timeout) => continue,
                    received => (at, received.ok()),
                }
            }
            _ => csp::select! {
                recv(from[0]) -> message => (0, message.ok()),
                recv(from[1]) -> message => (1, message.ok()),
                recv(from[2]) -> message => (2, message.ok()),
            },
        };
        account.seen.note((at, message));
        match message {
            Some(message) => account.received.push(message),
            None => open[at] = false,
        }
    }
    account
}
