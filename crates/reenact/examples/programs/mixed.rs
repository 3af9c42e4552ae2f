//! The interpreter of mixtures: `programs mixed TEXT`.
//!
//! Threads, processes and turns of actors do the same operations: each has a [`Body`], which digests all that it sees.
//!
//! No program can hang, whatever it says. Locks are held for a moment. Who sends to a channel without a time limit does so to
//! one that is drained, who receives from one that is fed; the processes that drain and feed wait for nobody else.
//! Only threads and processes wait for promises, whose resolvers are in messages or on their way to whoever drains. In
//! transactions, only those that are there from the beginning wait, for those that come before them, which do not wait
//! for them: what is started later waits for nobody in that way, and so it can be joined at any time. None can go on for ever:
//! what is caused has less [`Fuel`] than what causes it.

mod body;
mod fuel;
pub(crate) mod language;
mod node;

use std::{
    collections::BTreeMap,
    mem,
    sync::{Arc, Mutex as StdMutex, OnceLock, PoisonError as StdPoisonError},
};

use reenact::{
    actor::{FarRef, Resolver, System, Target},
    csp,
    stm::TVar,
    sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock, atomic::AtomicU64},
    thread,
};

use self::{
    body::{Body, Child},
    fuel::Fuel,
    language::{Operation, Program, Verb},
    node::Node,
};
use crate::support::{Seen, build_actor, jitter, parse_and_interpret};

/// Runs the program of this name, if it is one of these.
pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    name == "mixed" && parse_and_interpret(arguments, interpret)
}

/// What everybody shares.
struct World {
    program: Program,
    mutexes: Vec<(Mutex<u64>, Condvar)>,
    table: RwLock<u64>,
    cells: [reenact::sync::OnceLock<u64>; 4],
    atomics: Vec<AtomicU64>,
    variables: Vec<TVar<u64>>,
    /// How far the threads and processes are that are there from the beginning.
    progress: Vec<TVar<usize>>,
    /// One that processes that are started by threads share, and another.
    systems: [System; 2],
    /// Set before anybody looks.
    actors: OnceLock<Vec<FarRef<Node>>>,
    /// What actors had seen that are no more. Not recorded: who puts it there does so once.
    gone: StdMutex<BTreeMap<String, u64>>,
    /// Those that were started by actors, which do not wait for them. Not recorded: it does not matter in which order they
    /// are waited for.
    strays: StdMutex<Vec<Child>>,
}

impl World {
    fn new(program: Program) -> World {
        let some = |count: usize| 0..count.max(1);
        World {
            mutexes: some(program.mutexes).map(|_| Default::default()).collect(),
            table: RwLock::default(),
            cells: Default::default(),
            atomics: some(program.atomics)
                .map(|_| AtomicU64::default())
                .collect(),
            variables: some(program.variables).map(|_| TVar::default()).collect(),
            progress: program.roots.iter().map(|_| TVar::default()).collect(),
            systems: [System::current(), System::new(2)],
            actors: OnceLock::new(),
            gone: StdMutex::default(),
            strays: StdMutex::default(),
            program,
        }
    }

    fn mutex(&self, number: usize) -> MutexGuard<'_, u64> {
        let (mutex, _) = &self.mutexes[number % self.mutexes.len()];
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn atomic(&self, number: usize) -> &AtomicU64 {
        &self.atomics[number % self.atomics.len()]
    }

    fn variable(&self, number: usize) -> &TVar<u64> {
        &self.variables[number % self.variables.len()]
    }

    fn actor(&self, number: usize) -> &FarRef<Node> {
        let actors = self.actors.get().expect("set before anybody looks");
        &actors[number % actors.len()]
    }

    fn script(&self, number: usize) -> &[Operation] {
        match &self.program.scripts[..] {
            [] => &[],
            scripts => &scripts[number % scripts.len()],
        }
    }

    /// For an actor of this kind: every second one is in a system of its own.
    fn builder(&self, kind: usize) -> reenact::actor::Builder {
        let actors = &self.program.actors;
        let actor = &actors[kind % actors.len()];
        let system = self.systems[kind % actors.len() % self.systems.len()];
        build_actor(system, actor.keeps, actor.mailbox)
    }

    /// How far one of those says it is, in the end.
    fn goal(&self, root: usize) -> usize {
        let script = self.program.roots[root].script.iter();
        let ticks = script.filter(|operation| operation.verb == Verb::Tick);
        ticks.count() * self.program.rounds
    }
}

/// What goes through a channel.
enum Parcel {
    Number(u64),
    Favour(Resolver<u64>),
    /// Whoever receives it sends it a message, which has so much fuel.
    Introduction(FarRef<Node>, Fuel),
}

/// Both ends of all channels.
#[derive(Clone)]
struct Ends {
    senders: Vec<csp::Sender<Parcel>>,
    receivers: Vec<csp::Receiver<Parcel>>,
}

/// Has enough of everything to run any operation.
fn completed(mut program: Program) -> Program {
    if program.actors.is_empty() {
        program.actors.push(language::Actor {
            keeps: true,
            mailbox: None,
        });
    }
    if program.channels.is_empty() {
        program.channels.push(language::Channel {
            is_fed: false,
            room: Some(0),
        });
    }
    for channel in &mut program.channels {
        // Who feeds one without bound never stops.
        if channel.is_fed {
            channel.room.get_or_insert(0);
        }
    }
    program
}

fn interpret(program: Program) {
    let world = Arc::new(World::new(completed(program)));
    let (mut attendants, mut senders, mut receivers) = (Vec::new(), Vec::new(), Vec::new());
    for (number, channel) in world.program.channels.iter().enumerate() {
        let (sender, receiver) = csp::bounded(channel.room.unwrap_or(usize::MAX));
        attendants.push(match channel.is_fed {
            true => feed(sender.clone()),
            false => drain(Arc::clone(&world), number, receiver.clone()),
        });
        senders.push(sender);
        receivers.push(receiver);
    }
    let ends = Ends { senders, receivers };
    let actors: Vec<_> = (0..world.program.actors.len())
        .map(|number| {
            let body = Body::new(&world, number.to_string(), ends.clone());
            world.builder(number).spawn(Node { body })
        })
        .collect();
    let _ = world.actors.set(actors.clone());
    println!("begins");
    let roots: Vec<_> = (0..world.program.roots.len())
        .map(|number| start(&world, number, &ends))
        .collect();
    drop(ends);
    // Printed when all have ended: if one of them ends the program, nobody knows how far others of them had come.
    let digests: Vec<_> = roots.into_iter().map(Child::join).collect();
    for digest in digests {
        println!("{:016x}", digest.expect("roots do not panic"));
    }
    wait_for_strays(&world);
    for (number, actor) in actors.iter().enumerate() {
        let digest = actor.ask(|node, _| {
            node.body.ends = None;
            node.body.seen.digest()
        });
        match digest.wait() {
            Ok(digest) => println!("actor {number} {digest:016x}"),
            Err(broken) => println!("actor {number} {broken}"),
        }
    }
    for attendant in attendants {
        println!(
            "channel {:016x}",
            attendant.join().expect("they do not panic")
        );
    }
    wait_for_strays(&world);
    let gone = world.gone.lock().unwrap_or_else(StdPoisonError::into_inner);
    for (name, digest) in &*gone {
        println!("{name} was {digest:016x}");
    }
    let mutexes: Vec<_> = (0..world.mutexes.len()).map(|n| *world.mutex(n)).collect();
    let variables: Vec<_> = world.variables.iter().map(TVar::read_atomic).collect();
    println!(
        "{mutexes:?} {:?} {variables:?} {:?}",
        world.atomics, world.table
    );
}

/// Starts one of those that are there from the beginning.
fn start(world: &Arc<World>, number: usize, ends: &Ends) -> Child {
    let root = &world.program.roots[number];
    let mut body = Body::new(world, format!("root {number}"), ends.clone());
    body.root = Some(number);
    body.is_thread = !root.is_process;
    let theirs = Arc::clone(world);
    let act = move || {
        let Program { roots, rounds, .. } = &theirs.program;
        body.act(&roots[number].script, *rounds, Fuel::of(&theirs.program))
    };
    match root.is_process {
        true => Child::Process(csp::spawn(act)),
        false => Child::Thread(thread::spawn(act)),
    }
}

/// Waits until no actor has anything to do any more, and nobody that an actor has started.
fn wait_for_strays(world: &World) {
    loop {
        // What one does may have been caused by the other, but not in so many steps.
        for _ in 0..40 {
            world.systems.iter().for_each(System::wait_until_idle);
        }
        let strays = mem::take(
            &mut *world
                .strays
                .lock()
                .unwrap_or_else(StdPoisonError::into_inner),
        );
        if strays.is_empty() {
            return;
        }
        for stray in strays {
            // Its actor has received its outcome.
            let _ = stray.join();
        }
    }
}

/// Sends to a channel as long as anybody receives.
fn feed(sender: csp::Sender<Parcel>) -> csp::JoinHandle<u64> {
    csp::spawn(move || {
        let numbers = (0..).take_while(|&number| {
            jitter();
            sender.send(Parcel::Number(number)).is_ok()
        });
        numbers.count() as u64
    })
}

/// Receives from a channel as long as anybody sends.
fn drain(
    world: Arc<World>,
    number: usize,
    receiver: csp::Receiver<Parcel>,
) -> csp::JoinHandle<u64> {
    csp::spawn(move || {
        let mut seen = Seen::default();
        for (count, parcel) in receiver.iter().enumerate() {
            jitter();
            let from = format!("channel {number}");
            match parcel {
                Parcel::Number(number) => seen.note(number),
                Parcel::Favour(resolver) => seen.note(resolver.resolve(count as u64)),
                Parcel::Introduction(actor, fuel) => {
                    actor.send(move |node, ctx| node.handle(ctx, count, fuel, &from))
                }
            }
            if count % 3 == 0 {
                let variable = world.variable(count);
                seen.note(reenact::stm::atomically(|tx| {
                    variable.replace(tx, count as u64)
                }));
            }
        }
        seen.digest()
    })
}
