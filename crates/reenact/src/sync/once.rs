//! `Once`: a recorded flag, and a recorded lock for those who come before it is set.

use std::{
    fmt,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::PoisonError,
};

use super::{
    Condvar, Mutex,
    atomic::{AtomicU8, Ordering},
};

/// Runs something once: [`std::sync::Once`], recorded.
///
/// # State
///
/// `state` is written only with `running` locked: new → done, or new → poisoned (→ done by force).
pub struct Once {
    state: AtomicU8,
    running: Mutex<()>,
    changed: Condvar,
}

const NEW: u8 = 0;
const POISONED: u8 = 1;
const DONE: u8 = 2;

/// What [`Once::call_once_force`] tells the closure.
pub struct OnceState {
    poisoned: bool,
}

impl OnceState {
    /// Whether an earlier initialisation panicked.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

impl fmt::Debug for OnceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceState")
            .field("poisoned", &self.is_poisoned())
            .finish()
    }
}

impl UnwindSafe for Once {}
impl RefUnwindSafe for Once {}

impl Once {
    /// Nothing has run yet.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "std's has none")]
    pub const fn new() -> Once {
        Once {
            state: AtomicU8::new(NEW),
            running: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    /// Runs `f` unless some closure has been run to its end before; waits for one that is running.
    #[inline]
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        if !self.is_completed() {
            self.run(false, |_| f());
        }
    }

    /// As [`Once::call_once`], but after a panic too.
    #[inline]
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, f: F) {
        if !self.is_completed() {
            self.run(true, f);
        }
    }

    /// Whether some closure has been run to its end.
    #[inline]
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.state.load(Ordering::Acquire) == DONE
    }

    /// Waits until some closure has been run to its end.
    #[track_caller]
    pub fn wait(&self) {
        self.wait_for(false);
    }

    /// As [`Once::wait`], ignoring panics.
    #[track_caller]
    pub fn wait_force(&self) {
        self.wait_for(true);
    }

    #[track_caller]
    fn wait_for(&self, force: bool) {
        if self.is_completed() {
            return;
        }
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match self.state.load(Ordering::Acquire) {
                DONE => return,
                POISONED if !force => panic!("Once instance has previously been poisoned"),
                _ => {
                    running = self
                        .changed
                        .wait(running)
                        .unwrap_or_else(PoisonError::into_inner)
                }
            }
        }
    }

    #[cold]
    #[track_caller]
    fn run(&self, force: bool, f: impl FnOnce(&OnceState)) {
        let _running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.state.load(Ordering::Acquire);
        if state == DONE {
            return;
        }
        let poisoned = state == POISONED;
        if poisoned && !force {
            panic!("Once instance has previously been poisoned");
        }
        let mut outcome = Outcome {
            once: self,
            state: POISONED,
        };
        f(&OnceState { poisoned });
        outcome.state = DONE;
    }
}

/// Says what became of the closure, when it returns or panics.
struct Outcome<'a> {
    once: &'a Once,
    state: u8,
}

impl Drop for Outcome<'_> {
    fn drop(&mut self) {
        self.once.state.store(self.state, Ordering::Release);
        self.once.changed.notify_all();
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}
