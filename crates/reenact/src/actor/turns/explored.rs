//! How an actor runs where it is explored: each turn is a step, and what it sends are others.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::NonNull,
};

use reenact_engine::explore;

use super::{end, handler_of, is_bounded, stop};
use crate::actor::{OnPanic, cell::Core, mailbox::Rest};

/// Runs an actor that has something to do, or that nobody refers to any more.
///
/// # Safety
///
/// For the consumer, with the actor's context. The actor may be gone afterwards.
pub(super) unsafe fn run(core: NonNull<Core>, context: *mut ()) {
    // SAFETY: The caller's. The cell is not used after it is idle.
    unsafe {
        let this = core.as_ref();
        if this.mailbox.peek().is_none() {
            // Whoever had the last far reference has dropped it.
            explore::comes_after_now();
        }
        loop {
            let is_refused = this.pool.is_closed() || explore::is_leaving();
            if is_refused && !this.stopping.get() {
                // Nobody but whoever sent something has it run.
                explore::comes_after_now();
                stop(core);
            }
            if this.mailbox.peek().is_none() {
                match this.mailbox.rest() {
                    Rest::More => continue,
                    Rest::Idle => return,
                    Rest::Abandoned => {
                        end(core);
                        return;
                    }
                }
            }
            let turn = catch_unwind(AssertUnwindSafe(|| this.explored_turn(context)));
            if turn.is_err() {
                explore::has_panicked();
                if this.in_place.replace(false) {
                    this.skip();
                }
            }
            let stops = this.stopping.get() || turn.is_err() && this.on_panic == OnPanic::Stop;
            if stops || explore::is_leaving() {
                stop(core);
            }
        }
    }
}

impl Core {
    /// Handles the first message, when it is time to.
    ///
    /// # Safety
    ///
    /// For the consumer, with its context.
    unsafe fn explored_turn(&self, context: *mut ()) {
        let capacity = self.bound.as_ref().map(|bound| bound.capacity());
        self.seat.receives(capacity);
        // SAFETY: The caller's.
        unsafe {
            let Some(message) = self.mailbox.peek() else {
                return;
            };
            if let Some(bound) = &self.bound
                && is_bounded(message.header as u32)
            {
                bound.release();
            }
            self.in_place.set(true);
            let words = handler_of(message.header)(message.captures, context);
            self.in_place.set(false);
            self.mailbox.advance(words);
        }
    }
}
