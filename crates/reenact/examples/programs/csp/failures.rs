//! Processes that end badly, never end, or do something else when the environment says `DRIFT=other`.

use std::{env, time::Duration};

use reenact::{
    csp::{self, Receiver, Sender, bounded, channel, spawn},
    sync::{Arc, Barrier, Mutex},
    thread,
};

use super::number;
use crate::support::{Acknowledged, Dice, PARTIES, Seen, jitter};

pub(super) fn run(name: &str, arguments: &[String]) -> bool {
    match name {
        "steady" => steady(),
        "families" => families(),
        "chatter" => chatter(number(arguments, 0)),
        "stuck" => stuck(&arguments[0]),
        "ends" => ends(&arguments[0]),
        "drift" => drift(&arguments[0]),
        _ => return false,
    }
    true
}

fn say(line: &str) {
    use std::io::Write;
    let mut output = std::io::stdout().lock();
    // Nobody may be listening, in a replay.
    let _ = writeln!(output, "{line}");
    let _ = output.flush();
}

/// One of those who go on until the process is killed.
struct Steady {
    me: usize,
    count: usize,
    seen: Seen,
    acknowledged: std::sync::Arc<Acknowledged>,
}

impl Steady {
    fn note(&mut self, what: impl std::hash::Hash) {
        self.seen.note(what);
        let (count, seen) = (self.count, self.seen.digest());
        self.count += 1;
        self.acknowledged.saw(self.me, count, seen);
    }

    fn go_on(mut self, channels: &[(Sender<u64>, Receiver<u64>)], lock: &Mutex<u64>) {
        let mut dice = Dice::new(self.me);
        for number in 0.. {
            jitter();
            let value = (self.me as u64) << 32 | number;
            let [(a, at_a), (b, at_b), (c, at_c), (d, at_d)] = channels else {
                unreachable!("there are four")
            };
            match dice.roll(8) {
                0 | 1 => csp::select! {
                    send(a, value) -> sent => self.note((0, sent.is_ok())),
                    recv(at_b) -> message => self.note((1, message.ok())),
                    default(Duration::from_micros(50)) => self.note("late"),
                },
                2 | 3 => csp::select! {
                    recv(at_a) -> message => self.note((2, message.ok())),
                    send(b, value) -> sent => self.note((3, sent.is_ok())),
                    recv(at_c) -> message => self.note((4, message.ok())),
                    default(Duration::from_micros(50)) => self.note("late"),
                },
                4 => self.note(c.send_timeout(value, Duration::from_micros(50)).is_ok()),
                5 => self.note(at_d.try_recv().ok()),
                6 => self.note(d.try_send(value).is_ok()),
                _ => {
                    let before = std::mem::replace(&mut *lock.lock().unwrap(), value);
                    self.note(before);
                }
            }
        }
    }
}

/// Processes and threads that meet at channels until the process is killed.
fn steady() {
    let acknowledged = std::sync::Arc::new(Acknowledged::open());
    let channels = std::sync::Arc::new([channel(), channel(), channel(), bounded(3)]);
    let lock = Arc::new(Mutex::new(0));
    let parties: Vec<_> = (0..PARTIES)
        .map(|me| {
            let acknowledged = std::sync::Arc::clone(&acknowledged);
            let (channels, lock) = (std::sync::Arc::clone(&channels), Arc::clone(&lock));
            let steady = Steady {
                me,
                count: 0,
                seen: Seen::default(),
                acknowledged,
            };
            move || steady.go_on(&*channels, &lock)
        })
        .collect();
    let mut threads = Vec::new();
    for (me, party) in parties.into_iter().enumerate() {
        match me % 3 {
            0 => threads.push(thread::spawn(party)),
            _ => drop(spawn(party)),
        }
    }
    say("ready");
    for thread in threads {
        let _ = thread.join();
    }
}

/// Processes that have children, who have children, until the process is killed.
fn families() {
    let acknowledged = std::sync::Arc::new(Acknowledged::open());
    let lock = Arc::new(Mutex::new(0u64));
    let parents: Vec<_> = (0..PARTIES)
        .map(|me| {
            let mut parent = Steady {
                me,
                count: 0,
                seen: Seen::default(),
                acknowledged: std::sync::Arc::clone(&acknowledged),
            };
            let lock = Arc::clone(&lock);
            spawn(move || {
                for generation in 0u64.. {
                    let (sender, receiver) = channel();
                    for sibling in 0..2u64 {
                        let (sender, lock) = (sender.clone(), Arc::clone(&lock));
                        spawn(move || {
                            let grandchild = spawn(move || {
                                *lock.lock().unwrap() += 1;
                                *lock.lock().unwrap()
                            });
                            sender.send(generation + sibling).unwrap();
                            let _ = sender.send(grandchild.join().unwrap());
                        });
                    }
                    drop(sender);
                    receiver.iter().for_each(|what| parent.note(what));
                }
            })
        })
        .collect();
    say("ready");
    for parent in parents {
        let _ = parent.join();
    }
}

/// Three processes, each of which tries so often to receive what nobody sends. Makes some megabytes of trace.
fn chatter(times: usize) {
    let (_sender, receiver) = channel::<u8>();
    let processes: Vec<_> = (0..3)
        .map(|_| {
            let receiver = receiver.clone();
            spawn(move || (0..times).filter(|_| receiver.try_recv().is_err()).count())
        })
        .collect();
    let vain: usize = processes
        .into_iter()
        .map(|process| process.join().unwrap())
        .sum();
    println!("{vain} times in vain");
}

/// Processes that cannot go on. They are killed when they have said so twice.
fn stuck(how: &str) {
    let (a, at_a) = channel::<u8>();
    let (b, at_b) = channel::<u8>();
    let processes = match how {
        // Each waits for the other.
        "receiving" => [
            spawn(move || {
                say("stuck");
                at_a.recv().unwrap();
                b.send(1).unwrap();
            }),
            spawn(move || {
                say("stuck");
                at_b.recv().unwrap();
                a.send(1).unwrap();
            }),
        ],
        "sending" => [
            spawn(move || {
                say("stuck");
                a.send(1).unwrap();
                at_b.recv().unwrap();
            }),
            spawn(move || {
                say("stuck");
                b.send(1).unwrap();
                at_a.recv().unwrap();
            }),
        ],
        // Neither offers what the other wants.
        "selecting" => {
            let ends = || (a.clone(), at_a.clone(), b.clone(), at_b.clone());
            let (one, other) = (ends(), ends());
            [
                spawn(move || {
                    say("stuck");
                    csp::select! {
                        recv(one.1) -> _ => {}
                        recv(one.3) -> _ => {}
                    }
                }),
                spawn(move || {
                    say("stuck");
                    csp::select! {
                        recv(other.3) -> _ => {}
                        recv(other.1) -> _ => {}
                    }
                }),
            ]
        }
        // One has a lock that the other wants before it sends.
        "locking" => {
            let lock = Arc::new(Mutex::new(()));
            let wanted = Arc::clone(&lock);
            let both = Arc::new(Barrier::new(2));
            let theirs = Arc::clone(&both);
            [
                spawn(move || {
                    let _guard = lock.lock().unwrap();
                    both.wait();
                    say("stuck");
                    at_a.recv().unwrap();
                }),
                spawn(move || {
                    theirs.wait();
                    say("stuck");
                    let _guard = wanted.lock().unwrap();
                    a.send(1).unwrap();
                }),
            ]
        }
        // They are busy with something else, for good.
        "spinning" => [(a, at_a), (b, at_b)].map(|(sender, receiver)| {
            let other = spawn(move || receiver.recv().unwrap());
            spawn(move || {
                sender.send(1).unwrap();
                other.join().unwrap();
                say("stuck");
                loop {
                    csp::yield_now();
                }
            })
        }),
        _ => panic!("stuck how? {how}"),
    };
    for process in processes {
        let _ = process.join();
    }
}

/// The process ends while others do something.
fn ends(how: &str) {
    let (sender, receiver) = channel::<u64>();
    let (_never, waits) = channel::<u64>();
    for me in 0..3 {
        let (sender, waits) = (sender.clone(), waits.clone());
        spawn(move || (0..).try_for_each(|number| sender.send(me * 1000 + number)));
        spawn(move || waits.recv());
        thread::spawn(|| {
            loop {
                thread::yield_now();
            }
        });
    }
    let mut seen = Seen::default();
    for _ in 0..300 {
        seen.note(receiver.recv().unwrap());
    }
    println!("{:016x}", seen.digest());
    match how {
        "return" => {}
        "exit" => {
            spawn(|| std::process::exit(3));
            receiver.iter().for_each(drop);
        }
        "abort" => {
            spawn(|| std::process::abort());
            receiver.iter().for_each(drop);
        }
        "panic-twice" => {
            struct Panics;
            impl Drop for Panics {
                fn drop(&mut self) {
                    panic!("for the second time");
                }
            }
            spawn(|| {
                let _panics = Panics;
                panic!("for the first time");
            });
            receiver.iter().for_each(drop);
        }
        "panic" => {
            let _ = spawn(|| std::panic::resume_unwind(Box::new(()))).join();
            panic!("main too");
        }
        "overflow" => {
            #[expect(unconditional_recursion, reason = "this is what it is for")]
            fn recurse(depth: u64) -> u64 {
                std::hint::black_box([depth; 100]);
                recurse(depth + 1) + 1
            }
            let _ = spawn(|| recurse(0)).join();
        }
        _ => panic!("ends how? {how}"),
    }
}

/// A program that is another one with `DRIFT=other`.
fn drift(what: &str) {
    let other = env::var_os("DRIFT").is_some_and(|drift| drift == "other");
    let (a, at_a) = channel::<u64>();
    let (b, at_b) = channel::<u64>();
    let more = move |usual: u64| if other { usual + 1 } else { usual };
    let sum: u64 = match what {
        // A message more.
        "message" => {
            spawn(move || (0..more(2)).try_for_each(|number| a.send(number)));
            at_a.iter().sum()
        }
        // The same, by a thread that is not waited for.
        "message-of-main" => {
            let process = spawn(move || at_a.iter().sum::<u64>());
            (0..more(2)).for_each(|number| a.send(number).unwrap());
            drop(a);
            process.join().unwrap()
        }
        // The same, into room.
        "message-into-room" => {
            let (sender, receiver) = bounded(5);
            (0..more(2)).for_each(|number| sender.send(number).unwrap());
            spawn(move || receiver.try_iter().sum()).join().unwrap()
        }
        // Another process has the message.
        "receiver" => {
            let one = spawn(move || at_a.iter().sum::<u64>());
            let two = spawn(move || at_b.iter().sum::<u64>() * 10);
            if other { &b } else { &a }.send(1).unwrap();
            drop((a, b));
            one.join().unwrap() + two.join().unwrap()
        }
        // The same, of two who receive from one channel.
        "who-receives" => {
            let receive = |count: usize| {
                let receiver = at_a.clone();
                let process = spawn(move || receiver.iter().take(count).sum::<u64>());
                (0..count as u64).for_each(|number| a.send(number).unwrap());
                process.join().unwrap()
            };
            match other {
                false => receive(2) + 10 * receive(1),
                true => receive(1) + 10 * receive(2),
            }
        }
        // Another process sends it.
        "sender" => {
            let send = |sends: bool| {
                let sender = a.clone();
                spawn(move || {
                    if sends {
                        sender.send(1).unwrap();
                    }
                })
            };
            let processes = [send(!other), send(other)];
            let received = at_a.recv().unwrap();
            for process in processes {
                process.join().unwrap();
            }
            received
        }
        // Messages by way of two channels, in another order.
        "order" => {
            let ((a, at_a), (b, at_b)) = (bounded(2), bounded(2));
            let process = spawn(move || {
                let order = if other { [&a, &a, &b] } else { [&a, &b, &a] };
                order.into_iter().for_each(|sender| sender.send(1).unwrap());
            });
            let sum = at_a.recv().unwrap() + 10 * at_b.recv().unwrap();
            process.join().unwrap();
            sum
        }
        // The same cases in another order.
        "cases" => {
            let process = spawn(move || b.send(1).unwrap());
            let sum = match other {
                false => csp::select! {
                    recv(at_a) -> number => number.unwrap(),
                    recv(at_b) -> number => number.unwrap(),
                },
                true => csp::select! {
                    recv(at_b) -> number => number.unwrap(),
                    recv(at_a) -> number => number.unwrap(),
                },
            };
            process.join().unwrap();
            sum
        }
        // A case less.
        "fewer-cases" => {
            let process = spawn(move || b.send(1).unwrap());
            let sum = match other {
                false => csp::select! {
                    recv(at_a) -> number => number.unwrap(),
                    recv(at_b) -> number => number.unwrap(),
                },
                true => csp::select! {
                    recv(at_b) -> number => number.unwrap(),
                },
            };
            process.join().unwrap();
            sum
        }
        // With a default or without one, where there is nothing to be had at first.
        "default" => {
            let first = match other {
                false => csp::select! {
                    recv(at_a) -> number => number.unwrap(),
                    recv(at_b) -> number => number.unwrap(),
                    default => 7,
                },
                true => 7,
            };
            let process = spawn(move || a.send(1).unwrap());
            let sum = first + at_a.recv().unwrap();
            process.join().unwrap();
            sum
        }
        // As many cases, but for a default in place of one of them.
        "case-or-default" => {
            let process = spawn(move || b.send(1).unwrap());
            let sum = match other {
                false => csp::select! {
                    recv(at_a) -> number => number.unwrap(),
                    recv(at_b) -> number => number.unwrap(),
                },
                true => csp::select! {
                    recv(at_a) -> number => number.unwrap(),
                    default => 7,
                },
            };
            // In any case.
            let more = at_b.try_iter().count();
            drop((at_a, at_b));
            let _ = process.join();
            sum + more as u64
        }
        // A selection of one, or just that one.
        "select" => {
            let process = spawn(move || a.send(1).unwrap());
            let sum = match other {
                false => csp::select!(recv(at_a) -> number => number.unwrap()),
                true => at_a.recv().unwrap(),
            };
            process.join().unwrap();
            sum
        }
        // One more process, which does nothing.
        "process" => {
            (0..more(2)).for_each(|_| spawn(|| {}).join().unwrap());
            1
        }
        // The same by a process, and nobody waits for it.
        "process-of-a-process" => {
            let count = more(2);
            let process = spawn(move || (0..count).for_each(|_| drop(spawn(|| {}))));
            process.join().unwrap();
            1
        }
        // The sender goes before or after there is somebody who asks.
        "closed" => {
            if other {
                drop(a);
                at_a.try_recv().unwrap_err();
            } else {
                at_a.try_recv().unwrap_err();
                drop(a);
            }
            1
        }
        // A process waits for something that is none of our business, before it has done what it has to do.
        "elsewhere" => {
            let process = spawn(move || {
                a.send(1).unwrap();
                let (_never, nothing) = std::sync::mpsc::channel::<()>();
                if other {
                    let _ = nothing.recv();
                }
                a.send(2).unwrap();
            });
            let sum = at_a.iter().sum();
            process.join().unwrap();
            sum
        }
        // A lock is taken once more by a process.
        "lock" => {
            let (lock, count) = (Mutex::new(0), more(2));
            spawn(move || (0..count).for_each(|_| *lock.lock().unwrap() += 1))
                .join()
                .unwrap();
            1
        }
        // One that is asked once more whether it has ended.
        "ask" => {
            let process = spawn(move || at_a.recv().unwrap());
            assert!((0..more(2)).all(|_| !process.is_finished()));
            a.send(1).unwrap();
            process.join().unwrap()
        }
        _ => panic!("no such drift: {what}"),
    };
    println!("{sum}");
}
