//! Processes.

use std::{
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
};

use reenact::{
    actor::{System, Target},
    csp::{self, JoinHandle, spawn},
    sync::Mutex,
    thread,
};

use super::{Behaviours, behaviours, message_of, wait_until};

pub(super) const ALL: Behaviours = behaviours![
    joining_returns_what_the_process_returned,
    joining_returns_what_the_process_panicked_with,
    a_panic_is_the_process_s_own,
    one_that_panics_may_use_channels_on_its_way_out,
    a_process_runs_though_nobody_joins_it,
    a_process_that_has_finished_says_so,
    processes_start_processes,
    threads_and_actors_start_processes,
    a_system_that_is_shut_down_leaves_its_processes_alone,
    a_process_stays_on_its_worker,
    there_is_room_for_deep_recursion,
    yielding_lets_others_run,
    many_processes_in_a_ring,
    a_process_may_wait_for_many,
    a_process_may_end_in_any_order,
];

#[cfg_attr(test, test)]
fn joining_returns_what_the_process_returned() {
    let processes: Vec<_> = (0..100)
        .map(|number| spawn(move || vec![number; 3]))
        .collect();
    for (number, process) in processes.into_iter().enumerate() {
        assert_eq!(process.join().unwrap(), [number; 3]);
    }
    assert_eq!(spawn(|| spawn(|| 7).join().unwrap()).join().unwrap(), 7);
}

#[cfg_attr(test, test)]
fn joining_returns_what_the_process_panicked_with() {
    for _ in 0..20 {
        let process: JoinHandle<()> = spawn(|| resume_unwind(Box::new("never mind")));
        assert_eq!(message_of(&*process.join().unwrap_err()), "never mind");
    }
}

/// ```text
/// one     panics ── dropping, lets others run ── ended
/// other                    does not panic
/// ```
#[cfg_attr(test, test)]
fn a_panic_is_the_process_s_own() {
    struct LetsOthersRun;
    impl Drop for LetsOthersRun {
        fn drop(&mut self) {
            assert!(std::thread::panicking());
            (0..10).for_each(|_| csp::yield_now());
        }
    }
    for _ in 0..20 {
        let lock = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&lock);
        let process = spawn(move || {
            let _guard = theirs.lock().unwrap();
            let _slow = LetsOthersRun;
            resume_unwind(Box::new(()));
        });
        let others: Vec<_> = (0..3)
            .map(|_| {
                spawn(|| {
                    for _ in 0..10 {
                        assert!(!std::thread::panicking());
                        csp::yield_now();
                    }
                })
            })
            .collect();
        assert!(process.join().is_err());
        assert!(lock.is_poisoned());
        others.into_iter().for_each(|other| other.join().unwrap());
    }
}

/// ```text
/// one     panics ── dropping, sends (waits) ── sends again
/// other                receives ──────────── receives
/// ```
#[cfg_attr(test, test)]
fn one_that_panics_may_use_channels_on_its_way_out() {
    struct Sends(csp::Sender<u8>);
    impl Drop for Sends {
        fn drop(&mut self) {
            (0..3).for_each(|number| self.0.send(number).unwrap());
        }
    }
    for _ in 0..10 {
        let (sender, receiver) = csp::channel();
        let process = spawn(move || {
            let _sends = Sends(sender);
            resume_unwind(Box::new(()));
        });
        for number in 0..3 {
            thread::yield_now();
            assert_eq!(receiver.recv(), Ok(number));
        }
        assert!(process.join().is_err());
    }
}

#[cfg_attr(test, test)]
fn a_process_runs_though_nobody_joins_it() {
    let (sender, receiver) = csp::channel();
    for number in 0..50 {
        let sender = sender.clone();
        drop(spawn(move || sender.send(number).unwrap()));
    }
    drop(sender);
    let mut numbers: Vec<_> = receiver.iter().collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..50));
}

#[cfg_attr(test, test)]
fn a_process_that_has_finished_says_so() {
    let (go, waits) = csp::channel::<()>();
    let process = spawn(move || waits.recv().is_err());
    assert!(!process.is_finished());
    drop(go);
    wait_until(|| process.is_finished());
    assert!(process.join().unwrap());
}

#[cfg_attr(test, test)]
fn processes_start_processes() {
    fn leaves(depth: u32) -> u32 {
        if depth == 0 {
            return 1;
        }
        let children = [0, 1, 2].map(|_| spawn(move || leaves(depth - 1)));
        children
            .into_iter()
            .map(|child| child.join().unwrap())
            .sum()
    }
    assert_eq!(spawn(|| leaves(5)).join().unwrap(), 243);
}

#[cfg_attr(test, test)]
fn threads_and_actors_start_processes() {
    let thread = thread::spawn(|| spawn(|| 1).join().unwrap());
    assert_eq!(thread.join().unwrap(), 1);

    let (sender, receiver) = csp::channel();
    System::current().spawn(2).send(move |this, _| {
        let number = *this;
        spawn(move || sender.send(number).unwrap());
    });
    assert_eq!(receiver.recv(), Ok(2));
}

/// Processes that are started in an actor's turn are run by the workers of that actor.
///
/// ```text
/// actor      turn: start both ── (shut down)
/// one        receive (waits) ──────────────── answer
/// other      has perhaps not begun ────────── answer
/// ```
#[cfg_attr(test, test)]
fn a_system_that_is_shut_down_leaves_its_processes_alone() {
    for workers in [1, 2] {
        let system = System::new(workers);
        let (question, questions) = csp::channel::<u32>();
        let (answer, answers) = csp::channel();
        let turn = system.spawn(()).ask(move |(), _| {
            for number in 0..4 {
                let (questions, answer) = (questions.clone(), answer.clone());
                spawn(move || {
                    let question = questions.recv().unwrap();
                    // Started where there may be no workers any more.
                    let more = spawn(move || number * 10).join().unwrap();
                    answer.send(question + more).unwrap();
                });
            }
        });
        turn.wait().unwrap();
        system.shut_down();
        let mut sum = 0;
        for number in 0..4 {
            question.send(number).unwrap();
            sum += answers.recv().unwrap();
        }
        assert_eq!(sum, 66);
        assert!(answers.recv().is_err(), "they have ended");
    }
}

#[cfg_attr(test, test)]
fn a_process_stays_on_its_worker() {
    let processes: Vec<_> = (0..8)
        .map(|_| {
            spawn(|| {
                let place = std::thread::current().id();
                let (sender, receiver) = csp::channel();
                spawn(move || (0..20).try_for_each(|number| sender.send(number)));
                for _ in receiver {
                    assert_eq!(std::thread::current().id(), place);
                    csp::yield_now();
                    assert_eq!(std::thread::current().id(), place);
                }
            })
        })
        .collect();
    processes
        .into_iter()
        .for_each(|process| process.join().unwrap());
}

#[cfg_attr(test, test)]
fn there_is_room_for_deep_recursion() {
    const DEPTH: usize = 500;
    /// A kilobyte on each level, and a wait at the deepest.
    fn descend(depth: usize, wait: &mut dyn FnMut()) -> usize {
        let mut here = [0u8; 1 << 10];
        std::hint::black_box(&mut here);
        if depth == 0 {
            wait();
            return 0;
        }
        let below = descend(depth - 1, wait);
        std::hint::black_box(&mut here);
        below + 1
    }
    let (sender, receiver) = csp::channel();
    let processes: Vec<_> = (0..4)
        .map(|_| {
            let receiver = receiver.clone();
            spawn(move || descend(DEPTH, &mut || receiver.recv().unwrap()))
        })
        .collect();
    (0..4).for_each(|_| sender.send(()).unwrap());
    for process in processes {
        assert_eq!(process.join().unwrap(), DEPTH);
    }
}

#[cfg_attr(test, test)]
fn yielding_lets_others_run() {
    // Each waits for the other, in the way in which nobody should.
    let turn = Arc::new(AtomicUsize::new(0));
    let processes: Vec<_> = (0..3)
        .map(|me| {
            let turn = Arc::clone(&turn);
            spawn(move || {
                for round in 0..50 {
                    wait_until(|| turn.load(SeqCst) == 3 * round + me);
                    turn.fetch_add(1, SeqCst);
                }
            })
        })
        .collect();
    processes
        .into_iter()
        .for_each(|process| process.join().unwrap());
    assert_eq!(turn.load(SeqCst), 150);

    // One that yields without end does not keep those from running that have not begun.
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let yields = spawn(move || wait_until(|| stopped.load(SeqCst)));
    spawn(move || spawn(move || stop.store(true, SeqCst)))
        .join()
        .unwrap()
        .join()
        .unwrap();
    yields.join().unwrap();
}

#[cfg_attr(test, test)]
fn many_processes_in_a_ring() {
    let (first, mut last) = csp::channel();
    for _ in 0..500 {
        let (sender, receiver) = csp::channel();
        let before = std::mem::replace(&mut last, receiver);
        spawn(move || {
            before
                .iter()
                .try_for_each(|number: u64| sender.send(number + 1))
        });
    }
    for round in 0..3 {
        first.send(round).unwrap();
        assert_eq!(last.recv(), Ok(round + 500));
    }
    drop(first);
    assert!(last.recv().is_err(), "they have gone one after the other");
}

#[cfg_attr(test, test)]
fn a_process_may_wait_for_many() {
    let process = spawn(|| {
        let children: Vec<_> = (0..100)
            .map(|number| {
                spawn(move || {
                    csp::yield_now();
                    number
                })
            })
            .collect();
        children
            .into_iter()
            .map(|child| child.join().unwrap())
            .sum::<u32>()
    });
    assert_eq!(process.join().unwrap(), 4950);
}

#[cfg_attr(test, test)]
fn a_process_may_end_in_any_order() {
    let (senders, processes): (Vec<_>, Vec<_>) = (0..10)
        .map(|number| {
            let (sender, receiver) = csp::channel::<u32>();
            (sender, spawn(move || receiver.recv().unwrap() + number))
        })
        .unzip();
    for (sender, number) in senders.into_iter().zip(0..10).rev() {
        sender.send(number).unwrap();
    }
    for (number, process) in (0..).zip(processes) {
        assert_eq!(process.join().unwrap(), 2 * number);
    }
}
