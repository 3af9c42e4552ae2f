//! Programs around scoped threads.

use std::panic::{AssertUnwindSafe, catch_unwind};

use reenact::{
    sync::{
        Mutex, RwLock,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use crate::support::{Seen, jitter, panic_quietly};

crate::programs! {
    "scoped-borrows" => borrows,
    "scoped-nested" => nested,
    "scoped-finished" => finished,
    "scoped-panics" => panics,
}

/// Threads that borrow: pieces of a list to change, a lock, and a counter of who comes when.
fn borrows() {
    let mut list = vec![0usize; 200];
    let next = AtomicUsize::new(0);
    let order = Mutex::new(Vec::new());
    for round in 0..5 {
        thread::scope(|scope| {
            for (me, piece) in list.chunks_mut(50).enumerate() {
                let (next, order) = (&next, &order);
                scope.spawn(move || {
                    for place in piece {
                        *place += next.fetch_add(1, SeqCst);
                        jitter();
                    }
                    order.lock().unwrap().push(me);
                });
            }
        });
        order.lock().unwrap().push(round);
    }
    let mut seen = Seen::default();
    seen.note(&list);
    println!("{} {:?}", seen.digest(), order.into_inner().unwrap());
}

/// Threads of a scope that start others in the same scope, and scopes of their own.
fn nested() {
    let order = Mutex::new(Vec::new());
    let shared = RwLock::new(0);
    let value = thread::scope(|scope| {
        for me in 0..3 {
            let (order, shared) = (&order, &shared);
            thread::Builder::new()
                .name(format!("outer {me}"))
                .spawn_scoped(scope, move || {
                    jitter();
                    let inner = scope.spawn(move || {
                        let current = thread::current();
                        *shared.write().unwrap() += me;
                        order
                            .lock()
                            .unwrap()
                            .push(format!("inner {me} {:?}", current.id()));
                        me
                    });
                    let sum: usize = thread::scope(|own| {
                        let threads: Vec<_> = (0..2)
                            .map(|number| own.spawn(move || number + *shared.read().unwrap()))
                            .collect();
                        threads
                            .into_iter()
                            .map(|thread| thread.join().unwrap())
                            .sum()
                    });
                    let name = thread::current().name().unwrap().to_owned();
                    order.lock().unwrap().push(format!("{name} {sum}"));
                    if me == 1 {
                        assert_eq!(inner.join().unwrap(), 1);
                    }
                })
                .unwrap();
        }
        *shared.read().unwrap()
    });
    println!(
        "{value} {} {:?}",
        shared.read().unwrap(),
        order.lock().unwrap()
    );
}

/// Asks again and again who has finished, and unparks who may be parked.
fn finished() {
    let mut answers = Vec::new();
    let go = AtomicUsize::new(0);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|me| {
                let go = &go;
                scope.spawn(move || {
                    while go.load(SeqCst) <= me {
                        thread::park();
                    }
                })
            })
            .collect();
        while !threads.iter().all(|thread| thread.is_finished()) {
            answers.push(threads.iter().filter(|thread| thread.is_finished()).count());
            go.fetch_add(1, SeqCst);
            for thread in &threads {
                thread.thread().unpark();
            }
            thread::yield_now();
        }
    });
    println!("{answers:?}");
}

/// A scope panics when one of its threads did and nobody asked for its result.
fn panics() {
    panic_quietly();
    let next = AtomicUsize::new(0);
    let mut outcomes = Vec::new();
    for round in 0..20 {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            thread::scope(|scope| {
                let threads: Vec<_> = (0..3)
                    .map(|_| {
                        scope.spawn(|| {
                            let number = next.fetch_add(1, SeqCst);
                            assert!(!number.is_multiple_of(5), "{number}");
                            number
                        })
                    })
                    .collect();
                if round % 2 == 0 {
                    threads
                        .into_iter()
                        .filter_map(|thread| thread.join().ok())
                        .collect()
                } else {
                    Vec::new()
                }
            })
        }));
        outcomes.push(outcome.map_err(|panic| panic.downcast_ref::<&str>().copied()));
    }
    println!("{outcomes:?}");
}
