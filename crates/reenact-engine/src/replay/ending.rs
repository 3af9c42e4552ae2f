//! The end of a replayed process.
//!
//! The recorded process ended while its other activities were somewhere. In a replay the one that ends the process may
//! be ahead of them, so it waits until they have come to where they were.

use std::{
    sync::{
        Arc, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use super::{Replay, Runner, cursor::Next};
use crate::{
    Entity,
    activity::{HOT, NOBODY},
    mode,
    raw::{self, Parker},
};

/// The replay of this process, for the handlers below.
static REPLAY: OnceLock<Arc<Replay>> = OnceLock::new();
/// Whether the process is ending, so that nobody else declares the end.
static EXITING: AtomicBool = AtomicBool::new(false);
/// How many of those who are awake are the one who ends the process.
static ENDING_IT: AtomicU32 = AtomicU32::new(0);

/// Wakes whose turn it is at this entity now.
#[cold]
pub(super) fn wake(entity: &Entity) {
    if let Some(replay) = REPLAY.get() {
        replay.turns.wake(entity);
    }
}

/// Arranges that exits and aborts wait for the other activities.
pub(super) fn watch(replay: &Arc<Replay>) {
    if REPLAY.set(Arc::clone(replay)).is_err() {
        return;
    }
    /// None in a child made by `fork`, which comes here too.
    fn of_this_process() -> Option<&'static Arc<Replay>> {
        REPLAY.get().filter(|_| mode::is_conducted())
    }
    extern "C" fn at_exit() {
        if let Some(replay) = of_this_process() {
            replay.wait_for_others();
        }
    }
    extern "C" fn at_abort(signal: libc::c_int) {
        if let Some(replay) = of_this_process() {
            let registered = HOT
                .try_with(|hot| hot.token.get() != NOBODY)
                .unwrap_or(false);
            ENDING_IT.store(registered.into(), SeqCst);
            EXITING.store(true, SeqCst);
            replay.wait_for_others();
        }
        // SAFETY: Both calls are allowed in a signal handler; the signal then does what it does by default.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
    // SAFETY: The handlers touch atomics and futexes only.
    unsafe {
        libc::atexit(at_exit);
        libc::signal(libc::SIGABRT, at_abort as *const () as libc::sighandler_t);
    }
}

impl Replay {
    /// The thread of this activity ends although its code has not: the process is being ended by it.
    pub(super) fn exit_begins(&self, runner: &Runner) {
        let cursor = runner.cursor.lock().unwrap_or_else(PoisonError::into_inner);
        let more = cursor.silent_left() > 0 || matches!(cursor.next, Next::Event(_));
        if more {
            self.diverge(runner, &cursor, &cursor.describe(), "the program exits");
        }
        self.check(runner, &cursor, &|| "the program exits".to_owned());
        drop(cursor);
        self.consumed(runner);
        ENDING_IT.store(1, SeqCst);
        EXITING.store(true, SeqCst);
    }

    /// Sleeps until all others wait or have ended. One that has nothing of the trace left but does not come to its next
    /// operation is not waited for much longer: the recorded one was there when the process ended, too.
    fn wait_for_others(&self) {
        EXITING.store(true, SeqCst);
        let mut patience = 20;
        loop {
            let awake = self.turns.awake.load(SeqCst);
            if awake <= ENDING_IT.load(SeqCst) || patience == 0 {
                return;
            }
            if self.unconsumed.load(SeqCst) == 0 {
                patience -= 1;
            }
            raw::sleep_on(&self.turns.awake, awake, Duration::from_millis(20));
        }
    }

    /// Called by an activity that is about to sleep, with what it waits for.
    pub(super) fn sleeps(&self, runner: &Runner, what: impl FnOnce() -> String) {
        *runner
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(what());
        self.one_less_awake();
    }

    /// Called by an activity that goes on.
    pub(super) fn wakes(&self, runner: &Runner) {
        let mut waiting = runner
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        waiting.take();
    }

    pub(super) fn one_less_awake(&self) {
        let awake = self.turns.awake.fetch_sub(1, SeqCst) - 1;
        if EXITING.load(SeqCst) {
            raw::wake_all(&self.turns.awake);
        } else if awake == 0 {
            self.nobody_awake();
        }
    }

    /// A thread that nobody announced goes. If it goes because it ends the process, it would be wrong to say that nobody
    /// is awake, and it cannot be told; so that is left to another, later.
    pub(super) fn foreign_gone(&self) {
        if self.turns.awake.fetch_sub(1, SeqCst) == 1 {
            let _ = std::thread::Builder::new().spawn(|| {
                raw::sleep_on(&AtomicU32::new(0), 0, Duration::from_millis(200));
                if let Some(replay) = REPLAY.get()
                    && replay.turns.awake.load(SeqCst) == 0
                    && !EXITING.load(SeqCst)
                {
                    replay.nobody_awake();
                }
            });
        }
    }

    /// The trace has nothing more for this activity: it waits for the end of the process.
    pub(super) fn at_end(&self, runner: &Runner, what: &str) -> ! {
        self.consumed(runner);
        self.sleeps(runner, || what.to_owned());
        loop {
            Parker::default().park();
        }
    }
}
