//! The interpreter of generated programs of actors: `programs actors generated TEXT`.
//!
//! Every actor and every thread keeps a digest of all that it sees. No program can go on for ever: a message has fuel,
//! and what it causes has less. None can hang: only threads wait, for promises whose resolvers are in messages, and
//! a message is handled or dropped; locks are held for a moment only.

pub(crate) mod language;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex as StdMutex, OnceLock, PoisonError as StdPoisonError},
    time::Duration,
};

use reenact::{
    actor::{Broken, Context, FarRef, Promise, Resolver, System, Target},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    thread,
};

use self::language::{Operation, Program, Verb};
use crate::support::{Seen, build_actor, jitter, parse_and_interpret};

pub(super) fn run(name: &str, arguments: &[String]) -> bool {
    name == "generated" && parse_and_interpret(arguments, interpret)
}

struct World {
    program: Program,
    mutexes: Vec<Mutex<u64>>,
    atomics: Vec<AtomicU64>,
    /// Set before anybody looks.
    roots: OnceLock<Vec<FarRef<Node>>>,
    /// What actors had seen that are no more. Not recorded: who puts it there does so once.
    gone: StdMutex<BTreeMap<String, u64>>,
}

impl World {
    fn root(&self, number: usize) -> &FarRef<Node> {
        let roots = self.roots.get().expect("set before anybody looks");
        &roots[number % roots.len()]
    }

    fn mutex(&self, number: usize) -> MutexGuard<'_, u64> {
        let mutex = &self.mutexes[number % self.mutexes.len()];
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn atomic(&self, number: usize) -> &AtomicU64 {
        &self.atomics[number % self.atomics.len()]
    }

    fn node(self: &Arc<World>, name: String, kind: usize) -> Node {
        Node {
            world: Arc::clone(self),
            name,
            kind: kind % self.program.actors.len(),
            born: 0,
            count: 0,
            seen: Seen::default(),
        }
    }
}

/// An actor.
struct Node {
    world: Arc<World>,
    name: String,
    /// Whose scripts it has.
    kind: usize,
    born: usize,
    /// Makes different values of the same operations.
    count: u64,
    seen: Seen,
}

impl Drop for Node {
    fn drop(&mut self) {
        let mut gone = self
            .world
            .gone
            .lock()
            .unwrap_or_else(StdPoisonError::into_inner);
        let before = gone.insert(std::mem::take(&mut self.name), self.seen.digest());
        assert_eq!(before, None, "an actor ends once");
    }
}

/// A reason to break a promise.
#[derive(Debug)]
struct Refused(u64);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::error::Error for Refused {}

fn interpret(program: Program) {
    let world = Arc::new(World {
        mutexes: (0..program.mutexes).map(|_| Mutex::default()).collect(),
        atomics: (0..program.atomics).map(|_| AtomicU64::default()).collect(),
        roots: OnceLock::new(),
        gone: StdMutex::default(),
        program,
    });
    let system = System::current();
    let roots: Vec<_> = (0..world.program.actors.len())
        .map(|number| build(&world, system, number).spawn(world.node(number.to_string(), number)))
        .collect();
    let _ = world.roots.set(roots.clone());
    let threads: Vec<_> = (0..world.program.threads.len())
        .map(|me| {
            let world = Arc::clone(&world);
            thread::spawn(move || Client::new(world, me).act())
        })
        .collect();
    for thread in threads {
        println!(
            "thread {:016x}",
            thread.join().expect("threads do not panic")
        );
    }
    system.wait_until_idle();
    for (number, root) in roots.iter().enumerate() {
        let digest = root.ask(|this, _| this.seen.digest()).wait();
        match digest {
            Ok(digest) => println!("{number} {digest:016x}"),
            Err(broken) => println!("{number} {broken}"),
        }
    }
    if world.program.close {
        system.shut_down();
        println!("{:?}", roots[0].try_send(|_, _| {}));
    }
    let gone = world.gone.lock().unwrap_or_else(StdPoisonError::into_inner);
    for (name, digest) in &*gone {
        println!("{name} was {digest:016x}");
    }
    let mutexes: Vec<_> = (0..world.mutexes.len()).map(|n| *world.mutex(n)).collect();
    println!("{mutexes:?} {:?}", world.atomics);
}

fn build(world: &World, system: System, kind: usize) -> reenact::actor::Builder {
    let actors = &world.program.actors;
    let actor = &actors[kind % actors.len()];
    build_actor(system, actor.keeps, actor.mailbox)
}

impl Node {
    /// A message: runs a script, unless there is no fuel left. Returns what it has seen.
    fn handle(&mut self, ctx: &mut Context<Node>, script: usize, fuel: usize, from: &str) -> u64 {
        self.seen.note((script, fuel, from));
        self.count += 1;
        if fuel > 0 {
            let world = Arc::clone(&self.world);
            let scripts = &world.program.actors[self.kind].scripts;
            for operation in &scripts[script % scripts.len()] {
                jitter();
                self.perform(ctx, operation, fuel - 1);
            }
        }
        self.seen.digest()
    }

    /// A message for somebody else.
    fn message(
        &self,
        script: usize,
        fuel: usize,
    ) -> impl FnOnce(&mut Node, &mut Context<Node>) -> u64 + Send + 'static {
        let from = self.name.clone();
        move |this, ctx| this.handle(ctx, script, fuel, &from)
    }

    fn answered(&mut self, what: &str, outcome: Result<u64, Broken>) -> u64 {
        match outcome {
            Ok(value) => self.seen.note((what, value)),
            Err(broken) => self.seen.note((what, words(&broken))),
        }
        self.seen.digest()
    }

    fn perform(&mut self, ctx: &mut Context<Node>, operation: &Operation, fuel: usize) {
        let number = |index: usize| operation.numbers.get(index).copied().unwrap_or(0);
        let (first, script) = (number(0), number(1));
        let world = Arc::clone(&self.world);
        let to = world.root(first);
        let other = world.root(first + 1);
        let value = self.count * 100 + fuel as u64;
        match operation.verb {
            Verb::Send => to.send(unasked(self.message(script, fuel))),
            Verb::TrySend => {
                let sent = to.try_send(unasked(self.message(script, fuel)));
                self.seen.note(format!("{sent:?}"));
            }
            Verb::Big => {
                let (message, big) = (self.message(script, fuel), Big([value; 70]));
                to.send(move |this, ctx| {
                    this.seen.note(big.0);
                    message(this, ctx);
                });
            }
            Verb::Ask => {
                to.ask(self.message(script, fuel))
                    .when(ctx, |this, _, value| this.answered("when", Ok(value)));
            }
            Verb::AskBroken => {
                to.ask(self.message(script, fuel))
                    .when_broken(ctx, |this, _, broken| this.answered("broken", Err(broken)))
                    .when(ctx, |this, _, value| this.answered("mended", Ok(value)));
            }
            Verb::AskSettled => {
                to.ask(self.message(script, fuel))
                    .when_settled(ctx, |this, _, outcome| this.answered("settled", outcome));
            }
            Verb::AskChain => {
                let next = unasked(self.message(script + 1, fuel));
                to.ask(self.message(script, fuel))
                    .when(ctx, |this, _, value| this.answered("one", Ok(value)))
                    .when(ctx, move |this, ctx, value| {
                        next(this, ctx);
                        this.answered("two", Ok(value))
                    })
                    .when_settled(ctx, |this, _, outcome| this.answered("three", outcome));
            }
            Verb::Flatten => {
                let (message, inner) = (self.message(script, fuel), self.message(script + 1, fuel));
                let other = other.clone();
                to.ask(move |this, ctx| {
                    message(this, ctx);
                    other.ask(inner)
                })
                .flatten()
                .when_settled(ctx, |this, _, outcome| this.answered("flat", outcome));
            }
            Verb::Spawn => {
                let name = format!("{}.{}", self.name, self.born);
                self.born += 1;
                let child = build(&world, ctx.system(), first).spawn(world.node(name, first));
                child.send(unasked(self.message(script, fuel)));
                child
                    .ask(self.message(script + 1, fuel))
                    .when_settled(ctx, |this, _, outcome| this.answered("child", outcome));
            }
            Verb::Pipe => {
                let (promise, resolver) = Promise::<FarRef<Node>>::pair();
                promise.send(unasked(self.message(script, fuel)));
                self.give_ref(to, resolver, other);
                promise.send(unasked(self.message(script + 1, fuel)));
                promise.send(unasked(self.message(script, 0)));
            }
            Verb::PipeAsk => {
                let (promise, resolver) = Promise::<FarRef<Node>>::pair();
                self.give_ref(to, resolver, other);
                promise
                    .ask(self.message(script, fuel))
                    .when_settled(ctx, |this, _, outcome| this.answered("piped", outcome));
                promise
                    .ask(self.message(script, 0))
                    .when(ctx, |this, _, value| {
                        this.answered("piped again", Ok(value))
                    });
                // A subscriber, which runs after what was sent before.
                promise.when(ctx, |this, ctx, actor| {
                    actor.send(unasked(this.message(0, 0)));
                    this.seen.note(("is me", actor == ctx.me()));
                });
            }
            Verb::PipeBroken => {
                let (promise, resolver) = Promise::<FarRef<Node>>::pair();
                promise
                    .ask(self.message(script, fuel))
                    .when_settled(ctx, |this, _, outcome| this.answered("perhaps", outcome));
                let breaks = resolver.clone();
                to.send(move |this, _| {
                    jitter();
                    this.seen.note(breaks.break_with(Refused(value)));
                });
                let (target, name) = (to.clone(), self.name.clone());
                other.send(move |this, _| {
                    jitter();
                    let resolved = resolver.resolve(target);
                    this.seen.note((name, resolved));
                });
            }
            Verb::Race => {
                let (promise, resolver) = Promise::<u64>::pair();
                for runner in 0..2 + script % 2 {
                    self.give(world.root(first + runner), resolver.clone(), runner as u64);
                }
                drop(resolver);
                promise.when_settled(ctx, |this, _, outcome| this.answered("race", outcome));
            }
            Verb::Chain => {
                let (promise, resolver) = Promise::<u64>::pair();
                let answer = to.ask(self.message(script, fuel));
                let competes = resolver.clone();
                self.give(other, competes, value);
                self.seen.note(resolver.resolve_with(answer));
                promise.when_settled(ctx, |this, _, outcome| this.answered("chain", outcome));
            }
            Verb::Circle => {
                let (one, ones) = Promise::<u64>::pair();
                let (two, twos) = Promise::<u64>::pair();
                let (to_one, to_two) = (one.clone(), two.clone());
                to.send(move |this, _| {
                    jitter();
                    this.seen.note(("circle", ones.resolve_with(to_two)));
                });
                other.send(move |this, _| {
                    jitter();
                    this.seen.note(("circle", twos.resolve_with(to_one)));
                });
                // Who closes the circle is a matter of timing, and with it in which order the reason names them.
                one.when_settled(ctx, |this, _, outcome| this.answered("one", outcome));
                two.when_settled(ctx, |this, _, outcome| this.answered("two", outcome));
            }
            Verb::Share => {
                let (promise, resolver) = Promise::<u64>::pair();
                for who in 0..2 {
                    let promise = promise.clone();
                    world.root(first + who).send(move |_, ctx| {
                        promise
                            .when_settled(ctx, |this, _, outcome| this.answered("shared", outcome));
                    });
                }
                self.give(world.root(first + 2), resolver, value);
                promise.when(ctx, |this, _, value| this.answered("mine", Ok(value)));
            }
            Verb::Abandon => {
                let (promise, resolver) = Promise::<u64>::pair();
                let others = resolver.clone();
                to.send(move |_, _| drop(others));
                other.send(move |_, _| {
                    jitter();
                    drop(resolver);
                });
                promise.when_settled(ctx, |this, _, outcome| this.answered("abandoned", outcome));
            }
            Verb::After => {
                let delay = Duration::from_micros(first as u64 % 2 * 300);
                let message = unasked(self.message(script, fuel));
                ctx.after(delay).when(ctx, move |this, ctx, ()| {
                    this.seen.note("time");
                    message(this, ctx);
                });
            }
            Verb::Lock => {
                let mut guard = world.mutex(first);
                jitter();
                self.seen.note(*guard);
                *guard = guard.wrapping_mul(3).wrapping_add(value);
            }
            Verb::TryLock => {
                let mutex = &world.mutexes[first % world.mutexes.len()];
                match mutex.try_lock() {
                    Ok(mut guard) => self.seen.note(std::mem::replace(&mut *guard, value)),
                    Err(_) => self.seen.note("held"),
                }
            }
            Verb::Add => self.seen.note(world.atomic(first).fetch_add(value, SeqCst)),
            Verb::Load => self.seen.note(world.atomic(first).load(SeqCst)),
            Verb::Stop => ctx.stop(),
            Verb::Panic => panic!("as it should"),
            Verb::Yield => thread::yield_now(),
        }
    }

    /// Has somebody resolve a promise.
    fn give(&self, who: &FarRef<Node>, resolver: Resolver<u64>, value: u64) {
        let name = self.name.clone();
        who.send(move |this, _| {
            jitter();
            this.seen.note((name, resolver.resolve(value)));
        });
    }

    fn give_ref(
        &self,
        who: &FarRef<Node>,
        resolver: Resolver<FarRef<Node>>,
        target: &FarRef<Node>,
    ) {
        let (name, target) = (self.name.clone(), target.clone());
        who.send(move |this, _| {
            jitter();
            this.seen.note((name, resolver.resolve(target)));
        });
    }
}

/// A message whose answer nobody wants.
fn unasked(
    message: impl FnOnce(&mut Node, &mut Context<Node>) -> u64,
) -> impl FnOnce(&mut Node, &mut Context<Node>) {
    move |this, ctx| {
        message(this, ctx);
    }
}

/// Too large for a mailbox, and aligned as nothing there is.
#[repr(align(64))]
struct Big([u64; 70]);

/// A reason, without the places of a circle: their order is a matter of timing.
fn words(broken: &Broken) -> String {
    match broken.is_circular() {
        true => "circle".to_owned(),
        false => broken.to_string(),
    }
}

/// A thread.
struct Client {
    world: Arc<World>,
    me: usize,
    count: u64,
    seen: Seen,
}

impl Client {
    fn new(world: Arc<World>, me: usize) -> Client {
        Client {
            world,
            me,
            count: 0,
            seen: Seen::default(),
        }
    }

    fn act(mut self) -> u64 {
        let world = Arc::clone(&self.world);
        for operation in &world.program.threads[self.me] {
            jitter();
            self.count += 1;
            self.perform(operation);
        }
        self.seen.digest()
    }

    fn message(
        &self,
        script: usize,
    ) -> impl FnOnce(&mut Node, &mut Context<Node>) -> u64 + Send + 'static {
        let (from, fuel) = (format!("thread {}", self.me), self.world.program.fuel);
        move |this, ctx| this.handle(ctx, script, fuel, &from)
    }

    fn wait(&mut self, promise: Promise<u64>) {
        match promise.wait() {
            Ok(value) => self.seen.note(value),
            Err(broken) => self.seen.note(words(&broken)),
        }
    }

    fn perform(&mut self, operation: &Operation) {
        let number = |index: usize| operation.numbers.get(index).copied().unwrap_or(0);
        let (first, script) = (number(0), number(1));
        let world = Arc::clone(&self.world);
        let to = world.root(first);
        let other = world.root(first + 1);
        let value = self.count * 100 + self.me as u64;
        match operation.verb {
            Verb::Send | Verb::Big | Verb::Stop | Verb::Panic => {
                to.send(unasked(self.message(script)));
            }
            Verb::TrySend => {
                let sent = to.try_send(unasked(self.message(script)));
                self.seen.note(format!("{sent:?}"));
            }
            Verb::Ask | Verb::AskBroken => drop(to.ask(self.message(script))),
            Verb::AskSettled => {
                let promise = to.ask(self.message(script));
                self.wait(promise);
            }
            Verb::AskChain | Verb::After => {
                let asked = to.ask(self.message(script));
                match asked.wait_timeout(Duration::from_micros(script as u64 * 20)) {
                    Ok(outcome) => self.seen.note(outcome.map_err(|broken| words(&broken))),
                    Err(later) => {
                        self.seen.note("late");
                        self.wait(later);
                    }
                }
            }
            Verb::Flatten => {
                let (other, inner) = (other.clone(), self.message(script));
                let promise = to.ask(move |_, _| other.ask(inner)).flatten();
                self.wait(promise);
            }
            Verb::Spawn => {
                let name = format!("thread {}.{}", self.me, self.count);
                let child = build(&world, System::current(), first).spawn(world.node(name, first));
                child.send(unasked(self.message(script)));
                let promise = child.ask(self.message(script + 1));
                self.wait(promise);
            }
            Verb::Pipe | Verb::PipeAsk => {
                let (promise, resolver) = Promise::<FarRef<Node>>::pair();
                promise.send(unasked(self.message(script)));
                let target = other.clone();
                to.send(move |this, _| {
                    jitter();
                    this.seen.note(resolver.resolve(target));
                });
                let piped = promise.ask(self.message(script + 1));
                self.wait(piped);
            }
            Verb::PipeBroken => {
                let (promise, resolver) = Promise::<FarRef<Node>>::pair();
                let piped = promise.ask(self.message(script));
                let breaks = resolver.clone();
                to.send(move |this, _| {
                    jitter();
                    this.seen.note(breaks.break_with(Refused(value)));
                });
                jitter();
                self.seen.note(resolver.resolve(other.clone()));
                self.wait(piped);
            }
            Verb::Race | Verb::Abandon => {
                let (promise, resolver) = Promise::<u64>::pair();
                for who in [to, other] {
                    let resolver = resolver.clone();
                    who.send(move |this, _| {
                        jitter();
                        this.seen.note(resolver.resolve(value));
                    });
                }
                if operation.verb == Verb::Race {
                    jitter();
                    self.seen.note(resolver.resolve(value + 1));
                }
                drop(resolver);
                self.wait(promise);
            }
            Verb::Chain => {
                let (promise, resolver) = Promise::<u64>::pair();
                self.seen
                    .note(resolver.resolve_with(to.ask(self.message(script))));
                self.wait(promise);
            }
            Verb::Circle => {
                let (one, ones) = Promise::<u64>::pair();
                let (two, twos) = Promise::<u64>::pair();
                let to_one = one.clone();
                to.send(move |this, _| {
                    jitter();
                    this.seen.note(twos.resolve_with(to_one));
                });
                jitter();
                self.seen.note(ones.resolve_with(two));
                self.wait(one);
            }
            Verb::Share => {
                let (promise, resolver) = Promise::<u64>::pair();
                let theirs = promise.clone();
                to.send(move |_, ctx| {
                    theirs.when_settled(ctx, |this, _, outcome| this.answered("shared", outcome));
                });
                jitter();
                self.seen.note(resolver.resolve(value));
                self.wait(promise);
            }
            Verb::Lock => {
                let mut guard = world.mutex(first);
                jitter();
                self.seen.note(std::mem::replace(&mut *guard, value));
            }
            Verb::TryLock => {
                let mutex = &world.mutexes[first % world.mutexes.len()];
                self.seen.note(mutex.try_lock().ok().map(|guard| *guard));
            }
            Verb::Add => self.seen.note(world.atomic(first).fetch_add(value, SeqCst)),
            Verb::Load => self.seen.note(world.atomic(first).load(SeqCst)),
            Verb::Yield => thread::yield_now(),
        }
    }
}
