//! Locks, conditions and atomic variables.

use std::{sync::Arc, time::Duration};

use reenact::{
    sync::{
        Condvar, Mutex, RwLock,
        atomic::{AtomicI32, Ordering::SeqCst},
    },
    thread,
};

use crate::oracle::{Chance, Log, Program, compare, seeds};

#[derive(Clone, Debug)]
enum Op {
    Lock(usize, Vec<Op>),
    TryLock(usize, Vec<Op>),
    Read(usize, Vec<Op>),
    TryRead(usize),
    Write(usize, Vec<Op>),
    TryWrite(usize),
    Load(usize),
    Store(usize),
    Add(usize),
    Wait(usize),
    WaitInTime(usize),
    NotifyOne(usize),
    NotifyAll(usize),
}

#[derive(Clone, Debug)]
struct Locks(Vec<Vec<Op>>);

#[derive(Default)]
struct Shared {
    mutexes: [Mutex<i32>; 2],
    locks: [RwLock<i32>; 1],
    variables: [AtomicI32; 2],
    conditions: [(Mutex<i32>, Condvar); 1],
}

impl Shared {
    fn run(&self, me: usize, log: &Log, ops: &[Op]) {
        let mark = 1 + me as i32;
        for op in ops {
            match op {
                Op::Lock(of, inner) => {
                    let mut guard = self.mutexes[*of].lock().unwrap();
                    log.note(me, *guard);
                    *guard = *guard * 4 + mark;
                    self.run(me, log, inner);
                }
                Op::TryLock(of, inner) => match self.mutexes[*of].try_lock() {
                    Ok(mut guard) => {
                        log.note(me, *guard);
                        *guard = *guard * 4 + mark;
                        self.run(me, log, inner);
                    }
                    Err(_) => log.note(me, -1),
                },
                Op::Read(of, inner) => {
                    let guard = self.locks[*of].read().unwrap();
                    log.note(me, *guard);
                    self.run(me, log, inner);
                }
                Op::TryRead(of) => {
                    let seen = self.locks[*of].try_read().map_or(-1, |guard| *guard);
                    log.note(me, seen);
                }
                Op::Write(of, inner) => {
                    let mut guard = self.locks[*of].write().unwrap();
                    log.note(me, *guard);
                    *guard = *guard * 4 + mark;
                    self.run(me, log, inner);
                }
                Op::TryWrite(of) => match self.locks[*of].try_write() {
                    Ok(mut guard) => *guard = *guard * 4 + mark,
                    Err(_) => log.note(me, -1),
                },
                Op::Load(of) => log.note(me, self.variables[*of].load(SeqCst)),
                Op::Store(of) => self.variables[*of].store(mark, SeqCst),
                Op::Add(of) => log.note(me, self.variables[*of].fetch_add(mark, SeqCst)),
                Op::Wait(of) => {
                    let (mutex, condition) = &self.conditions[*of];
                    let mut guard = mutex.lock().unwrap();
                    if *guard == 0 {
                        guard = condition.wait(guard).unwrap();
                    }
                    log.note(me, *guard);
                }
                Op::WaitInTime(of) => {
                    let (mutex, condition) = &self.conditions[*of];
                    let guard = mutex.lock().unwrap();
                    let time = Duration::from_secs(1);
                    let (guard, result) = condition.wait_timeout(guard, time).unwrap();
                    log.note(me, *guard * 2 + i32::from(result.timed_out()));
                }
                Op::NotifyOne(of) | Op::NotifyAll(of) => {
                    let (mutex, condition) = &self.conditions[*of];
                    *mutex.lock().unwrap() += mark;
                    match op {
                        Op::NotifyOne(_) => condition.notify_one(),
                        _ => condition.notify_all(),
                    }
                }
            }
        }
    }
}

impl Op {
    /// Whether it or what it does meanwhile is such an operation.
    fn has(&self, is_such: fn(&Op) -> bool) -> bool {
        let inner = match self {
            Op::Lock(_, inner) | Op::TryLock(_, inner) => inner,
            Op::Read(_, inner) | Op::Write(_, inner) => inner,
            _ => &Vec::new(),
        };
        is_such(self) || inner.iter().any(|op| op.has(is_such))
    }
}

impl Program for Locks {
    /// Some executions are begun in vain if readers do something meanwhile, while a writer may wait and keep others out.
    fn is_exact(&self) -> bool {
        let has = |is_such| self.0.iter().flatten().any(|op| op.has(is_such));
        !has(|op| matches!(op, Op::Read(_, inner) if !inner.is_empty()))
            || !has(|op| matches!(op, Op::Write(..)))
    }

    fn run(&self, log: &Log) {
        let shared = Arc::new(Shared::default());
        let ops = self.0.iter().cloned().enumerate();
        let threads: Vec<_> = ops
            .map(|(me, ops)| {
                let (shared, log) = (Arc::clone(&shared), log.clone());
                thread::spawn(move || shared.run(me, &log, &ops))
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    }
}

fn simple(chance: &mut Chance) -> Op {
    match chance.below(3) {
        0 => Op::Load(chance.below(2)),
        1 => Op::Store(chance.below(2)),
        _ => Op::Add(chance.below(2)),
    }
}

fn lock(chance: &mut Chance, with_tries: bool) -> Op {
    let inner = chance.some(0..=1, |chance| match chance.below(3) {
        0 => Op::Lock(1, Vec::new()),
        _ => simple(chance),
    });
    match chance.below(if with_tries { 6 } else { 3 }) {
        0 => Op::Lock(0, inner),
        1 => Op::Read(0, inner),
        2 => Op::Write(0, inner),
        3 => Op::TryLock(chance.below(2), inner),
        4 => Op::TryRead(0),
        _ => Op::TryWrite(0),
    }
}

#[test]
fn locks_agree_with_brute_force() {
    for with_tries in [false, true] {
        let compared = compare(seeds(120), |chance| {
            Locks(chance.some(2..=3, |chance| {
                chance.some(1..=2, |chance| match chance.below(3) {
                    0 => simple(chance),
                    _ => lock(chance, with_tries),
                })
            }))
        });
        eprintln!("{compared:?}");
        assert!(compared.programs > compared.left_out, "{compared:?}");
    }
}

#[test]
fn atomics_agree_with_brute_force() {
    let compared = compare(seeds(120), |chance| {
        Locks(chance.some(2..=3, |chance| chance.some(1..=3, simple)))
    });
    eprintln!("{compared:?}");
    assert!(compared.programs > compared.left_out, "{compared:?}");
}

#[test]
fn conditions_agree_with_brute_force() {
    let compared = compare(seeds(200), |chance| {
        Locks(chance.some(2..=3, |chance| {
            chance.some(1..=2, |chance| match chance.below(6) {
                0 | 1 => Op::Wait(0),
                2 => Op::WaitInTime(0),
                3 => Op::NotifyOne(0),
                4 => Op::NotifyAll(0),
                _ => simple(chance),
            })
        }))
    });
    eprintln!("{compared:?}");
    assert!(compared.programs > 0, "{compared:?}");
}
