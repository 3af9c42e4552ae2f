//! The Savina suite of actor programs, on [`reenact::actor`](mod@reenact::actor).
//!
//! The actors and their messages are Savina's, so that who knows the suite finds them again; the parameters are those that
//! the papers give. Where the papers' size is over in milliseconds the amount of work is multiplied, the number of
//! actors is not: most programs then run in rounds of the papers' size. At scale 1 a program takes about half a second
//! on one worker.
//!
//! Every program checks its result against one that is computed in another way, and counts its messages: everything
//! that is a turn of an actor, the continuation of an answered request included. What the main program
//! sends to set up the actors is not counted.
//!
//! Eight of the programs exist on other actor libraries too, in the package `peers`. They take their sizes and what
//! their actors compute from there, so that a comparison is between libraries.

use std::hint::black_box;

use reenact::actor::System;

use self::sizes::{Program, Size};
use crate::{Measured, Setting, Workload};

#[path = "../../../peers/src/sizes.rs"]
pub mod sizes;
#[path = "../../../peers/src/work.rs"]
pub mod work;

mod a_star_search;
mod bank_transaction;
mod big;
mod chameneos;
mod cigarette_smokers;
mod concurrent_dictionary;
mod concurrent_sorted_linked_list;
mod counting;
mod fork_join_actor_creation;
mod fork_join_throughput;
mod idle_actors;
mod logistic_map_series;
mod n_queens;
mod philosophers;
mod ping_pong;
mod producer_consumer;
mod radix_sort;
mod sleeping_barber;
mod thread_ring;
mod trapezoidal_approximation;
mod unbalanced_cobwebbed_tree;

/// A program that exists on other libraries too.
macro_rules! shared {
    ($program:ident) => {
        Workload::actors(Program::$program.name(), |system, setting| {
            shared(Program::$program, system, setting)
        })
    };
}

/// The programs of the suite, by Savina's names, in the order of the tables.
pub const PROGRAMS: [Workload; 20] = [
    shared!(PingPong),
    shared!(Counting),
    shared!(ForkJoinThroughput),
    shared!(ForkJoinActorCreation),
    shared!(ThreadRing),
    shared!(Chameneos),
    shared!(Big),
    Workload::actors("ConcurrentDictionary", concurrent_dictionary::run),
    Workload::actors(
        "ConcurrentSortedLinkedList",
        concurrent_sorted_linked_list::run,
    ),
    Workload::actors("ProducerConsumerBoundedBuffer", producer_consumer::run),
    shared!(Philosophers),
    Workload::actors("SleepingBarber", sleeping_barber::run),
    Workload::actors("CigaretteSmokers", cigarette_smokers::run),
    Workload::actors("LogisticMapSeries", logistic_map_series::run),
    Workload::actors("BankTransaction", bank_transaction::run),
    Workload::actors("RadixSort", radix_sort::run),
    Workload::actors("UnbalancedCobwebbedTree", unbalanced_cobwebbed_tree::run),
    Workload::actors("TrapezoidalApproximation", trapezoidal_approximation::run),
    Workload::actors("AStarSearch", a_star_search::run),
    Workload::actors("NQueens", n_queens::run),
];

/// A million actors with nothing to do, for what an actor takes in memory.
pub const IDLE_ACTORS: Workload = Workload::actors("idle-actors", idle_actors::run);

/// Everything that the command line knows: [`PROGRAMS`] and [`IDLE_ACTORS`].
pub const WORKLOADS: &[Workload] = {
    const ALL: [Workload; PROGRAMS.len() + 1] = {
        let mut all = [IDLE_ACTORS; PROGRAMS.len() + 1];
        let mut next = 0;
        while next < PROGRAMS.len() {
            all[next] = PROGRAMS[next];
            next += 1;
        }
        all
    };
    &ALL
};

/// Runs one of the programs that exist on other libraries too.
fn shared(program: Program, system: System, setting: &Setting) -> Measured {
    let size = Size::of(program, setting.scale);
    Measured::around(|| {
        match size {
            Size::PingPong { pings } => ping_pong::run(system, pings),
            Size::Counting { increments, rounds } => counting::run(system, increments, rounds),
            Size::ThreadRing { actors, hops } => thread_ring::run(system, actors, hops),
            Size::ForkJoinActorCreation { actors, rounds } => {
                fork_join_actor_creation::run(system, actors, rounds)
            }
            Size::ForkJoinThroughput {
                actors,
                messages,
                rounds,
            } => fork_join_throughput::run(system, actors, messages, rounds),
            Size::Chameneos {
                chameneos,
                meetings,
            } => chameneos::run(system, chameneos, meetings),
            Size::Big { actors, pings } => big::run(system, actors, pings),
            Size::Philosophers {
                philosophers,
                meals,
            } => philosophers::run(system, philosophers, meals),
        }
        size.ops()
    })
}

/// What Savina's actors do to pass the time: so many steps, which the compiler cannot leave out.
fn busy_wait(steps: u64) {
    let mut sum = 0;
    for step in 0..steps {
        sum = black_box(sum + step);
    }
}

#[cfg(test)]
mod tests;
