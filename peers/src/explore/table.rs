//! The programs, compiled once for each library that explores.
//!
//! The parent module brings into scope what they are written against, and here nothing else may name where that comes
//! from:
//!
//! - `spawn`, for a thread, and what it returns, which can be joined;
//! - `Mutex`, and `lock` for it; `Counter`, an atomic number with `load` and `store`;
//! - `channel`, for many senders and one receiver, and `send` and `receive` for its ends;
//! - `Outcome`, `Program` and `Shape`, of `programs.rs`.
//!
//! Threads share by the standard library's `Arc`, which no library has to know of: its counts are no part of the
//! programs.

use std::sync::Arc;

use super::{
    Counter, Mutex, Outcome, Program, Shape, channel, load, lock, receive, send, spawn, store,
};

/// One execution of the program, by the thread that calls, which is its main thread.
pub(crate) fn execute(program: Program) -> Outcome {
    match program.shape() {
        Shape::Mutex {
            threads,
            increments,
        } => mutex(threads, increments),
        Shape::Philosophers {
            philosophers,
            ordered,
        } => eat(philosophers, ordered),
        Shape::Channel { senders, messages } => arrivals(senders, messages),
        Shape::Atomic {
            threads,
            increments,
        } => atomic(threads, increments),
    }
}

fn mutex(threads: usize, increments: u64) -> Outcome {
    let counter = Arc::new(Mutex::new(0));
    let increment = |_| {
        let counter = Arc::clone(&counter);
        spawn(move || {
            for _ in 0..increments {
                *lock(&counter) += 1;
            }
        })
    };
    let threads: Vec<_> = (0..threads).map(increment).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let count = *lock(&counter);
    Outcome::Count(count)
}

fn eat(philosophers: usize, ordered: bool) -> Outcome {
    let forks: Arc<Vec<_>> = Arc::new((0..philosophers).map(|_| Mutex::new(())).collect());
    let philosopher = |number| {
        let forks = Arc::clone(&forks);
        let (one, other) = (number, (number + 1) % philosophers);
        let swapped = ordered && other < one;
        let (first, second) = if swapped { (other, one) } else { (one, other) };
        spawn(move || {
            let _first = lock(&forks[first]);
            let _second = lock(&forks[second]);
        })
    };
    let table: Vec<_> = (0..philosophers).map(philosopher).collect();
    let mut eaten = 0;
    for philosopher in table {
        philosopher.join().unwrap();
        eaten += 1;
    }
    Outcome::Count(eaten)
}

fn arrivals(senders: usize, messages: usize) -> Outcome {
    let (to_main, from_senders) = channel();
    let sender = |number| {
        let to_main = to_main.clone();
        spawn(move || {
            for message in 0..messages {
                send(&to_main, (number, message));
            }
        })
    };
    let threads: Vec<_> = (0..senders).map(sender).collect();
    let arrivals = (0..senders * messages)
        .map(|_| receive(&from_senders))
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    Outcome::Arrivals(arrivals)
}

fn atomic(threads: usize, increments: u64) -> Outcome {
    let counter = Arc::new(Counter::new(0));
    let increment = |_| {
        let counter = Arc::clone(&counter);
        spawn(move || {
            for _ in 0..increments {
                let loaded = load(&counter);
                store(&counter, loaded + 1);
            }
        })
    };
    let threads: Vec<_> = (0..threads).map(increment).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    Outcome::Count(load(&counter))
}
