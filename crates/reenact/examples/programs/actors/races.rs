//! Races of promises, many in one run. What is printed is which way each of them went, in one number, and how often it
//! went which way.

use reenact::actor::{Context, FarRef, Promise, Resolver, System, Target, spawn};

use super::number;
use crate::support::{Seen, jitter};

pub(super) fn run(name: &str, arguments: &[String]) -> bool {
    match name {
        "promise-race" => race(number(arguments, 0), start_promise_race),
        "send-race" => race(number(arguments, 0), start_send_race),
        "resolve-race" => race(number(arguments, 0), start_resolve_race),
        _ => return false,
    }
    true
}

/// So many races are under way at a time, each with runners of its own: with fewer, one worker would run them all.
const AT_A_TIME: usize = 16;

/// Where what races arrives.
struct Arena {
    /// For each race the first to arrive, until the second has.
    first: Vec<Option<u8>>,
    seen: Seen,
    orders: [usize; 2],
    driver: FarRef<Driver>,
}

impl Arena {
    fn arrives(&mut self, race: usize, who: u8) {
        jitter();
        match self.first[race] {
            None => self.first[race] = Some(who),
            Some(first) => {
                self.seen.note((race, first, who));
                self.orders[usize::from(first)] += 1;
                self.driver.send(Driver::start);
            }
        }
    }
}

/// Somebody who resolves or sends, and may be on another worker than others.
struct Helper;

impl Helper {
    /// Takes some time, sometimes more than it takes another worker to come and help.
    fn runs() {
        (0..8).for_each(|_| jitter());
    }

    fn resolve(resolver: Resolver<FarRef<Arena>>, arena: FarRef<Arena>) {
        Helper::runs();
        resolver.resolve(arena);
    }
}

struct Driver {
    races: usize,
    started: usize,
    arena: Option<FarRef<Arena>>,
    helpers: Vec<[FarRef<Helper>; 2]>,
    begin: Begin,
    seen: Seen,
    done: Option<Resolver<(FarRef<Arena>, u64)>>,
}

type Begin = fn(&mut Driver, &mut Context<Driver>, usize, FarRef<Arena>);

impl Driver {
    fn start(&mut self, ctx: &mut Context<Driver>) {
        let arena = self
            .arena
            .clone()
            .expect("there is one before a race begins");
        let race = self.started;
        self.started += 1;
        if race < self.races {
            (self.begin)(self, ctx, race, arena);
        } else if race + 1 == self.races + AT_A_TIME
            && let Some(done) = self.done.take()
        {
            done.resolve((arena, self.seen.digest()));
        }
    }
}

fn race(races: usize, begin: Begin) {
    let (promise, done) = Promise::pair();
    let driver = spawn(Driver {
        races,
        started: 0,
        arena: None,
        helpers: (0..AT_A_TIME)
            .map(|_| [spawn(Helper), spawn(Helper)])
            .collect(),
        begin,
        seen: Seen::default(),
        done: Some(done),
    });
    let arena = spawn(Arena {
        first: vec![None; races],
        seen: Seen::default(),
        orders: [0; 2],
        driver: driver.clone(),
    });
    driver.send(move |this, ctx| {
        this.arena = Some(arena);
        for _ in 0..AT_A_TIME {
            this.start(ctx);
        }
    });
    let (arena, seen) = promise.wait().expect("the last race resolves it");
    let (digest, orders) = arena
        .ask(|this, _| (this.seen.digest(), this.orders))
        .wait()
        .expect("it has not stopped");
    println!("{digest:016x} {seen:016x}");
    println!("{} {}", orders[0], orders[1]);
    // Neither side has the other any more.
    driver.send(|this, _| this.arena = None);
    System::current().wait_until_idle();
}

/// The race of the figure: one sender sends a message through each of two promises, which two others resolve.
///
/// ```text
/// driver:    m0 → p0 ── m1 → p1
/// helper 0:        resolve p0 ─→ m0 ─┐
/// helper 1:        resolve p1 ─→ m1 ─┴→ arena: which comes first?
/// ```
fn start_promise_race(
    this: &mut Driver,
    _: &mut Context<Driver>,
    race: usize,
    arena: FarRef<Arena>,
) {
    let promises = [0, 1].map(|who| {
        let (promise, resolver) = Promise::<FarRef<Arena>>::pair();
        promise.send(move |arena, _| arena.arrives(race, who));
        (promise, resolver)
    });
    for ((_, resolver), helper) in promises.into_iter().zip(&this.helpers[race % AT_A_TIME]) {
        let arena = arena.clone();
        helper.send(move |_, _| Helper::resolve(resolver, arena));
    }
}

/// One helper sends to a promise, the other resolves it and sends to what it stands for:
///
/// ```text
/// helper 0:  m0 → p ───────────┐
/// helper 1:  resolve p ── m1 ──┴→ arena: was m0 forwarded, or sent, before m1?
/// ```
fn start_send_race(this: &mut Driver, _: &mut Context<Driver>, race: usize, arena: FarRef<Arena>) {
    let (promise, resolver) = Promise::<FarRef<Arena>>::pair();
    let send = move |_: &mut Helper, _: &mut Context<Helper>| {
        Helper::runs();
        promise.send(move |arena, _| arena.arrives(race, 0));
    };
    let resolve = move |_: &mut Helper, _: &mut Context<Helper>| {
        Helper::resolve(resolver, arena.clone());
        arena.send(move |arena, _| arena.arrives(race, 1));
    };
    let [sender, resolves] = &this.helpers[race % AT_A_TIME];
    // The helper that gets its message first is more often first.
    if race.is_multiple_of(2) {
        sender.send(send);
        resolves.send(resolve);
    } else {
        resolves.send(resolve);
        sender.send(send);
    }
}

/// Both resolve the same promise, and what they say shows who was first:
///
/// ```text
/// helper 0:  resolve p with 0 ──┐
/// helper 1:  resolve p with 1 ──┴→ driver: what is it?
/// ```
fn start_resolve_race(
    this: &mut Driver,
    ctx: &mut Context<Driver>,
    race: usize,
    arena: FarRef<Arena>,
) {
    let (promise, resolver) = Promise::<u8>::pair();
    for (who, helper) in (0u8..).zip(&this.helpers[race % AT_A_TIME]) {
        let (resolver, arena) = (resolver.clone(), arena.clone());
        helper.send(move |_, _| {
            Helper::runs();
            let was_first = resolver.resolve(who);
            arena.send(move |arena, _| {
                arena.seen.note((race, who, was_first));
                arena.arrives(race, if was_first { who } else { 1 - who });
            });
        });
    }
    promise.when(ctx, move |this, _, first| this.seen.note((race, first)));
}
