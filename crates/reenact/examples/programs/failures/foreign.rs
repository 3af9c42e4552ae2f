//! Programs with threads that nobody announced: they come from `std::thread`, as those of a library do.

use std::{
    fs,
    sync::atomic::{AtomicBool, AtomicI32, Ordering::SeqCst},
    thread as std_thread,
};

use reenact::{
    csp,
    sync::{Arc, Mutex, mpsc},
    thread,
};

use super::{fold, sleep_for_good};

crate::programs! {
    "foreign-named" => named,
    "foreign-unnamed" => unnamed,
    "foreign-mixed" => mixed,
    "foreign-pool" => pool,
    "foreign-exit" => exit,
    "foreign-beside-process" => beside_process,
}

fn start(name: &str, body: impl FnOnce() + Send + 'static) -> std_thread::JoinHandle<()> {
    std_thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .unwrap()
}

fn push(list: &Mutex<Vec<u64>>, me: u64, times: usize) {
    for _ in 0..times {
        list.lock().unwrap().push(me);
    }
}

fn show(list: &Mutex<Vec<u64>>) {
    let list = list.lock().unwrap();
    println!("{} {}", list.len(), list.iter().copied().fold(7, fold));
}

/// Three with names race, and main with them.
fn named() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..3)
        .map(|me| {
            let list = Arc::clone(&list);
            start(&format!("guest {me}"), move || push(&list, me, 500))
        })
        .collect();
    push(&list, 9, 500);
    for thread in threads {
        thread.join().unwrap();
    }
    show(&list);
}

/// Four without names, which all do the same, and all at once.
fn unnamed() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let list = Arc::clone(&list);
            std_thread::spawn(move || {
                for _ in 0..500 {
                    let mut list = list.lock().unwrap();
                    let next = list.last().map_or(1, |last| fold(*last, 1));
                    list.push(next);
                }
            })
        })
        .collect();
    for _ in 0..500 {
        let mut list = list.lock().unwrap();
        let last = list.last().copied().unwrap_or(0);
        list.push(last ^ 0x5555);
    }
    for thread in threads {
        thread.join().unwrap();
    }
    show(&list);
}

/// Threads of both kinds, with children of both kinds.
fn mixed() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let (ours, theirs) = (Arc::clone(&list), Arc::clone(&list));
    let native = thread::spawn(move || {
        let list = Arc::clone(&ours);
        let guest = start("guest of a child", move || push(&list, 1, 300));
        push(&ours, 2, 300);
        guest.join().unwrap();
    });
    let guest = start("guest", move || {
        let list = Arc::clone(&theirs);
        let child = thread::spawn(move || push(&list, 3, 300));
        push(&theirs, 4, 300);
        child.join().unwrap();
    });
    push(&list, 5, 300);
    native.join().unwrap();
    guest.join().unwrap();
    show(&list);
}

/// A pool of two that works off what it is sent, and then waits for more until the process ends.
fn pool() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let (done, results) = mpsc::channel();
    let hands: Vec<_> = (0..2u64)
        .map(|me| {
            let (list, done) = (Arc::clone(&list), done.clone());
            let (hand, jobs) = std::sync::mpsc::channel::<u64>();
            start(&format!("pool {me}"), move || {
                for job in jobs {
                    push(&list, fold(me, job), 20);
                    done.send(job).unwrap();
                }
                sleep_for_good();
            });
            hand
        })
        .collect();
    for job in 0..20 {
        hands[job as usize % 2].send(job).unwrap();
    }
    let order = results.iter().take(20).fold(7, fold);
    println!("{order}");
    show(&list);
}

/// One of them ends the process, with main waiting for it.
fn exit() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let theirs = Arc::clone(&list);
    let guest = start("guest", move || {
        push(&theirs, 1, 300);
        show(&theirs);
        std::process::exit(5);
    });
    push(&list, 2, 300);
    guest.join().unwrap();
}

/// A process and a thread that do nothing until main has ended the process, if `HELD` is set. If it is not, each comes to
/// its first operation after the other has begun.
fn beside_process() {
    static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
    static GUEST: AtomicI32 = AtomicI32::new(0);
    let list = Arc::new(Mutex::new(Vec::new()));
    let (ours, theirs) = (Arc::clone(&list), list);
    let is_held = std::env::var_os("HELD").is_some();
    csp::spawn(move || {
        if is_held {
            loop {
                csp::yield_now();
            }
        }
        HAS_BEGUN.store(true, SeqCst);
        while !is_asleep(GUEST.load(SeqCst)) {
            std_thread::yield_now();
        }
        push(&ours, 1, 1);
    });
    start("guest", move || {
        if is_held {
            sleep_for_good();
        }
        while !HAS_BEGUN.load(SeqCst) {
            std_thread::yield_now();
        }
        // SAFETY: It has no conditions.
        GUEST.store(unsafe { libc::gettid() }, SeqCst);
        push(&theirs, 2, 1);
    });
    let (sender, receiver) = mpsc::channel();
    csp::spawn(move || sender.send("from another process"));
    println!("{}", receiver.recv().unwrap());
}

/// Whether the thread with this id sleeps.
fn is_asleep(thread: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/self/task/{thread}/stat"));
    stat.is_ok_and(|stat| stat.contains(") S "))
}
