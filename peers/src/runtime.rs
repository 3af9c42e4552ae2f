//! The tokio runtime under kameo, ractor and bare tasks.
//!
//! For one worker it is the scheduler that stays on its thread. The work-stealing one with a single
//! worker was tried twice, on a machine with other load: over the eight programs it was slower by
//! 3 and 9 % with kameo, 7 and 14 % with ractor, 14 and 32 % with bare tasks.

use tokio::{
    runtime::{Builder, Runtime},
    sync::mpsc::UnboundedReceiver,
};

use crate::{
    measured::{Measured, Moment},
    sizes::Size,
};

/// Runs `program` as a task on a new runtime with so many workers and measures it.
///
/// It is a task because what `block_on` itself runs is on the thread of the caller, which would be
/// one worker more than asked for.
pub(crate) fn measure(
    workers: usize,
    size: Size,
    program: impl Future<Output = ()> + Send + 'static,
) -> Measured {
    start(workers).block_on(async {
        tokio::spawn(measured(size, program))
            .await
            .expect("the program checks out")
    })
}

/// Times `program`, which is one run of this size.
pub(crate) async fn measured(size: Size, program: impl Future<Output = ()>) -> Measured {
    let start = Moment::now();
    program.await;
    Measured::since(start, size.ops())
}

fn start(workers: usize) -> Runtime {
    // There is neither input nor output nor time in these programs, so no driver is enabled.
    let runtime = if workers == 1 {
        Builder::new_current_thread().build()
    } else {
        Builder::new_multi_thread().worker_threads(workers).build()
    };
    runtime.expect("the system has threads for the workers")
}

/// The main program of ForkJoinThroughput: so many messages to each worker, and the wait for all of them, in rounds.
pub(crate) async fn fork_and_join<W>(
    workers: &[W],
    messages: u64,
    rounds: u64,
    send: impl Fn(&W),
    rounds_over: &mut UnboundedReceiver<u64>,
) {
    for round in 1..=rounds {
        for _ in 0..messages {
            workers.iter().for_each(&send);
        }
        let handled = rounds_over.recv().await;
        assert_eq!(handled, Some(workers.len() as u64 * messages * round));
    }
}

/// Runs the program of a size: the function `run` of the module that is named after the program, in scope where this is
/// used. Each takes the parameters of its size, after those that are given.
macro_rules! run_program {
    ($size:expr $(, $argument:expr)?) => {
        match $size {
            Size::PingPong { pings } => ping_pong::run($($argument,)? pings).await,
            Size::Counting { increments, rounds } => {
                counting::run($($argument,)? increments, rounds).await;
            }
            Size::ThreadRing { actors, hops } => {
                thread_ring::run($($argument,)? actors, hops).await;
            }
            Size::ForkJoinActorCreation { actors, rounds } => {
                fork_join_creation::run($($argument,)? actors, rounds).await;
            }
            Size::ForkJoinThroughput {
                actors,
                messages,
                rounds,
            } => fork_join_throughput::run($($argument,)? actors, messages, rounds).await,
            Size::Chameneos {
                chameneos,
                meetings,
            } => chameneos::run($($argument,)? chameneos, meetings).await,
            Size::Big { actors, pings } => big::run($($argument,)? actors, pings).await,
            Size::Philosophers {
                philosophers,
                meals,
            } => philosophers::run($($argument,)? philosophers, meals).await,
        }
    };
}
pub(crate) use run_program;
