//! Threads and locks, for the suite `instructions`: does one operation many times.

#[path = "instructions/operation.rs"]
mod operation;

use std::{
    process::ExitCode,
    sync::atomic::{AtomicU64 as Turn, Ordering::SeqCst},
};

use reenact::{
    sync::{
        Arc, Condvar, Mutex, RwLock,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    thread,
};

fn main() -> ExitCode {
    operation::run(&[
        ("mutex", mutex),
        ("mutex-in-turn", mutex_in_turn),
        ("rwlock-read", rwlock_read),
        ("atomic-fetch-add", atomic_fetch_add),
        ("atomic-load", atomic_load),
        ("condvar", condvar),
        ("mpsc", mpsc_alone),
        ("mpsc-2-threads", mpsc_two_threads),
        ("spawn-join", spawn_join),
    ])
}

/// Nobody else wants the lock.
fn mutex(times: u64) {
    let counter = Mutex::new(0);
    for _ in 0..times {
        *counter.lock().unwrap() += 1;
    }
    assert_eq!(counter.into_inner().unwrap(), times);
}

/// Two threads go over the same locks in turn, so that each time the last holder was the other thread. Whose turn it is,
/// they say by what is not recorded, and there are so many locks that it hardly counts.
fn mutex_in_turn(times: u64) {
    const LOCKS: u64 = 256;
    let locks: Arc<[Mutex<u64>]> = (0..LOCKS).map(|_| Mutex::new(0)).collect();
    let turn = Arc::new(Turn::new(0));
    let play = move |me: u64, locks: &[Mutex<u64>], turn: &Turn, other: std::thread::Thread| {
        for mine in (me..times.div_ceil(LOCKS)).step_by(2) {
            while turn.load(SeqCst) != mine {
                std::thread::park();
            }
            for lock in &locks[..(times - mine * LOCKS).min(LOCKS) as usize] {
                *lock.lock().unwrap() += 1;
            }
            turn.store(mine + 1, SeqCst);
            other.unpark();
        }
    };
    let main = std::thread::current();
    let (introduce, introduced) = std::sync::mpsc::channel();
    let other = thread::spawn({
        let (locks, turn) = (Arc::clone(&locks), Arc::clone(&turn));
        move || {
            introduce.send(std::thread::current()).unwrap();
            play(1, &locks, &turn, main);
        }
    });
    play(0, &locks, &turn, introduced.recv().unwrap());
    other.join().unwrap();
    let sum: u64 = locks.iter().map(|lock| *lock.lock().unwrap()).sum();
    assert_eq!(sum, times);
}

fn rwlock_read(times: u64) {
    let value = RwLock::new(1);
    let mut sum = 0;
    for _ in 0..times {
        sum += *value.read().unwrap();
    }
    assert_eq!(sum, times);
}

fn atomic_fetch_add(times: u64) {
    let counter = AtomicU64::new(0);
    for _ in 0..times {
        counter.fetch_add(1, Relaxed);
    }
    assert_eq!(counter.into_inner(), times);
}

fn atomic_load(times: u64) {
    let value = AtomicU64::new(1);
    let mut sum = 0;
    for _ in 0..times {
        sum += value.load(Relaxed);
    }
    assert_eq!(sum, times);
}

/// Two threads hand over to each other, through a lock and a condition.
fn condvar(times: u64) {
    let shared = Arc::new((Mutex::new(0), Condvar::new()));
    let play = move |me: u64, (turn, changed): &(Mutex<u64>, Condvar)| {
        for mine in (me..times).step_by(2) {
            let mut turn = turn.lock().unwrap();
            while *turn != mine {
                turn = changed.wait(turn).unwrap();
            }
            *turn += 1;
            // Whoever is woken should find the lock free.
            drop(turn);
            changed.notify_one();
        }
    };
    let other = thread::spawn({
        let shared = Arc::clone(&shared);
        move || play(1, &shared)
    });
    play(0, &shared);
    other.join().unwrap();
    assert_eq!(*shared.0.lock().unwrap(), times);
}

/// One thread sends a message and receives it.
fn mpsc_alone(times: u64) {
    let (sender, receiver) = mpsc::channel();
    for message in 0..times {
        sender.send(message).unwrap();
        assert_eq!(receiver.recv(), Ok(message));
    }
}

fn mpsc_two_threads(times: u64) {
    let (sender, receiver) = mpsc::channel();
    let other = thread::spawn(move || {
        for message in 0..times {
            sender.send(message).unwrap();
        }
    });
    for message in 0..times {
        assert_eq!(receiver.recv(), Ok(message));
    }
    other.join().unwrap();
}

fn spawn_join(times: u64) {
    for number in 0..times {
        assert_eq!(thread::spawn(move || number).join().unwrap(), number);
    }
}
