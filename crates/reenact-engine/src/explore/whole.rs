//! Whole programs, in processes of their own.
//!
//! A program that is started to be explored does not come to its `main` at first: before that, its process becomes the one that explores.
//! For each execution it makes a child by `fork`, which goes on to `main`, with real threads that take turns
//! ([`Baton`](super::strand::Baton)), and does one step after the other as it is told over a socket ([`child`]). So every execution
//! begins from the same memory, statics and all, and nothing has to be started anew; and what a child sends of operations
//! and lines of code are addresses in the program, which are the same in both.

mod child;
mod glance;
mod parent;
mod printed;
mod watch;
mod wire;

use std::{
    os::unix::net::UnixStream,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

pub(super) use self::child::{begin_thread, end_thread, end_unborn, strand_of};
pub(super) use self::parent::{Forked, ForkedRun};
pub(super) use self::watch::watch;
use super::{HERE, World, strand::Baton};
use crate::mode;

/// The execution that this process is, if it is one.
static WHOLE: OnceLock<Whole> = OnceLock::new();

struct Whole {
    world: Arc<World>,
    main: Arc<Baton>,
}

/// Whether this process is an execution that is explored.
pub(super) fn is_here() -> bool {
    WHOLE.get().is_some()
}

/// Begins to explore because the environment says so. Returns in the children, in which the program goes on.
pub(crate) fn start_from_environment() {
    let report = std::env::var_os("REENACT_REPORT").map(PathBuf::from);
    let options = std::env::var("REENACT_EXPLORE").unwrap_or_default();
    super::errand::run(&options, report);
}

/// Makes the calling process an execution: its thread is the first activity, and goes on when it is its turn.
fn become_execution(world: &Arc<World>, stream: UnixStream) {
    let main = Arc::new(Baton::default());
    let whole = Whole {
        world: Arc::clone(world),
        main: Arc::clone(&main),
    };
    assert!(WHOLE.set(whole).is_ok(), "a process is one execution");
    mode::be_explored();
    super::listen_to_panics();
    child::control(Arc::clone(world), Arc::clone(&main), stream);
    HERE.set(Arc::as_ptr(world));
    main.take();
    crate::activity::Conducted::begin_main();
}
