//! In place of `futex.rs` when loom runs the code: the kernel is a list of sleeping threads under one lock.
//!
//! As in the kernel, comparing the word and joining the list are one step for whoever wakes. No time passes: a wait with
//! a time limit is over at once.

use std::time::Instant;

use crate::loom::{AtomicU32, Ordering::SeqCst};

struct Sleeper {
    address: usize,
    thread: loom::thread::Thread,
}

loom::lazy_static! {
    static ref SLEEPERS: loom::sync::Mutex<Vec<Sleeper>> = loom::sync::Mutex::new(Vec::new());
}

pub(super) fn sleep_while(word: &AtomicU32, expected: u32, deadline: Option<Instant>) -> bool {
    if deadline.is_some() {
        return word.load(SeqCst) != expected;
    }
    sleep_on(word, expected);
    true
}

pub(crate) fn sleep_on(word: &AtomicU32, expected: u32) {
    let mut sleepers = SLEEPERS.lock().unwrap();
    if word.load(SeqCst) == expected {
        sleepers.push(Sleeper {
            address: word.as_ptr().addr(),
            thread: loom::thread::current(),
        });
        drop(sleepers);
        loom::thread::park();
    }
}

pub(super) fn wake_threads(word: &AtomicU32, count: u32) -> u32 {
    let mut sleepers = SLEEPERS.lock().unwrap();
    let address = word.as_ptr().addr();
    let mut woken = Vec::new();
    while woken.len() < count as usize
        && let Some(index) = sleepers
            .iter()
            .position(|sleeper| sleeper.address == address)
    {
        woken.push(sleepers.remove(index));
    }
    drop(sleepers);
    for sleeper in &woken {
        sleeper.thread.unpark();
    }
    woken.len() as u32
}
