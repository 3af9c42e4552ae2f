//! Whole programs, in processes of their own.
//!
//! A program that is started to be explored does not come to its `main` at first: before that, its process becomes the one that explores.
//! For each execution it makes a child by `fork`, which goes on to `main`, with real threads that take turns
//! ([`Baton`](super::strand::Baton)), and does one step after the other as it is told over a socket ([`child`]). So every execution
//! begins from the same memory, statics and all, and nothing has to be started anew; and what a child sends of operations
//! and lines of code are addresses in the program, which are the same in both. If several cores are to be used, the process that
//! explores makes copies of itself first ([`family`]).

mod child;
mod family;
mod glance;
mod here;
mod parent;
mod printed;
mod watch;
mod wire;

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use self::child::Control;
pub(super) use self::child::{begin_thread, end_thread, end_unborn, strand_of};
pub(super) use self::family::{Account, Family};
pub(super) use self::parent::{Forked, ForkedRun};
pub(super) use self::watch::watch;
use super::{HERE, World, names::Families, recorded::Recorded, run::KEYS, strand::Baton};
use crate::{captured, mode, seeds};

/// The execution that this process is, if it is one.
static WHOLE: OnceLock<Whole> = OnceLock::new();

struct Whole {
    world: Arc<World>,
    main: Arc<Baton>,
    /// Whether what it prints is shown.
    is_shown: bool,
}

/// Whether this process is an execution that is explored.
pub(super) fn is_here() -> bool {
    WHOLE.get().is_some()
}

/// The same, and what it prints is shown.
pub(super) fn is_shown() -> bool {
    WHOLE.get().is_some_and(|whole| whole.is_shown)
}

/// Begins to explore because the environment says so. Returns in the children, in which the program goes on.
pub(crate) fn start_from_environment() {
    let report = std::env::var_os("REENACT_REPORT").map(PathBuf::from);
    let options = std::env::var("REENACT_EXPLORE").unwrap_or_default();
    super::errand::run(&options, report);
}

/// Makes the calling process an execution that follows a schedule, without another one that explores: for a debugger. What the
/// world said to a recorded run is said again, if there is one.
pub(crate) fn follow_from_environment() {
    let path = |name| std::env::var_os(name).map(PathBuf::from);
    let Some(file) = path("REENACT_SCHEDULE") else {
        eprintln!(
            "reenact: REENACT=follow, but REENACT_SCHEDULE does not say which schedule: running as ever"
        );
        return mode::be_off();
    };
    let schedule = super::errand::read(&file);
    let recorded = path("REENACT_TRACE")
        .map(|trace| Recorded::open(&trace))
        .transpose();
    match (schedule, recorded) {
        (Ok(schedule), Ok(recorded)) => {
            seeds::set(KEYS);
            let world = World::new();
            world.state().recorded = recorded.map(Arc::new);
            become_execution(&world, Control::Follow(schedule), true);
        }
        (schedule, recorded) => {
            let error = schedule
                .err()
                .or(recorded.err().map(|error| error.to_string()));
            eprintln!("reenact: {}", error.unwrap_or_default());
            // SAFETY: It ends the process, of which nothing has begun.
            unsafe { libc::_exit(2) };
        }
    }
}

/// Makes the calling process an execution: its thread is the first activity, and goes on when it is its turn.
fn become_execution(world: &Arc<World>, control: Control, is_shown: bool) {
    let main = Arc::new(Baton::default());
    let whole = Whole {
        world: Arc::clone(world),
        main: Arc::clone(&main),
        is_shown,
    };
    assert!(WHOLE.set(whole).is_ok(), "a process is one execution");
    let recorded = world.state().recorded.as_ref();
    if recorded.is_some_and(|recorded| recorded.has_foreign()) {
        captured::threads::capture();
    }
    mode::be_explored();
    super::listen_to_panics();
    child::control(Arc::clone(world), Arc::clone(&main), control);
    HERE.set(Arc::as_ptr(world));
    main.take();
    crate::activity::begin_explored(Families::MAIN);
}
