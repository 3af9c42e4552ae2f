//! Programs around threads.

use std::{cell::RefCell, time::Duration};

use reenact::{
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread::{self, JoinHandle},
};

use crate::support::{Dice, Seen, jitter, panic_quietly, run_workers};

crate::programs! {
    "thread-finished" => finished,
    "thread-park" => park,
    "thread-park-timeout" => park_timeout,
    "thread-family" => family,
    "thread-main-returns" => main_returns,
    "thread-detached-ids" => detached_ids,
    "thread-exit" => exit,
    "thread-panics" => panics,
    "thread-parallelism" => parallelism,
    "thread-locals" => locals,
    "thread-locals-of-main" => locals_of_main,
    "thread-not-started" => not_started,
    "thread-foreign" => foreign,
}

/// Asks again and again who has finished.
fn finished() {
    let threads: Vec<JoinHandle<usize>> = (0..4)
        .map(|me| {
            thread::spawn(move || {
                (0..me * 20).for_each(|_| jitter());
                me
            })
        })
        .collect();
    let mut answers = Vec::new();
    while !threads.iter().all(JoinHandle::is_finished) {
        answers.push(
            threads
                .iter()
                .map(JoinHandle::is_finished)
                .filter(|&yes| yes)
                .count(),
        );
        thread::yield_now();
    }
    let sum: usize = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .sum();
    println!("{answers:?} {sum}");
}

/// Two threads park and unpark each other; a third unparks both for no reason.
fn park() {
    let turn = Arc::new(AtomicUsize::new(0));
    let (to_second, of_first) = mpsc::channel();
    let theirs = Arc::clone(&turn);
    let second = thread::spawn(move || {
        let first: thread::Thread = of_first.recv().unwrap();
        let mut woken = 0;
        for _ in 0..80 {
            while theirs.load(SeqCst).is_multiple_of(2) {
                thread::park();
                woken += 1;
            }
            theirs.fetch_add(1, SeqCst);
            first.unpark();
        }
        woken
    });
    to_second.send(thread::current()).unwrap();
    let both = [thread::current(), second.thread().clone()];
    let third = thread::spawn(move || {
        for round in 0..40 {
            both[round % 2].unpark();
            jitter();
        }
    });
    let mut woken = 0;
    for _ in 0..80 {
        while turn.load(SeqCst) % 2 == 1 {
            thread::park();
            woken += 1;
        }
        turn.fetch_add(1, SeqCst);
        second.thread().unpark();
    }
    third.join().unwrap();
    println!("{woken} {}", second.join().unwrap());
}

/// Parks for some microseconds, while others unpark it now and then.
fn park_timeout() {
    let work = Arc::new(AtomicUsize::new(0));
    let theirs = Arc::clone(&work);
    let sleeper = thread::Builder::new()
        .name("sleeper".to_owned())
        .spawn(move || {
            let (mut dice, mut seen) = (Dice::new(0), Seen::default());
            for _ in 0..100 {
                thread::park_timeout(Duration::from_micros(dice.roll(100) as u64));
                seen.note(theirs.load(SeqCst));
            }
            seen.digest()
        })
        .unwrap();
    let waker = sleeper.thread().clone();
    run_workers(2, move |_| {
        for _ in 0..50 {
            work.fetch_add(1, SeqCst);
            waker.unpark();
            jitter();
        }
    });
    let name = sleeper.thread().name().map(str::to_owned);
    println!("{name:?} {}", sleeper.join().unwrap());
}

/// Children have children, who write down who they are in the order in which they come.
fn family() {
    fn live(depth: usize, book: &Arc<Mutex<Vec<String>>>) {
        let me = thread::current();
        book.lock()
            .unwrap()
            .push(format!("{:?} {:?}", me.name(), me.id()));
        if depth == 3 {
            return;
        }
        let children: Vec<_> = (0..3)
            .map(|number| {
                let theirs = Arc::clone(book);
                let name = format!("{}.{number}", me.name().unwrap_or("nobody"));
                jitter();
                thread::Builder::new()
                    .name(name)
                    .spawn(move || live(depth + 1, &theirs))
                    .unwrap()
            })
            .collect();
        for child in children {
            let line = format!("{:?} ended", child.thread().id());
            child.join().unwrap();
            book.lock().unwrap().push(line);
        }
    }
    let book = Arc::default();
    live(1, &book);
    println!("{:#?}", book.lock().unwrap());
}

/// The process ends while its threads are in the middle of something.
fn main_returns() {
    let work = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
    for me in 0..3 {
        let work = Arc::clone(&work);
        thread::spawn(move || {
            loop {
                jitter();
                work.0.lock().unwrap().push(me);
                work.1.notify_one();
            }
        });
    }
    let mut list = work
        .1
        .wait_while(work.0.lock().unwrap(), |list| list.len() < 200)
        .unwrap();
    let mut seen = Seen::default();
    seen.note(&*list);
    println!("{} {}", list.len(), seen.digest());
    list.clear();
}

/// The process ends before all its threads have begun.
fn detached_ids() {
    let ids: Vec<_> = (0..6)
        .map(|_| thread::spawn(|| thread::current().id()).thread().id())
        .collect();
    println!("{ids:?}");
}

/// A thread ends the process while the others are in the middle of something.
fn exit() {
    let list = Arc::new(Mutex::new(Vec::new()));
    run_workers(4, move |me| {
        loop {
            jitter();
            let mut list = list.lock().unwrap();
            list.push(me);
            if list.len() == 300 {
                let mut seen = Seen::default();
                seen.note(&*list);
                println!("{me} {}", seen.digest());
                std::process::exit(17);
            }
        }
    });
}

/// Threads that panic leave their message to who joins them. At which number they do is up to all of them.
fn panics() {
    panic_quietly();
    let next = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let next = Arc::clone(&next);
            thread::spawn(move || {
                loop {
                    let number = next.fetch_add(1, SeqCst);
                    jitter();
                    assert!(number % 50 != 49, "not number {number}");
                }
            })
        })
        .collect();
    for thread in threads {
        let panic = thread.join().map(|never: ()| never).unwrap_err();
        println!("{}", panic.downcast_ref::<String>().unwrap());
    }
}

/// How many cores there are is the recording's answer.
fn parallelism() {
    let cores = thread::available_parallelism().unwrap().get();
    let numbers = run_workers(cores.min(8), |_| {
        thread::available_parallelism().unwrap().get()
    });
    println!("{cores} {numbers:?} {:?}", thread::current().id());
}

/// A value of a thread that takes a lock when the thread goes.
struct Farewell {
    book: Arc<Mutex<Vec<usize>>>,
    name: usize,
}

impl Drop for Farewell {
    fn drop(&mut self) {
        jitter();
        for _ in 0..3 {
            self.book.lock().unwrap().push(self.name);
        }
    }
}

thread_local! {
    static FAREWELL: RefCell<Option<Farewell>> = const { RefCell::new(None) };
}

/// Threads that still have something to say when their function has returned.
fn locals() {
    let book = Arc::new(Mutex::new(Vec::new()));
    let theirs = Arc::clone(&book);
    for round in 0..10 {
        let theirs = Arc::clone(&theirs);
        run_workers(4, move |me| {
            let farewell = Farewell {
                book: Arc::clone(&theirs),
                name: round * 10 + me,
            };
            FAREWELL.set(Some(farewell));
        });
    }
    println!("{:?}", book.lock().unwrap());
}

/// The first thread still has something to say when `main` has returned, and others still talk.
fn locals_of_main() {
    let book = Arc::new(Mutex::new(Vec::new()));
    FAREWELL.set(Some(Farewell {
        book: Arc::clone(&book),
        name: 99,
    }));
    for me in 0..2 {
        let book = Arc::clone(&book);
        thread::spawn(move || {
            loop {
                book.lock().unwrap().push(me);
            }
        });
    }
    while book.lock().unwrap().len() < 100 {
        thread::yield_now();
    }
    let mut seen = Seen::default();
    seen.note(&*book.lock().unwrap());
    println!("{}", seen.digest());
}

/// A thread that cannot be started is no reason to stop.
fn not_started() {
    let list = Arc::new(Mutex::new(Vec::new()));
    for round in 0..5 {
        let (first, second) = (Arc::clone(&list), Arc::clone(&list));
        let thread = thread::spawn(move || first.lock().unwrap().push(round));
        let refused = thread::Builder::new()
            .stack_size(1 << 60)
            .spawn(|| unreachable!("no such stack"));
        second
            .lock()
            .unwrap()
            .push(100 + usize::from(refused.is_err()));
        thread.join().unwrap();
        thread::scope(|scope| {
            let refused = thread::Builder::new()
                .stack_size(1 << 60)
                .spawn_scoped(scope, || ());
            list.lock()
                .unwrap()
                .push(200 + usize::from(refused.is_err()));
        });
    }
    println!("{:?}", list.lock().unwrap());
}

/// Threads of someone else who use our locks. Their names distinguish them.
fn foreign() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..3)
        .map(|me| {
            let list = Arc::clone(&list);
            std::thread::Builder::new()
                .name(format!("foreign-{me}"))
                .spawn(move || {
                    for _ in 0..100 {
                        jitter();
                        list.lock().unwrap().push(me);
                    }
                    let theirs = Arc::clone(&list);
                    thread::spawn(move || theirs.lock().unwrap().push(me + 10))
                        .join()
                        .unwrap();
                })
                .unwrap()
        })
        .collect();
    for _ in 0..100 {
        list.lock().unwrap().push(3);
    }
    for thread in threads {
        thread.join().unwrap();
    }
    let mut seen = Seen::default();
    seen.note(&*list.lock().unwrap());
    println!("{}", seen.digest());
}
