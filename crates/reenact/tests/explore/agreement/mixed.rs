//! Mixtures of all models: threads, processes and turns of actors, each of which uses all there is.

use std::sync::Arc;

use reenact::{
    actor::{self, FarRef, Promise, Resolver, Target},
    csp,
    stm::{TVar, atomically, guard},
    sync::{
        Mutex,
        atomic::{AtomicI32, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

use crate::oracle::{Chance, Log, Program, compare, seeds};

#[derive(Clone, Copy, PartialEq, Debug)]
enum Op {
    Lock,
    TryLock,
    Add,
    Send,
    Receive,
    TryReceive,
    Meet,
    Take,
    Commit,
    Await,
    Turn,
    Ask,
    Resolve,
    Wait,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Thread,
    Process,
    Turn,
}

#[derive(Clone, Debug)]
struct Mixed(Vec<(Kind, Vec<Op>)>);

/// What an activity may use. Ends and resolvers only if it does: every one that goes is a step.
struct Tools {
    me: usize,
    log: Log,
    mutex: Arc<Mutex<i32>>,
    number: Arc<AtomicI32>,
    variable: TVar<i32>,
    sender: Option<mpsc::Sender<i32>>,
    receiver: Option<mpsc::Receiver<i32>>,
    meets: Option<csp::Sender<i32>>,
    takes: Option<csp::Receiver<i32>>,
    actor: FarRef<i32>,
    promise: Promise<i32>,
    resolver: Option<Resolver<i32>>,
}

impl Tools {
    fn run(&self, op: Op) -> i32 {
        let mark = self.me as i32 + 1;
        let change = |value: i32| value * 4 % 10_000 + mark;
        match op {
            Op::Lock => {
                let mut guard = self.mutex.lock().unwrap();
                *guard = change(*guard);
                *guard
            }
            Op::TryLock => self.mutex.try_lock().map_or(-1, |guard| *guard),
            Op::Add => self.number.fetch_add(mark, SeqCst),
            Op::Send => self
                .sender
                .as_ref()
                .map_or(-9, |sender| sender.send(mark).map_or(-1, |()| 1)),
            Op::Receive => self
                .receiver
                .as_ref()
                .map_or(-9, |one| one.recv().unwrap_or(-1)),
            Op::TryReceive => self
                .receiver
                .as_ref()
                .map_or(-9, |one| one.try_recv().unwrap_or(-1)),
            Op::Meet => self
                .meets
                .as_ref()
                .map_or(-9, |one| one.send(mark).map_or(-1, |()| 1)),
            Op::Take => self
                .takes
                .as_ref()
                .map_or(-9, |one| one.recv().unwrap_or(-1)),
            Op::Commit => atomically(|tx| {
                let value = self.variable.read(tx)?;
                self.variable.write(tx, change(value))?;
                Ok(value)
            }),
            Op::Await => atomically(|tx| {
                let value = self.variable.read(tx)?;
                guard(value > 0)?;
                Ok(value)
            }),
            Op::Turn => {
                self.actor
                    .send(move |state, _| *state = *state * 4 % 10_000 + mark);
                0
            }
            Op::Ask => self.actor.ask(|state, _| *state).wait().unwrap_or(-1),
            Op::Resolve => self
                .resolver
                .as_ref()
                .map_or(-9, |one| one.resolve(mark).into()),
            Op::Wait => self.promise.clone().wait().unwrap_or(-1),
        }
    }
}

impl Program for Mixed {
    fn is_exact(&self) -> bool {
        false
    }

    fn run(&self, log: &Log) {
        let used = |ops: &[Op]| {
            self.0
                .iter()
                .any(|(_, used)| ops.iter().any(|op| used.contains(op)))
        };
        // Only what is used, since dropping it is a step.
        let channel = used(&[Op::Send, Op::Receive, Op::TryReceive]).then(mpsc::channel);
        let (mut sender, mut receiver) = channel.unzip();
        let channel = used(&[Op::Meet, Op::Take]).then(csp::channel);
        let (mut meets, mut takes) = channel.unzip();
        let (promise, resolver) = Promise::pair();
        let mut resolver = Some(resolver);
        if !used(&[Op::Resolve]) {
            std::mem::forget(resolver.take());
        }
        let mutex = Arc::<Mutex<i32>>::default();
        let number = Arc::<AtomicI32>::default();
        let variable = TVar::new(0);
        let actor = actor::spawn(0);
        let mut threads = Vec::new();
        let mut processes = Vec::new();
        for (me, (kind, ops)) in self.0.iter().enumerate() {
            let later = |op: Op| self.0[me + 1..].iter().any(|(_, ops)| ops.contains(&op));
            let give = |op: Op| ops.contains(&op).then(|| later(op));
            let tools = Tools {
                me,
                log: log.clone(),
                mutex: Arc::clone(&mutex),
                number: Arc::clone(&number),
                variable: variable.clone(),
                sender: give(Op::Send).and_then(|again| hand_out(&mut sender, again)),
                receiver: match ops.contains(&Op::Receive) || ops.contains(&Op::TryReceive) {
                    true => receiver.take(),
                    false => None,
                },
                meets: give(Op::Meet).and_then(|again| hand_out(&mut meets, again)),
                takes: give(Op::Take).and_then(|again| hand_out(&mut takes, again)),
                actor: actor.clone(),
                promise: promise.clone(),
                resolver: give(Op::Resolve).and_then(|again| hand_out(&mut resolver, again)),
            };
            let ops = ops.clone();
            let run = move || {
                ops.into_iter()
                    .for_each(|op| tools.log.note(me, tools.run(op)))
            };
            match kind {
                Kind::Thread => threads.push(thread::spawn(run)),
                Kind::Process => processes.push(csp::spawn(run)),
                Kind::Turn => {
                    let mut run = Some(run);
                    actor::spawn(())
                        .send(move |(), _| run.take().into_iter().for_each(|run| run()));
                }
            }
        }
        drop((sender, receiver, meets, takes, resolver));
        threads.into_iter().for_each(|thread| drop(thread.join()));
        processes
            .into_iter()
            .for_each(|process| drop(process.join()));
    }
}

/// One for who needs it, the first one if nobody else does.
fn hand_out<T: Clone>(one: &mut Option<T>, again: bool) -> Option<T> {
    match again {
        true => one.clone(),
        false => one.take(),
    }
}

fn mixed(chance: &mut Chance) -> Mixed {
    const OPS: [Op; 14] = [
        Op::Lock,
        Op::TryLock,
        Op::Add,
        Op::Send,
        Op::Receive,
        Op::TryReceive,
        Op::Meet,
        Op::Take,
        Op::Commit,
        Op::Await,
        Op::Turn,
        Op::Ask,
        Op::Resolve,
        Op::Wait,
    ];
    // Few kinds of operations at a time, so that activities meet.
    let kinds = chance.some(2..=3, |chance| OPS[chance.below(OPS.len())]);
    Mixed(chance.some(2..=3, |chance| {
        let kind = [Kind::Thread, Kind::Process, Kind::Turn][chance.below(3)];
        let mut ops = chance.some(1..=2, |chance| match chance.below(4) {
            0 => OPS[chance.below(OPS.len())],
            _ => kinds[chance.below(kinds.len())],
        });
        if kind == Kind::Turn {
            // A turn does not wait for a promise.
            ops.retain(|op| !matches!(op, Op::Ask | Op::Wait));
        }
        (kind, ops)
    }))
}

#[test]
fn mixtures_agree_with_brute_force() {
    let compared = compare(seeds(100), mixed);
    eprintln!("{compared:?}");
    assert!(compared.programs > compared.left_out, "{compared:?}");
}
