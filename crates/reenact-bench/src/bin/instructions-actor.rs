//! Actors, for the suite `instructions`: does one operation many times.

#[path = "instructions/operation.rs"]
mod operation;

use std::process::ExitCode;

use reenact::actor::{Context, FarRef, Promise, Resolver, Target, spawn};

fn main() -> ExitCode {
    operation::run(&[
        ("actor-tell", send),
        ("actor-tell-from-thread", send_from_thread),
        ("actor-ask", ask),
    ])
}

/// One of two actors that send to each other, with one message in flight.
struct Player {
    other: Option<FarRef<Player>>,
    done: Resolver<()>,
}

impl Player {
    fn play(&mut self, left: u64) {
        match (left, &self.other) {
            (1.., Some(other)) => other.send(move |its, _| its.play(left - 1)),
            _ => {
                self.other = None;
                self.done.resolve(());
            }
        }
    }
}

fn send(times: u64) {
    let (done, resolver) = Promise::pair();
    let player = |done| Player { other: None, done };
    let (one, two) = (spawn(player(resolver.clone())), spawn(player(resolver)));
    for (it, other) in [(&one, two.clone()), (&two, one.clone())] {
        it.send(move |its, _| its.other = Some(other));
    }
    one.send(move |its, _| its.play(times));
    done.wait().unwrap();
}

fn send_from_thread(times: u64) {
    let counter = spawn(0);
    for _ in 0..times {
        counter.send(|count: &mut u64, _| *count += 1);
    }
    assert_eq!(counter.ask(|count, _| *count).wait().unwrap(), times);
}

/// An actor that asks another one, and asks again when it is answered.
struct Asker {
    counter: FarRef<u64>,
    done: Resolver<u64>,
}

impl Asker {
    fn ask(&mut self, ctx: &mut Context<Self>, left: u64) {
        let answer = self.counter.ask(|count, _| {
            *count += 1;
            *count
        });
        let _ = answer.when(ctx, move |this, ctx, count| match left {
            0 | 1 => drop(this.done.resolve(count)),
            _ => this.ask(ctx, left - 1),
        });
    }
}

fn ask(times: u64) {
    let (asked, done) = Promise::pair();
    let counter = spawn(0);
    let asker = spawn(Asker { counter, done });
    asker.send(move |its, ctx| its.ask(ctx, times));
    assert_eq!(asked.wait().unwrap(), times);
}
