//! Looks for all executions of one program with TraceForge, up to the order of what is independent, and prints one line of
//! JSON about it. `peer-round` runs it.
//!
//! It is a program of its own, which does not use the library, because TraceForge cannot be linked with loom or may: they
//! have different versions of the crate `generator`, which define the same symbols.
//!
//! To TraceForge everything is a message: a mutex and an atomic are threads of its own that answer requests. Of its models,
//! `Mailbox` is what a channel of the standard library does. In these programs `FIFO` has the same executions, as their
//! numbers confirm, and takes a quarter of the time for mpsc-3x3 and a twenty-fifth for mutex-2x6; `Causal` takes as long.
//! Two workers take longer than one, and the size of stacks does not matter. It does not compile without its feature
//! `print_vals`.

use std::{
    env,
    sync::{
        Arc,
        atomic::{
            AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
};

use traceforge::{
    Config, ConsType,
    channel::{self, Receiver, Sender},
    msg::Message,
    sync::{Mutex, MutexGuard, atomic::AtomicU64 as Counter},
    thread::spawn,
    verify,
};

use explored::{Explored, Patience, Stopwatch};
use programs::{Outcome, Program, Shape};

#[expect(
    dead_code,
    unreachable_pub,
    reason = "the library has it too, and needs more of it"
)]
#[path = "../../explore/programs.rs"]
mod programs;
#[path = "../../explore/table.rs"]
mod table;

#[expect(
    dead_code,
    unreachable_pub,
    reason = "the library has it too, and needs more of it"
)]
#[path = "../../explore/explored.rs"]
mod explored;

fn main() {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [program, scale] = &arguments[..] else {
        panic!("a program and a scale are expected");
    };
    let program = Program::from_name(program).expect("`peer-round` knows the programs");
    let scale = scale.parse().expect("the scale is a number");
    let explored = Patience::at_scale(scale).repeat(|| search(program));
    println!(
        "{}",
        serde_json::to_string(&explored).expect("numbers are always JSON")
    );
}

fn search(program: Program) -> Explored {
    let bugs = Arc::new(AtomicU64::new(0));
    let found = Arc::clone(&bugs);
    let watch = Stopwatch::start();
    let stats = verify(config(), move || {
        let outcome = table::execute(program);
        assert!(program.allows(&outcome), "{outcome:?}");
        if program.is_bug(&outcome) {
            found.fetch_add(1, Relaxed);
        }
    });
    let deadlocks = stats.block as u64;
    assert!(deadlocks == 0 || program.allows(&Outcome::Deadlock));
    let explored = watch.explored(
        stats.execs as u64 + deadlocks,
        bugs.load(Relaxed) + deadlocks,
    );
    Explored {
        complete: Some(true),
        ..explored
    }
}

fn config() -> Config {
    Config::builder()
        .with_cons_type(ConsType::FIFO)
        // Otherwise it reports on the standard output.
        .with_progress_report(usize::MAX)
        .build()
}

fn channel<T: Message + Clone + 'static>() -> (Sender<T>, Receiver<T>) {
    channel::Builder::new().build()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.blocking_lock()
}

fn load(counter: &Counter) -> u64 {
    counter.load(SeqCst)
}

fn store(counter: &Counter, value: u64) {
    counter.store(value, SeqCst);
}

fn send<T: Message + 'static>(sender: &Sender<T>, message: T) {
    sender.send_msg(message);
}

fn receive<T: Message + Clone + 'static>(receiver: &Receiver<T>) -> T {
    receiver.recv_msg_block()
}
