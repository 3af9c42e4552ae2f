//! What a step changes of an execution, and what it comes after.

use std::{panic::Location, sync::Arc};

use reenact_multiverse::explore::{Links, Moment, Step};

use super::{
    actor::{Pending, Phase},
    state::State,
};
use crate::{
    Access, Decision,
    explore::{
        event::{Event, Touched},
        subject::Fineness,
        thing::{Passed, is_at_queue},
    },
};

impl State {
    /// What a pending event would come after.
    pub(in crate::explore) fn links(&self, number: u32, links: &mut Links) {
        let Some(actor) = self.actors.get(number as usize) else {
            return;
        };
        actor.inherited.iter().for_each(|&at| links.after(at));
        if let Some(pending) = actor.pending() {
            if pending.event.touch.access == (Access::Wake { timed: false }) && !actor.is_notified {
                // Whatever others did not do, nobody has told it to go on.
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
            // What it meets is known when it has run; if it waits, nothing that it meets was there before.
            return;
        }
        let waits = pending.ready.is_some();
        let mut way = 0;
        pending.each_touch(|touch, room| {
            if let Some(thing) = self.things.get(touch.thing as usize) {
                let waits = waits && is_at_queue(touch.access);
                thing.link(number, touch.access, room, waits, links, &mut way);
            }
        });
        let Some(since) = links.earliest_race() else {
            return;
        };
        pending.each_touch(|touch, _| {
            if let (Access::Take | Access::Look, Some(thing)) =
                (touch.access, self.things.get(touch.thing as usize))
            {
                thing.held(touch.access == Access::Look, since, links);
            }
        });
    }

    /// What is pending happens: whoever waits for it may go on, and what follows comes after it.
    #[inline]
    pub(super) fn perform(&mut self, step: Step) {
        let number = step.activity.0;
        if let Some(moment) = self.moment {
            self.note(number, moment);
        }
        let actor = &mut self.actors[number as usize];
        debug_assert!(actor.pending().is_some(), "it is about to do something");
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
    }

    /// The same for what else it meets.
    fn meet_more(&mut self, number: u32, site: &'static Location<'static>, choice: u32) {
        let more = |state: &State, index| {
            let more = state.actors[number as usize].pending.event.more.as_ref();
            more.and_then(|more| more.get(index).copied())
        };
        let mut index = 0;
        while let Some(touch) = more(self, index) {
            self.meet(number, touch, site, choice);
            index += 1;
        }
    }

    /// Those who come after have to know.
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
                && let Some(thing) = self.things.get_mut(touch.thing as usize)
            {
                thing.note(number, touch.access, moment, room);
            }
        });
    }

    /// The transaction of the current step has run: what it comes after is known by what it met.
    pub(super) fn met(&mut self, number: u32, links: &mut Links) -> Option<Arc<[Touched]>> {
        let footprint = self.footprint.take();
        let awaited = self.awaited.take();
        let moment = self.moment?;
        for touch in footprint.iter().flat_map(|footprint| footprint.iter()) {
            let thing = self.thing(touch.thing);
            let waits = awaited.is_some();
            thing.link(number, touch.access, usize::MAX, waits, links, &mut 0);
            thing.note(number, touch.access, moment, usize::MAX);
        }
        if let Some((awaited, since)) = awaited {
            let changed = awaited.into_iter().flat_map(|thing| {
                let thing = &self.things[thing as usize];
                thing.changed_since(since).filter(|&at| at != moment)
            });
            for (way, at) in (0..).zip(changed) {
                links.needs(way, Some(at));
            }
        }
        footprint
    }

    /// What is pending meets this.
    #[inline]
    fn meet(&mut self, number: u32, touch: Touched, site: &'static Location<'static>, choice: u32) {
        match touch.access {
            Access::Take | Access::TryTake | Access::Look | Access::TryLook => {
                self.acquire(number, touch, site);
            }
            Access::Wait | Access::Queue | Access::Wake { .. } | Access::Notify { .. } => {
                self.signal(number, touch, choice);
            }
            _ => {}
        }
    }

    fn acquire(&mut self, number: u32, touch: Touched, site: &'static Location<'static>) {
        let moment = self.moment;
        let thing = self.thing(touch.thing);
        let takes = matches!(touch.access, Access::Take | Access::TryTake);
        if takes && thing.is_free() {
            thing.holder = Some((number, site));
            thing.leaves_queue(number, moment);
        } else if !takes && thing.may_look() {
            thing.lookers.push(number);
        } else {
            self.decision = Decision::Decline;
            return;
        }
        if let Some(moment) = moment {
            thing.had_by(number, moment);
        }
    }

    fn signal(&mut self, number: u32, touch: Touched, choice: u32) {
        let moment = self.moment;
        match touch.access {
            Access::Wait => self.thing(touch.thing).waiters.push(number),
            Access::Queue => self.thing(touch.thing).joins_queue(number, moment),
            Access::Wake { .. } => {
                let is_notified = std::mem::take(&mut self.actors[number as usize].is_notified);
                if !is_notified {
                    self.thing(touch.thing).waiters.retain(|&who| who != number);
                    self.decision = Decision::Decline;
                }
            }
            Access::Notify { all } => {
                let waiters = &mut self.thing(touch.thing).waiters;
                let woken = match all {
                    true => std::mem::take(waiters),
                    false if waiters.is_empty() => Vec::new(),
                    // One of them, whichever; the same ones are in the same order however they came.
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

    /// The activity that runs has just done this at a queue.
    #[inline]
    pub(super) fn passed(&mut self, thing: u32, what: Passed, moment: Moment, room: usize) {
        let number = self.current;
        let after = self.thing(thing).passed(number, what, moment, room);
        if let Some(after) = after
            && after != moment
            && let Some(actor) = self.actors.get_mut(number as usize)
        {
            actor.inherited.push(after);
        }
    }

    /// More is told apart from now on than was so far. All of it, so that it does not turn out again.
    #[cold]
    pub(super) fn becomes_finer(&mut self) {
        self.has_to_be(Fineness {
            releases: true,
            drops: true,
            ..Fineness::default()
        });
    }

    /// Somebody shares twice over what others may wait for.
    #[cold]
    pub(super) fn lets_queues_be_steps(&mut self) {
        self.has_to_be(Fineness {
            queues: true,
            ..Fineness::default()
        });
    }

    /// Somebody asks whether an activity has ended.
    #[cold]
    pub(super) fn lets_ends_be_steps(&mut self) {
        self.has_to_be(Fineness {
            ends: true,
            ..Fineness::default()
        });
    }

    fn has_to_be(&mut self, fineness: Fineness) {
        self.learned = self.learned.or(fineness);
        self.refine(fineness);
        match self.moment {
            Some(_) => self.is_too_coarse = true,
            // Perhaps nobody compares executions.
            None => self.was_coarse_at_start |= self.has_left_silently,
        }
        self.was_too_coarse |= self.is_too_coarse;
    }

    /// This is when the current step is: somebody compares executions.
    #[inline]
    pub(super) fn is_at(&mut self, moment: Moment) {
        self.moment = Some(moment);
        if self.was_coarse_at_start {
            self.is_too_coarse = true;
            self.was_too_coarse = true;
        }
    }

    /// The activity that runs gives something back.
    #[inline]
    pub(super) fn release(&mut self, thing: u32, access: Access) {
        let (number, moment) = (self.current, self.moment);
        let (things, reasons) = self.things_and_reasons();
        let thing = &mut things[thing as usize];
        match access {
            Access::Look | Access::TryLook => thing.looked(number, moment, reasons),
            _ => thing.released(moment, reasons),
        }
    }
}
