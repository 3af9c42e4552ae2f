//! Programs that run until they are killed, and say how far they have come in a file that survives them.

use reenact::{
    sync::{
        Arc, Condvar, Mutex, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use super::say;
use crate::support::SharedNumbers;

crate::programs! {
    "steady" => steady,
    "churn" => churn,
    "first-reads" => first_reads,
}

const THREADS: usize = 8;

#[derive(Default)]
struct Shared {
    mutexes: [Mutex<u64>; 3],
    tables: [RwLock<u64>; 2],
    numbers: [AtomicU64; 2],
    bell: Condvar,
}

/// Eight threads, each of which runs `body` with its number and a function that acknowledges what it has done.
fn eight_threads(body: impl Fn(usize, &dyn Fn(u64)) + Send + Sync + 'static) {
    let acknowledged = SharedNumbers::open(4096);
    let body = Arc::new(move |me| body(me, &|count| acknowledged.set(me, count)));
    let threads: Vec<_> = (0..THREADS)
        .map(|me| {
            let body = Arc::clone(&body);
            thread::spawn(move || body(me))
        })
        .collect();
    say("ready");
    for thread in threads {
        let _ = thread.join();
    }
}

/// Eight threads do one operation after the other and acknowledge each, for good.
fn steady() {
    let shared = Shared::default();
    eight_threads(move |me, acknowledge| {
        let mut random = me as u64 * 0x9e37_79b9 + 1;
        for count in 1.. {
            operation(&shared, &mut random);
            acknowledge(count);
        }
    });
}

/// Eight threads read the same new locks in the same order, so that they meet at the first reads of them, and acknowledge
/// each.
fn first_reads() {
    let locks: Vec<_> = (0..200_000).map(RwLock::new).collect();
    eight_threads(move |_, acknowledge| {
        for (count, lock) in (1..).zip(&locks) {
            drop(lock.read().unwrap());
            acknowledge(count);
        }
        loop {
            thread::park();
        }
    });
}

/// One operation as the trace counts them.
fn operation(shared: &Shared, random: &mut u64) {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    let which = (*random >> 20) as usize;
    let mutex = &shared.mutexes[which % 3];
    let table = &shared.tables[which % 2];
    let number = &shared.numbers[which % 2];
    match *random % 10 {
        0..=2 => *mutex.lock().unwrap() += 1,
        3 => *table.write().unwrap() += 1,
        4 | 5 => drop(table.read().unwrap()),
        6 => drop(number.fetch_add(1, Ordering::Relaxed)),
        7 => drop(number.load(Ordering::Acquire)),
        8 => {
            if let Ok(mut value) = mutex.try_lock() {
                *value += 1;
            }
        }
        _ => {
            shared.bell.notify_all();
            number.store(which as u64, Ordering::Release);
        }
    }
}

/// Eight threads start one short-lived thread after the other, and acknowledge those that have ended.
fn churn() {
    let shared = Arc::new(Shared::default());
    eight_threads(move |me, acknowledge| {
        for count in 1.. {
            let shared = Arc::clone(&shared);
            let child = thread::spawn(move || {
                let mut random = count * 0x9e37_79b9 + me as u64;
                for _ in 0..count % 20 {
                    operation(&shared, &mut random);
                }
            });
            child.join().unwrap();
            acknowledge(count);
        }
    });
}
