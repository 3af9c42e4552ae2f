//! Processes among locks, threads and actors: whatever one waits for, others of its worker go on.
//!
//! Where there is but one worker, none of these would end if a process kept it while it waits.

use std::time::Duration;

use reenact::{
    actor::{Promise, System, Target},
    csp::{self, Receiver, spawn},
    stm::{TVar, atomically, guard},
    sync::{
        Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock,
        atomic::{AtomicU64, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

use super::{Behaviours, behaviours};

pub(super) const ALL: Behaviours = behaviours![
    waiting_for_a_mutex,
    waiting_for_a_mutex_that_a_thread_has,
    waiting_for_an_rwlock,
    waiting_for_a_condition,
    waiting_for_a_condition_for_a_while,
    waiting_at_a_barrier,
    waiting_for_a_once,
    waiting_for_a_once_lock,
    waiting_for_a_lazy_lock,
    waiting_for_a_promise,
    waiting_for_a_promise_for_a_while,
    waiting_in_a_transaction,
    waiting_at_a_channel_of_std,
    waiting_at_a_bounded_channel_of_std,
    waiting_for_a_thread,
    waiting_for_scoped_threads,
    sleeping,
    a_process_that_starts_threads_again_and_again,
    threads_and_processes_take_turns,
    turns_that_send_and_receive,
    turns_that_select,
    a_guard_is_held_across_waits,
    everything_at_once,
];

/// Lets processes of the same worker come to where they wait.
fn let_others_run() {
    (0..10).for_each(|_| csp::yield_now());
}

/// A process that ends when it has done this, which needs what somebody lets go of when there is a message here.
fn one_that_waits<T: Send + 'static>(
    what: impl FnOnce() -> T + Send + 'static,
) -> csp::JoinHandle<T> {
    let process = spawn(what);
    let_others_run();
    process
}

/// ```text
/// holder   lock ── receive (waits) ────── unlock
/// waiter          lock (waits) ────────────────── lock
/// sender                           send
/// ```
fn holder_and_waiter(
    hold: impl FnOnce(Receiver<()>, csp::Sender<()>) + Send + 'static,
    wait: impl FnOnce() + Send + 'static,
) {
    let (go, may_go) = csp::channel();
    let (holds, has_it) = csp::channel();
    let holder = spawn(move || hold(may_go, holds));
    has_it.recv().unwrap();
    let waiter = one_that_waits(wait);
    let sender = spawn(move || go.send(()).unwrap());
    sender.join().unwrap();
    waiter.join().unwrap();
    holder.join().unwrap();
}

#[cfg_attr(test, test)]
fn waiting_for_a_mutex() {
    for _ in 0..10 {
        let lock = Arc::new(Mutex::new(0));
        let [held, wanted] = [Arc::clone(&lock), lock];
        holder_and_waiter(
            move |may_go, holds| {
                let mut guard = held.lock().unwrap();
                holds.send(()).unwrap();
                may_go.recv().unwrap();
                *guard += 1;
            },
            move || assert_eq!(*wanted.lock().unwrap(), 1),
        );
    }
}

#[cfg_attr(test, test)]
fn waiting_for_a_mutex_that_a_thread_has() {
    let lock = Arc::new(Mutex::new(0));
    let guard = lock.lock().unwrap();
    let waiters: Vec<_> = (0..5)
        .map(|_| {
            let lock = Arc::clone(&lock);
            one_that_waits(move || *lock.lock().unwrap() += 1)
        })
        .collect();
    // Ends only if there is a worker.
    spawn(|| {}).join().unwrap();
    drop(guard);
    waiters
        .into_iter()
        .for_each(|waiter| waiter.join().unwrap());
    assert_eq!(*lock.lock().unwrap(), 5);
}

#[cfg_attr(test, test)]
fn waiting_for_an_rwlock() {
    for (write_first, write_then) in [(true, true), (true, false), (false, true)] {
        let table = Arc::new(RwLock::new(0));
        let [held, wanted] = [Arc::clone(&table), table];
        holder_and_waiter(
            move |may_go, holds| {
                let wait = || {
                    holds.send(()).unwrap();
                    may_go.recv().unwrap();
                };
                if write_first {
                    let mut guard = held.write().unwrap();
                    wait();
                    *guard += 1;
                } else {
                    let guard = held.read().unwrap();
                    wait();
                    assert_eq!(*guard, 0);
                }
            },
            move || {
                if write_then {
                    *wanted.write().unwrap() += 10;
                } else {
                    assert_eq!(*wanted.read().unwrap(), 1);
                }
            },
        );
    }
}

#[cfg_attr(test, test)]
fn waiting_for_a_condition() {
    let pair = Arc::new((Mutex::new(0), Condvar::new()));
    let wait = |least: u32| {
        let pair = Arc::clone(&pair);
        move || {
            let number = pair.0.lock().unwrap();
            let number = pair.1.wait_while(number, |number| *number < least);
            drop(number.unwrap());
        }
    };
    let processes: Vec<_> = (1..=5).map(|least| one_that_waits(wait(least))).collect();
    let thread = thread::spawn(wait(3));
    for _ in 0..5 {
        let pair = Arc::clone(&pair);
        let one_more = spawn(move || {
            *pair.0.lock().unwrap() += 1;
            pair.1.notify_all();
        });
        one_more.join().unwrap();
    }
    processes
        .into_iter()
        .for_each(|process| process.join().unwrap());
    thread.join().unwrap();
}

#[cfg_attr(test, test)]
fn waiting_for_a_condition_for_a_while() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let wait = |time: Duration| {
        let pair = Arc::clone(&pair);
        spawn(move || {
            let is_set = pair.0.lock().unwrap();
            let waited = pair.1.wait_timeout_while(is_set, time, |is_set| !*is_set);
            waited.unwrap().1.timed_out()
        })
    };
    assert!(wait(Duration::from_micros(200)).join().unwrap());
    let patient = wait(Duration::from_secs(3600));
    let_others_run();
    *pair.0.lock().unwrap() = true;
    pair.1.notify_one();
    assert!(!patient.join().unwrap());
}

#[cfg_attr(test, test)]
fn waiting_at_a_barrier() {
    let barrier = Arc::new(Barrier::new(6));
    let meet = || {
        let barrier = Arc::clone(&barrier);
        move || (0..10).filter(|_| barrier.wait().is_leader()).count()
    };
    let processes: Vec<_> = (0..5).map(|_| spawn(meet())).collect();
    let thread = thread::spawn(meet());
    let led = processes.into_iter().map(|process| process.join().unwrap());
    assert_eq!(led.sum::<usize>() + thread.join().unwrap(), 10);
}

#[cfg_attr(test, test)]
fn waiting_for_a_once() {
    let once = Arc::new(Once::new());
    let [held, wanted] = [Arc::clone(&once), once];
    holder_and_waiter(
        move |may_go, holds| {
            held.call_once(|| {
                holds.send(()).unwrap();
                may_go.recv().unwrap();
            })
        },
        move || wanted.call_once(|| unreachable!("somebody did")),
    );
}

#[cfg_attr(test, test)]
fn waiting_for_a_once_lock() {
    let cell = Arc::new(OnceLock::new());
    let [held, wanted] = [Arc::clone(&cell), cell];
    holder_and_waiter(
        move |may_go, holds| {
            held.get_or_init(|| {
                holds.send(()).unwrap();
                may_go.recv().unwrap();
                7
            });
        },
        move || assert_eq!(*wanted.get_or_init(|| 8), 7),
    );
}

#[cfg_attr(test, test)]
fn waiting_for_a_lazy_lock() {
    let (go, may_go) = csp::channel();
    let lazy = Arc::new(LazyLock::new(move || may_go.recv().unwrap()));
    let processes: Vec<_> = (0..3)
        .map(|_| {
            let lazy = Arc::clone(&lazy);
            one_that_waits(move || **lazy)
        })
        .collect();
    spawn(move || go.send(7).unwrap()).join().unwrap();
    for process in processes {
        assert_eq!(process.join().unwrap(), 7);
    }
}

#[cfg_attr(test, test)]
fn waiting_for_a_promise() {
    let actor = System::current().spawn(0u64);
    let processes: Vec<_> = (0..10)
        .map(|_| {
            let actor = actor.clone();
            spawn(move || {
                let add = |this: &mut u64| {
                    *this += 1;
                    *this
                };
                let answers = (0..5).map(|_| actor.ask(move |this, _| add(this)).wait().unwrap());
                answers.collect::<Vec<_>>()
            })
        })
        .collect();
    let mut answers: Vec<_> = processes
        .into_iter()
        .flat_map(|process| process.join().unwrap())
        .collect();
    answers.sort_unstable();
    assert!(answers.into_iter().eq(1..=50));
}

#[cfg_attr(test, test)]
fn waiting_for_a_promise_for_a_while() {
    let (promise, resolver) = Promise::<u32>::pair();
    let process = spawn(
        move || match promise.wait_timeout(Duration::from_micros(100)) {
            Ok(outcome) => outcome.unwrap(),
            Err(later) => later.wait().unwrap() + 1,
        },
    );
    let_others_run();
    // Not before the time is up, or thereabouts: either will do.
    spawn(move || resolver.resolve(1)).join().unwrap();
    assert!([1, 2].contains(&process.join().unwrap()));
}

#[cfg_attr(test, test)]
fn waiting_in_a_transaction() {
    let account = Arc::new(TVar::new(0));
    let takers: Vec<_> = (0..5)
        .map(|_| {
            let account = Arc::clone(&account);
            one_that_waits(move || {
                atomically(|tx| {
                    let balance = account.read(tx)?;
                    guard(balance >= 10)?;
                    account.write(tx, balance - 10)
                })
            })
        })
        .collect();
    spawn(move || {
        for _ in 0..25 {
            atomically(|tx| account.modify(tx, |balance| balance + 2));
            csp::yield_now();
        }
    })
    .join()
    .unwrap();
    takers.into_iter().for_each(|taker| taker.join().unwrap());
}

#[cfg_attr(test, test)]
fn waiting_at_a_channel_of_std() {
    // Made by a thread and used by processes, and made by a process.
    let (sender, receiver) = mpsc::channel();
    let process = one_that_waits(move || receiver.recv().unwrap());
    spawn(move || sender.send(7).unwrap()).join().unwrap();
    assert_eq!(process.join().unwrap(), 7);

    let process = spawn(|| {
        let (sender, receiver) = mpsc::channel();
        spawn(move || (0..10).try_for_each(|number| sender.send(number)));
        receiver.iter().sum::<u32>()
    });
    assert_eq!(process.join().unwrap(), 45);

    let (sender, receiver) = mpsc::channel::<u8>();
    let process = spawn(move || receiver.recv_timeout(Duration::from_micros(100)));
    assert_eq!(
        process.join().unwrap(),
        Err(mpsc::RecvTimeoutError::Timeout)
    );
    drop(sender);
}

#[cfg_attr(test, test)]
fn waiting_at_a_bounded_channel_of_std() {
    for room in [0, 1] {
        let process = spawn(move || {
            let (sender, receiver) = mpsc::sync_channel(room);
            let sender = spawn(move || (0..10).try_for_each(|number| sender.send(number)));
            let sum = receiver.iter().sum::<u32>();
            sender.join().unwrap().unwrap();
            sum
        });
        assert_eq!(process.join().unwrap(), 45);
    }
    let (sender, receiver) = mpsc::sync_channel(1);
    let process = one_that_waits(move || (0..10).try_for_each(|number| sender.send(number)));
    assert!(receiver.iter().eq(0..10));
    process.join().unwrap().unwrap();
}

#[cfg_attr(test, test)]
fn waiting_for_a_thread() {
    let (go, may_go) = csp::channel::<u32>();
    let process = one_that_waits(move || {
        let thread = thread::spawn(move || may_go.recv().unwrap());
        thread.join().unwrap()
    });
    spawn(move || go.send(7).unwrap()).join().unwrap();
    assert_eq!(process.join().unwrap(), 7);
}

#[cfg_attr(test, test)]
fn waiting_for_scoped_threads() {
    let (go, may_go) = csp::channel();
    let process = one_that_waits(move || {
        let numbers = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| numbers.lock().unwrap().push(may_go.recv().unwrap()));
            }
            let third = scope.spawn(|| may_go.recv().unwrap());
            numbers.lock().unwrap().push(third.join().unwrap());
        });
        let mut numbers = numbers.into_inner().unwrap();
        numbers.sort_unstable();
        numbers
    });
    let sender = spawn(move || (0..3).try_for_each(|number| go.send(number)));
    assert_eq!(process.join().unwrap(), [0, 1, 2]);
    sender.join().unwrap().unwrap();
}

#[cfg_attr(test, test)]
fn sleeping() {
    // So many could not sleep one after the other.
    let processes: Vec<_> = (0..200)
        .map(|_| spawn(|| thread::sleep(Duration::from_millis(20))))
        .collect();
    processes
        .into_iter()
        .for_each(|process| process.join().unwrap());
}

#[cfg_attr(test, test)]
fn a_process_that_starts_threads_again_and_again() {
    let process = spawn(|| {
        let threads = (0..30).map(|number| thread::spawn(move || number).join().unwrap());
        threads.sum::<u32>()
    });
    assert_eq!(process.join().unwrap(), 435);
}

#[cfg_attr(test, test)]
fn threads_and_processes_take_turns() {
    let (ping, pings) = csp::channel();
    let (pong, pongs) = csp::channel();
    let process = spawn(move || {
        for number in pings {
            pong.send(number + 1).unwrap();
        }
    });
    let thread = thread::spawn(move || {
        let mut number = 0;
        for _ in 0..200 {
            ping.send(number).unwrap();
            number = pongs.recv().unwrap();
        }
        number
    });
    assert_eq!(thread.join().unwrap(), 200);
    process.join().unwrap();
}

/// ```text
/// actor      turn: send (waits) ────── turn: receive (waits) ──────
/// process                  receive                       send
/// ```
#[cfg_attr(test, test)]
fn turns_that_send_and_receive() {
    let system = System::current();
    let (question, questions) = csp::channel();
    let (answer, answers) = csp::channel::<u32>();
    let process = spawn(move || {
        for number in questions {
            answer.send(number * 2).unwrap();
        }
    });
    let actors: Vec<_> = (0..4).map(|number| system.spawn(number)).collect();
    let asked: Vec<_> = actors
        .iter()
        .map(|actor| {
            let (question, answers) = (question.clone(), answers.clone());
            actor.ask(move |this, _| {
                question.send(*this).unwrap();
                *this = answers.recv().unwrap();
                *this
            })
        })
        .collect();
    drop((question, answers));
    let mut got: Vec<_> = asked
        .into_iter()
        .map(|asked| asked.wait().unwrap())
        .collect();
    got.sort_unstable();
    assert_eq!(got, [0, 2, 4, 6]);
    process.join().unwrap();
}

#[cfg_attr(test, test)]
fn turns_that_select() {
    let (number, numbers) = csp::channel();
    let (stop, stopped) = csp::channel::<()>();
    let actor = System::current().spawn(Vec::new());
    let collected = actor.ask(move |this: &mut Vec<u32>, _| {
        loop {
            csp::select! {
                recv(numbers) -> number => this.push(number.unwrap()),
                recv(stopped) -> _ => break this.len(),
            }
        }
    });
    let sending = spawn(move || {
        (0..50).for_each(|at| number.send(at).unwrap());
        drop(stop);
        number
    });
    // Kept until the actor has stopped: once both are gone, it may choose either.
    let number = sending.join().unwrap();
    assert_eq!(collected.wait().unwrap(), 50);
    drop(number);
}

#[cfg_attr(test, test)]
fn a_guard_is_held_across_waits() {
    let lock = Arc::new(Mutex::new(Vec::new()));
    let processes: Vec<_> = (0..5)
        .map(|me| {
            let lock = Arc::clone(&lock);
            spawn(move || {
                let mut list = lock.lock().unwrap();
                for _ in 0..5 {
                    list.push(me);
                    csp::yield_now();
                }
            })
        })
        .collect();
    processes
        .into_iter()
        .for_each(|process| process.join().unwrap());
    let list = lock.lock().unwrap();
    assert!(
        list.chunks(5)
            .all(|chunk| chunk.iter().all(|me| *me == chunk[0]))
    );
    assert_eq!(list.len(), 25);
}

#[cfg_attr(test, test)]
fn everything_at_once() {
    let shared = Arc::new((Mutex::new(0u64), RwLock::new(0u64), AtomicU64::new(0)));
    let actor = System::current().spawn(0u64);
    let (sender, receiver) = csp::bounded(2);
    let work = |me: u64| {
        let (shared, actor, sender) = (Arc::clone(&shared), actor.clone(), sender.clone());
        move || {
            for round in 0..20 {
                match (me + round) % 5 {
                    0 => *shared.0.lock().unwrap() += 1,
                    1 => *shared.1.write().unwrap() += 1,
                    2 => drop(shared.2.fetch_add(1, SeqCst)),
                    3 => actor.ask(|this, _| *this += 1).wait().unwrap(),
                    _ => sender.send(1).unwrap(),
                }
                if round % 7 == 0 {
                    csp::yield_now();
                }
            }
        }
    };
    let processes: Vec<_> = (0..5).map(|me| spawn(work(me))).collect();
    let threads: Vec<_> = (0..5).map(|me| thread::spawn(work(me))).collect();
    drop(sender);
    let received: u64 = receiver.iter().sum();
    processes
        .into_iter()
        .for_each(|process| process.join().unwrap());
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    let asked = actor.ask(|this, _| *this).wait().unwrap();
    let numbers = (*shared.0.lock().unwrap(), *shared.1.read().unwrap());
    assert_eq!(
        [numbers.0, numbers.1, shared.2.load(SeqCst), asked, received],
        [40; 5]
    );
}
