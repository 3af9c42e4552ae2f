//! The interpreter of generated programs: `programs generated TEXT`.
//!
//! Every thread keeps a digest of all that it sees. No program can hang: locks are taken in one order and given back
//! before anything else is waited for; waits have time limits; and a thread waits for room in a channel only if the
//! receiver is a thread with a higher number, after it has started its own children. So the highest thread always
//! gets to its end, and its receivers with it.

pub(crate) mod language;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex as StdMutex},
    time::Duration,
};

use reenact::{
    sync::{
        Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockWriteGuard, TryLockError,
        atomic::{AtomicU64, Ordering::SeqCst},
        mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    },
    thread::{self, JoinHandle},
};

use self::language::{Operation, Program, Verb};
use crate::support::{Seen, jitter, parse_and_interpret};

/// Runs the program of this name, if it is one of these.
pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    name == "generated" && parse_and_interpret(arguments, interpret)
}

/// What the threads share.
struct World {
    program: Program,
    mutexes: Vec<(Mutex<u64>, Condvar)>,
    rwlocks: Vec<RwLock<u64>>,
    atomics: Vec<AtomicU64>,
    cells: Vec<OnceLock<usize>>,
    /// Until their thread comes for them. What is in here when does not depend on timing.
    receivers: StdMutex<Vec<Option<Receiver<u64>>>>,
}

#[derive(Clone)]
enum AnySender {
    Unbounded(Sender<u64>),
    Bounded(SyncSender<u64>),
}

type Digests = Vec<(usize, u64)>;

struct Actor {
    world: Arc<World>,
    me: usize,
    seen: Seen,
    /// Makes different values of the same operations.
    count: u64,
    senders: Vec<AnySender>,
    receivers: Vec<Option<Receiver<u64>>>,
    /// Children that are still to be started, the first one last.
    to_start: Vec<usize>,
    children: Vec<JoinHandle<Digests>>,
    known: Vec<thread::Thread>,
    digests: Digests,
}

fn interpret(program: Program) {
    let (senders, receivers): (Vec<_>, Vec<_>) = program
        .channels
        .iter()
        .map(|room| match room {
            None => {
                let (sender, receiver) = channel();
                (AnySender::Unbounded(sender), Some(receiver))
            }
            Some(room) => {
                let (sender, receiver) = sync_channel(*room);
                (AnySender::Bounded(sender), Some(receiver))
            }
        })
        .unzip();
    let world = Arc::new(World {
        mutexes: (0..program.mutexes).map(|_| Default::default()).collect(),
        rwlocks: (0..program.rwlocks).map(|_| RwLock::default()).collect(),
        atomics: (0..program.atomics).map(|_| AtomicU64::default()).collect(),
        cells: (0..program.cells).map(|_| OnceLock::new()).collect(),
        receivers: StdMutex::new(receivers),
        program,
    });
    let mut digests = Actor::new(Arc::clone(&world), 0, senders, Vec::new()).act();
    digests.sort_unstable();
    for (thread, digest) in digests {
        println!("{thread}: {digest:016x}");
    }
    let mutexes: Vec<_> = world.mutexes.iter().map(|pair| *lock(&pair.0)).collect();
    let rwlocks: Vec<_> = world
        .rwlocks
        .iter()
        .map(|lock| *lock.read().unwrap())
        .collect();
    let cells: Vec<_> = world.cells.iter().map(OnceLock::get).collect();
    println!("{mutexes:?} {rwlocks:?} {:?} {cells:?}", world.atomics);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Actor {
    fn new(
        world: Arc<World>,
        me: usize,
        senders: Vec<AnySender>,
        mut known: Vec<thread::Thread>,
    ) -> Actor {
        let threads = world.program.threads.len();
        let mut table = world.receivers.lock().expect("nobody panics with it");
        let mine = |(number, receiver): (usize, &mut Option<_>)| {
            if number % threads == me {
                receiver.take()
            } else {
                None
            }
        };
        let receivers = table.iter_mut().enumerate().map(mine).collect();
        drop(table);
        known.push(thread::current());
        let family = &world.program.threads;
        let mut to_start: Vec<_> = (1..threads)
            .filter(|&child| family[child].parent % child == me)
            .collect();
        to_start.sort_by_key(|&child| std::cmp::Reverse(family[child].at));
        let mut seen = Seen::default();
        seen.note(thread::current().id());
        seen.note(thread::current().name());
        Actor {
            world,
            me,
            seen,
            count: 0,
            senders,
            receivers,
            to_start,
            children: Vec::new(),
            known,
            digests: Vec::new(),
        }
    }

    fn act(mut self) -> Digests {
        let world = Arc::clone(&self.world);
        for (number, operation) in world.program.threads[self.me].operations.iter().enumerate() {
            self.start_children(number);
            self.count += 1;
            jitter();
            self.perform(operation);
        }
        self.start_children(usize::MAX);
        self.receivers.clear();
        self.senders.clear();
        while let Some(child) = self.children.pop() {
            self.join(child);
        }
        self.digests.push((self.me, self.seen.digest()));
        self.digests
    }

    /// Starts the children that come before this operation.
    fn start_children(&mut self, before: usize) {
        while let Some(child) = self
            .to_start
            .pop_if(|child| self.world.program.threads[*child].at <= before)
        {
            let (world, senders) = (Arc::clone(&self.world), self.senders.clone());
            let known = self.known.clone();
            let thread = thread::Builder::new()
                .name(format!("thread {child}"))
                .spawn(move || Actor::new(world, child, senders, known).act())
                .expect("there are not so many");
            self.known.push(thread.thread().clone());
            self.children.push(thread);
        }
    }

    fn join(&mut self, child: JoinHandle<Digests>) {
        let digests = child.join().expect("all panics are caught");
        self.seen.note(&digests);
        self.digests.extend(digests);
    }

    fn perform(&mut self, operation: &Operation) {
        let number = |index: usize| operation.numbers.get(index).copied().unwrap_or(0);
        let (first, limit) = (number(0), Duration::from_micros(number(1) as u64));
        let value = self.count * 100 + self.me as u64;
        let world = Arc::clone(&self.world);
        let (mutex, condition) = &world.mutexes[first % world.mutexes.len()];
        let rwlock = &world.rwlocks[first % world.rwlocks.len()];
        let atomic = &world.atomics[first % world.atomics.len()];
        let cell = &world.cells[first % world.cells.len()];
        let channel = first % self.senders.len();
        let seen = &mut self.seen;
        match operation.verb {
            Verb::Lock => self.nest(&operation.numbers, value),
            Verb::TryLock => match mutex.try_lock() {
                Ok(mut guard) => {
                    jitter();
                    seen.note(std::mem::replace(&mut *guard, value));
                }
                Err(TryLockError::Poisoned(error)) => seen.note((*error.into_inner(), "poisoned")),
                Err(TryLockError::WouldBlock) => seen.note("held"),
            },
            Verb::Panic => {
                let panic = catch_unwind(AssertUnwindSafe(|| {
                    let _guard = mutex.lock();
                    jitter();
                    panic!("with the lock");
                }));
                seen.note(panic.is_err());
            }
            Verb::Mend => {
                let guard = lock(mutex);
                mutex.clear_poison();
                seen.note(*guard);
            }
            Verb::Wait => {
                let (guard, result) = condition
                    .wait_timeout(lock(mutex), limit)
                    .unwrap_or_else(PoisonError::into_inner);
                seen.note((*guard, result.timed_out()));
            }
            Verb::WaitWhile => {
                match condition.wait_timeout_while(lock(mutex), limit, |now| *now % 2 == 0) {
                    Ok((guard, result)) => seen.note((*guard, result.timed_out())),
                    Err(error) => seen.note((*error.into_inner().0, "poisoned")),
                }
            }
            Verb::NotifyOne => condition.notify_one(),
            Verb::NotifyAll => condition.notify_all(),
            Verb::Read => {
                let guard = rwlock.read().unwrap();
                jitter();
                seen.note(*guard);
            }
            Verb::TryRead => seen.note(rwlock.try_read().ok().map(|guard| *guard)),
            Verb::Write => {
                let mut guard = rwlock.write().unwrap();
                jitter();
                seen.note(std::mem::replace(&mut *guard, value));
            }
            Verb::TryWrite => seen.note(
                rwlock
                    .try_write()
                    .ok()
                    .map(|mut guard| std::mem::replace(&mut *guard, value)),
            ),
            Verb::Downgrade => {
                let mut guard = rwlock.write().unwrap();
                seen.note(std::mem::replace(&mut *guard, value));
                let guard = RwLockWriteGuard::downgrade(guard);
                jitter();
                assert_eq!(*guard, value, "nobody writes in between");
            }
            Verb::Load => seen.note(atomic.load(SeqCst)),
            Verb::Store => atomic.store(value, SeqCst),
            Verb::Swap => seen.note(atomic.swap(value, SeqCst)),
            Verb::Add => seen.note(atomic.fetch_add(value, SeqCst)),
            Verb::Exchange => {
                let was = atomic.load(SeqCst);
                jitter();
                seen.note(atomic.compare_exchange(was, value, SeqCst, SeqCst));
            }
            Verb::Update => seen.note(atomic.fetch_update(SeqCst, SeqCst, |now| {
                jitter();
                (now % 3 > 0).then_some(now / 3 + value)
            })),
            Verb::Spin => {
                let was = atomic.load(SeqCst);
                let spins = (0..number(1))
                    .take_while(|_| atomic.load(SeqCst) == was)
                    .count();
                seen.note(spins);
            }
            Verb::Get => seen.note(cell.get()),
            Verb::Init => seen.note(cell.get_or_init(|| {
                jitter();
                self.me
            })),
            Verb::Send => {
                let receiver = channel % world.program.threads.len();
                if receiver > self.me {
                    self.start_children(usize::MAX);
                    self.send(channel, value, true);
                } else {
                    self.send(channel, value, false);
                }
            }
            Verb::TrySend => self.send(channel, value, false),
            Verb::Recv => match &self.receivers[channel] {
                Some(receiver) => seen.note(
                    receiver
                        .recv_timeout(limit)
                        .map_err(|error| error.to_string()),
                ),
                None => seen.note("not mine"),
            },
            Verb::TryRecv => match &self.receivers[channel] {
                Some(receiver) => seen.note(receiver.try_recv().map_err(|error| error.to_string())),
                None => seen.note("not mine"),
            },
            Verb::Park => thread::park_timeout(limit),
            Verb::Unpark => self.known[first % self.known.len()].unpark(),
            Verb::Finished => {
                for child in &self.children {
                    seen.note(child.is_finished());
                }
            }
            Verb::Join => {
                self.start_children(usize::MAX);
                if !self.children.is_empty() {
                    let child = self.children.remove(first % self.children.len());
                    self.join(child);
                }
            }
            Verb::Yield => thread::yield_now(),
        }
    }

    /// Locks all of these, one within the other.
    fn nest(&mut self, numbers: &[usize], value: u64) {
        let world = Arc::clone(&self.world);
        let mut numbers: Vec<_> = numbers
            .iter()
            .map(|number| number % world.mutexes.len())
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut guards = Vec::new();
        for number in numbers {
            let result = world.mutexes[number].0.lock();
            self.seen.note(result.is_err());
            guards.push(result.unwrap_or_else(PoisonError::into_inner));
            jitter();
        }
        for guard in &mut guards {
            self.seen.note(**guard);
            **guard = guard.wrapping_mul(3).wrapping_add(value);
        }
    }

    fn send(&mut self, channel: usize, value: u64, wait: bool) {
        match &self.senders[channel] {
            AnySender::Unbounded(sender) => self.seen.note(sender.send(value).is_ok()),
            AnySender::Bounded(sender) if wait => self.seen.note(sender.send(value).is_ok()),
            AnySender::Bounded(sender) => self
                .seen
                .note(sender.try_send(value).map_err(|error| error.to_string())),
        }
    }
}
