//! Nobody is forgotten, and nobody always comes last: `programs csp fair NAME`.

use std::time::Duration;

use reenact::{
    csp::{self, Receiver, Sender, bounded, channel, spawn},
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

use crate::support::join_all;

pub(super) fn run(name: &str, arguments: &[String]) -> bool {
    if name != "fair" {
        return false;
    }
    match &*arguments[0] {
        "all-cases" => all_cases(),
        "by-turns" => by_turns(),
        "two-of-twelve" => two_of_twelve(),
        "sides" => sides(),
        "server" => server(),
        "busy" => busy(),
        "lock" => lock(),
        _ => return false,
    }
    true
}

/// Each of these has about the same part of the whole.
#[track_caller]
fn about_equal(counts: &[usize]) {
    let fair = counts.iter().sum::<usize>() / counts.len();
    let range = fair * 7 / 10..=fair * 13 / 10;
    let all = counts.iter().all(|count| range.contains(count));
    assert!(all, "{counts:?}");
}

/// A channel in which there always is a message: it is put back.
fn spring() -> (Sender<()>, Receiver<()>) {
    let (sender, receiver) = bounded(1);
    sender.send(()).unwrap();
    (sender, receiver)
}

/// All of four cases are possible each time.
fn all_cases() {
    let select = || {
        let springs = [(); 4].map(|()| spring());
        let mut counts = [0; 4];
        for _ in 0..4_000 {
            let case = csp::select! {
                recv(springs[0].1) -> _ => 0,
                recv(springs[1].1) -> _ => 1,
                recv(springs[2].1) -> _ => 2,
                recv(springs[3].1) -> _ => 3,
            };
            springs[case].0.send(()).unwrap();
            counts[case] += 1;
        }
        about_equal(&counts);
    };
    select();
    spawn(select).join().unwrap();
}

/// Two processes of one worker select by turns.
fn by_turns() {
    let both = Arc::new(Barrier::new(2));
    let select = move || {
        let springs = [(); 2].map(|()| spring());
        both.wait();
        let mut counts = [0; 2];
        for _ in 0..2_000 {
            let case = csp::select! {
                recv(springs[0].1) -> _ => 0,
                recv(springs[1].1) -> _ => 1,
            };
            springs[case].0.send(()).unwrap();
            counts[case] += 1;
            csp::yield_now();
        }
        about_equal(&counts);
    };
    let processes = [spawn(select.clone()), spawn(select)];
    for process in processes {
        process.join().unwrap();
    }
}

/// Only two neighbours of twelve cases are possible.
fn two_of_twelve() {
    let (_nobody, nothing) = channel::<()>();
    let springs = [(); 2].map(|()| spring());
    let mut counts = [0; 2];
    for _ in 0..4_000 {
        let case = csp::select! {
            recv(nothing) -> _ => unreachable!(),
            recv(nothing) -> _ => unreachable!(),
            recv(springs[0].1) -> _ => 0,
            recv(springs[1].1) -> _ => 1,
            recv(nothing) -> _ => unreachable!(),
            recv(nothing) -> _ => unreachable!(),
            recv(nothing) -> _ => unreachable!(),
            recv(nothing) -> _ => unreachable!(),
            recv(nothing) -> _ => unreachable!(),
            recv(nothing) -> _ => unreachable!(),
            recv(nothing) -> _ => unreachable!(),
            recv(nothing) -> _ => unreachable!(),
        };
        springs[case].0.send(()).unwrap();
        counts[case] += 1;
    }
    about_equal(&counts);
}

/// Sending and receiving are both possible each time.
fn sides() {
    let (sender, receiver) = bounded(1_000_000);
    (0..10_000).for_each(|number| sender.send(number).unwrap());
    let mut counts = [0; 2];
    for number in 0..4_000 {
        counts[csp::select! {
            send(sender, number) -> _ => 0,
            recv(receiver) -> _ => 1,
        }] += 1;
    }
    about_equal(&counts);
}

/// A server selects from clients, of whom some are processes of the same worker, some threads, all in a hurry.
fn server() {
    const CLIENTS: usize = 6;
    let stop = Arc::new(AtomicBool::new(false));
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..CLIENTS).map(|_| channel::<()>()).unzip();
    let (mut processes, mut threads) = (Vec::new(), Vec::new());
    for (number, sender) in senders.into_iter().enumerate() {
        let stop = Arc::clone(&stop);
        let client = move || {
            while !stop.load(SeqCst) && sender.send(()).is_ok() {}
        };
        match number % 3 {
            0 => threads.push(thread::spawn(client)),
            _ => processes.push(spawn(client)),
        }
    }
    let server = spawn(move || {
        let mut counts = [0usize; CLIENTS];
        // Everybody comes often, however long it takes.
        while counts.iter().any(|&count| count < 200) {
            let client = csp::select! {
                recv(receivers[0]) -> _ => 0,
                recv(receivers[1]) -> _ => 1,
                recv(receivers[2]) -> _ => 2,
                recv(receivers[3]) -> _ => 3,
                recv(receivers[4]) -> _ => 4,
                recv(receivers[5]) -> _ => 5,
            };
            counts[client] += 1;
        }
    });
    server.join().unwrap();
    stop.store(true, SeqCst);
    join_all!(processes, threads);
}

/// Processes that keep each other busy keep nobody from being started, being woken, or being out of time.
fn busy() {
    let stop = Arc::new(AtomicBool::new(false));
    let (ping, pings) = channel::<()>();
    let (pong, pongs) = channel::<()>();
    let pair = [
        spawn(move || pings.iter().all(|()| pong.send(()).is_ok())),
        {
            let stop = Arc::clone(&stop);
            spawn(move || {
                while !stop.load(SeqCst) {
                    ping.send(()).unwrap();
                    pongs.recv().unwrap();
                }
                true
            })
        },
    ];
    let yields = {
        let stop = Arc::clone(&stop);
        spawn(move || {
            while !stop.load(SeqCst) {
                csp::yield_now();
            }
        })
    };
    for _ in 0..20 {
        // Started by a thread, and then woken by it.
        let (sender, receiver) = channel::<u32>();
        let process = spawn(move || receiver.recv().unwrap());
        sender.send(1).unwrap();
        assert_eq!(process.join().unwrap(), 1);
        // Out of time.
        let (_nobody, nothing) = channel::<u32>();
        let process = spawn(move || nothing.recv_timeout(Duration::from_micros(100)));
        assert_eq!(process.join().unwrap(), Err(csp::RecvTimeoutError::Timeout));
        // Started by a process.
        let process = spawn(|| spawn(|| spawn(|| 1).join().unwrap()).join().unwrap());
        assert_eq!(process.join().unwrap(), 1);
    }
    stop.store(true, SeqCst);
    yields.join().unwrap();
    for process in pair {
        process.join().unwrap();
    }
}

/// A thread wants a lock that processes take again and again, and the other way round.
fn lock() {
    for thread_is_one in [true, false] {
        let (lock, stop) = (Arc::new(Mutex::new(())), Arc::new(AtomicBool::new(false)));
        let crowd = || {
            let (lock, stop) = (Arc::clone(&lock), Arc::clone(&stop));
            move || {
                while !stop.load(SeqCst) {
                    let _guard = lock.lock().unwrap();
                    // There is always somebody else who waits.
                    csp::yield_now();
                }
            }
        };
        let one = {
            let (lock, stop) = (Arc::clone(&lock), Arc::clone(&stop));
            move || {
                (0..200).for_each(|_| drop(lock.lock().unwrap()));
                stop.store(true, SeqCst);
            }
        };
        let (mut threads, mut processes) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            match thread_is_one {
                true => processes.push(spawn(crowd())),
                false => threads.push(thread::spawn(crowd())),
            }
        }
        match thread_is_one {
            true => thread::spawn(one).join().unwrap(),
            false => spawn(one).join().unwrap(),
        }
        join_all!(processes, threads);
    }
}
