//! Very many processes, and very many messages.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use reenact::{
    csp::{self, Receiver, Sender, bounded, channel, spawn},
    sync::{Arc, Mutex},
    thread,
};

use super::number;

pub(super) fn run(name: &str, arguments: &[String]) -> bool {
    match name {
        "crowd" => crowd(number(arguments, 0)),
        "messages" => messages(&arguments[0], number(arguments, 1)),
        "foreign" => foreign(number(arguments, 0)),
        _ => return false,
    }
    true
}

/// So many processes wait at the same time: at a channel, and then for a lock.
fn crowd(count: usize) {
    static HAVE_BEGUN: AtomicUsize = AtomicUsize::new(0);
    let (sender, receiver) = channel::<usize>();
    let lock = Arc::new(Mutex::new(0));
    let processes: Vec<_> = (0..count)
        .map(|_| {
            let (receiver, lock) = (receiver.clone(), Arc::clone(&lock));
            spawn(move || {
                HAVE_BEGUN.fetch_add(1, SeqCst);
                let number = receiver.recv().unwrap();
                *lock.lock().unwrap() += number;
            })
        })
        .collect();
    while HAVE_BEGUN.load(SeqCst) < count {
        thread::yield_now();
    }
    // Those who have a message wait for the lock.
    let guard = lock.lock().unwrap();
    (0..count).for_each(|number| sender.send(number).unwrap());
    drop(guard);
    processes
        .into_iter()
        .for_each(|process| process.join().unwrap());
    assert_eq!(*lock.lock().unwrap(), count * (count - 1) / 2);
    println!("{count}");
}

/// So many messages from one to another.
fn messages(kind: &str, count: usize) {
    let (who, room) = kind.split_once('/').expect("who/room");
    let (sender, receiver) = match room {
        "any" => csp::unbounded(),
        room => bounded(room.parse().expect("a number")),
    };
    fn send(sender: &Sender<usize>, count: usize) {
        (0..count).for_each(|number| sender.send(number).unwrap());
    }
    fn receive(receiver: &Receiver<usize>) -> usize {
        receiver.iter().sum()
    }
    let sum = match who {
        "processes" => {
            let sends = spawn(move || send(&sender, count));
            let sum = spawn(move || receive(&receiver)).join().unwrap();
            sends.join().unwrap();
            sum
        }
        "process-to-thread" => {
            let sends = spawn(move || send(&sender, count));
            let sum = receive(&receiver);
            sends.join().unwrap();
            sum
        }
        "thread-to-process" => {
            let receives = spawn(move || receive(&receiver));
            send(&sender, count);
            drop(sender);
            receives.join().unwrap()
        }
        "threads" => {
            let sends = thread::spawn(move || send(&sender, count));
            let sum = receive(&receiver);
            sends.join().unwrap();
            sum
        }
        // One case is the first.
        "selections" => {
            let sends = spawn(move || {
                for number in 0..count {
                    csp::select! { send(sender, number) -> sent => sent.unwrap() }
                }
            });
            let receives = spawn(move || {
                let mut sum = 0;
                loop {
                    csp::select! {
                        recv(receiver) -> number => match number {
                            Ok(number) => sum += number,
                            Err(_) => break sum,
                        }
                    }
                }
            });
            sends.join().unwrap();
            receives.join().unwrap()
        }
        _ => panic!("who? {who}"),
    };
    assert_eq!(sum, count * (count - 1) / 2);
    println!("{sum}");
}

/// Threads of which nobody but their channel knows.
fn foreign(count: usize) {
    let (sender, receiver) = channel();
    let threads: Vec<_> = ["one", "two"]
        .into_iter()
        .map(|name| {
            let sender = sender.clone();
            let send = move || (0..count).for_each(|number| sender.send((name, number)).unwrap());
            let builder = std::thread::Builder::new().name(name.to_owned());
            builder.spawn(send).unwrap()
        })
        .collect();
    drop(sender);
    let order: Vec<_> = receiver.iter().map(|(name, _)| &name[..1]).collect();
    println!("{}", order.concat());
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}
