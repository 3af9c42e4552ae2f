//! The programs on actix.
//!
//! An actor of actix stays on the arbiter, a thread with an event loop, that it was started on, and
//! it is the programmer who spreads actors over arbiters. There are two ways to do that here, under
//! two names:
//!
//! - `actix` keeps all actors on the system's own arbiter, whatever the number of workers. That is
//!   the best placement for these programs: their handlers take some nanoseconds, and a message to
//!   another thread costs more than there is to gain. On two quiet cores, spreading made no program
//!   faster beyond noise, and Philosophers more than three times slower. One thread also spares
//!   the allocator its locks.
//! - `actix-spread` has as many arbiters as workers, with the actors of one kind in equal blocks
//!   over all of them, and the one that all of them talk to on the first. It says what the second
//!   core is worth to a program that has been divided up without regard to who talks to whom.
//!
//! Messages go by `do_send`, which disregards the capacity of the mailbox, so that mailboxes are
//! unbounded. Each message is a type of its own, as actix wants it.

mod arbiters;
mod big;
mod chameneos;
mod counting;
mod fork_join_creation;
mod fork_join_throughput;
mod philosophers;
mod ping_pong;
mod thread_ring;

use actix::System;
use tokio::sync::mpsc::UnboundedReceiver;

use self::arbiters::Arbiters;
use crate::{measured::Measured, runtime, sizes::Size};

/// Runs a program of this size on so many arbiters.
pub(crate) fn run(size: Size, arbiters: usize) -> Measured {
    System::new().block_on(async move {
        let arbiters = Arbiters::start(arbiters);
        runtime::measured(size, program(size, arbiters)).await
    })
}

async fn program(size: Size, arbiters: Arbiters) {
    runtime::run_program!(size, &arbiters);
}

/// Makes types actors.
macro_rules! actors {
    ($($actor:ty),*) => {$(
        impl actix::Actor for $actor {
            type Context = actix::Context<Self>;
        }
    )*};
}
use actors;

/// What an actor reports to the main program.
async fn next<T>(reports: &mut UnboundedReceiver<T>) -> T {
    reports.recv().await.expect("the actors outlive this wait")
}
