//! Programs that end in every way there is.

use std::{cell::RefCell, process};

use reenact::{
    actor::System,
    csp,
    sync::{Arc, Mutex, RwLock, mpsc},
    thread,
};

use super::{fold, say, sleep_for_good, spin_for_good};

crate::programs! {
    "poison" => poison,
    "panic-in-main" => panic_in_main,
    "panic-in-scope" => panic_in_scope,
    "exit-in-thread" => exit_in_thread,
    "exit-in-scopes" => exit_in_scopes,
    "exits-of-threads" => exits_of_threads,
    "exits-of-actors" => exits_of_actors,
    "exits-of-processes" => exits_of_processes,
    "exit-in-destructor" => exit_in_destructor,
    "exits-in-destructors" => exits_in_destructors,
    "exit-and-return" => exit_and_return,
    "abort-in-thread" => abort_in_thread,
    "main-returns" => main_returns,
    "main-returns-from-sleepers" => main_returns_from_sleepers,
    "main-returns-from-spinners" => main_returns_from_spinners,
    "main-returns-at-once" => main_returns_at_once,
    "overflow" => overflow,
}

/// Starts threads that race to push to a list, until the process ends.
fn race(list: &Arc<Mutex<Vec<u64>>>, threads: u64) -> Vec<thread::JoinHandle<()>> {
    (0..threads)
        .map(|me| {
            let list = Arc::clone(list);
            thread::spawn(move || {
                loop {
                    list.lock()
                        .unwrap_or_else(|error| error.into_inner())
                        .push(me);
                }
            })
        })
        .collect()
}

/// Waits until the racers have put so many in the list; a hash of what is there then.
fn wait_for(list: &Mutex<Vec<u64>>, count: usize) -> u64 {
    loop {
        let list = list.lock().unwrap_or_else(|error| error.into_inner());
        if list.len() >= count {
            return list.iter().copied().fold(7, fold);
        }
    }
}

/// One of four panics while it holds the locks; which of the others see that is a matter of timing.
fn poison() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let table = Arc::new(RwLock::new(0u64));
    let (sender, results) = mpsc::channel();
    let threads: Vec<_> = (0..4u64)
        .map(|me| {
            let (list, table, sender) = (Arc::clone(&list), Arc::clone(&table), sender.clone());
            thread::spawn(move || {
                let mut seen = 0;
                for turn in 0..50u64 {
                    let locked = list.lock();
                    seen += u64::from(locked.is_err());
                    let mut list = locked.unwrap_or_else(|error| error.into_inner());
                    let written = table.write();
                    seen += u64::from(written.is_err()) << 16;
                    let mut table = written.unwrap_or_else(|error| error.into_inner());
                    list.push(me);
                    *table = fold(*table, me);
                    if me == 2 && turn == 10 {
                        panic!("on purpose");
                    }
                }
                sender.send((me, seen)).unwrap();
            })
        })
        .collect();
    drop(sender);
    let ended: Vec<bool> = threads
        .into_iter()
        .map(|thread| thread.join().is_ok())
        .collect();
    let results: Vec<_> = results.iter().collect();
    let order = list
        .lock()
        .unwrap_err()
        .into_inner()
        .iter()
        .copied()
        .fold(7, fold);
    println!(
        "{ended:?} {results:?} {order} {}",
        table.read().unwrap_err().into_inner()
    );
}

/// Main ends with a panic, while others run.
fn panic_in_main() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let _threads = race(&list, 3);
    println!("{}", wait_for(&list, 500));
    let _held = list.lock();
    panic!("on purpose");
}

fn panic_in_scope() {
    let list = Mutex::new(Vec::new());
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        thread::scope(|scope| {
            for me in 0..4u64 {
                let list = &list;
                scope.spawn(move || {
                    for turn in 0..50 {
                        list.lock()
                            .unwrap_or_else(|error| error.into_inner())
                            .push(me);
                        if me == 1 && turn == 20 {
                            panic!("on purpose");
                        }
                    }
                });
            }
        });
    }));
    let list = list.into_inner().unwrap();
    println!(
        "{} {} {}",
        caught.is_err(),
        list.len(),
        list.iter().copied().fold(7, fold)
    );
}

/// A spawned thread ends the process, with others racing and main waiting.
fn exit_in_thread() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let threads = race(&list, 2);
    thread::spawn(move || {
        println!("{}", wait_for(&list, 500));
        process::exit(7);
    });
    for thread in threads {
        let _ = thread.join();
    }
}

/// Whoever is first ends the process, and says who it is.
fn exit_as(me: u32, count: &Mutex<u32>) -> ! {
    *count.lock().unwrap() += 1;
    process::exit(me as i32)
}

/// Waits in a way that a replay knows.
fn wait_for_the_end() -> ! {
    loop {
        thread::park();
    }
}

fn exits_of_threads() {
    let count = Arc::new(Mutex::new(0));
    let all_begin = std::sync::Arc::new(std::sync::Barrier::new(4));
    for me in 1..=4 {
        let (count, all_begin) = (Arc::clone(&count), std::sync::Arc::clone(&all_begin));
        thread::spawn(move || {
            all_begin.wait();
            exit_as(me, &count)
        });
    }
    wait_for_the_end();
}

struct Exiting {
    me: u32,
    count: Arc<Mutex<u32>>,
}

#[reenact::actor]
impl Exiting {
    pub(crate) fn exit(&mut self) {
        exit_as(self.me, &self.count)
    }
}

fn exits_of_actors() {
    let count = Arc::new(Mutex::new(0));
    let system = System::new(4);
    let new = |me| {
        let count = Arc::clone(&count);
        system.spawn(Exiting { me, count })
    };
    let actors = [1, 2, 3, 4].map(new);
    for actor in &actors {
        actor.exit();
    }
    wait_for_the_end();
}

fn exits_of_processes() {
    let count = Arc::new(Mutex::new(0));
    for me in 1..=4 {
        let count = Arc::clone(&count);
        csp::spawn(move || exit_as(me, &count));
    }
    wait_for_the_end();
}

/// Does something when its thread ends.
struct Farewell(Option<Box<dyn FnOnce()>>);

impl Drop for Farewell {
    fn drop(&mut self) {
        if let Some(farewell) = self.0.take() {
            farewell();
        }
    }
}

fn when_this_thread_ends(action: impl FnOnce() + 'static) {
    thread_local! {
        static FAREWELL: RefCell<Option<Farewell>> = const { RefCell::new(None) };
    }
    FAREWELL.set(Some(Farewell(Some(Box::new(action)))));
}

/// A thread whose code has ended exits while its thread-locals are destroyed, with others racing.
fn exit_in_destructor() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let _threads = race(&list, 2);
    thread::spawn(move || {
        when_this_thread_ends(move || {
            println!("{}", wait_for(&list, 500));
            process::exit(5)
        });
    });
    wait_for_the_end();
}

/// Several threads do so at once. One of them has taken no lock before.
fn exits_in_destructors() {
    let count = Arc::new(Mutex::new(0));
    let all_begin = std::sync::Arc::new(std::sync::Barrier::new(3));
    for me in 1..=3 {
        let (count, all_begin) = (Arc::clone(&count), std::sync::Arc::clone(&all_begin));
        thread::spawn(move || {
            let last = Arc::clone(&count);
            when_this_thread_ends(move || exit_as(me, &last));
            all_begin.wait();
            if me > 1 {
                *count.lock().unwrap() += 1;
            }
        });
    }
    wait_for_the_end();
}

/// Main returns while a thread exits.
fn exit_and_return() {
    let count = Arc::new(Mutex::new(0));
    let both = std::sync::Arc::new(std::sync::Barrier::new(2));
    thread::spawn({
        let (count, both) = (Arc::clone(&count), std::sync::Arc::clone(&both));
        move || {
            both.wait();
            exit_as(1, &count)
        }
    });
    both.wait();
    *count.lock().unwrap() += 1;
}

/// The same, from a scope in a scope.
fn exit_in_scopes() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let _threads = race(&list, 1);
    thread::scope(|outer| {
        outer.spawn(|| {
            thread::scope(|inner| {
                inner.spawn(|| {
                    println!("{}", wait_for(&list, 500));
                    process::exit(9);
                });
                inner.spawn(|| wait_for(&list, usize::MAX));
            });
        });
    });
}

fn abort_in_thread() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let threads = race(&list, 2);
    thread::spawn(move || {
        say(&wait_for(&list, 500).to_string());
        process::abort();
    });
    for thread in threads {
        let _ = thread.join();
    }
}

fn main_returns() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let _threads = race(&list, 3);
    println!("{}", wait_for(&list, 500));
}

/// As above, but the others have done what they do and now sleep, in a place that nobody knows of.
fn main_returns_from_sleepers() {
    let own = [3u32, 64, 65];
    let (sender, receiver) = mpsc::channel();
    for (operations, me) in own.into_iter().zip(0u64..) {
        let sender = sender.clone();
        thread::spawn(move || {
            sender.send(me).unwrap();
            let lock = Mutex::new(0);
            for _ in 0..operations {
                *lock.lock().unwrap() += 1;
            }
            sleep_for_good();
        });
    }
    let order: Vec<_> = receiver.iter().take(own.len()).collect();
    println!("{order:?}");
}

/// As above, but the others compute, without end.
fn main_returns_from_spinners() {
    let (sender, receiver) = mpsc::channel();
    for me in 0..2u64 {
        let sender = sender.clone();
        thread::spawn(move || {
            sender.send(me).unwrap();
            spin_for_good();
        });
    }
    let order: Vec<_> = receiver.iter().take(2).collect();
    println!("{order:?}");
}

/// Whether the thread has begun before the process ends is a matter of timing.
fn main_returns_at_once() {
    thread::spawn(|| say("begun"));
}

/// A thread runs out of stack with a lock in its hands.
fn overflow() {
    #[allow(unconditional_recursion)]
    fn recurse(depth: u64) -> u64 {
        let more = std::hint::black_box([depth; 64]);
        recurse(depth + 1) + more[depth as usize % 64]
    }
    let list = Arc::new(Mutex::new(Vec::new()));
    let threads = race(&list, 2);
    let order = wait_for(&list, 500);
    let deep = thread::Builder::new()
        .name("deep".to_owned())
        .stack_size(256 << 10)
        .spawn(move || {
            let _held = list.lock().unwrap();
            say(&order.to_string());
            recurse(0)
        })
        .unwrap();
    let _ = deep.join();
    for thread in threads {
        let _ = thread.join();
    }
}
