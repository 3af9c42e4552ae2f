//! `xtask guard PROGRAM ARGUMENTS`: runs a test with a timeout. Cargo and nextest start tests through it.
//!
//! It behaves as the program does: output, exit status and signals pass through. If the program takes too long, the guard
//! prints the stacks of all its processes, kills them, and fails. Processes that the program has started do not outlive
//! it.
//!
//! Where more threads want to run than there are processors, everything takes longer, and time counts accordingly less
//! ([`machine`]). A limit in `REENACT_TEST_TIMEOUT` is in seconds of wall-clock time.

mod descendants;
mod machine;
mod stacks;

use std::{
    env,
    ffi::OsString,
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{self, Command, ExitCode, ExitStatus},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crate::{
    hunt::Catch,
    process::{SIGKILL, adopt_orphans, dies_with_this, send, wait_for_any},
};

use self::descendants::descendants;

/// Timeout of a test on an idle machine. The longest take half a minute alone on two cores.
const TIMEOUT: Duration = Duration::from_secs(300);
/// Timeout of the tests in [`LONG`]: the first builds a crate with all its dependencies, the second replays a minute of
/// load.
const LONG_TIMEOUT: Duration = Duration::from_secs(900);
const LONG: [&str; 2] = [
    "state_cannot_leak_between_actors",
    "a_service_under_load_for_a_minute_replays_without_network_and_database",
];
/// How often to look how busy the machine is.
const PERIOD: Duration = Duration::from_secs(5);
/// The exit status after a timeout, which is that of the command `timeout`.
const TIMED_OUT: u8 = 124;

/// Whether the program has ended or has timed out. A thread holds the lock while it determines this and acts on it.
#[derive(Default)]
struct Outcome {
    has_ended: bool,
    timed_out: bool,
}

pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let mut command = Command::new(&arguments[0]);
    command.args(&arguments[1..]);
    if arguments.iter().any(|argument| argument == "--list") {
        let error = command.exec();
        return failed(&arguments[0], &error);
    }
    adopt_orphans();
    let catch = match Catch::of(&mut command, arguments) {
        Ok(catch) => catch,
        Err(error) => return failed(&arguments[0], &error),
    };
    let child = match dies_with_this(&mut command).spawn() {
        // Waited for below, together with all other descendants.
        Ok(child) => child.id(),
        Err(error) => return failed(&arguments[0], &error),
    };
    let outcome = Arc::new(Mutex::new(Outcome::default()));
    let watched = Arc::clone(&outcome);
    let timeout = timeout_of(arguments);
    thread::spawn(move || {
        timeout.wait();
        end_program(timeout, &watched);
    });
    let status = loop {
        match wait_for_any() {
            Some((process, status)) if process == child => break status,
            Some(_) => {}
            None => return failed(&arguments[0], &"nobody knows how it ended"),
        }
    };
    // After a timeout, all processes have been killed when this lock is free.
    let timed_out = {
        let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
        outcome.has_ended = true;
        outcome.timed_out
    };
    end_all_descendants();
    if let Some(catch) = catch {
        catch.keep_if(timed_out || !status.success());
    }
    match timed_out {
        true => ExitCode::from(TIMED_OUT),
        false => end_like(status),
    }
}

/// When a program has taken too long.
#[derive(Clone, Copy)]
enum Timeout {
    /// After this wall-clock time.
    Exact(Duration),
    /// After this time on an idle machine.
    Idle(Duration),
}

/// Returns the timeout of a test, given its command line.
fn timeout_of(arguments: &[OsString]) -> Timeout {
    let asked = env::var("REENACT_TEST_TIMEOUT").ok();
    let asked = asked.and_then(|seconds| Duration::try_from_secs_f64(seconds.parse().ok()?).ok());
    let is_long = || LONG.iter().any(|name| arguments.contains(&(*name).into()));
    match asked {
        Some(exact) => Timeout::Exact(exact),
        None if is_long() => Timeout::Idle(LONG_TIMEOUT),
        None => Timeout::Idle(TIMEOUT),
    }
}

impl Timeout {
    fn wait(self) {
        let mut left = match self {
            Timeout::Exact(time) => return thread::sleep(time),
            Timeout::Idle(time) => time,
        };
        while !left.is_zero() {
            let began = Instant::now();
            thread::sleep(PERIOD);
            left = left.saturating_sub(began.elapsed().mul_f64(machine::speed()));
        }
    }
}

/// If the program has not ended, prints its stacks and kills it.
fn end_program(timeout: Timeout, outcome: &Mutex<Outcome>) {
    let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
    if outcome.has_ended {
        return;
    }
    outcome.timed_out = true;
    match timeout {
        Timeout::Exact(time) => eprintln!(
            "xtask: not done after {} seconds. Its processes:",
            time.as_secs_f64()
        ),
        Timeout::Idle(time) => eprintln!(
            "xtask: not done after what would be {} seconds on an idle machine. Its processes:",
            time.as_secs_f64()
        ),
    }
    for process in descendants() {
        eprint!("{}", stacks::of(process));
    }
    for process in descendants() {
        send(process, SIGKILL);
    }
}

/// Kills all processes that the program has left behind, and waits until they have ended.
fn end_all_descendants() {
    loop {
        for process in descendants() {
            send(process, SIGKILL);
        }
        if wait_for_any().is_none() {
            return;
        }
    }
}

/// Ends this process with the status, or by the signal, of another one.
fn end_like(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal() {
        send(process::id(), signal);
        // The signal does not end a process by default.
        return ExitCode::FAILURE;
    }
    ExitCode::from(status.code().map_or(1, |code| code as u8))
}

fn failed(program: &OsString, why: &impl std::fmt::Display) -> ExitCode {
    eprintln!("xtask: cannot run {}: {why}", program.display());
    ExitCode::FAILURE
}
