//! The counters of activities, allocated by the thread that needs one.
//!
//! Millions of activities may start and end per second, so an appender keeps some free slots and takes the lock once
//! for many. Such a slot is free in the live file too: if the process is killed, no activity is found in it.

use std::ptr::NonNull;

use super::{Shared, reason};
use crate::live::SlotPtr;

/// The counter of one activity, in the live file.
///
/// It is only an address, since there may be millions of them, of 16 bytes each in the file. A slot that is not given
/// back by [`Appender::give_back`](crate::Appender::give_back) continues to belong to its activity.
///
/// # Safety
///
/// The address is valid as long as the [`Writer`](crate::Writer) that it came from, or a clone or an appender of it,
/// exists. The holder of slots must keep one of those.
#[derive(Debug)]
pub struct Slot(SlotPtr);

impl Slot {
    /// Returns the slot with this counter.
    ///
    /// # Safety
    ///
    /// `word` is the result of [`Slot::word`] for a slot that has not been given back.
    pub unsafe fn at(word: NonNull<u64>) -> Slot {
        Slot(SlotPtr::at(word))
    }

    /// Returns the address of the counter (low 32 bits) and the hash (high 32 bits).
    pub fn word(&self) -> NonNull<u64> {
        self.0.word()
    }
}

/// How many slots move between an appender and the shared list at once.
const BATCH: usize = 64;

/// The free slots of an appender.
#[derive(Default)]
pub(super) struct FreeSlots {
    free: Vec<SlotPtr>,
}

impl FreeSlots {
    /// Returns a slot for this activity; `None` once recording has stopped.
    #[inline]
    pub(super) fn take(&mut self, shared: &Shared, activity: u32) -> Option<Slot> {
        if shared.has_stopped() || self.free.is_empty() && !self.refill(shared) {
            return None;
        }
        let slot = self.free.pop()?;
        slot.open(activity);
        Some(Slot(slot))
    }

    /// Frees a slot whose count is in the trace. After a stop the count may not be there, so the slot is kept.
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

    /// Returns all but `keep` free slots to the shared list.
    #[cold]
    pub(super) fn spill(&mut self, shared: &Shared, keep: usize) {
        let kept = keep.min(self.free.len());
        shared.state().slots.extend(self.free.drain(kept..));
    }
}
