//! The counters of activities, given out by the thread that needs one.
//!
//! Activities may come and go by the million a second, so an appender keeps some free slots to itself and takes the lock
//! once for many. A slot that is kept is free in the live file too: a kill finds no activity in it.

use std::ptr::NonNull;

use super::{Shared, reason};
use crate::live::SlotPtr;

/// The counter of one activity, in the live file.
///
/// It is an address and nothing else, since there may be millions of them: 16 bytes in the file each. One that is not
/// given back by [`Appender::give_back`](crate::Appender::give_back) goes on belonging to its activity.
///
/// # Safety
///
/// The address is valid as long as the [`Writer`](crate::Writer) that it came from, or a clone or an appender of that.
/// Whoever keeps slots keeps one of those.
#[derive(Debug)]
pub struct Slot(SlotPtr);

impl Slot {
    /// The slot whose counter is there.
    ///
    /// # Safety
    ///
    /// It is the address that [`Slot::word`] gave, of a slot that has not been given back.
    pub unsafe fn at(word: NonNull<u64>) -> Slot {
        Slot(SlotPtr::at(word))
    }

    /// Where the counter (low 32 bits) and the hash (high 32 bits) are.
    pub fn word(&self) -> NonNull<u64> {
        self.0.word()
    }
}

/// Slots move between an appender and the others by so many.
const BATCH: usize = 64;

/// The free slots that an appender keeps to itself.
#[derive(Default)]
pub(super) struct Stash {
    free: Vec<SlotPtr>,
}

impl Stash {
    /// A slot for this activity; `None` once recording has stopped.
    #[inline]
    pub(super) fn take(&mut self, shared: &Shared, activity: u32) -> Option<Slot> {
        if shared.has_stopped() || self.free.is_empty() && !self.refill(shared) {
            return None;
        }
        let slot = self.free.pop()?;
        slot.open(activity);
        Some(Slot(slot))
    }

    /// Takes a slot back of which the trace says what it counted. After a stop it may say so no more: the slot stays.
    #[inline]
    pub(super) fn give_back(&mut self, shared: &Shared, slot: Slot) {
        if shared.has_stopped() {
            return;
        }
        slot.0.free();
        self.free.push(slot.0);
        if self.free.len() > 2 * BATCH {
            self.spill(shared, BATCH);
        }
    }

    #[cold]
    fn refill(&mut self, shared: &Shared) -> bool {
        let mut state = shared.state();
        if state.slots.is_empty() {
            match state.live.add_slots() {
                Ok(slots) => state.slots = slots,
                Err(error) => {
                    shared.stop(reason(&error), state);
                    return false;
                }
            }
        }
        let rest = state.slots.len().saturating_sub(BATCH);
        self.free.extend(state.slots.drain(rest..));
        true
    }

    /// Leaves all but so many to the others.
    #[cold]
    pub(super) fn spill(&mut self, shared: &Shared, keep: usize) {
        let kept = keep.min(self.free.len());
        shared.state().slots.extend(self.free.drain(kept..));
    }
}
