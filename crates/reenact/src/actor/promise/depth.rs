//! Promises that settle each other, without a stack as deep as their chain is long.

use std::cell::{Cell, RefCell};

use reenact_engine::thread;

/// So deep in the stack one may settle the next; those further along wait until the stack is gone.
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

/// Runs `action`, which may come here again, now or before the first of those who came here returns.
#[inline]
pub(super) fn bounded(action: impl FnOnce() + 'static) {
    if thread::is_shared() {
        // Others may run on this thread in the middle of it.
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
    // Where the thread's locals are gone, nothing was deferred.
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
