//! What each activity of an execution could do now.

use super::{actor::Actor, state::State};
use crate::{
    Access, Arrival, End,
    explore::{event::NOTHING, object_state::ObjectState},
};

impl State {
    /// Returns whether the activity may take the next step.
    #[inline]
    pub(in crate::explore) fn is_enabled(&self, number: u32) -> bool {
        self.can_go_on(number) && !(self.is_watching && self.lets_others_go_first(number))
    }

    /// Returns whether the activity's pending operation is possible.
    #[inline]
    pub(super) fn can_go_on(&self, number: u32) -> bool {
        let Some(actor) = self.actors.get(number as usize) else {
            return false;
        };
        let Some(pending) = actor.pending() else {
            return false;
        };
        if self.halt.is_some() {
            return false;
        }
        let is_not_ready = |ready: *const dyn Fn() -> bool| {
            // SAFETY: The waiting activity has the closure on its stack.
            unsafe { !(*ready)() }
        };
        if pending.ready.is_some_and(is_not_ready) {
            return false;
        }
        let touch = pending.event.touch;
        let Some(object) = self.objects.get(touch.object as usize) else {
            return true;
        };
        match touch.access {
            Access::Take => object.is_free(),
            Access::Look => object.may_look(),
            Access::Wake { timed } => {
                let lock = pending.event.more.as_ref().and_then(|more| more.first());
                let lock = lock.and_then(|lock| self.objects.get(lock.object as usize));
                (timed || actor.is_notified) && lock.is_none_or(ObjectState::is_free)
            }
            _ => true,
        }
    }

    /// Returns the number of ways in which the pending operation can go.
    #[inline]
    pub(in crate::explore) fn choices(&self, number: u32) -> u32 {
        let Some(pending) = self.actors.get(number as usize).and_then(Actor::pending) else {
            return 1;
        };
        match pending.event.touch.access {
            Access::Notify { all: false } => {
                let object = self.objects.get(pending.event.touch.object as usize);
                object.map_or(1, |object| object.waiters.len().max(1) as u32)
            }
            // SAFETY: The waiting activity has the closure on its stack.
            _ => pending
                .special
                .ways
                .map_or(1, |ways| unsafe { (*ways)() }.max(1)),
        }
    }

    /// Returns how the pending operation would go now: of several operations, a bit for each possible one; otherwise 0
    /// if it would be declined (a try that fails, a wait that times out, a channel whose other end is gone), and 1 if
    /// not.
    pub(in crate::explore) fn prospect(&self, number: u32) -> u64 {
        let Some(actor) = self.actors.get(number as usize) else {
            return 1;
        };
        let Some(pending) = actor.pending() else {
            return 1;
        };
        if let Some(possible) = pending.special.possible {
            let cases = pending.event.touches();
            let cases = cases.filter(|touch| touch.object != NOTHING).count();
            // SAFETY: The waiting activity has the closure on its stack.
            let is_possible = |case: &usize| unsafe { (*possible)(*case) };
            return (0..cases.min(64))
                .filter(is_possible)
                .map(|case| 1 << case)
                .sum();
        }
        let touch = pending.event.touch;
        let Some(object) = self.objects.get(touch.object as usize) else {
            return 1;
        };
        let goes = match touch.access {
            Access::TryTake => object.is_free(),
            Access::TryLook => object.holder.is_none(),
            Access::Wake { .. } => actor.is_notified,
            Access::Send => !object.is_over(End::Sending),
            Access::Receive => !object.is_over(End::Receiving),
            _ => true,
        };
        u64::from(goes)
    }

    /// Returns the message that the pending operation sends, if it is identified by more than its sender.
    pub(in crate::explore) fn message(&self, number: u32) -> Option<Arrival> {
        let pending = self.actors.get(number as usize)?.pending()?;
        pending.special.message
    }
}
