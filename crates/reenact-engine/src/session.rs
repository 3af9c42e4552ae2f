//! Turning a mode on through the API instead of the environment.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use reenact_trace::TraceError;

use crate::{
    controller::{self, Controller, SessionThread},
    mode::{self, Mode},
    record,
};

/// Records this process from here on, as if it had been started by `reenact record -o PATH`.
///
/// Call it at the beginning of `main`: it has no effect in a process that is already recorded or replayed, so that the
/// same program can be replayed. `reenact replay PATH` then works as usual.
pub fn record_to(path: &Path) -> Result<(), TraceError> {
    mode::settle();
    if mode::settled() == Mode::Off {
        record::start(path)?;
        mode::settle_strategy();
        mode::set(Mode::Record);
    }
    Ok(())
}

static CONTROLLED: Mutex<()> = Mutex::new(());

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Runs `program` with `controller` deciding about every operation. The calling thread is its `main`.
///
/// One at a time per process: a second caller waits. Threads that the program leaves behind continue uncontrolled. In a
/// process that is recorded or replayed the program runs as part of that, without the controller.
pub fn controlled<R>(controller: Arc<dyn Controller>, program: impl FnOnce() -> R) -> R {
    let _one = CONTROLLED.lock().unwrap_or_else(PoisonError::into_inner);
    mode::settle();
    if mode::settled() != Mode::Off {
        return program();
    }
    let _thread = SessionThread::enter();
    controller::install(Some(controller));
    mode::set(Mode::Controlled);
    let _end = OnDrop(|| {
        mode::set(Mode::Off);
        controller::install(None);
    });
    program()
}
