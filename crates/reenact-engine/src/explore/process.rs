//! Exploration of whole programs, in processes of their own.
//!
//! A program that is started for exploration does not reach its `main` at first: its process becomes the explorer. For
//! each execution, the explorer forks a child, which continues to `main` with real threads that take turns
//! ([`TurnToken`](super::task_stack::TurnToken)) and takes the steps that the explorer requests over a socket
//! ([`child`]). So every execution begins from the same memory, including statics, and nothing has to be started anew.
//! A child sends operations and source locations as addresses in the program, which are the same in both processes. To
//! use several cores, the explorer first makes copies of itself ([`family`]).

mod child;
mod family;

mod parent;
mod printed;
mod this_process;
mod watch;
mod wire;

use std::{
    ffi::OsString,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use self::child::Control;
pub(super) use self::child::{begin_thread, end_not_started, end_thread, stack_of};
pub(super) use self::family::{Account, Family};
pub(super) use self::parent::{Forked, ForkedRun};
pub(super) use self::watch::watch;
pub(super) use self::wire::address;
use super::{
    Execution, HERE, names::Families, recorded::RecordedInput, run::KEYS, task_stack::TurnToken,
};
use crate::{captured, mode, seeds};

/// The execution that this process is, if it is one.
static EXECUTION: OnceLock<ProcessExecution> = OnceLock::new();

struct ProcessExecution {
    execution: Arc<Execution>,
    main: Arc<TurnToken>,
    /// Whether the output of the program is shown.
    is_shown: bool,
}

/// Returns whether this process is an explored execution.
pub(super) fn is_here() -> bool {
    EXECUTION.get().is_some()
}

/// Returns the execution that this process is.
pub(super) fn execution<'a>() -> Option<&'a Execution> {
    EXECUTION.get().map(|this| &*this.execution)
}

/// Returns whether this process is an explored execution whose output is shown.
pub(super) fn is_shown() -> bool {
    EXECUTION.get().is_some_and(|this| this.is_shown)
}

/// Explores the program as the environment requests. Returns in the child processes, in which the program continues.
pub(crate) fn start_from_environment() {
    let report = std::env::var_os("REENACT_REPORT").map(PathBuf::from);
    let options = std::env::var("REENACT_EXPLORE").unwrap_or_default();
    super::request::run(&options, report);
}

/// Makes the calling process an execution that follows a schedule, without a process that explores: for a debugger. If
/// there is a recorded run, its external data are used.
pub(crate) fn follow_from_environment() {
    let path = |name| std::env::var_os(name).map(PathBuf::from);
    let Some(file) = path("REENACT_SCHEDULE") else {
        eprintln!(
            "reenact: REENACT=follow, but REENACT_SCHEDULE does not say which schedule: running as usual"
        );
        return mode::be_off();
    };
    let schedule = super::request::read(&file);
    let recorded = path("REENACT_TRACE")
        .map(|trace| RecordedInput::open(&trace))
        .transpose();
    match (schedule, recorded) {
        (Ok(schedule), Ok(recorded)) => {
            seeds::set(KEYS);
            let execution = Execution::new(Arc::default());
            execution.state().recorded = recorded.map(Arc::new);
            become_execution(&execution, Control::Follow(schedule), true);
        }
        (schedule, recorded) => {
            let error = schedule
                .err()
                .or(recorded.err().map(|error| error.to_string()));
            eprintln!("reenact: {}", error.unwrap_or_default());
            // SAFETY: `_exit` only ends the process; the program has not begun.
            unsafe { libc::_exit(2) };
        }
    }
}

/// Returns whether this process was started as a test binary that runs one test after the other. The threads that it
/// creates for its tests are then part of what is explored. They are not by default: a library's thread may wait for
/// something outside, and would keep its turn meanwhile.
fn runs_tests_in_turn() -> bool {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    arguments.iter().any(|one| one == "--test-threads=1")
        || arguments
            .windows(2)
            .any(|two| two[0] == "--test-threads" && two[1] == "1")
}

/// Makes the calling process an execution. The calling thread is the first activity; returns when it is its turn.
fn become_execution(execution: &Arc<Execution>, control: Control, is_shown: bool) {
    let main = Arc::new(TurnToken::default());
    let this = ProcessExecution {
        execution: Arc::clone(execution),
        main: Arc::clone(&main),
        is_shown,
    };
    assert!(EXECUTION.set(this).is_ok(), "a process is one execution");
    let recorded = execution.state().recorded.clone();
    if runs_tests_in_turn() || recorded.is_some_and(|recorded| recorded.has_foreign()) {
        captured::threads::capture();
    }
    mode::be_explored();
    super::listen_to_panics();
    child::control(Arc::clone(execution), Arc::clone(&main), control);
    HERE.set(Arc::as_ptr(execution));
    main.take();
    crate::activity::begin_explored(Families::MAIN);
}
