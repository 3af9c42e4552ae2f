//! How fine steps are: operations that nobody can observe separately are one step, until somebody can.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc as Plain, Mutex as PlainMutex},
};

use reenact::{
    csp,
    explore::{Explorer, Failure, Finding, Strategy},
    sync::{
        Arc, Mutex, RwLock,
        atomic::{AtomicU32, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

/// Explores a program in every way there is.
fn explore(program: impl Fn() + Send + Sync + Clone + 'static) -> Finding {
    for way in ["mixed", "walk", "preemptions 2", "delays 2"] {
        let explorer = Explorer::new()
            .strategy(way.parse().unwrap())
            .executions(500);
        let finding = explorer.run(program.clone());
        assert!(finding.failure.is_none(), "{way}: {:?}", finding.failure);
    }
    let portfolio = Explorer::new().run(program.clone());
    assert!(portfolio.failure.is_none(), "{:?}", portfolio.failure);
    let finding = Explorer::new().strategy(Strategy::Exhaustive).run(program);
    assert!(finding.failure.is_none(), "{:?}", finding.failure);
    assert!(finding.is_complete);
    finding
}

/// That an end is dropped, or a lock given back, is a step only once somebody tries: then what was done before is done again.
#[test]
fn a_try_after_what_was_no_step_is_explored() {
    explore(|| {
        let (sender, receiver) = mpsc::channel::<u32>();
        drop(sender);
        assert!(receiver.try_recv().is_err());
    });
    explore(|| {
        let (sender, receiver) = mpsc::channel::<u32>();
        drop(sender);
        assert!(receiver.try_recv().is_err());
        assert!(receiver.try_recv().is_err());
    });
    explore(|| {
        let lock = Mutex::new(());
        drop(lock.lock().unwrap());
        drop(lock.try_lock());
    });
}

/// ```text
/// main.0: lock unlock try_lock      main.1: lock unlock
/// ```
#[test]
fn a_try_beside_a_lock_is_explored() {
    let seen = Plain::new(PlainMutex::new(BTreeSet::new()));
    let seen_by_all = Plain::clone(&seen);
    explore(move || {
        let lock = Arc::new(Mutex::new(()));
        let other = Arc::clone(&lock);
        let tries = thread::spawn(move || {
            drop(lock.lock().unwrap());
            lock.try_lock().is_ok()
        });
        let locks = thread::spawn(move || drop(other.lock().unwrap()));
        let has_it = tries.join().unwrap();
        locks.join().unwrap();
        seen_by_all.lock().unwrap().insert(has_it);
    });
    assert_eq!(*seen.lock().unwrap(), BTreeSet::from([false, true]));
}

/// ```text
/// main.0: lock  send      lock
/// main.1: lock  try_recv  lock
/// ```
#[test]
fn threads_that_share_a_channel_and_a_lock_are_explored() {
    let seen = Plain::new(PlainMutex::new(BTreeSet::new()));
    let seen_by_all = Plain::clone(&seen);
    explore(move || {
        let (sender, receiver) = csp::unbounded::<u32>();
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let sends = thread::spawn(move || {
            *lock.lock().unwrap() += 1;
            let _ = sender.send(1);
            *lock.lock().unwrap() += 1;
        });
        let tries = thread::spawn(move || {
            *other.lock().unwrap() += 1;
            let got = receiver.try_recv();
            *other.lock().unwrap() += 1;
            got
        });
        sends.join().unwrap();
        let got = tries.join().unwrap();
        seen_by_all.lock().unwrap().insert(got.is_ok());
    });
    assert_eq!(*seen.lock().unwrap(), BTreeSet::from([false, true]));
}

/// Who reads while it reads waits for a writer that has come in between, which waits for it:
///
/// ```text
/// main: read         read
/// main.0:      write
/// ```
#[test]
fn a_recursive_read_beside_a_writer_hangs() {
    let program = || {
        let lock = Arc::new(RwLock::new(0));
        let other = Arc::clone(&lock);
        let writer = thread::spawn(move || *other.write().unwrap() = 1);
        let outer = lock.read().unwrap();
        let inner = lock.read().unwrap();
        assert_eq!(*outer, *inner);
        drop((outer, inner));
        writer.join().unwrap();
    };
    for way in ["exhaustive", "mixed", "preemptions 3"] {
        let explorer = Explorer::new()
            .strategy(way.parse().unwrap())
            .executions(2_000);
        let failed = explorer.try_check(program).expect_err(way);
        assert!(
            matches!(failed.failures(), [Failure::Deadlock(_)]),
            "{way}: {failed}"
        );
        let follow = Explorer::new().strategy(Strategy::Schedule(failed.schedule().clone()));
        let again = follow.try_check(program).expect_err("it leads there again");
        assert_eq!(again.failures(), failed.failures());
    }
}

/// Who waits for a second reader while it reads waits for a writer that has come in between, which waits for it:
///
/// ```text
/// main:   read   join main.1
/// main.0:      write
/// main.1:        read
/// ```
#[test]
fn a_reader_that_waits_for_another_beside_a_writer_hangs() {
    let program = || {
        let lock = Arc::new(RwLock::new(0));
        let [written, read] = [Arc::clone(&lock), Arc::clone(&lock)];
        let writer = thread::spawn(move || *written.write().unwrap() = 1);
        let outer = lock.read().unwrap();
        let reader = thread::spawn(move || *read.read().unwrap());
        assert_eq!(*outer, reader.join().unwrap());
        drop(outer);
        writer.join().unwrap();
    };
    for way in ["exhaustive", "mixed", "preemptions 3"] {
        let explorer = Explorer::new()
            .strategy(way.parse().unwrap())
            .executions(2_000);
        let failed = explorer.try_check(program).expect_err(way);
        assert!(
            matches!(failed.failures(), [Failure::Deadlock(_)]),
            "{way}: {failed}"
        );
    }
}

/// Readers that do not read twice over are explored as before: two orders of a reader and a writer, and the reader beside a
/// second one.
#[test]
fn a_writer_that_waits_is_no_step_where_nobody_reads_twice_over() {
    let finding = explore(|| {
        let lock = Arc::new(RwLock::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let lock = Arc::clone(&lock);
                thread::spawn(move || *lock.read().unwrap())
            })
            .collect();
        *lock.write().unwrap() = 1;
        for thread in threads {
            thread.join().unwrap();
        }
    });
    assert_eq!(finding.executions, 4);
}

/// Two threads come to the same values, and who comes second to one does something that concerns nobody else.
#[test]
fn what_one_does_for_itself_takes_no_execution_more() {
    for count in 2..=7 {
        let seen = Plain::new(PlainMutex::new(BTreeSet::new()));
        let seen_by_all = Plain::clone(&seen);
        let finding = Explorer::new().strategy(Strategy::Exhaustive).run(move || {
            let orders: Plain<PlainMutex<BTreeMap<usize, Vec<usize>>>> = Plain::default();
            let shared: Arc<Vec<AtomicU32>> =
                Arc::new((0..count).map(|_| AtomicU32::new(0)).collect());
            let own: Arc<Vec<AtomicU32>> =
                Arc::new((0..2 * count).map(|_| AtomicU32::new(0)).collect());
            let threads: Vec<_> = (0..2)
                .map(|me| {
                    let (shared, own) = (Arc::clone(&shared), Arc::clone(&own));
                    let orders = Plain::clone(&orders);
                    thread::spawn(move || {
                        for index in 0..count {
                            let is_second = shared[index].fetch_add(1, SeqCst) == 1;
                            orders.lock().unwrap().entry(index).or_default().push(me);
                            if is_second {
                                own[me * count + index].store(1, SeqCst);
                            }
                        }
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            let orders = format!("{:?}", orders.lock().unwrap());
            seen_by_all.lock().unwrap().insert(orders);
        });
        assert!(finding.is_complete);
        let classes = seen.lock().unwrap().len();
        assert_eq!(classes, 1 << count);
        assert_eq!(finding.executions, classes as u64, "with {count}");
    }
}
