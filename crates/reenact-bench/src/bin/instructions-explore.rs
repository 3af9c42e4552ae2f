//! Explorations, for the suite `instructions`: executes a small program many times.

#[path = "instructions/operation.rs"]
mod operation;

use std::{process::ExitCode, sync::Arc};

use reenact::{
    actor::{self, Target},
    csp,
    stm::{TVar, atomically},
    sync::{Mutex, mpsc},
    thread,
};
use reenact_engine::explore::Explored;
use reenact_explore::{Budget, Explorer, RandomStrategy, Sampler};

fn main() -> ExitCode {
    operation::run(&[
        ("mutex-2x3/walk", |times| walk(mutex, times)),
        ("mpsc-3x3/walk", |times| walk(mpsc, times)),
        ("csp-3x2/walk", |times| walk(rendezvous, times)),
        ("actor-3x2/walk", |times| walk(actor, times)),
        ("stm-2x2/walk", |times| walk(stm, times)),
        ("mutex-2x3/exhaustive", |times| exhaustive(mutex, times)),
        ("mpsc-3x3/exhaustive", |times| exhaustive(mpsc, times)),
        ("csp-3x2/exhaustive", |times| exhaustive(rendezvous, times)),
        ("actor-3x2/exhaustive", |times| exhaustive(actor, times)),
        ("stm-2x2/exhaustive", |times| exhaustive(stm, times)),
    ])
}

/// So many executions at random.
fn walk(program: fn(), times: u64) {
    let subject = Explored::new(Arc::new(program)).expect("nothing is recorded");
    let sampler = Sampler::of(&subject).strategy(RandomStrategy::Walk);
    let report = sampler.executions(times).run(|_| {});
    assert_eq!(report.progress.executions, times);
}

/// One execution of each class, again and again until there were so many.
fn exhaustive(program: fn(), times: u64) {
    let subject = Explored::new(Arc::new(program)).expect("nothing is recorded");
    let mut left = times;
    while left > 0 {
        let budget = Budget {
            executions: Some(left),
            ..Budget::default()
        };
        let report = Explorer::of(&subject).budget(budget).run(|_| {});
        left -= report.progress.executions;
    }
}

/// Two threads take a lock three times each.
fn mutex() {
    let counter = Arc::new(Mutex::new(0));
    let threads = [(); 2].map(|()| {
        let counter = Arc::clone(&counter);
        thread::spawn(move || {
            for _ in 0..3 {
                *counter.lock().unwrap() += 1;
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Three threads send three messages each to the main one.
fn mpsc() {
    let (sender, receiver) = mpsc::channel();
    let threads = [0, 1, 2].map(|me| {
        let sender = sender.clone();
        thread::spawn(move || {
            for _ in 0..3 {
                sender.send(me).unwrap();
            }
        })
    });
    for _ in 0..9 {
        receiver.recv().unwrap();
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Three processes send two messages each to the main thread, which waits for each of them.
fn rendezvous() {
    let (sender, receiver) = csp::channel();
    let processes = [0, 1, 2].map(|me| {
        let sender = sender.clone();
        csp::spawn(move || {
            for _ in 0..2 {
                sender.send(me).unwrap();
            }
        })
    });
    for _ in 0..6 {
        receiver.recv().unwrap();
    }
    for process in processes {
        process.join().unwrap();
    }
}

/// Three threads send two messages each to an actor.
fn actor() {
    let counter = actor::spawn(0);
    let threads = [0, 1, 2].map(|me| {
        let counter = counter.clone();
        thread::spawn(move || {
            for _ in 0..2 {
                counter.send(move |count: &mut u64, _| *count += me);
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Two threads have two transactions each, on one variable.
fn stm() {
    let counter = TVar::new(0);
    let threads = [(); 2].map(|()| {
        let counter = counter.clone();
        thread::spawn(move || {
            for _ in 0..2 {
                atomically(|tx| counter.modify(tx, |count| count + 1));
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}
