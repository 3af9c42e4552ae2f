//! Settles chains of promises with bounded stack depth.

use std::cell::{Cell, RefCell};

use reenact_engine::thread;

/// How many levels deep promises may settle each other; those further along are deferred until the stack has unwound.
const DEEPEST: u32 = 32;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static DEFERRED: RefCell<Vec<Box<dyn FnOnce()>>> = const { RefCell::new(Vec::new()) };
}

/// One level of depth, until it is dropped.
struct Level;

impl Level {
    fn enter() -> Level {
        DEPTH.set(DEPTH.get() + 1);
        Level
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Runs `action`, which may call this function again, either now or before the outermost call returns.
#[inline]
pub(super) fn bounded(action: impl FnOnce() + 'static) {
    if thread::is_shared() {
        // Other activities may run on this thread before `action` returns.
        return action();
    }
    match DEPTH.get() {
        0 => {
            let _level = Level::enter();
            action();
            run_deferred();
        }
        depth if depth < DEEPEST => {
            let _level = Level::enter();
            action();
        }
        _ => defer(Box::new(action)),
    }
}

#[inline]
fn run_deferred() {
    // If the thread-local is already destroyed, nothing was deferred.
    while let Ok(Some(action)) = DEFERRED.try_with(|deferred| deferred.borrow_mut().pop()) {
        action();
    }
}

#[cold]
fn defer(action: Box<dyn FnOnce()>) {
    let mut action = Some(action);
    let _ = DEFERRED.try_with(|deferred| deferred.borrow_mut().extend(action.take()));
    if let Some(action) = action {
        action();
    }
}
