//! A small program for each primitive of each model: what `reenact explore FILE.reenact` and `reenact debug FILE.reenact` are
//! tested with. Each prints what depends on its schedule.
//!
//! ```text
//! $ cargo build --example primitives
//! $ reenact record -o run.reenact -- target/debug/examples/primitives mutex
//! $ reenact explore run.reenact
//! ```

use std::{collections::HashMap, io::Write, time::Duration};

use reenact::{
    actor::{self, Context, FarRef, Promise},
    csp, fs,
    stm::{TVar, atomically, guard},
    sync::{
        Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, PoisonError, RwLock,
        RwLockWriteGuard,
        atomic::{AtomicU32, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

const PROGRAMS: &[(&str, fn())] = &[
    ("mutex", mutex),
    ("try-lock", try_lock),
    ("poison", poison),
    ("rwlock", rwlock),
    ("rwlock-try", rwlock_try),
    ("rwlock-downgrade", rwlock_downgrade),
    ("condvar", condvar),
    ("condvar-all", condvar_all),
    ("condvar-timeout", condvar_timeout),
    ("barrier", barrier),
    ("once", once),
    ("once-lock", once_lock),
    ("lazy-lock", lazy_lock),
    ("atomics", atomics),
    ("spin", spin),
    ("mpsc", mpsc_unbounded),
    ("mpsc-bounded", mpsc_bounded),
    ("mpsc-rendezvous", mpsc_rendezvous),
    ("mpsc-try", mpsc_try),
    ("mpsc-timeout", mpsc_timeout),
    ("mpsc-disconnect", mpsc_disconnect),
    ("mpsc-endless-timeout", mpsc_endless_timeout),
    ("scope", scope),
    ("park", park),
    ("is-finished", is_finished),
    ("named", named),
    ("panic-and-join", panic_and_join),
    ("send", send),
    ("ask", ask),
    ("resolvers", resolvers),
    ("when", when),
    ("timer", timer),
    ("bounded-mailbox", bounded_mailbox),
    ("csp", csp_rendezvous),
    ("csp-bounded", csp_bounded),
    ("csp-select", csp_select),
    ("csp-select-timeout", csp_select_timeout),
    ("csp-select-both", csp_select_both),
    ("csp-close", csp_close),
    ("stm", stm_transfer),
    ("stm-retry", stm_retry),
    ("file", file),
    ("clock", clock),
    ("hash-map", hash_map),
    ("mixture", mixture),
    ("closed-channel", closed_channel),
    ("channels-in-turn", channels_in_turn),
    ("is-finished-at-last", is_finished_at_last),
    ("lock-while-unwinding", lock_while_unwinding),
    (
        "receiver-dropped-while-unwinding",
        receiver_dropped_while_unwinding,
    ),
    ("rwlock-read-twice", rwlock_read_twice),
    (
        "foreign-thread-with-a-long-name",
        foreign_thread_with_a_long_name,
    ),
];

/// Programs that are not listed, because of how they end.
const UNLISTED: &[(&str, fn())] = &[
    ("endless", endless),
    ("third-run", third_run),
    ("wait-once", wait_once),
];

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let mut programs = PROGRAMS.iter().chain(UNLISTED);
    match programs.find(|(known, _)| *known == name) {
        Some((_, program)) => program(),
        None => {
            let names: Vec<_> = PROGRAMS.iter().map(|(name, _)| *name).collect();
            println!("{}", names.join("\n"));
        }
    }
}

/// So many threads that do this, and their results in the order in which they were started.
fn threads<T: Send + 'static>(
    count: u32,
    body: impl Fn(u32) -> T + Send + Sync + 'static,
) -> Vec<T> {
    let body = Arc::new(body);
    let start = |number| {
        let body = Arc::clone(&body);
        thread::spawn(move || body(number))
    };
    let threads: Vec<_> = (0..count).map(start).collect();
    threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect()
}

fn mutex() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&list);
    threads(2, move |number| {
        (0..2).for_each(|_| shared.lock().unwrap().push(number))
    });
    println!("{:?}", list.lock().unwrap());
}

fn try_lock() {
    let lock = Arc::new(Mutex::new(0));
    let had = threads(2, move |_| {
        let had = lock.try_lock().map(|mut guard| *guard += 1);
        had.is_ok()
    });
    println!("{had:?}");
}

fn poison() {
    let lock = Arc::new(Mutex::new(0));
    let shared = Arc::clone(&lock);
    let poisoner = thread::spawn(move || {
        let _guard = shared.lock().unwrap_or_else(PoisonError::into_inner);
        panic!("on purpose");
    });
    let seen = lock.lock().is_err();
    let _ = poisoner.join();
    println!("{seen} {}", lock.is_poisoned());
}

fn rwlock() {
    let lock = Arc::new(RwLock::new(0));
    let seen = threads(3, move |number| match number {
        0 => {
            *lock.write().unwrap() += 1;
            0
        }
        _ => *lock.read().unwrap(),
    });
    println!("{seen:?}");
}

fn rwlock_try() {
    let lock = Arc::new(RwLock::new(0));
    let had = threads(2, move |number| match number {
        0 => lock.try_write().map(|mut guard| *guard += 1).is_ok(),
        _ => lock.try_read().is_ok(),
    });
    println!("{had:?}");
}

fn rwlock_downgrade() {
    let lock = Arc::new(RwLock::new(0));
    let seen = threads(2, move |_| {
        let mut guard = lock.write().unwrap();
        *guard += 1;
        let guard = RwLockWriteGuard::downgrade(guard);
        *guard
    });
    println!("{seen:?}");
}

fn condvar() {
    let pair = Arc::new((Mutex::new(0), Condvar::new()));
    let order = Arc::new(Mutex::new(Vec::new()));
    let (shared, noted) = (Arc::clone(&pair), Arc::clone(&order));
    let waiters: Vec<_> = (0..2)
        .map(|number| {
            let (shared, noted) = (Arc::clone(&shared), Arc::clone(&noted));
            thread::spawn(move || {
                let (tokens, came) = &*shared;
                let mut tokens = came
                    .wait_while(tokens.lock().unwrap(), |tokens| *tokens == 0)
                    .unwrap();
                *tokens -= 1;
                noted.lock().unwrap().push(number);
            })
        })
        .collect();
    for _ in 0..2 {
        *pair.0.lock().unwrap() += 1;
        pair.1.notify_one();
    }
    waiters
        .into_iter()
        .for_each(|waiter| waiter.join().unwrap());
    println!("{:?}", order.lock().unwrap());
}

fn condvar_all() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let shared = Arc::clone(&pair);
    let opener = thread::spawn(move || {
        *shared.0.lock().unwrap() = true;
        shared.1.notify_all();
    });
    let waited = threads(2, move |_| {
        let mut waits = 0;
        let mut open = pair.0.lock().unwrap();
        while !*open {
            open = pair.1.wait(open).unwrap();
            waits += 1;
        }
        waits
    });
    opener.join().unwrap();
    println!("{waited:?}");
}

fn condvar_timeout() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let shared = Arc::clone(&pair);
    let setter = thread::spawn(move || {
        *shared.0.lock().unwrap() = true;
        shared.1.notify_one();
    });
    let set = pair.0.lock().unwrap();
    let (set, timed_out) = pair
        .1
        .wait_timeout(set, Duration::from_micros(200))
        .unwrap();
    println!("{} {}", *set, timed_out.timed_out());
    drop(set);
    setter.join().unwrap();
}

fn barrier() {
    let barrier = Arc::new(Barrier::new(2));
    let leaders = threads(2, move |_| [(); 2].map(|()| barrier.wait().is_leader()));
    println!("{leaders:?}");
}

fn once() {
    static ONCE: Once = Once::new();
    static BY: AtomicU32 = AtomicU32::new(0);
    threads(2, |number| ONCE.call_once(|| BY.store(number, SeqCst)));
    println!("by {} {}", BY.load(SeqCst), ONCE.is_completed());
}

fn once_lock() {
    let cell = Arc::new(OnceLock::new());
    let shared = Arc::clone(&cell);
    let seen = threads(2, move |number| {
        (shared.get().copied(), *shared.get_or_init(|| number))
    });
    println!("{seen:?} {:?}", cell.set(7));
}

fn lazy_lock() {
    static BY: AtomicU32 = AtomicU32::new(0);
    static LAZY: LazyLock<u32> = LazyLock::new(|| BY.fetch_add(1, SeqCst));
    println!("{:?}", threads(2, |_| (BY.load(SeqCst), *LAZY)));
}

fn atomics() {
    let counter = Arc::new(AtomicU32::new(0));
    let shared = Arc::clone(&counter);
    let seen = threads(2, move |number| {
        let seen = shared.load(SeqCst);
        shared.store(seen + 1, SeqCst);
        let exchanged = shared.compare_exchange(1, 10 + number, SeqCst, SeqCst);
        (
            seen,
            exchanged,
            shared.fetch_add(1, SeqCst),
            shared.load(SeqCst),
            shared.load(SeqCst),
        )
    });
    println!("{seen:?} {}", counter.load(SeqCst));
}

/// Looks a few times whether another one has come.
fn spin() {
    let flag = Arc::new(AtomicU32::new(0));
    let shared = Arc::clone(&flag);
    let setter = thread::spawn(move || shared.store(1, SeqCst));
    let looks = (0..5).take_while(|_| flag.load(SeqCst) == 0).count();
    setter.join().unwrap();
    println!("looked {looks} times");
}

fn mpsc_unbounded() {
    let (sender, receiver) = mpsc::channel();
    let senders: Vec<_> = (0..2)
        .map(|number| {
            let sender = sender.clone();
            thread::spawn(move || (0..2).for_each(|n| sender.send(10 * number + n).unwrap()))
        })
        .collect();
    drop(sender);
    println!("{:?}", receiver.iter().collect::<Vec<_>>());
    senders
        .into_iter()
        .for_each(|sender| sender.join().unwrap());
}

fn mpsc_bounded() {
    let (sender, receiver) = mpsc::sync_channel(1);
    let senders = [0, 1].map(|number| {
        let sender = sender.clone();
        thread::spawn(move || (0..2).for_each(|n| sender.send(10 * number + n).unwrap()))
    });
    drop(sender);
    println!("{:?}", receiver.iter().collect::<Vec<_>>());
    senders
        .into_iter()
        .for_each(|sender| sender.join().unwrap());
}

fn mpsc_rendezvous() {
    let (sender, receiver) = mpsc::sync_channel(0);
    let senders = [0, 1].map(|number| {
        let sender = sender.clone();
        thread::spawn(move || sender.send(number).unwrap())
    });
    drop(sender);
    println!("{:?}", receiver.iter().collect::<Vec<_>>());
    senders
        .into_iter()
        .for_each(|sender| sender.join().unwrap());
}

fn mpsc_try() {
    let (sender, receiver) = mpsc::sync_channel(1);
    let producer = thread::spawn(move || [0, 1, 2].map(|n| sender.try_send(n).is_ok()));
    let received: Vec<_> = (0..3).map(|_| receiver.try_recv()).collect();
    println!("{received:?} {:?}", producer.join().unwrap());
}

fn mpsc_timeout() {
    let (sender, receiver) = mpsc::channel();
    let producer = thread::spawn(move || sender.send(1).is_ok());
    let received = [(); 2].map(|()| receiver.recv_timeout(Duration::from_micros(100)));
    drop(receiver);
    println!("{received:?} {:?}", producer.join().unwrap());
}

/// No clock comes to the end of this time limit, so there is nothing that can fail.
fn mpsc_endless_timeout() {
    let (sender, receiver) = mpsc::channel();
    let sender = thread::spawn(move || sender.send(1));
    let received = receiver.recv_timeout(Duration::from_secs(u64::MAX));
    println!("{}", received.unwrap());
    sender.join().unwrap().unwrap();
}

fn mpsc_disconnect() {
    let (sender, receiver) = mpsc::channel();
    let receiver = thread::spawn(move || receiver.recv().unwrap());
    let sent = [0, 1, 2].map(|n| sender.send(n).is_ok());
    println!("{sent:?} {}", receiver.join().unwrap());
}

fn scope() {
    let list = Mutex::new(Vec::new());
    thread::scope(|scope| {
        scope.spawn(|| list.lock().unwrap().push(0));
        scope.spawn(|| list.lock().unwrap().push(1));
    });
    println!("{:?}", list.into_inner().unwrap());
}

fn park() {
    let flag = Arc::new(AtomicU32::new(0));
    let shared = Arc::clone(&flag);
    let parked = thread::spawn(move || {
        let mut parks = 0;
        while shared.load(SeqCst) == 0 {
            thread::park();
            parks += 1;
        }
        parks
    });
    flag.store(1, SeqCst);
    parked.thread().unpark();
    println!("parked {} times", parked.join().unwrap());
}

fn is_finished() {
    let lock = Arc::new(Mutex::new(0));
    let shared = Arc::clone(&lock);
    let thread = thread::spawn(move || *shared.lock().unwrap() += 1);
    let seen = *lock.lock().unwrap();
    println!("{seen} {}", thread.is_finished());
    thread.join().unwrap();
}

fn named() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let named = ["left", "right"].map(|name| {
        let list = Arc::clone(&list);
        let body = move || {
            list.lock()
                .unwrap()
                .push(thread::current().name().map(str::to_owned))
        };
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(body)
            .unwrap()
    });
    named.into_iter().for_each(|thread| thread.join().unwrap());
    println!("{:?}", list.lock().unwrap());
}

fn panic_and_join() {
    let lock = Arc::new(Mutex::new(0));
    let shared = Arc::clone(&lock);
    let thread = thread::spawn(move || {
        let mut guard = shared.lock().unwrap_or_else(PoisonError::into_inner);
        *guard += 1;
        assert!(*guard > 1, "on purpose");
    });
    *lock.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    println!("{}", thread.join().is_err());
}

struct Counter {
    seen: Vec<u32>,
}

#[reenact::actor]
impl Counter {
    pub(crate) fn note(&mut self, number: u32) {
        self.seen.push(number);
    }

    pub(crate) fn seen(&self) -> Vec<u32> {
        self.seen.clone()
    }

    pub(crate) fn ask_other(
        &mut self,
        ctx: &mut Context<Self>,
        other: FarRef<Counter>,
    ) -> Promise<u32> {
        other.seen().when(ctx, |this, _ctx, seen| {
            this.seen.push(100 + seen.len() as u32);
            this.seen.len() as u32
        })
    }

    pub(crate) fn note_later(&mut self, ctx: &mut Context<Self>) -> Promise<()> {
        let after = ctx.after(Duration::from_micros(50));
        after.when(ctx, |this, _ctx, ()| this.seen.push(9))
    }
}

fn counter() -> FarRef<Counter> {
    actor::spawn(Counter { seen: Vec::new() })
}

fn send() {
    let counter = counter();
    let shared = counter.clone();
    threads(2, move |number| {
        (0..2).for_each(|n| shared.note(10 * number + n))
    });
    println!("{:?}", counter.seen().wait().unwrap());
}

fn ask() {
    let counter = counter();
    let shared = counter.clone();
    let seen = threads(2, move |number| {
        shared.note(number);
        shared.seen().wait().unwrap()
    });
    println!("{seen:?}");
}

fn resolvers() {
    let (promise, resolver) = Promise::pair();
    let first = threads(2, move |number| resolver.clone().resolve(number));
    println!("{first:?} {}", promise.wait().unwrap());
}

fn when() {
    let [one, other] = [(); 2].map(|()| counter());
    let asked = one.ask_other(other.clone());
    other.note(1);
    one.note(2);
    println!(
        "{} {:?} {:?}",
        asked.wait().unwrap(),
        one.seen().wait().unwrap(),
        other.seen().wait().unwrap()
    );
}

fn timer() {
    let counter = counter();
    let later = counter.note_later();
    (0..3).for_each(|n| counter.note(n));
    later.wait().unwrap();
    println!("{:?}", counter.seen().wait().unwrap());
}

fn bounded_mailbox() {
    let counter = actor::System::current()
        .build()
        .mailbox(1)
        .spawn(Counter { seen: Vec::new() });
    let sent = [0, 1, 2].map(|n| {
        counter
            .try_send(move |this: &mut Counter, _| this.seen.push(n))
            .is_ok()
    });
    let seen = loop {
        let (promise, resolver) = Promise::pair();
        let asked = counter.try_send(move |this: &mut Counter, _| {
            resolver.resolve(this.seen.clone());
        });
        if asked.is_ok() {
            break promise.wait().unwrap();
        }
    };
    println!("{sent:?} {seen:?}");
}

fn csp_rendezvous() {
    let (sender, receiver) = csp::channel();
    for number in 0..2 {
        let sender = sender.clone();
        csp::spawn(move || sender.send(number).unwrap());
    }
    drop(sender);
    println!("{:?}", receiver.iter().collect::<Vec<_>>());
}

fn csp_bounded() {
    let (sender, receiver) = csp::bounded(1);
    let processes = [0, 1].map(|number| {
        let sender = sender.clone();
        csp::spawn(move || (0..2).for_each(|n| sender.send(10 * number + n).unwrap()))
    });
    drop(sender);
    println!("{:?}", receiver.iter().collect::<Vec<_>>());
    processes
        .into_iter()
        .for_each(|process| process.join().unwrap());
}

fn csp_select() {
    let [(left, from_left), (right, from_right)] = [(); 2].map(|()| csp::unbounded());
    csp::spawn(move || left.send(1).unwrap());
    csp::spawn(move || right.send(2).unwrap());
    let both = [(); 2].map(|()| {
        csp::select! {
            recv(from_left) -> number => number.unwrap_or(10),
            recv(from_right) -> number => number.unwrap_or(20),
        }
    });
    println!("{both:?}");
}

fn csp_select_timeout() {
    let [(left, from_left), (right, from_right)] = [(); 2].map(|()| csp::unbounded::<u32>());
    let process = csp::spawn(move || left.send(1).unwrap());
    let first = csp::select! {
        recv(from_left) -> number => number.ok(),
        recv(from_right) -> number => number.ok(),
        default(Duration::from_micros(100)) => None,
    };
    drop(right);
    process.join().unwrap();
    println!("{first:?}");
}

/// Two that each send to the other or receive from it, whichever is possible.
fn csp_select_both() {
    let [(left, from_left), (right, from_right)] = [(); 2].map(|()| csp::channel());
    let meet = |me: u32, to: csp::Sender<u32>, from: csp::Receiver<u32>| {
        csp::select! {
            send(to, me) -> sent => sent.map_or(10, |()| 0),
            recv(from) -> number => number.unwrap_or(20),
        }
    };
    let process = csp::spawn(move || meet(1, left, from_right));
    let here = meet(2, right, from_left);
    println!("{here} {}", process.join().unwrap());
}

fn csp_close() {
    let (sender, receiver) = csp::channel();
    let process = csp::spawn(move || [0, 1, 2].map(|n| sender.send(n).is_ok()));
    let first = receiver.recv();
    drop(receiver);
    println!("{first:?} {:?}", process.join().unwrap());
}

fn stm_transfer() {
    let accounts = [100, 100].map(TVar::new);
    let shared = accounts.clone();
    let seen = threads(2, move |number| {
        let [from, to] = match number {
            0 => [&shared[0], &shared[1]],
            _ => [&shared[1], &shared[0]],
        };
        atomically(|tx| {
            let balance = from.read(tx)?;
            from.write(tx, balance - 30)?;
            to.modify(tx, |balance| balance + 30)?;
            Ok(balance)
        })
    });
    println!(
        "{seen:?} {:?}",
        accounts.map(|account| account.read_atomic())
    );
}

fn stm_retry() {
    let account = TVar::new(0);
    let shared = account.clone();
    let taker = thread::spawn(move || {
        atomically(|tx| {
            let balance = shared.read(tx)?;
            guard(balance >= 2)?;
            shared.write(tx, balance - 2)?;
            Ok(balance)
        })
    });
    for _ in 0..3 {
        atomically(|tx| account.modify(tx, |balance| balance + 1));
    }
    println!("{} {}", taker.join().unwrap(), account.read_atomic());
}

fn file() {
    let path = std::env::temp_dir().join(format!("reenact-primitives-{}", std::process::id()));
    let list = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&list);
    let name = path.clone();
    let writer = thread::spawn(move || {
        fs::write(&name, "one\ntwo\n").unwrap();
        shared.lock().unwrap().push("written".to_owned());
    });
    let early = fs::read_to_string(&path).unwrap_or_default().len();
    list.lock().unwrap().push(format!("saw {early}"));
    writer.join().unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"three\n").unwrap();
    drop(file);
    println!(
        "{:?} {:?}",
        list.lock().unwrap(),
        fs::read_to_string(&path).unwrap()
    );
    fs::remove_file(&path).unwrap();
}

fn clock() {
    let began = std::time::Instant::now();
    let lock = Arc::new(Mutex::new(0u128));
    let shared = Arc::clone(&lock);
    threads(2, move |_| {
        *shared.lock().unwrap() += began.elapsed().as_nanos() % 1000
    });
    let sum = *lock.lock().unwrap();
    let time = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    println!(
        "{sum} {} {:?}",
        time.as_nanos() % 1000,
        thread::current().id()
    );
}

fn hash_map() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&list);
    threads(2, move |number| {
        let map: HashMap<u32, u32> = (0..4).map(|n| (10 * number + n, n)).collect();
        let mut list = shared.lock().unwrap();
        list.extend(map.keys().copied());
    });
    println!("{:?}", list.lock().unwrap());
}

/// Threads, actors, processes, transactions and a channel between them.
fn mixture() {
    let (sender, receiver) = mpsc::channel();
    let total = TVar::new(0);
    let counter = counter();
    let (requests, inbox) = csp::unbounded();
    let answers = sender.clone();
    let process = csp::spawn(move || {
        inbox
            .iter()
            .for_each(|n: u32| answers.send(n + 50).unwrap())
    });
    let threads = [1, 2].map(|number| {
        let (sender, total) = (sender.clone(), total.clone());
        let (counter, requests) = (counter.clone(), requests.clone());
        thread::spawn(move || {
            counter.note(number);
            requests.send(number).unwrap();
            let sum = atomically(|tx| {
                total.modify(tx, |total| total + number)?;
                total.read(tx)
            });
            sender.send(sum).unwrap();
        })
    });
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    drop((sender, requests));
    process.join().unwrap();
    println!(
        "{:?} {:?}",
        receiver.iter().collect::<Vec<_>>(),
        counter.seen().wait().unwrap()
    );
}

fn closed_channel() {
    let (sender, receiver) = mpsc::sync_channel::<u32>(0);
    drop(receiver);
    let sent = [sender.send(1).is_ok(), sender.try_send(2).is_ok()];
    let (sender, receiver) = mpsc::channel::<u32>();
    drop(sender);
    let received = [receiver.try_recv().is_ok(), receiver.recv().is_ok()];
    println!("{sent:?} {received:?}");
}

/// Each channel may be where the one before it was.
fn channels_in_turn() {
    let received = [1, 2, 3].map(|number| {
        let (sender, receiver) = csp::bounded(1);
        thread::scope(|scope| {
            let receives = scope.spawn(|| receiver.recv().ok());
            scope.spawn(|| sender.send(number).unwrap());
            receives.join().unwrap()
        })
    });
    println!("{received:?}");
}

/// The thread has done all that others can see when it is asked for.
fn is_finished_at_last() {
    let lock = Arc::new(Mutex::new(0));
    let shared = Arc::clone(&lock);
    let barrier = Arc::new(Barrier::new(2));
    let opened = Arc::clone(&barrier);
    let thread = thread::spawn(move || {
        *shared.lock().unwrap() += 1;
        opened.wait();
        thread::sleep(Duration::from_millis(2));
    });
    barrier.wait();
    let asked = (0..20).position(|_| {
        thread::sleep(Duration::from_micros(500));
        thread.is_finished()
    });
    thread.join().unwrap();
    println!("{asked:?} {}", lock.lock().unwrap());
}

fn lock_while_unwinding() {
    struct Counts(Arc<Mutex<u32>>);
    impl Drop for Counts {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    let lock = Arc::new(Mutex::new(0));
    let counts = Counts(Arc::clone(&lock));
    let thread = thread::spawn(move || {
        let _counts = counts;
        panic!("on purpose");
    });
    println!("{}", thread.join().is_err());
    println!("{}", lock.lock().unwrap());
}

fn receiver_dropped_while_unwinding() {
    let (sender, receiver) = mpsc::channel();
    let receiver = thread::spawn(move || {
        let first: u32 = receiver.recv().unwrap();
        panic!("on purpose, after {first}");
    });
    let senders = [1, 2].map(|number| {
        let sender = sender.clone();
        thread::spawn(move || sender.send(number).is_ok())
    });
    let sent = senders.map(|sender| sender.join().unwrap());
    println!("{} {}", receiver.join().is_err(), sent.contains(&true));
}

fn rwlock_read_twice() {
    let lock = RwLock::new(1);
    *lock.write().unwrap() += 1;
    let (first, second) = (lock.read().unwrap(), lock.read().unwrap());
    println!("{} {}", *first, *second);
}

/// A trace keeps the beginning of the name.
fn foreign_thread_with_a_long_name() {
    let lock = Arc::new(Mutex::new(0));
    let shared = Arc::clone(&lock);
    let builder = std::thread::Builder::new().name("long".repeat(30));
    let thread = builder.spawn(move || *shared.lock().unwrap() += 1).unwrap();
    let seen = *lock.lock().unwrap();
    thread.join().unwrap();
    println!("{seen} {}", lock.lock().unwrap());
}

/// Says who it is, and then goes on until somebody ends it.
fn endless() {
    println!("{}", std::process::id());
    let lock = Arc::new(Mutex::new(0));
    let shared = Arc::clone(&lock);
    thread::spawn(move || {
        loop {
            *shared.lock().unwrap() += 1;
            thread::sleep(Duration::from_millis(1));
        }
    });
    loop {
        println!("{}", *lock.lock().unwrap() < 0);
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits for ever when it runs for the third time, in a directory in which it notes that: of this, nothing is recorded.
fn third_run() {
    let runs = std::path::Path::new("runs");
    let count = std::fs::read(runs).map_or(0, |runs| runs.len());
    std::fs::write(runs, vec![b'.'; count + 1]).unwrap();
    let lock = Arc::new(Mutex::new(0));
    let shared = Arc::clone(&lock);
    threads(2, move |_| *shared.lock().unwrap() += 1);
    if count >= 2 {
        thread::park();
    }
}

/// Waits without asking again whether what it waits for has happened.
fn wait_once() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = Arc::clone(&pair);
    let thread = thread::spawn(move || {
        *other.0.lock().unwrap() = true;
        other.1.notify_one();
    });
    let mut is_there = pair.0.lock().unwrap();
    if !*is_there {
        is_there = pair.1.wait(is_there).unwrap();
    }
    println!("{}", *is_there);
    assert!(*is_there, "it is not there");
    drop(is_there);
    thread.join().unwrap();
}
