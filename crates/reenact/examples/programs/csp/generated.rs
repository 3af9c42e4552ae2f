//! The interpreter of generated programs of processes: `programs csp generated TEXT`.
//!
//! Everybody keeps a digest of all that it sees, and every message is counted. No program can go on for ever: whatever is
//! repeated is so a given number of times. None can hang: at a channel that does not close there is somebody else to meet,
//! a *janitor* who sends and receives until all others have gone; and at one that closes nobody waits for ever.

pub(crate) mod language;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex as StdMutex, PoisonError as StdPoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst as StdSeqCst},
    },
    time::Duration,
};

use reenact::{
    actor::{System, Target},
    csp::{self, JoinHandle, Receiver, Sender},
    sync::{
        Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    thread,
};

use self::language::{Kind, Operation, Program, Verb};
use crate::support::{Seen, jitter, parse_and_interpret};

pub(super) fn run(name: &str, arguments: &[String]) -> bool {
    name == "generated" && parse_and_interpret(arguments, interpret)
}

/// Past this, a channel has any room.
const ANY_ROOM: usize = 5;
/// How many processes one may start, who start some themselves, and so on.
const MOST_CHILDREN: usize = 2;
const DEEPEST: usize = 2;
/// For who would wait for ever otherwise.
const LONG: Duration = Duration::from_millis(2);

/// A message, of which everybody knows how many there are.
struct Message {
    value: u64,
    there: Arc<AtomicUsize>,
}

impl Drop for Message {
    fn drop(&mut self) {
        let before = self.there.fetch_sub(1, StdSeqCst);
        assert!(before > 0, "a message was dropped twice");
    }
}

struct World {
    program: Program,
    mutexes: Vec<Mutex<u64>>,
    number: AtomicU64,
    /// What everybody has seen, by name. Not recorded: who puts it there does so once.
    seen: StdMutex<BTreeMap<String, u64>>,
    /// Messages that are there.
    there: Arc<AtomicUsize>,
}

impl World {
    fn mutex(&self, number: usize) -> &Mutex<u64> {
        &self.mutexes[number % self.mutexes.len()]
    }

    fn lock(&self, number: usize) -> MutexGuard<'_, u64> {
        let mutex = self.mutex(number);
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn message(&self, value: u64) -> Message {
        self.there.fetch_add(1, StdSeqCst);
        Message {
            value,
            there: Arc::clone(&self.there),
        }
    }

    fn has_seen(&self, name: &str, digest: u64) {
        let mut seen = self.seen.lock().unwrap_or_else(StdPoisonError::into_inner);
        let before = seen.insert(name.to_owned(), digest);
        assert_eq!(before, None, "everybody ends once");
    }
}

/// The ends of a channel that somebody has.
#[derive(Clone)]
struct Ends {
    sender: Option<Sender<Message>>,
    receiver: Option<Receiver<Message>>,
    closes: bool,
}

fn interpret(program: Program) {
    let world = Arc::new(World {
        mutexes: (0..program.mutexes).map(|_| Mutex::default()).collect(),
        number: AtomicU64::new(0),
        seen: StdMutex::default(),
        there: Arc::default(),
        program,
    });
    let (done, all_done) = csp::channel::<()>();
    let mut janitors = Vec::new();
    let channels: Vec<_> = world
        .program
        .channels
        .iter()
        .enumerate()
        .map(|(number, channel)| {
            let (sender, receiver) = match channel.room {
                ANY_ROOM.. => csp::unbounded(),
                room => csp::bounded(room),
            };
            if !channel.closes {
                let world = Arc::clone(&world);
                let (sender, receiver, all_done) =
                    (sender.clone(), receiver.clone(), all_done.clone());
                let clean = move || janitor(&world, number, &sender, &receiver, &all_done);
                janitors.push(csp::spawn(clean));
            }
            Ends {
                sender: Some(sender),
                receiver: Some(receiver),
                closes: channel.closes,
            }
        })
        .collect();
    let (mut threads, mut processes, mut turns) = (Vec::new(), Vec::new(), Vec::new());
    for (number, party) in world.program.parties.iter().enumerate() {
        let actor = Actor {
            world: Arc::clone(&world),
            name: number.to_string(),
            script: number,
            depth: 0,
            channels: channels.clone(),
            done: done.clone(),
            children: Vec::new(),
            born: 0,
            count: 0,
            seen: Seen::default(),
        };
        match party.kind {
            Kind::Thread => threads.push(thread::spawn(move || actor.act())),
            Kind::Process => processes.push(csp::spawn(move || actor.act())),
            Kind::Turn => turns.push(System::current().spawn(()).ask(move |(), _| actor.act())),
        }
    }
    drop((channels, done));
    let mut outcomes: Vec<_> = threads
        .into_iter()
        .map(|thread| thread.join().is_ok())
        .collect();
    outcomes.extend(processes.into_iter().map(|process| process.join().is_ok()));
    outcomes.extend(turns.into_iter().map(|turn| turn.wait().is_ok()));
    // One that panicked has not waited for its children.
    assert!(all_done.recv().is_err(), "nobody sends");
    outcomes.extend(janitors.into_iter().map(|janitor| janitor.join().is_ok()));
    println!("{outcomes:?}");
    let seen = world.seen.lock().unwrap_or_else(StdPoisonError::into_inner);
    for (name, digest) in &*seen {
        println!("{name} {digest:016x}");
    }
    let mutexes: Vec<_> = (0..world.mutexes.len()).map(|n| *world.lock(n)).collect();
    println!("{mutexes:?} {}", world.number.load(SeqCst));
    // Who has ended has let go of everything, but perhaps not yet of what it ended with.
    while world.there.load(StdSeqCst) > 0 {
        thread::yield_now();
    }
}

/// Meets whoever waits at the channel, until nobody is left.
fn janitor(
    world: &World,
    channel: usize,
    sender: &Sender<Message>,
    receiver: &Receiver<Message>,
    all_done: &Receiver<()>,
) {
    let mut seen = Seen::default();
    let has_room = world.program.channels[channel].room > 0;
    for count in 0.. {
        jitter();
        let value = channel as u64 * 1_000_000 + count;
        // Where there is room, who sends waits only if the channel is full, and who receives only if it is empty.
        let goes_on = match has_room {
            false => csp::select! {
                recv(receiver) -> message => {
                    seen.note(message.map(|message| message.value).ok());
                    true
                }
                send(sender, world.message(value)) -> sent => {
                    seen.note(sent.is_ok());
                    true
                }
                recv(all_done) -> _ => false,
            },
            true => csp::select! {
                recv(all_done) -> _ => false,
                default(Duration::from_micros(50)) => {
                    csp::select! {
                        send(sender, world.message(value)) -> sent => seen.note(("sent", sent.is_ok())),
                        default => {
                            let message = receiver.try_recv();
                            seen.note(message.map(|message| message.value).ok());
                        }
                    }
                    true
                }
            },
        };
        if !goes_on {
            break;
        }
    }
    world.has_seen(&format!("janitor {channel}"), seen.digest());
}

/// Somebody who runs a script.
struct Actor {
    world: Arc<World>,
    name: String,
    script: usize,
    depth: usize,
    channels: Vec<Ends>,
    /// Kept until it has ended.
    done: Sender<()>,
    children: Vec<JoinHandle<u64>>,
    born: usize,
    /// Makes different values of the same operations.
    count: u64,
    seen: Seen,
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.world.has_seen(&self.name, self.seen.digest());
    }
}

impl Actor {
    fn act(mut self) -> u64 {
        let world = Arc::clone(&self.world);
        for operation in &world.program.parties[self.script].script {
            jitter();
            self.count += 1;
            self.perform(operation);
        }
        // Whoever waits for its children does not keep others waiting.
        self.channels.clear();
        for child in std::mem::take(&mut self.children) {
            self.seen.note(child.join().ok());
        }
        self.seen.digest()
    }

    fn ends(&self, number: usize) -> Ends {
        self.channels[number % self.channels.len()].clone()
    }

    fn message(&self) -> Message {
        let hash = self
            .name
            .bytes()
            .fold(7, |hash, byte| hash * 31 + u64::from(byte));
        self.world.message(hash * 1_000 + self.count)
    }

    fn note_sent<E>(&mut self, sent: Result<(), E>) {
        self.seen.note(("sent", sent.is_ok()));
    }

    fn note_received<E: std::fmt::Debug>(&mut self, received: Result<Message, E>) {
        match received {
            Ok(message) => self.seen.note(("received", message.value)),
            Err(error) => self.seen.note(format!("{error:?}")),
        }
    }

    fn send(&mut self, ends: &Ends) {
        match &ends.sender {
            Some(sender) if ends.closes => {
                let sent = sender.send_timeout(self.message(), LONG);
                self.note_sent(sent);
            }
            Some(sender) => {
                let sent = sender.send(self.message());
                self.note_sent(sent);
            }
            None => self.seen.note("given up"),
        }
    }

    fn receive(&mut self, ends: &Ends) {
        match &ends.receiver {
            Some(receiver) if ends.closes => self.note_received(receiver.recv_timeout(LONG)),
            Some(receiver) => self.note_received(receiver.recv()),
            None => self.seen.note("given up"),
        }
    }

    fn perform(&mut self, operation: &Operation) {
        let number = |index: usize| operation.numbers.get(index).copied().unwrap_or(0);
        let world = Arc::clone(&self.world);
        let ends = self.ends(number(0));
        let time = Duration::from_micros(number(1) as u64 * 10);
        match operation.verb {
            Verb::Send => self.send(&ends),
            Verb::Receive => self.receive(&ends),
            Verb::TrySend => {
                let sent = ends.sender.map(|sender| sender.try_send(self.message()));
                self.note_sent(sent.ok_or(()).and_then(|sent| sent.map_err(|_| ())));
            }
            Verb::TryReceive => {
                if let Some(receiver) = &ends.receiver {
                    self.note_received(receiver.try_recv());
                }
            }
            Verb::SendSoon => {
                let sent = ends
                    .sender
                    .map(|sender| sender.send_timeout(self.message(), time));
                self.note_sent(sent.ok_or(()).and_then(|sent| sent.map_err(|_| ())));
            }
            Verb::ReceiveSoon => {
                if let Some(receiver) = &ends.receiver {
                    self.note_received(receiver.recv_timeout(time));
                }
            }
            Verb::Drain => {
                for message in ends.receiver.iter().flat_map(Receiver::try_iter).take(10) {
                    self.note_received::<()>(Ok(message));
                }
            }
            Verb::Iterate => {
                for _ in 0..3 {
                    if let Some(receiver) = &ends.receiver {
                        self.note_received(receiver.recv_timeout(LONG));
                    }
                }
            }
            Verb::Select | Verb::SelectSoon => {
                let patience = match operation.verb {
                    Verb::Select => LONG,
                    _ => time,
                };
                self.select_of_two(&ends, &self.ends(number(1)), number(2), patience);
            }
            Verb::SelectNow => self.select_now(&ends, &self.ends(number(1))),
            Verb::SelectOfFour => {
                let others = [number(1), number(2), number(3)].map(|number| self.ends(number));
                self.select_of_four(&ends, &others);
            }
            Verb::Close => {
                let count = self.channels.len();
                let ends = &mut self.channels[number(0) % count];
                if number(1) % 3 != 0 {
                    ends.sender = None;
                }
                if number(1) % 3 != 1 {
                    ends.receiver = None;
                }
            }
            Verb::Call => self.call(&ends),
            Verb::Spawn => {
                if self.born < MOST_CHILDREN && self.depth < DEEPEST {
                    self.spawn(number(0));
                }
            }
            Verb::Join => {
                if let Some(child) = self.children.pop() {
                    self.seen.note(child.join().ok());
                }
            }
            Verb::Finished => {
                let finished = self.children.last().map(JoinHandle::is_finished);
                self.seen.note(finished);
            }
            Verb::Lock => {
                let mut guard = world.lock(number(0));
                if number(1) % 2 == 0 {
                    csp::yield_now();
                }
                self.seen.note(std::mem::replace(&mut *guard, self.count));
            }
            Verb::LockedSend => {
                let mut guard = world.lock(number(1));
                self.send(&ends);
                *guard += 1;
            }
            Verb::LockedReceive => {
                let mut guard = world.lock(number(1));
                self.receive(&ends);
                *guard += 1;
            }
            Verb::TryLock => match world.mutex(number(0)).try_lock() {
                Ok(mut guard) => {
                    *guard += 1;
                    self.seen.note(*guard);
                }
                Err(TryLockError::WouldBlock) => self.seen.note("would block"),
                Err(TryLockError::Poisoned(_)) => self.seen.note("poisoned"),
            },
            Verb::Add => self.seen.note(world.number.fetch_add(1, SeqCst)),
            Verb::Yield => csp::yield_now(),
            Verb::Panic => {
                let mut guard = world.lock(number(0));
                *guard += 1;
                panic!("{}", self.name);
            }
        }
    }

    /// Which of the two it offers at each is in the lowest bits of a number. Who waits at a channel that closes does not do
    /// so for ever.
    fn select_of_two(&mut self, one: &Ends, two: &Ends, offers: usize, time: Duration) {
        let (one, two) = (
            Offer::of(one, offers & 1 == 0),
            Offer::of(two, offers & 2 == 0),
        );
        let (here, there) = (self.message(), self.message());
        csp::select! {
            send(one.to, here) -> sent => self.note_sent(sent),
            recv(one.from) -> received => self.note_received(received),
            send(two.to, there) -> sent => self.note_sent(sent),
            recv(two.from) -> received => self.note_received(received),
            default(time) => self.seen.note("late"),
        }
    }

    fn select_now(&mut self, one: &Ends, two: &Ends) {
        let (one, two) = (Offer::of(one, true), Offer::of(two, false));
        let message = self.message();
        csp::select! {
            send(one.to, message) -> sent => self.note_sent(sent),
            recv(two.from) -> received => self.note_received(received),
            default => self.seen.note("not now"),
        }
    }

    /// Without a time limit, if there is one with whom somebody is always to be met.
    fn select_of_four(&mut self, ends: &Ends, others: &[Ends; 3]) {
        let [one, two, three] = others.each_ref().map(|ends| Offer::of(ends, ends.closes));
        let (here, there) = (self.message(), self.message());
        match &ends.receiver {
            Some(receiver) if !ends.closes => csp::select! {
                recv(receiver) -> received => self.note_received(received),
                send(one.to, here) -> sent => self.note_sent(sent),
                recv(two.from) -> received => self.note_received(received),
                send(three.to, there) -> sent => self.note_sent(sent),
            },
            _ => csp::select! {
                send(one.to, here) -> sent => self.note_sent(sent),
                recv(one.from) -> received => self.note_received(received),
                recv(two.from) -> received => self.note_received(received),
                send(three.to, there) -> sent => self.note_sent(sent),
                default(LONG) => self.seen.note("late"),
            },
        }
    }

    /// A child does it, and answers on a channel of its own.
    fn call(&mut self, ends: &Ends) {
        let (answers, answer) = csp::channel();
        let receiver = ends.receiver.clone().filter(|_| !ends.closes);
        csp::spawn(move || {
            let message = receiver.and_then(|receiver| receiver.recv().ok());
            let value = message.map_or(0, |message| message.value);
            for more in 0..3 {
                if answers.send(value + more).is_err() {
                    break;
                }
            }
        });
        for answer in answer.iter().take(2 + self.count as usize % 3) {
            self.seen.note(answer);
        }
    }

    fn spawn(&mut self, script: usize) {
        let name = format!("{}.{}", self.name, self.born);
        self.born += 1;
        let child = Actor {
            world: Arc::clone(&self.world),
            name,
            script: script % self.world.program.parties.len(),
            depth: self.depth + 1,
            channels: self.channels.clone(),
            done: self.done.clone(),
            children: Vec::new(),
            born: 0,
            count: 0,
            seen: Seen::default(),
        };
        self.children.push(csp::spawn(move || child.act()));
    }
}

/// What somebody offers at a channel: to send or to receive. What it does not, it does at a channel that nobody knows.
struct Offer {
    to: Sender<Message>,
    from: Receiver<Message>,
    /// Kept, so that the channel does not count as closed.
    _nowhere: (Sender<Message>, Receiver<Message>),
}

impl Offer {
    fn of(ends: &Ends, sends: bool) -> Offer {
        let nowhere = csp::channel();
        let sender = ends.sender.as_ref().filter(|_| sends);
        let receiver = ends.receiver.as_ref().filter(|_| !sends);
        Offer {
            to: sender.unwrap_or(&nowhere.0).clone(),
            from: receiver.unwrap_or(&nowhere.1).clone(),
            _nowhere: nowhere,
        }
    }
}
