//! Very many threads, and very many operations.

use reenact::{
    sync::{Arc, Barrier, Condvar, Mutex, RwLock, atomic::AtomicU64, atomic::Ordering},
    thread,
};

use super::{fold, number};

pub(super) fn run(name: &str, arguments: &[String]) -> bool {
    match name {
        "crowd" => crowd(number(arguments, 0)),
        "queue" => waves(number(arguments, 0), 1),
        "waves" => waves(number(arguments, 0), number(arguments, 1)),
        "first-come" => first_come(number(arguments, 0)),
        "crowd-at-condition" => crowd_at_condition(number(arguments, 0)),
        "chatter" => chatter(number(arguments, 0)),
        _ => return false,
    }
    true
}

/// So many threads at once: none ends before all are there.
fn crowd(size: usize) {
    let everybody = Arc::new(Barrier::new(size));
    let order = Arc::new(Mutex::new((0, 7)));
    let threads: Vec<_> = (0..size)
        .map(|me| {
            let (everybody, order) = (Arc::clone(&everybody), Arc::clone(&order));
            thread::spawn(move || {
                everybody.wait();
                let mut order = order.lock().unwrap();
                *order = (order.0 + 1, fold(order.1, me as u64));
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{:?}", order.lock().unwrap());
}

/// So many short-lived threads, `size` of them at a time.
/// All wait until main opens the door, and go through it one after the other. Some wait for each other, too, where only
/// the kernel knows it.
fn crowd_at_condition(size: usize) {
    /// How many have come, and the order of those that are through once the door is open.
    #[derive(Default)]
    struct Door {
        come: usize,
        through: Option<u64>,
    }
    let door = Arc::new((Mutex::new(Door::default()), Condvar::new()));
    let threads: Vec<_> = (0..size as u64)
        .map(|me| {
            let door = Arc::clone(&door);
            thread::spawn(move || {
                let (mutex, condition) = &*door;
                let mut guard = mutex.lock().unwrap();
                guard.come += 1;
                condition.notify_all();
                guard = condition
                    .wait_while(guard, |door| door.through.is_none())
                    .unwrap();
                guard.through = guard.through.map(|through| fold(through, me));
                drop(guard);
                if me % 50 == 0 {
                    let (sender, receiver) = std::sync::mpsc::channel();
                    std::thread::spawn(move || sender.send(()));
                    receiver.recv().unwrap();
                }
            })
        })
        .collect();
    let (mutex, condition) = &*door;
    let guard = mutex.lock().unwrap();
    let mut guard = condition
        .wait_while(guard, |door| door.come < size)
        .unwrap();
    guard.through = Some(7);
    condition.notify_all();
    drop(guard);
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{:?}", mutex.lock().unwrap().through);
}

fn waves(total: usize, size: usize) {
    let order = Arc::new(Mutex::new((0, 7)));
    let sum = Arc::new(AtomicU64::new(0));
    for wave in 0..total / size {
        let threads: Vec<_> = (0..size)
            .map(|me| {
                let (order, sum) = (Arc::clone(&order), Arc::clone(&sum));
                thread::spawn(move || {
                    let number = (wave * size + me) as u64;
                    let mut order = order.lock().unwrap();
                    *order = (order.0 + 1, fold(order.1, number));
                    drop(order);
                    sum.fetch_add(number, Ordering::Relaxed);
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    }
    println!(
        "{:?} {}",
        order.lock().unwrap(),
        sum.load(Ordering::Relaxed)
    );
}

/// So many atomics and tables that nobody has used: one thread looks at each of them, one changes each of them, and which
/// of the two comes first is all there is to it.
fn first_come(size: usize) {
    let numbers: Vec<_> = (0..size).map(|_| AtomicU64::new(0)).collect();
    let tables: Vec<_> = (0..size).map(|_| RwLock::new(0)).collect();
    let both = std::sync::Barrier::new(2);
    let order = thread::scope(|scope| {
        scope.spawn(|| {
            both.wait();
            for (number, table) in numbers.iter().zip(&tables) {
                number.store(1, Ordering::Relaxed);
                *table.write().unwrap() = 1;
            }
        });
        let looking = scope.spawn(|| {
            both.wait();
            let looks = numbers
                .iter()
                .zip(&tables)
                .map(|(number, table)| 2 * number.load(Ordering::Relaxed) + *table.read().unwrap());
            looks.fold(7, fold)
        });
        looking.join().unwrap()
    });
    println!("{order}");
}

/// Tries a lock that another has, so often: nothing makes a trace grow faster.
fn chatter(times: usize) {
    let lock = Mutex::new(0);
    let held = lock.lock().unwrap();
    let declined = thread::scope(|scope| {
        let trying = scope.spawn(|| (0..times).filter(|_| lock.try_lock().is_err()).count());
        trying.join().unwrap()
    });
    drop(held);
    println!("{declined} times in vain");
}
