//! Programs around `mpsc`.

use std::time::Duration;

use reenact::{
    sync::{
        Arc, Mutex,
        mpsc::{
            Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, TrySendError, channel,
            sync_channel,
        },
    },
    thread,
};

use crate::support::{Dice, Seen, jitter, run_workers};

/// Runs the program of this name, if it is one of these.
pub(crate) fn run(name: &str, _arguments: &[String]) -> bool {
    match name {
        "mpsc-senders" => senders(),
        "mpsc-bounded" => bounded(3),
        "mpsc-rendezvous" => bounded(0),
        "mpsc-try-rendezvous" => try_rendezvous(),
        "mpsc-timeouts" => timeouts(),
        "mpsc-receiver-goes" => receiver_goes(),
        "mpsc-senders-go" => senders_go(),
        "mpsc-shared-sender" => shared_sender(),
        "mpsc-channels-in-channels" => channels_in_channels(),
        _ => return false,
    }
    true
}

/// Three send, one receives, in every way that receiving can be written.
fn senders() {
    let (sender, receiver) = channel();
    let threads: Vec<_> = (0..3)
        .map(|me| {
            let sender = sender.clone();
            thread::spawn(move || {
                for round in 0..200 {
                    jitter();
                    sender.send(me * 1000 + round).unwrap();
                }
            })
        })
        .collect();
    drop(sender);
    let mut seen = Seen::default();
    for _ in 0..50 {
        seen.note(receiver.recv().ok());
    }
    for message in receiver.iter().take(50) {
        seen.note(message);
    }
    let mut there = 0;
    for message in receiver.try_iter() {
        there += 1;
        seen.note(message);
    }
    for message in &receiver {
        seen.note(message);
        if message % 1000 == 180 {
            break;
        }
    }
    for message in receiver {
        seen.note(message);
    }
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{there} {}", seen.digest());
}

/// Three senders wait for room, or do not.
fn bounded(room: usize) {
    let (sender, receiver) = sync_channel(room);
    let workers = thread::spawn(move || {
        let sender = Mutex::new(sender);
        run_workers(3, move |me| {
            let sender: SyncSender<_> = sender.lock().unwrap().clone();
            let mut dice = Dice::new(me);
            let mut full = 0;
            for round in 0..100 {
                if dice.roll(3) == 0 {
                    match sender.try_send((me, round)) {
                        Ok(()) => {}
                        Err(TrySendError::Full(message)) => {
                            assert_eq!(message, (me, round), "it is given back");
                            full += 1;
                        }
                        Err(TrySendError::Disconnected(_)) => unreachable!("there is a receiver"),
                    }
                } else {
                    sender.send((me, round)).unwrap();
                }
            }
            full
        })
    });
    let mut seen = Seen::default();
    let mut count = 0;
    for message in receiver {
        count += 1;
        jitter();
        seen.note(message);
    }
    println!("{count} {} {:?}", seen.digest(), workers.join().unwrap());
}

/// Without a buffer, a message is accepted at once only by who waits for one.
fn try_rendezvous() {
    let (sender, receiver) = sync_channel(0);
    let other = thread::spawn(move || {
        let (mut accepted, mut refused) = (0, 0);
        for round in 0..300 {
            match sender.try_send(round) {
                Ok(()) => accepted += 1,
                Err(TrySendError::Full(_)) => refused += 1,
                Err(TrySendError::Disconnected(_)) => break,
            }
            jitter();
        }
        (accepted, refused)
    });
    let mut seen = Seen::default();
    let mut received = 0;
    loop {
        match receiver.recv_timeout(Duration::from_micros(30)) {
            Ok(message) => {
                received += 1;
                seen.note(message);
            }
            Err(RecvTimeoutError::Timeout) => seen.note("nothing"),
            Err(RecvTimeoutError::Disconnected) => break,
        }
        seen.note(receiver.try_recv().ok());
    }
    println!("{received} {} {:?}", seen.digest(), other.join().unwrap());
}

/// Messages that come in time, or not.
fn timeouts() {
    let (sender, receiver) = channel();
    let other = thread::spawn(move || {
        let mut dice = Dice::new(0);
        for round in 0..100 {
            sender.send(round).unwrap();
            thread::sleep(Duration::from_micros(dice.roll(60) as u64));
        }
    });
    let (mut dice, mut seen) = (Dice::new(1), Seen::default());
    let mut late = 0;
    loop {
        match receiver.recv_timeout(Duration::from_micros(dice.roll(120) as u64)) {
            Ok(message) => seen.note(message),
            Err(RecvTimeoutError::Timeout) => {
                late += 1;
                seen.note(match receiver.try_recv() {
                    Ok(message) => message,
                    Err(TryRecvError::Empty) => -1,
                    Err(TryRecvError::Disconnected) => -2,
                });
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    other.join().unwrap();
    println!("{late} {}", seen.digest());
}

/// The receiver goes while others send, and wait for room.
fn receiver_goes() {
    let mut results = Vec::new();
    for room in [Some(0), Some(2), None] {
        for enough in [0, 5, 40] {
            type Send1 = Box<dyn Fn(usize) -> bool + Send>;
            let (senders, receiver): (Vec<Send1>, Receiver<usize>) = match room {
                Some(room) => {
                    let (sender, receiver) = sync_channel(room);
                    let senders = (0..3).map(|_| {
                        let sender = sender.clone();
                        Box::new(move |message| sender.send(message).is_ok()) as _
                    });
                    (senders.collect(), receiver)
                }
                None => {
                    let (sender, receiver) = channel();
                    let senders = (0..3).map(|_| {
                        let sender: Sender<_> = sender.clone();
                        Box::new(move |message| sender.send(message).is_ok()) as _
                    });
                    (senders.collect(), receiver)
                }
            };
            let threads: Vec<_> = senders
                .into_iter()
                .map(|send| thread::spawn(move || (0..60).take_while(|&round| send(round)).count()))
                .collect();
            let received: usize = receiver.into_iter().take(enough).sum();
            let sent: Vec<_> = threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect();
            results.push((received, sent));
        }
    }
    println!("{results:?}");
}

/// Senders go one by one; the receiver notices when the last is gone, after everything that they sent.
fn senders_go() {
    let mut results = Vec::new();
    for round in 0..30 {
        let (sender, receiver) = channel();
        let threads: Vec<_> = (0..3)
            .map(|me| {
                let sender = sender.clone();
                thread::spawn(move || {
                    for _ in 0..(me + round) % 4 {
                        sender.send(me).unwrap();
                    }
                })
            })
            .collect();
        drop(sender);
        let mut seen = Seen::default();
        let mut empty = 0;
        loop {
            match receiver.try_recv() {
                Ok(message) => seen.note(message),
                Err(TryRecvError::Empty) => empty += 1,
                Err(TryRecvError::Disconnected) => break,
            }
            thread::yield_now();
        }
        results.push((empty, seen.digest()));
        for thread in threads {
            thread.join().unwrap();
        }
    }
    println!("{results:?}");
}

/// Requests that carry the way to answer them, to a server that three clients use; one gives up early.
fn channels_in_channels() {
    let (requests, server) = channel::<(usize, Sender<usize>)>();
    let log = Arc::new(Mutex::new(Seen::default()));
    let its_log = Arc::clone(&log);
    let server = thread::spawn(move || {
        let mut answered = 0;
        for (number, answer) in server {
            its_log.lock().unwrap().note(number);
            answered += usize::from(answer.send(number * 2 + answered).is_ok());
        }
        answered
    });
    let requests = Mutex::new(requests);
    let digests = run_workers(3, move |me| {
        let requests = requests.lock().unwrap().clone();
        let mut seen = Seen::default();
        for round in 0..60 {
            let (answer, answers) = channel();
            requests.send((me * 100 + round, answer)).unwrap();
            if me == 0 && round % 4 == 0 {
                drop(answers);
            } else {
                seen.note(answers.recv().ok());
            }
        }
        seen.digest()
    });
    println!(
        "{digests:?} {} {}",
        server.join().unwrap(),
        log.lock().unwrap().digest()
    );
}

/// Three threads share one sender with an `Arc`; nobody decides which of them drops it.
fn shared_sender() {
    let mut results = Vec::new();
    for round in 0..30 {
        let (sender, receiver) = channel();
        let sender = Arc::new(sender);
        for me in 0..3 {
            let sender = Arc::clone(&sender);
            thread::spawn(move || {
                for _ in 0..(me + round) % 4 {
                    sender.send(me).unwrap();
                }
                jitter();
            });
        }
        drop(sender);
        let mut seen = Seen::default();
        receiver.iter().for_each(|message| seen.note(message));
        results.push(seen.digest());
    }
    println!("{results:?}");
}
