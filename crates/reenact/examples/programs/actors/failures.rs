//! Actors that end badly, never end, or do something else when the environment says `DRIFT=other`.

use std::env;

use reenact::{
    actor::{Context, FarRef, OnPanic, Promise, Resolver, System, Target, spawn},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
        mpsc::channel,
    },
    thread,
};

use super::number;
use crate::support::{Acknowledged, PARTIES as ACTORS, Seen, jitter, panic_quietly};

pub(super) fn run(name: &str, arguments: &[String]) -> bool {
    match name {
        "panics" => panics(number(arguments, 0)),
        "never-resolved" => never_resolved(),
        "never-resolved-in-replay" => never_resolved_in_replay(),
        "circle" => circle(),
        "steady" => steady(),
        "families" => families(),
        "chatter" => chatter(number(arguments, 0)),
        "drift" => drift(&arguments[0]),
        "exit" => exit_in_a_turn(),
        "shut-down" => shut_down_race(),
        _ => return false,
    }
    true
}

fn other() -> bool {
    env::var_os("DRIFT").is_some_and(|drift| drift == "other")
}

fn say(line: &str) {
    use std::io::Write;
    let mut output = std::io::stdout().lock();
    // Nobody may be listening, in a replay.
    let _ = writeln!(output, "{line}");
    let _ = output.flush();
}

/// Two actors panic in every turn, and go on with the next message; two threads ask them.
fn panics(rounds: usize) {
    panic_quietly();
    struct Panics(Seen);
    let system = System::current();
    let actors: Vec<_> = (0..2)
        .map(|_| {
            system
                .build()
                .on_panic(OnPanic::Keep)
                .spawn(Panics(Seen::default()))
        })
        .collect();
    let threads: Vec<_> = (0..2)
        .map(|me| {
            let actors = actors.clone();
            thread::spawn(move || {
                let mut seen = Seen::default();
                for round in 0..rounds {
                    jitter();
                    let asked = actors[round % 2].ask(move |this, _| -> u64 {
                        this.0.note((me, round));
                        panic!("{:016x}", this.0.digest())
                    });
                    let broken = asked.wait().expect_err("every turn panics");
                    seen.note(broken.panic_message());
                }
                seen.digest()
            })
        })
        .collect();
    for thread in threads {
        println!("{:016x}", thread.join().unwrap());
    }
    for actor in actors {
        let (promise, resolver) = Promise::pair();
        actor.send(move |this, _| {
            resolver.resolve(this.0.digest());
            panic!("the last time");
        });
        println!("{:016x}", promise.wait().unwrap());
    }
}

/// A thread waits for a promise that nobody resolves, and somebody still could.
fn never_resolved() {
    struct Keeps(Option<Resolver<u64>>);
    let keeper = spawn(Keeps(None));
    let (promise, resolver) = Promise::<u64>::pair();
    keeper
        .ask(move |this, _| this.0 = Some(resolver))
        .wait()
        .unwrap();
    say("stuck");
    let _ = promise.wait();
}

/// As above, but only if the environment says so.
fn never_resolved_in_replay() {
    struct Keeps(Option<Resolver<u64>>);
    let keeper = spawn(Keeps(None));
    let (promise, resolver) = Promise::<u64>::pair();
    keeper.send(move |this, _| {
        this.0 = Some(resolver);
        if !other()
            && let Some(resolver) = &this.0
        {
            resolver.resolve(1);
        }
    });
    println!("{:?}", promise.wait().ok());
}

/// Three promises in a circle, closed by three actors.
fn circle() {
    let pairs: Vec<_> = (0..3).map(|_| Promise::<u64>::pair()).collect();
    let promises: Vec<_> = pairs.iter().map(|(promise, _)| promise.clone()).collect();
    let first = promises[0].clone();
    for (at, (_, resolver)) in pairs.into_iter().enumerate() {
        let next = promises[(at + 1) % promises.len()].clone();
        spawn(()).send(move |(), _| {
            jitter();
            resolver.resolve_with(next);
        });
    }
    let broken = first.wait().expect_err("a circle");
    println!("{broken}");
}

/// An actor that sends on whatever it gets, and notes in a file what that was.
struct Steady {
    me: usize,
    count: usize,
    peers: Vec<FarRef<Steady>>,
    shared: Arc<(Mutex<u64>, AtomicU64)>,
    acknowledged: std::sync::Arc<Acknowledged>,
    seen: Seen,
}

impl Steady {
    fn note(&mut self, what: u64) {
        self.seen.note(what);
        let (count, seen) = (self.count, self.seen.digest());
        self.count += 1;
        self.acknowledged.saw(self.me, count, seen);
    }

    fn gets(&mut self, ctx: &mut Context<Steady>, what: u64) {
        jitter();
        self.note(what);
        let next = self.peers[(what as usize).wrapping_mul(7) % ACTORS].clone();
        let more = what.wrapping_mul(0x9e37_79b9).wrapping_add(self.me as u64) >> 3;
        match what % 8 {
            0..=3 => next.send(move |this, ctx| this.gets(ctx, more)),
            4 => {
                let answer = next.ask(move |this, _| {
                    this.note(more);
                    more + 1
                });
                answer.when(ctx, |this, ctx, answer| this.gets(ctx, answer));
            }
            5 => {
                let (promise, resolver) = Promise::<FarRef<Steady>>::pair();
                promise.send(move |this, ctx| this.gets(ctx, more));
                let target = next.clone();
                next.send(move |_, _| {
                    resolver.resolve(target);
                });
            }
            6 => {
                let value = {
                    let mut value = self.shared.0.lock().unwrap();
                    *value = value.wrapping_mul(3) + 1;
                    *value
                };
                self.note(value);
                next.send(move |this, ctx| this.gets(ctx, more));
            }
            _ => {
                let value = self.shared.1.fetch_add(1, SeqCst);
                self.note(value);
                // A child, which dies right after.
                let peer = next.clone();
                ctx.spawn(more).send(move |this, _| {
                    let more = *this;
                    peer.send(move |this, ctx| this.gets(ctx, more));
                });
            }
        }
    }
}

/// Actors that send to each other until the process is killed.
fn steady() {
    let acknowledged = std::sync::Arc::new(Acknowledged::open());
    let shared = Arc::new((Mutex::new(0), AtomicU64::new(0)));
    let actors: Vec<_> = (0..ACTORS)
        .map(|me| {
            spawn(Steady {
                me,
                count: 0,
                peers: Vec::new(),
                shared: Arc::clone(&shared),
                acknowledged: std::sync::Arc::clone(&acknowledged),
                seen: Seen::default(),
            })
        })
        .collect();
    for actor in &actors {
        let peers = actors.clone();
        actor.send(move |this, _| this.peers = peers);
    }
    for (at, actor) in actors.iter().enumerate() {
        for seed in 0..4 {
            let what = (at * 100 + seed) as u64;
            actor.send(move |this, ctx| this.gets(ctx, what));
        }
    }
    say("ready");
    // A thread takes part.
    for what in 0.. {
        let answer = actors[what as usize % ACTORS].ask(move |this, _| {
            this.note(what);
            this.count
        });
        let _ = answer.wait();
    }
}

/// Actors that have children, who have children, until the process is killed.
fn families() {
    let acknowledged = std::sync::Arc::new(Acknowledged::open());
    struct Parent {
        me: usize,
        count: usize,
        acknowledged: std::sync::Arc<Acknowledged>,
        seen: Seen,
    }
    impl Parent {
        fn next(&mut self, ctx: &mut Context<Parent>, from: u64) {
            self.seen.note(from);
            let (count, seen) = (self.count, self.seen.digest());
            self.count += 1;
            self.acknowledged.saw(self.me, count, seen);
            let parent = ctx.me();
            ctx.spawn(from).send(move |this, ctx| {
                let grandchild = ctx.spawn(*this + 1);
                grandchild.send(move |this, _| {
                    let from = *this;
                    parent.send(move |this, ctx| this.next(ctx, from));
                });
            });
        }
    }
    let parents: Vec<_> = (0..ACTORS)
        .map(|me| {
            spawn(Parent {
                me,
                count: 0,
                acknowledged: std::sync::Arc::clone(&acknowledged),
                seen: Seen::default(),
            })
        })
        .collect();
    for parent in &parents {
        for seed in 0..3 {
            parent.send(move |this, ctx| this.next(ctx, seed << 32));
        }
    }
    let (_sender, never) = channel::<()>();
    say("ready");
    let _ = never.recv();
}

/// Three actors, each of which tries so often to send to one whose mailbox is full. Makes some megabytes of trace.
fn chatter(times: usize) {
    let full = System::current().build().mailbox(1).spawn(());
    let (opens, closed) = channel::<()>();
    let (begun, begins) = Promise::pair();
    full.send(move |(), _| {
        begins.resolve(());
        let _ = closed.recv();
    });
    begun.wait().unwrap();
    while full.try_send(|(), _| {}).is_ok() {}
    let tried: Vec<_> = (0..3)
        .map(|_| {
            let full = full.clone();
            spawn(()).ask(move |(), _| {
                let tries = (0..times).map(|_| full.try_send(|(), _| {}));
                tries.filter(Result::is_err).count()
            })
        })
        .collect();
    let vain: usize = tried.into_iter().map(|tried| tried.wait().unwrap()).sum();
    drop(opens);
    println!("{vain} times in vain");
}

/// A program that is another one with `DRIFT=other`.
fn drift(what: &str) {
    let other = other();
    struct Log(Vec<u64>);
    let log = spawn(Log(Vec::new()));
    let push = |to: &FarRef<Log>, number: u64| to.send(move |this, _| this.0.push(number));
    match what {
        // A message more.
        "extra" => {
            push(&log, 1);
            push(&log, 2);
            if other {
                push(&log, 3);
            }
        }
        // The same, sent by an actor.
        "extra-by-actor" => {
            let to = log.clone();
            let sender = spawn(());
            let sent = sender.ask(move |(), _| {
                push(&to, 1);
                if other {
                    push(&to, 2);
                }
            });
            sent.wait().unwrap();
        }
        // Other messages first, of one sender, which differ only in the code that handles them.
        "order" => {
            if other {
                log.send(|this, _| this.0.push(2));
                log.send(|this, _| this.0.insert(0, 1));
            } else {
                log.send(|this, _| this.0.insert(0, 1));
                log.send(|this, _| this.0.push(2));
            }
        }
        // The receiver waits for what another sender does not send.
        "missing" => {
            let to = log.clone();
            let sender = thread::Builder::new().name("sender".to_owned());
            let sender = sender.spawn(move || {
                if !other {
                    push(&to, 1);
                }
            });
            sender.unwrap().join().unwrap();
            push(&log, 2);
        }
        // As above, by an actor.
        "missing-by-actor" => {
            let to = log.clone();
            let sender = spawn(());
            let sent = sender.ask(move |(), _| {
                if !other {
                    push(&to, 1);
                }
            });
            sent.wait().unwrap();
            push(&log, 2);
        }
        // Another actor is sent to.
        "receiver" => {
            let second = spawn(Log(Vec::new()));
            push(if other { &second } else { &log }, 1);
            push(&log, 2);
            second.ask(|_, _| ()).wait().unwrap();
        }
        // An actor more.
        "spawn" => {
            if other {
                spawn(Log(Vec::new())).ask(|_, _| ()).wait().unwrap();
            }
            spawn(Log(Vec::new())).ask(|_, _| ()).wait().unwrap();
        }
        // A continuation more.
        "continuation" => {
            let registered = log.ask(move |_, ctx| {
                Promise::resolved(1).when(ctx, |this: &mut Log, _, number| this.0.push(number));
                if other {
                    Promise::resolved(2).when(ctx, |this: &mut Log, _, number| this.0.push(number));
                }
            });
            registered.wait().unwrap();
        }
        // A message more through a promise.
        "pipelined" => {
            let (promise, resolver) = Promise::<FarRef<Log>>::pair();
            promise.send(|this, _| this.0.push(1));
            if other {
                promise.send(|this, _| this.0.push(2));
            }
            resolver.resolve(log.clone());
        }
        // A lock taken by an actor once more.
        "lock" => {
            let lock = Arc::new(Mutex::new(0));
            let locked = log.ask(move |_, _| {
                for _ in 0..if other { 3 } else { 2 } {
                    *lock.lock().unwrap() += 1;
                }
            });
            locked.wait().unwrap();
        }
        _ => panic!("no such drift: {what}"),
    }
    let seen = log.ask(|this, _| this.0.clone()).wait().unwrap();
    println!("{seen:?}");
    // A message that is there when the process ends is no difference. So the actors end before.
    drop(log);
    System::current().wait_until_idle();
}

/// A turn ends the process, while others run.
fn exit_in_a_turn() {
    let (sender, receiver) = channel::<u64>();
    struct Busy(u64);
    for _ in 0..3 {
        let sender = sender.clone();
        let busy = spawn(Busy(0));
        fn go_on(
            this: &mut Busy,
            ctx: &mut Context<Busy>,
            sender: reenact::sync::mpsc::Sender<u64>,
        ) {
            this.0 += 1;
            let _ = sender.send(this.0);
            ctx.me().send(move |this, ctx| go_on(this, ctx, sender));
        }
        busy.send(move |this, ctx| go_on(this, ctx, sender));
    }
    let mut seen = Seen::default();
    for _ in 0..1000 {
        seen.note(receiver.recv().unwrap());
    }
    println!("{:016x}", seen.digest());
    spawn(()).send(|(), _| std::process::exit(3));
    loop {
        let _ = receiver.recv();
    }
}

/// Threads send while the system is shut down: whatever is refused is so in a replay.
fn shut_down_race() {
    let system = System::current();
    let actor = system.spawn(0u64);
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let actor = actor.clone();
            thread::spawn(move || {
                let mut answers = 0;
                loop {
                    jitter();
                    let asked = actor.ask(|this, _| {
                        *this += 1;
                        *this
                    });
                    match asked.wait() {
                        Ok(_) => answers += 1,
                        Err(_) => return answers,
                    }
                }
            })
        })
        .collect();
    system.shut_down();
    for thread in threads {
        println!("{}", thread.join().unwrap());
    }
}
