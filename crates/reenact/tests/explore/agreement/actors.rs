//! Actors and promises.

use std::time::Duration;

use reenact::{
    actor::{Context, FarRef, OnPanic, Promise, Resolver, System, Target},
    thread,
};

use crate::oracle::{Chance, Log, Program, compare, explore, seeds};

#[derive(Clone, Copy, Debug)]
enum Message {
    Mark,
    /// Marks another one.
    Forward(usize),
    /// Asks another one, and marks itself with the answer.
    Ask(usize),
    /// Marks itself when the promise is settled.
    When(usize),
    /// Resolves the promise.
    Resolve(usize),
    /// Marks itself some time.
    Later,
    Stop,
    Panic,
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Send(usize, Message),
    TrySend(usize),
    Ask(usize),
    Resolve(usize),
    Drop(usize),
    Wait(usize),
    WaitInTime(usize),
    /// Sends to the actor that the promise of one will be.
    SendThrough,
    /// Says which one that is.
    Name(usize),
}

impl Op {
    fn needs_resolver(&self, promise: usize) -> bool {
        match *self {
            Op::Resolve(of) | Op::Drop(of) | Op::Send(_, Message::Resolve(of)) => of == promise,
            _ => false,
        }
    }
}

#[derive(Clone, Debug)]
struct Actors {
    /// How many messages may wait for each, and whether it goes on when a turn panics.
    actors: Vec<(Option<u32>, OnPanic)>,
    threads: Vec<Vec<Op>>,
    waits_until_idle: bool,
}

const PROMISES: usize = 2;

struct State {
    me: usize,
    history: i32,
    log: Log,
}

impl State {
    fn mark(&mut self, mark: i32) -> i32 {
        self.history = self.history * 4 % 100_000 + mark;
        self.log.note(10 + self.me, mark);
        self.history
    }
}

/// What everybody knows.
struct World {
    actors: Vec<FarRef<State>>,
    promises: Vec<Promise<i32>>,
    /// Those that it needs: every one that is dropped is a step.
    resolvers: Vec<Option<Resolver<i32>>>,
}

impl World {
    fn with_resolvers(&self, needs: impl Fn(usize) -> bool) -> World {
        let resolvers = self.resolvers.iter().enumerate();
        let resolvers = resolvers.map(|(of, one)| one.as_ref().filter(|_| needs(of)).cloned());
        World {
            actors: self.actors.clone(),
            promises: self.promises.clone(),
            resolvers: resolvers.collect(),
        }
    }
}

fn handle(state: &mut State, ctx: &mut Context<State>, message: Message, mark: i32, world: &World) {
    match message {
        Message::Mark => {
            state.mark(mark);
        }
        Message::Forward(to) => world.actors[to].send(move |other, _| {
            other.mark(mark + 40);
        }),
        Message::Ask(of) => {
            let answer = world.actors[of].ask(move |other, _| other.mark(mark + 80));
            answer.when_settled(ctx, |state, _, answer| {
                state.mark(answer.map_or(-1, |answer| 1000 + answer));
            });
        }
        Message::When(of) => {
            world.promises[of]
                .clone()
                .when_settled(ctx, |state, _, value| {
                    state.mark(value.unwrap_or(-5));
                });
        }
        Message::Resolve(of) => {
            if let Some(resolver) = &world.resolvers[of] {
                let is_first = resolver.resolve(mark + 500);
                state.log.note(10 + state.me, is_first.into());
            }
        }
        Message::Later => {
            let later = ctx.after(Duration::from_secs(1));
            later.when(ctx, |state, _, ()| {
                state.mark(7);
            });
        }
        Message::Stop => ctx.stop(),
        Message::Panic => panic!("as it should"),
    }
}

fn run(
    op: Op,
    me: usize,
    world: &mut World,
    later: &Promise<FarRef<State>>,
    name: &Option<Resolver<FarRef<State>>>,
) -> i32 {
    let mark = me as i32 + 1;
    match op {
        Op::Send(to, message) => {
            let known =
                world.with_resolvers(|of| matches!(message, Message::Resolve(it) if it == of));
            world.actors[to].send(move |state, ctx| handle(state, ctx, message, mark, &known));
            0
        }
        Op::TrySend(to) => {
            let sent = world.actors[to].try_send(move |state, _| {
                state.mark(mark + 20);
            });
            sent.map_or_else(|error| -1 - error as i32, |()| 1)
        }
        Op::Ask(of) => {
            let answer = world.actors[of].ask(move |state, _| state.mark(mark));
            answer.wait().unwrap_or(-1)
        }
        Op::Resolve(of) => world.resolvers[of]
            .as_ref()
            .map_or(-3, |one| one.resolve(mark).into()),
        Op::Drop(of) => world.resolvers[of].take().map_or(-3, |_| 0),
        Op::Wait(of) => world.promises[of].clone().wait().unwrap_or(-1),
        Op::WaitInTime(of) => {
            let time = Duration::from_secs(1);
            match world.promises[of].clone().wait_timeout(time) {
                Ok(value) => value.unwrap_or(-1),
                Err(_) => -2,
            }
        }
        Op::SendThrough => {
            later.send(move |state, _| {
                state.mark(mark + 60);
            });
            0
        }
        Op::Name(actor) => match name {
            Some(name) => name.resolve(world.actors[actor].clone()).into(),
            None => -3,
        },
    }
}

impl Program for Actors {
    fn run(&self, log: &Log) {
        let system = System::new(2);
        let actors = self
            .actors
            .iter()
            .enumerate()
            .map(|(me, (bound, on_panic))| {
                let mut actor = system.build().on_panic(*on_panic);
                if let Some(bound) = bound {
                    actor = actor.mailbox(*bound);
                }
                actor.spawn(State {
                    me,
                    history: 0,
                    log: log.clone(),
                })
            });
        let actors: Vec<_> = actors.collect();
        let pairs = (0..PROMISES).map(|_| Promise::pair());
        let (promises, resolvers) = pairs.map(|(promise, one)| (promise, Some(one))).unzip();
        let (later, name) = Promise::pair();
        let world = World {
            actors,
            promises,
            resolvers,
        };
        let threads: Vec<_> = (0..self.threads.len())
            .map(|me| {
                let (ops, log) = (self.threads[me].clone(), log.clone());
                let needs = |of| ops.iter().any(|op| op.needs_resolver(of));
                let mut world = world.with_resolvers(needs);
                let names = ops.iter().any(|op| matches!(op, Op::Name(_)));
                let (later, name) = (later.clone(), names.then(|| name.clone()));
                thread::spawn(move || {
                    for op in ops {
                        log.note(me, run(op, me, &mut world, &later, &name));
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        if self.waits_until_idle {
            system.wait_until_idle();
            log.note(9, 1);
        }
        for resolver in world.resolvers.iter().flatten() {
            resolver.resolve(0);
        }
        name.resolve(world.actors[0].clone());
    }
}

fn actors(chance: &mut Chance, is_simple: bool) -> Actors {
    let actors = chance.some(1..=2, |chance| {
        let bound = [None, None, Some(1)][chance.below(3)].filter(|_| !is_simple);
        (bound, [OnPanic::Stop, OnPanic::Keep][chance.below(2)])
    });
    let count = actors.len();
    let message = |chance: &mut Chance| match chance.below(if is_simple { 4 } else { 9 }) {
        0 | 1 => Message::Mark,
        2 => Message::Forward(chance.below(count)),
        3 => Message::Ask(chance.below(count)),
        4 => Message::When(chance.below(PROMISES)),
        5 => Message::Resolve(chance.below(PROMISES)),
        6 => Message::Later,
        7 => Message::Stop,
        _ => Message::Panic,
    };
    let threads = chance.some(1..=2, |chance| {
        chance.some(1..=2, |chance| {
            let of = chance.below(count);
            match chance.below(if is_simple { 4 } else { 10 }) {
                0..3 => Op::Send(of, message(chance)),
                3 => Op::Ask(of),
                4 => Op::TrySend(of),
                5 => Op::Resolve(chance.below(PROMISES)),
                6 => Op::Name(of),
                7 => Op::WaitInTime(chance.below(PROMISES)),
                8 => Op::SendThrough,
                _ => [Op::Wait(0), Op::Drop(0)][chance.below(2)],
            }
        })
    });
    let waits_until_idle = chance.below(3) == 0;
    Actors {
        actors,
        threads,
        waits_until_idle,
    }
}

#[test]
fn simple_actors_agree_with_brute_force() {
    let compared = compare(seeds(60), |chance| actors(chance, true));
    eprintln!("{compared:?}");
    assert!(compared.programs > 0, "{compared:?}");
}

#[test]
fn actors_agree_with_brute_force() {
    let compared = compare(seeds(60), |chance| actors(chance, false));
    eprintln!("{compared:?}");
    assert!(compared.programs > 0, "{compared:?}");
}

/// ```text
/// main ──── 1 ──── 2 ────┐
///                        ├── actor
/// thread ────── 3 ───────┘
/// ```
#[test]
fn an_actor_has_its_turns_in_every_order() {
    let send = |message| Op::Send(0, message);
    let program = Actors {
        actors: vec![(None, OnPanic::Stop)],
        threads: vec![
            vec![send(Message::Mark), send(Message::Mark)],
            vec![send(Message::Mark)],
        ],
        waits_until_idle: false,
    };
    let found = explore(&program);
    assert_eq!((found.executions, found.outcomes.len()), (3, 3));
}
