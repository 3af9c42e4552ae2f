//! Programs that do something else when the environment says `DRIFT=other`: recorded with one setting and replayed with
//! the other, they are two programs.
//!
//! Most differ in operations that recording only counts, because that is where a difference could go unseen.

use std::{cell::RefCell, process, sync::mpsc as std_mpsc, thread as std_thread, time::Duration};

use reenact::{
    sync::{
        Arc, Condvar, Mutex, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use super::{say, sleep_for_good};

pub(super) fn run(name: &str, arguments: &[String]) -> bool {
    if name != "drift" {
        return false;
    }
    let other = std::env::var_os("DRIFT").is_some_and(|drift| drift == "other");
    let (place, what) = arguments[0].split_once('/').expect("PLACE/WHAT");
    let work = work(what, other);
    match place {
        "main" => work(),
        "middle" => middle(work),
        "thread" => thread::spawn(work).join().unwrap(),
        "named-thread" => {
            let builder = thread::Builder::new().name("worker".to_owned());
            builder.spawn(work).unwrap().join().unwrap();
        }
        "running" => running(work, false),
        "killed" => running(work, true),
        "foreign" => foreign("guest", work).join().unwrap(),
        "local" => thread::spawn(|| at_end_of_thread(work)).join().unwrap(),
        "foreign-local" => foreign("guest", || at_end_of_thread(work)).join().unwrap(),
        "main-local" => at_end_of_thread(work),
        _ => panic!("no such place: {place}"),
    }
    true
}

/// What is done in a place.
fn work(what: &str, other: bool) -> Box<dyn FnOnce() + Send> {
    let locks: [Arc<Mutex<u64>>; 2] = Default::default();
    let lock = move |which: &str| {
        for name in which.chars() {
            *locks[usize::from(name == 'b')].lock().unwrap() += 1;
        }
    };
    match what {
        "count" => Box::new(move || lock(if other { "aaaa" } else { "aaa" })),
        "order" => Box::new(move || lock(if other { "abb" } else { "aab" })),
        // Both are used before; and each is used as often, at places whose numbers have the same sum.
        "mirror" => Box::new(move || lock(if other { "abbaab" } else { "ababba" })),
        "kind-of-lock" => Box::new(move || kind_of_lock(other)),
        "kind-of-atomic" => Box::new(move || kind_of_atomic(other)),
        "try" => Box::new(move || try_or_lock(other)),
        "wait" => Box::new(move || wait_or_lock(other)),
        "ask" => Box::new(move || ask(other)),
        "idle-thread" => Box::new(move || more_threads(other, true, || {})),
        "idle-thread-left-alone" => Box::new(move || more_threads(other, false, || {})),
        "busy-thread" => Box::new(move || more_threads(other, true, move || lock("aaa"))),
        "busy-thread-left-alone" => {
            Box::new(move || more_threads(other, false, move || lock("aaa")))
        }
        "spawn-then-lock" => Box::new(move || spawn_then_lock(other)),
        "exchange" => Box::new(move || exchange(other)),
        "which-lock" => Box::new(move || which_lock(other)),
        "which-thread" => Box::new(move || which_thread(other)),
        "guest-more" => Box::new(move || guest_more(other)),
        "guest-name" => Box::new(move || guest_name(other)),
        "exit" => Box::new(move || exit_or_return(other, || process::exit(0))),
        "abort" => Box::new(move || exit_or_return(!other, || process::abort())),
        "exit-before" => Box::new(move || exit_before(other)),
        _ => panic!("no such work: {what}"),
    }
}

/// With meetings before and after: what is done in between ends with an event.
fn middle(work: impl FnOnce()) {
    let shared = Arc::new(Mutex::new(0));
    let meet = || {
        let shared = Arc::clone(&shared);
        thread::spawn(move || *shared.lock().unwrap() += 1)
            .join()
            .unwrap();
    };
    meet();
    *shared.lock().unwrap() += 1;
    work();
    meet();
    *shared.lock().unwrap() += 1;
}

/// Work by a thread that then sleeps where nobody knows, with main returning or the process being killed.
fn running(work: impl FnOnce() + Send + 'static, killed: bool) {
    let (sender, done) = std_mpsc::channel();
    let thread = thread::spawn(move || {
        work();
        sender.send(()).unwrap();
        sleep_for_good();
    });
    done.recv().unwrap();
    if killed {
        say("ready");
        thread.join().unwrap();
    }
}

fn foreign(name: &str, body: impl FnOnce() + Send + 'static) -> std_thread::JoinHandle<()> {
    std_thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .unwrap()
}

/// Leaves the work to a thread-local destructor, one that was registered before anything was done.
fn at_end_of_thread(work: impl FnOnce() + Send + 'static) {
    struct AtEnd(Option<Box<dyn FnOnce()>>);
    impl Drop for AtEnd {
        fn drop(&mut self) {
            (self.0.take().expect("dropped once"))();
        }
    }
    thread_local! {
        static AT_END: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
    }
    AT_END.set(Some(AtEnd(Some(Box::new(work)))));
    let _ = Mutex::new(0).lock();
}

fn kind_of_lock(write: bool) {
    let table = RwLock::new(0);
    *table.write().unwrap() = 1;
    if write {
        *table.write().unwrap() = 1;
    } else {
        let _ = *table.read().unwrap();
    }
}

fn kind_of_atomic(store: bool) {
    let number = AtomicU64::new(0);
    number.store(1, Ordering::Relaxed);
    if store {
        number.store(1, Ordering::Relaxed);
    } else {
        let _ = number.load(Ordering::Relaxed);
    }
}

fn try_or_lock(only_try: bool) {
    let lock = Mutex::new(0);
    *lock.lock().unwrap() += 1;
    if only_try {
        *lock.try_lock().unwrap() += 1;
    } else {
        *lock.lock().unwrap() += 1;
    }
}

/// Gives the lock up for a moment in one way or the other.
fn wait_or_lock(wait: bool) {
    let (lock, signal) = (Mutex::new(0), Condvar::new());
    let mut guard = lock.lock().unwrap();
    if wait {
        guard = signal.wait_timeout(guard, Duration::ZERO).unwrap().0;
    } else {
        drop(guard);
        guard = lock.lock().unwrap();
    }
    *guard += 1;
}

/// Asks a thread that waits for us whether it has finished.
fn ask(twice: bool) {
    let gate = Arc::new(Mutex::new(()));
    let held = gate.lock().unwrap();
    let theirs = Arc::clone(&gate);
    let thread = thread::spawn(move || drop(theirs.lock().unwrap()));
    assert!(!thread.is_finished());
    if twice {
        assert!(!thread.is_finished());
    }
    drop(held);
    thread.join().unwrap();
}

fn more_threads(one_more: bool, join: bool, body: impl Fn() + Clone + Send + 'static) {
    let (sender, done) = std_mpsc::channel();
    for _ in 0..if one_more { 2 } else { 1 } {
        let (sender, body) = (sender.clone(), body.clone());
        let thread = thread::spawn(move || {
            body();
            let _ = sender.send(());
        });
        if join {
            thread.join().unwrap();
        }
        done.recv().unwrap();
    }
}

/// The same operations, with the birth of a thread before or after.
fn spawn_then_lock(lock_first: bool) {
    let lock = Mutex::new(0);
    let add = || *lock.lock().unwrap() += 1;
    if lock_first {
        add();
        thread::spawn(|| {}).join().unwrap();
    } else {
        thread::spawn(|| {}).join().unwrap();
        add();
    }
}

/// Two threads that do as much as each other, but not the same, in exchanged roles.
fn exchange(exchanged: bool) {
    let locks: [Arc<Mutex<u64>>; 2] = Default::default();
    let roles = if exchanged {
        ["abb", "aab"]
    } else {
        ["aab", "abb"]
    };
    for role in roles {
        let locks = locks.clone();
        let act = move || {
            for name in role.chars() {
                *locks[usize::from(name == 'b')].lock().unwrap() += 1;
            }
        };
        thread::spawn(act).join().unwrap();
    }
}

/// Another's lock is taken next: one that is as far, or the other one that is as far.
fn which_lock(second: bool) {
    let locks: [Arc<Mutex<u64>>; 2] = Default::default();
    let theirs = locks.clone();
    thread::spawn(move || {
        for lock in &theirs {
            *lock.lock().unwrap() += 1;
        }
    })
    .join()
    .unwrap();
    *locks[usize::from(second)].lock().unwrap() += 1;
}

/// A lock is taken by one child or by the other.
fn which_thread(second: bool) {
    let lock = Arc::new(Mutex::new(0));
    for me in [false, true] {
        let lock = Arc::clone(&lock);
        thread::spawn(move || {
            if me == second {
                *lock.lock().unwrap() += 1;
            }
        })
        .join()
        .unwrap();
    }
}

fn guest_more(one_more: bool) {
    for me in 0..if one_more { 2 } else { 1 } {
        let body = || drop(Mutex::new(0).lock());
        foreign(&format!("guest {me}"), body).join().unwrap();
    }
}

fn guest_name(renamed: bool) {
    let body = || drop(Mutex::new(0).lock());
    let name = if renamed { "stranger" } else { "guest" };
    foreign(name, body).join().unwrap();
}

/// A thread returns to main, which waits for it, or ends the process.
fn exit_or_return(ends: bool, end: fn()) {
    let thread = thread::spawn(move || {
        let _ = Mutex::new(0).lock();
        if ends {
            end();
        }
    });
    thread.join().unwrap();
    let _ = Mutex::new(0).lock();
}

/// Main ends the process before or after a thread has done its work.
fn exit_before(before: bool) {
    let gate = Arc::new(Mutex::new(()));
    let held = gate.lock().unwrap();
    let theirs = Arc::clone(&gate);
    let thread = thread::spawn(move || {
        let own = Mutex::new(0);
        let _gate = theirs.lock().unwrap();
        *own.lock().unwrap() += 1;
    });
    if before {
        process::exit(0);
    }
    drop(held);
    thread.join().unwrap();
}
