//! The effects of a step on an execution, and what the step comes after.

use std::{panic::Location, sync::Arc};

use reenact_explore::{Links, Moment, Step};

use super::{
    actor::{Pending, Phase},
    state::{Halt, State},
};
use crate::{
    Access, Decision, End,
    explore::{
        event::{ANY_CHANNEL, Event, NOTHING, Touched},
        object_state::{Passed, is_at_queue},
        subject::Granularity,
    },
};

impl State {
    /// Adds what a pending event would come after.
    pub(in crate::explore) fn links(&self, number: u32, links: &mut Links) {
        let Some(actor) = self.actors.get(number as usize) else {
            return;
        };
        actor.inherited.iter().for_each(|&at| links.after(at));
        self.link_repetition(number, links);
        if let Some(pending) = actor.pending() {
            if pending.event.touch.access == (Access::Wake { timed: false }) && !actor.is_notified {
                // It has not been notified, and no reordering of earlier steps is to blame for that.
                return;
            }
            self.link(number, pending, links);
        }
    }

    fn link(&self, number: u32, pending: &Pending, links: &mut Links) {
        if pending.event.touch.access == Access::Ask {
            for (who, last) in self.last.iter().enumerate() {
                if who as u32 != number {
                    last.iter().for_each(|&at| links.races(at));
                }
            }
            return;
        }
        for &(who, at) in &self.asks {
            if who != number {
                links.races(at);
            }
        }
        if pending.event.touch.access == Access::Transact {
            // The accesses of a transaction are known only once it has run. If it waits, nothing that it accesses was
            // available before.
            return;
        }
        let waits = pending.ready.is_some();
        let mut way = 0;
        pending.each_touch(|touch, room| {
            if let Some(object) = self.objects.get(touch.object as usize) {
                let waits = waits && is_at_queue(touch.access);
                object.link(number, touch.access, room, waits, links, &mut way);
            }
        });
        let Some(since) = links.earliest_race() else {
            return;
        };
        pending.each_touch(|touch, _| {
            if let (Access::Take | Access::Look, Some(object)) =
                (touch.access, self.objects.get(touch.object as usize))
            {
                object.held(touch.access == Access::Look, since, links);
            }
        });
    }

    /// Performs the pending operation: activities that wait for it may continue, and what follows comes after it.
    #[inline]
    pub(super) fn perform(&mut self, step: Step) {
        let number = step.activity.0;
        if let Some(moment) = self.moment {
            self.note(number, moment);
        }
        debug_assert!(
            self.pending(number).is_some(),
            "it is about to do something"
        );
        let is_suspicious = self.is_watching && self.watches(number);
        if is_suspicious {
            self.begin_repetition(number);
        }
        let actor = &mut self.actors[number as usize];
        actor.phase = Phase::Runs;
        actor.inherited.clear();
        let about_to_act = &mut self.about_to_act;
        if let Some(place) = about_to_act.iter().position(|who| who.0 == number) {
            about_to_act.swap_remove(place);
        }
        self.decision = Decision::Go;
        self.answer = step.choice;
        let Event {
            site,
            touch,
            ref more,
            ..
        } = actor.pending.event;
        let has_more = more.is_some();
        self.meet(number, touch, site, step.choice);
        if has_more {
            self.meet_more(number, site, step.choice);
        }
        if is_suspicious {
            self.end_repetition(number);
        }
    }

    /// Performs the pending operation at this moment and adds what it comes after to `links`. Returns its event; as an
    /// error if the activity is not enabled.
    pub(super) fn perform_at(
        &mut self,
        step: Step,
        moment: Moment,
        links: &mut Links,
    ) -> Result<Event, Event> {
        self.is_at(moment);
        let number = step.activity.0;
        if !self.is_enabled(number) {
            let pending = self.pending(number).cloned();
            return Err(pending.unwrap_or_else(Event::nothing));
        }
        self.links(number, links);
        let event = self.actors[number as usize].pending.event.clone();
        self.besides.clear();
        self.perform(step);
        Ok(event)
    }

    /// Completes the event of a step, whose activity has run, by what became known only then.
    pub(super) fn complete(&mut self, number: u32, event: &mut Event, links: &mut Links) {
        if event.touch.access == Access::Transact {
            event.more = self.met(number, links);
        }
    }

    /// Completes the event of a step, once nobody runs any more, by what was accessed besides.
    #[inline]
    pub(super) fn complete_besides(&mut self, event: &mut Event) {
        self.note_met_selections();
        let may_be_more = |more: &Arc<[Touched]>| more.ends_with(&ANY_CHANNEL);
        if !self.besides.is_empty() || event.more.as_ref().is_some_and(may_be_more) {
            let more = event.touches().skip(1);
            let more = more.filter(|touch| !ANY_CHANNEL.contains(touch));
            let more: Vec<_> = more.chain(self.besides.drain(..)).collect();
            event.more = (!more.is_empty()).then(|| more.into());
        }
    }

    /// Performs the operation on the further objects that it accesses.
    fn meet_more(&mut self, number: u32, site: &'static Location<'static>, choice: u32) {
        let more = |state: &State, index| {
            let more = state.actors[number as usize].pending.event.more.as_ref();
            more.and_then(|more| more.get(index).copied())
        };
        let mut index = 0;
        while let Some(touch) = more(self, index) {
            if touch.object != NOTHING {
                self.meet(number, touch, site, choice);
            }
            index += 1;
        }
    }

    /// Notes the step, for later steps that come after it.
    fn note(&mut self, number: u32, moment: Moment) {
        let pending = &self.actors[number as usize].pending;
        if pending.event.touch.access == Access::Transact {
            self.footprint = None;
            self.awaited = pending.ready.map(|_| {
                let last = self.last.get(number as usize).copied().flatten();
                (pending.special.awaits.clone(), last)
            });
        }
        if self.last.len() <= number as usize {
            self.last.resize(number as usize + 1, None);
        }
        self.last[number as usize] = Some(moment);
        if pending.event.touch.access == Access::Ask {
            self.asks.push((number, moment));
        }
        pending.each_touch(|touch, room| {
            if touch.access != Access::Transact
                && let Some(object) = self.objects.get_mut(touch.object as usize)
            {
                object.note(number, touch.access, moment, room);
            }
        });
    }

    /// Adds what the transaction of the current step, which has run, comes after by its accesses. Returns the accesses.
    pub(super) fn met(&mut self, number: u32, links: &mut Links) -> Option<Arc<[Touched]>> {
        let footprint = self.footprint.take();
        let awaited = self.awaited.take();
        let moment = self.moment?;
        for touch in footprint.iter().flat_map(|footprint| footprint.iter()) {
            let object = self.object(touch.object);
            let waits = awaited.is_some();
            object.link(number, touch.access, usize::MAX, waits, links, &mut 0);
            object.note(number, touch.access, moment, usize::MAX);
        }
        if let Some((awaited, since)) = awaited {
            let changed = awaited.into_iter().flat_map(|object| {
                let object = &self.objects[object as usize];
                object.changed_since(since).filter(|&at| at != moment)
            });
            for (way, at) in (0..).zip(changed) {
                links.needs(way, Some(at));
            }
        }
        footprint
    }

    /// Performs the pending operation on one object.
    #[inline]
    fn meet(&mut self, number: u32, touch: Touched, site: &'static Location<'static>, choice: u32) {
        match touch.access {
            Access::Take | Access::TryTake | Access::Look | Access::TryLook => {
                self.acquire(number, touch, site);
            }
            Access::Wait | Access::Queue | Access::Wake { .. } | Access::Notify { .. } => {
                self.signal(number, touch, choice);
            }
            Access::Write => self.changes(number, touch.object, false),
            Access::TryReceive | Access::ReceiveTimeout | Access::TrySend | Access::SendTimeout => {
                self.suspect(number);
            }
            _ => {}
        }
    }

    fn acquire(&mut self, number: u32, touch: Touched, site: &'static Location<'static>) {
        let moment = self.moment;
        let object = self.object(touch.object);
        let takes = matches!(touch.access, Access::Take | Access::TryTake);
        if takes && object.is_free() {
            object.holder = Some((number, site));
            object.leave_queue(number, moment);
        } else if !takes && object.may_look() {
            object.share(number);
        } else {
            self.decision = Decision::Decline;
            self.suspect(number);
            return;
        }
        if let Some(moment) = moment {
            object.had_by(number, moment);
        }
        self.changes(number, touch.object, true);
        if !takes {
            self.shares(number, touch.object);
        }
    }

    /// Notes that an activity has acquired shared access.
    #[cold]
    pub(super) fn shares(&mut self, number: u32, object: u32) {
        self.actors[number as usize].shared += 1;
        let object = &self.objects[object as usize];
        let mut others = object.sharers.iter().filter(|&&who| who != number);
        if others.any(|&who| self.actors[who as usize].waited_while_sharing) {
            self.require_queue_steps();
        }
    }

    /// Notes that an activity that has shared access to some object may have to wait for others. If one of them shares
    /// the object, it may in turn have to wait for a writer, which waits for both.
    #[cold]
    pub(super) fn waits_while_sharing(&mut self, number: u32) {
        self.actors[number as usize].waited_while_sharing = true;
        let mut shared = self
            .objects
            .iter()
            .filter(|object| object.is_shared_by(number));
        if shared.any(|object| object.is_shared_by_several) {
            self.require_queue_steps();
        }
    }

    fn signal(&mut self, number: u32, touch: Touched, choice: u32) {
        let moment = self.moment;
        match touch.access {
            Access::Wait => self.object(touch.object).waiters.push(number),
            Access::Queue => self.object(touch.object).join_queue(number, moment),
            Access::Wake { .. } => {
                let actor = &mut self.actors[number as usize];
                let is_notified = std::mem::take(&mut actor.is_notified);
                let is_spurious = std::mem::take(&mut actor.wakes_spuriously);
                if !is_notified {
                    self.object(touch.object)
                        .waiters
                        .retain(|&who| who != number);
                }
                if !is_notified && !is_spurious {
                    self.decision = Decision::Decline;
                    self.suspect(number);
                }
            }
            Access::Notify { all } => {
                self.changes(number, touch.object, false);
                let waiters = &mut self.object(touch.object).waiters;
                let woken = match all {
                    true => std::mem::take(waiters),
                    false if waiters.is_empty() => Vec::new(),
                    // Any one of them. Sorted, so that the choice does not depend on the order in which they began to
                    // wait.
                    false => {
                        waiters.sort_unstable();
                        vec![waiters.remove(choice as usize % waiters.len())]
                    }
                };
                for who in woken {
                    let actor = &mut self.actors[who as usize];
                    actor.is_notified = true;
                    actor.inherited.extend(moment);
                }
            }
            _ => {}
        }
    }

    /// Notes what the current activity has just done at a queue.
    #[inline]
    pub(super) fn passed(&mut self, object: u32, what: Passed, moment: Moment, room: usize) {
        let number = self.current;
        let after = self.object(object).passed(number, what, moment, room);
        if let Some(after) = after
            && after != moment
            && let Some(actor) = self.actors.get_mut(number as usize)
        {
            actor.inherited.push(after);
        }
    }

    /// Makes the next step of the current activity come after the drops of this end of a queue.
    pub(super) fn found_gone(&mut self, object: u32, end: End) {
        let stopped = self.object(object).stopped(end).to_vec();
        if let Some(actor) = self.actors.get_mut(self.current as usize) {
            actor.inherited.extend(stopped);
        }
    }

    /// Makes releases and drops steps from now on. Both at once, so that the other one does not require another
    /// restart.
    #[cold]
    pub(super) fn require_finer_steps(&mut self) {
        self.require(Granularity {
            releases: true,
            drops: true,
            ..Granularity::default()
        });
    }

    /// Makes queueing a step: an activity that has a read lock takes it again, or waits for another one that takes it;
    /// and others may be waiting for the write lock.
    #[cold]
    pub(super) fn require_queue_steps(&mut self) {
        if self.granularity.queues {
            return;
        }
        self.require(Granularity {
            queues: true,
            ..Granularity::default()
        });
    }

    /// Makes it a step to begin to wait in a selection at a channel without capacity.
    #[cold]
    pub(super) fn require_meeting_steps(&mut self) {
        self.require(Granularity {
            releases: true,
            drops: true,
            meetings: true,
            ..Granularity::default()
        });
    }

    /// Notes the selections with a time limit that the current step has met. They have left their other channels, but
    /// continue only later.
    #[inline]
    pub(super) fn note_met_selections(&mut self) {
        if self.granularity.meetings && self.moment.is_some() {
            self.let_met_selections_leave();
        }
    }

    #[cold]
    fn let_met_selections_leave(&mut self) {
        let Some(moment) = self.moment else {
            return;
        };
        let waiting: Vec<_> = self.about_to_act.iter().map(|who| who.0).collect();
        for number in waiting {
            let actor = &self.actors[number as usize];
            let Some(possible) = actor.pending.special.possible else {
                continue;
            };
            let access = actor.pending.event.touch.access;
            let is_end = matches!(access, Access::SendTimeout | Access::ReceiveTimeout);
            // SAFETY: The waiting activity has the closure on its stack.
            let is_met = |case: usize| unsafe { (*possible)(case) };
            let mut cases = Vec::new();
            actor.pending.each_touch(|touch, room| {
                if touch.object != NOTHING {
                    cases.push((touch, room));
                }
            });
            if !is_end || actor.has_left || !(0..cases.len()).any(is_met) {
                continue;
            }
            self.actors[number as usize].has_left = true;
            for (case, (touch, room)) in cases.into_iter().enumerate() {
                let end = match touch.access {
                    Access::SendTimeout => End::Sending,
                    _ => End::Receiving,
                };
                if !is_met(case) {
                    let gave_up = Passed::GaveUp(end);
                    self.object(touch.object)
                        .passed(number, gave_up, moment, room);
                    self.withdraws(number, touch.object, end, room);
                }
            }
        }
    }

    /// Notes that a selection of this activity, whose wait was ended by the current step, leaves this end of a channel.
    pub(super) fn withdraws(&mut self, number: u32, object: u32, end: End, room: usize) {
        let Some(moment) = self.moment else {
            return;
        };
        let is_last = |last: &Option<Moment>| *last == Some(moment);
        let Some(who) = self.last.iter().position(is_last) else {
            return;
        };
        if !self.granularity.meetings || self.is_ending || who as u32 == number {
            return;
        }
        let access = match end {
            End::Sending => Access::SendTimeout,
            End::Receiving => Access::ReceiveTimeout,
        };
        self.object(object).note(who as u32, access, moment, room);
        self.besides.push(Touched { access, object });
    }

    /// Makes the ends of activities steps: an activity asks whether another one has ended.
    #[cold]
    pub(super) fn require_end_steps(&mut self) {
        self.require(Granularity {
            ends: true,
            ..Granularity::default()
        });
    }

    fn require(&mut self, granularity: Granularity) {
        self.learned = self.learned.or(granularity);
        self.refine(granularity);
        match self.moment {
            Some(_) => self.halt(Halt::TooCoarse),
            // Perhaps the strategy does not track dependences.
            None => self.was_coarse_at_start |= self.has_skipped_steps,
        }
    }

    /// Sets the moment of the current step. From now on, the strategy tracks dependences.
    #[inline]
    pub(super) fn is_at(&mut self, moment: Moment) {
        self.moment = Some(moment);
        if self.was_coarse_at_start {
            self.halt(Halt::TooCoarse);
        }
    }

    /// Notes that the current activity releases an object.
    #[inline]
    pub(super) fn release(&mut self, object_number: u32, access: Access) {
        let (number, moment) = (self.current, self.moment);
        let (objects, reasons) = self.objects_and_reasons();
        let object = &mut objects[object_number as usize];
        match access {
            Access::Look | Access::TryLook => {
                object.looked(number, moment, reasons);
                if let Some(actor) = self.actors.get_mut(number as usize) {
                    actor.unshare();
                }
            }
            _ => object.released(moment, reasons),
        }
        self.changes(number, object_number, true);
    }
}
