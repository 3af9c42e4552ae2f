//! An execution, as the seam and the models know it that announce more than operations on one entity.

use std::{
    panic::Location,
    sync::{Arc, atomic::AtomicU64},
};

use reenact_multiverse::explore::Moment;

use super::{
    World,
    actor::{Awaited, Phase},
};
use crate::{
    Access, Activity, Announcement, Controller, Decision, End, Entity, Named, OperationKind, Spot,
    Touch,
    activity::Controlled,
    explore::{
        event::Touched, failure::Panic, names::Families, strand::StrandEnd, thing::Passed, whole,
    },
    pool::Pool,
};

impl World {
    /// The activity that runs meets other objects than one entity.
    #[inline]
    pub(super) fn meets(&self, announcement: &Announcement<'_>) -> Decision {
        let [first] = announcement.touches else {
            return self.meets_more(announcement);
        };
        let is_message = announcement.op.kind() == OperationKind::MessageSend;
        let is_reservation = is_message && announcement.access != Access::Send;
        if announcement.ways.is_some() || announcement.access == Access::Transact || is_reservation
        {
            return self.meets_more(announcement);
        }
        let ready = match first.access {
            Access::Send | Access::Receive => self.waits_unfound(announcement),
            Access::SendTimeout | Access::ReceiveTimeout => {
                self.becomes_finer();
                // That it is met is not known before this step, which might have come before.
                self.forgets_reasons();
                None
            }
            Access::DropSender | Access::DropReceiver => {
                if !self.is_step_to_leave(first.access) {
                    return Decision::Free;
                }
                None
            }
            Access::Queue if !self.state().fineness.queues => {
                // Had it been known that somebody could tell, it would have been a step.
                self.state().has_left_silently = true;
                return Decision::Free;
            }
            _ => announcement.ready,
        };
        match is_message {
            true => self.meets_mailbox(announcement, first),
            false => self.meets_one(announcement, first, ready),
        }
        if let Some(end) = end_of_waiting(first.access) {
            self.comes(first.cell, end, first.room);
            match announcement.envelope {
                Some(_) if is_message => self.is_sent(announcement),
                Some(_) => self.begins_turn(),
                None => {}
            }
        }
        Decision::Free
    }

    /// Whether it can happen, if it is no step before that: nobody finds who waits. At a channel without room, others find who
    /// waits to send; and who waits to receive, if somebody looks for that.
    #[inline]
    fn waits_unfound<'a>(&self, announcement: &Announcement<'a>) -> Option<&'a dyn Fn() -> bool> {
        let first = &announcement.touches[0];
        if first.room > 0 {
            return announcement.ready;
        }
        if announcement.is_timed {
            self.becomes_finer();
        }
        match first.access {
            Access::Send => None,
            _ if self.is_finer() => None,
            _ => announcement.ready,
        }
    }

    #[inline]
    fn meets_one(
        &self,
        announcement: &Announcement<'_>,
        touch: &Touch<'_>,
        ready: Option<&dyn Fn() -> bool>,
    ) {
        let Announcement { op, site, .. } = *announcement;
        let touched = self.state().touched(touch, site, 0);
        let about = self.about(announcement);
        self.announce(|pending| {
            pending.be(op, site, touched, ready, touch.room);
            pending.is_about(about);
        });
    }

    /// The same for one who sends a message.
    fn meets_mailbox(&self, announcement: &Announcement<'_>, touch: &Touch<'_>) {
        let Announcement {
            op, site, ready, ..
        } = *announcement;
        let touched = self.state().touched(touch, site, 0);
        let besides = self.besides(site);
        let about = self.about(announcement);
        self.announce(|pending| {
            pending.be(op, site, touched, ready, touch.room);
            pending.is_about(about);
            pending.be_special().message = announcement.message();
            pending.event.more = besides;
        });
    }

    /// What one who sends a message meets besides the mailbox. Whether there is anything left to do can be asked by whoever
    /// sends from elsewhere.
    fn besides(&self, site: &'static Location<'static>) -> Option<Arc<[Touched]>> {
        let idle = Touch::new(&self.idle, Access::Read);
        (!self.is_in_turn()).then(|| {
            let state = self.state();
            let idle = state.touched(&idle, site, 1);
            state.alone(idle)
        })
    }

    /// The same for one who meets several objects, or who can go several ways.
    fn meets_more(&self, announcement: &Announcement<'_>) -> Decision {
        let Announcement {
            op,
            access,
            touches,
            ready,
            ways,
            possible,
            site,
            ..
        } = *announcement;
        let is_message = op.kind() == OperationKind::MessageSend;
        for touch in touches {
            let is_try = matches!(touch.access, Access::TrySend | Access::TryReceive);
            if is_try && !is_message {
                if touch.access == Access::TryReceive || touch.room == 0 {
                    self.becomes_finer();
                }
                if touch.room == 0 {
                    self.meets_no_selection(touch, ready.is_some());
                }
            }
        }
        let about = self.about(announcement);
        let state = self.state();
        if access == Access::Transact {
            let awaited = touches.iter().zip(1..);
            let awaited = awaited.map(|(touch, index)| state.touched(touch, site, index).thing);
            let awaited: Vec<_> = awaited.collect();
            self.announce(|pending| {
                pending.be(op, site, Touched::nothing(access), ready, usize::MAX);
                pending.be_special().awaits.extend(awaited);
            });
        } else {
            let mut touched = |index: usize| state.touched(&touches[index], site, index);
            let first = touched(0);
            let more = match touches.len() {
                1 if is_message => self.besides(site),
                1 => None,
                many => Some((1..many).map(touched).collect()),
            };
            self.announce(|pending| {
                pending.be(op, site, first, ready, touches[0].room);
                pending.is_about(about);
                let special = pending.be_special();
                special.ways = ways.map(outliving_ways);
                special.possible = possible.map(outliving_cases);
                special.message = announcement.message();
                let rooms = touches[1..].iter().map(|touch| touch.room);
                special.more_room.extend(rooms);
                pending.event.more = more;
            });
        }
        match (access, ways) {
            (_, Some(_)) => Decision::Way(self.state().answer.into()),
            (Access::Send, None) => {
                self.comes(touches[0].cell, End::Sending, touches[0].room);
                self.is_sent(announcement);
                Decision::Free
            }
            _ => self.state().decision,
        }
    }

    /// What the transaction of the activity that runs has met.
    pub(super) fn has_met(&self, met: &[Touch<'_>], site: &'static Location<'static>) {
        let state = self.state();
        let is_compared = state.moment.is_some();
        let met = met.iter().zip(1..);
        let met = met.map(|(touch, index)| state.touched(touch, site, index));
        match is_compared {
            true => {
                let met = met.collect();
                state.footprint = Some(met);
            }
            // Nobody asks what it was, but each thing has a number from now on.
            false => met.for_each(drop),
        }
    }

    /// Somebody tries to receive, who can tell whether all of the sending end have gone; or tries something else that makes a
    /// difference of what was none.
    fn becomes_finer(&self) {
        let state = self.state();
        if !state.fineness.drops {
            state.becomes_finer();
        }
    }

    /// Somebody who does not wait here alone can meet those who select from several only if both are one step, which is not
    /// supported.
    fn meets_no_selection(&self, touch: &Touch<'_>, waits: bool) {
        let other = match touch.access {
            Access::TrySend => Access::TryReceive,
            _ => Access::TrySend,
        };
        let state = self.state();
        let Some(thing) = state.names.known(touch.cell) else {
            return;
        };
        let is_met = state.about_to_act.iter().any(|who| {
            let actor = &state.actors[who.0 as usize];
            actor.pending().is_some_and(|pending| {
                let mut touches = pending.event.touches();
                (pending.ready.is_some() || waits)
                    && touches.any(|touch| touch.access == other && touch.thing == thing)
            })
        });
        assert!(
            !is_met,
            "exploration does not support this: at a channel without room, a selection, or one who does not wait, may meet a selection"
        );
    }

    pub(in crate::explore) fn is_in_turn(&self) -> bool {
        let state = self.state();
        let actor = state.actors.get(state.current as usize);
        actor.is_some_and(|actor| actor.is_light)
    }

    pub(in crate::explore) fn in_background(&self) {
        let state = self.state();
        if let Some(actor) = state.actors.get_mut(state.current as usize) {
            actor.is_light = false;
        }
    }

    /// Whether all is told apart that can be.
    pub(crate) fn is_finer(&self) -> bool {
        let state = self.state();
        // Had it been known, it would have been another step.
        state.has_left_silently |= !state.fineness.drops;
        state.fineness.drops
    }

    /// Whether it is a step to drop a handle of this end of a channel.
    fn is_step_to_leave(&self, access: Access) -> bool {
        access == Access::DropReceiver || self.state().fineness.drops
    }

    /// A handle of this end of a channel was dropped.
    pub(super) fn dropped(
        &self,
        queue: &Touch<'_>,
        end: End,
        is_last: bool,
        site: &'static Location<'static>,
    ) {
        let access = match end {
            End::Sending => Access::DropSender,
            End::Receiving => Access::DropReceiver,
        };
        match self.is_step_to_leave(access) {
            true => self.passed(queue.cell, Passed::Stopped(end, is_last), usize::MAX),
            false => self.leaves_silently(queue, is_last, site),
        }
    }

    /// The activity that runs leaves the sending end of a queue, and that is no step. Whoever receives there has to know when.
    fn leaves_silently(&self, queue: &Touch<'_>, is_last: bool, site: &'static Location<'static>) {
        let state = self.state();
        if state.is_ending || state.actors.get(state.current as usize).is_none() {
            return;
        }
        state.has_left_silently = true;
        let thing = state.number(queue.cell, queue.made_at, site, 0);
        let moment = state.moment;
        let (things, reasons) = state.things_and_reasons();
        let reasons = moment.into_iter().chain(reasons);
        things[thing as usize].left(End::Sending, is_last, reasons);
    }

    /// What the activity that runs has just done at a queue.
    #[inline]
    pub(crate) fn passed(&self, queue: &AtomicU64, what: Passed, room: usize) {
        let state = self.state();
        if let Some(moment) = state.moment
            && let Some(thing) = state.names.known(queue)
        {
            state.passed(thing, what, moment, room);
        }
    }

    /// The activity that runs has come to this end of a queue, in its step, and does it, or waits there; or there is nobody at the
    /// other end any more.
    #[inline]
    pub(crate) fn comes(&self, queue: &AtomicU64, end: End, room: usize) {
        if let Some(moment) = self.state().moment {
            self.comes_at(queue, end, room, moment);
        }
    }

    fn comes_at(&self, queue: &AtomicU64, end: End, room: usize, moment: Moment) {
        let state = self.state();
        let Some(thing) = state.names.known(queue) else {
            return;
        };
        if state.thing(thing).is_over(end) {
            return self.found_gone(queue, end.other());
        }
        let what = match end {
            End::Sending => Passed::Sent,
            End::Receiving => Passed::Received,
        };
        state.passed(thing, what, moment, room);
    }

    /// What the activity that runs does next comes after its own step only.
    pub(crate) fn forgets_reasons(&self) {
        let state = self.state();
        if let Some(actor) = state.actors.get_mut(state.current as usize) {
            actor.inherited.clear();
        }
    }

    /// What the activity that runs does next comes after all at this end of a queue have gone.
    pub(crate) fn found_gone(&self, queue: &AtomicU64, end: End) {
        let state = self.state();
        if state.moment.is_some()
            && let Some(thing) = state.names.known(queue)
        {
            let stopped = state.thing(thing).stopped(end).to_vec();
            if let Some(actor) = state.actors.get_mut(state.current as usize) {
                actor.inherited.extend(stopped);
            }
        }
    }

    /// The activity that runs has taken something, and only looks at it from now on.
    pub(super) fn downgrades(&self, entity: &Entity) {
        let state = self.state();
        if let Some(thing) = state.names.known(entity.cell()) {
            let (number, moment) = (state.current, state.moment);
            let (things, reasons) = state.things_and_reasons();
            things[thing as usize].downgraded(number, moment, reasons);
        }
    }

    /// The activity that runs cannot go on before this is true, and nobody will say when it is.
    pub(crate) fn block(&self, until: &dyn Fn() -> bool) {
        while !until() {
            let state = self.state();
            let number = state.current;
            state.actors[number as usize].phase = Phase::Blocked(outliving(until));
            state.blocked += 1;
            self.wait();
            self.state().blocked -= 1;
        }
    }

    /// Whether more must be told apart than was so far.
    pub(in crate::explore) fn was_too_coarse(&self) -> bool {
        self.state().was_too_coarse
    }

    /// Whether everybody leaves.
    pub(crate) fn is_ending(&self) -> bool {
        self.state().is_ending
    }

    /// What the model of this activity keeps with it; none if there is no such activity.
    pub(crate) fn kept<T: Clone + 'static>(
        &self,
        number: u32,
        first: impl FnOnce() -> T,
    ) -> Option<T> {
        let state = self.state();
        let actor = state.actors[..state.born as usize].get_mut(number as usize)?;
        let kept = actor.kept.get_or_insert_with(|| Box::new(first()));
        kept.downcast_ref().cloned()
    }

    /// What the program calls an activity.
    pub(crate) fn name_given(&self, number: u32) -> Option<&str> {
        let name = &self.state().actors.get(number as usize)?.name;
        (!name.is_empty()).then_some(name)
    }

    /// A new child of the activity that runs: its number.
    pub(crate) fn child(&self, name: &str) -> u32 {
        let number = self.child_on_fiber(name);
        let state = self.state();
        if state.is_whole {
            state.actors[number as usize].strand = Some(whole::strand_of(number));
            state.ready.push_back(number);
        }
        number
    }

    /// The number that the next child of the activity that runs will have.
    pub(crate) fn next_child(&self, is_light: bool) -> u32 {
        let kind = if is_light { Families::LIGHT } else { 0 };
        self.state().next_child(kind)
    }

    /// The same for one that the program makes without us.
    pub(crate) fn foreign_child(&self) -> u32 {
        let number = self.state().child("", Families::FOREIGN);
        self.be_known(number, "");
        let state = self.state();
        state.actors[number as usize].strand = Some(whole::strand_of(number));
        state.ready.push_back(number);
        number
    }

    /// The same for one that will be [started](World::start) on a fiber.
    pub(crate) fn child_on_fiber(&self, name: &str) -> u32 {
        let number = self.state().child(name, 0);
        self.be_known(number, name);
        number
    }

    /// It will be known where it runs. What is left of the one that had its number in an earlier execution is used again.
    pub(super) fn be_known(&self, number: u32, name: &str) {
        let kept = &mut self.state().actors[number as usize].controlled;
        if !kept.as_mut().is_some_and(|kept| kept.be_again(name)) {
            *kept = None;
        }
        kept.get_or_insert_with(|| Box::new(Controlled::explored(self.controller(), number, name)));
    }

    /// An activity, as others know it.
    pub(crate) fn activity(&self, number: u32) -> Option<&Arc<Activity>> {
        let actor = self.state().actors.get(number as usize)?;
        Some(&actor.controlled.as_ref()?.activity)
    }

    /// The calling code is this activity from now on: what it is known by there.
    pub(crate) fn begins(&self, number: u32) -> *const Controlled {
        self.state().current = number;
        if number == Families::MAIN {
            self.be_known(number, "");
        }
        self.controlled(number)
    }

    /// What an activity is known by where it runs; null if there is no such activity.
    #[inline]
    pub(crate) fn controlled(&self, number: u32) -> *const Controlled {
        let actor = self.state().actors.get(number as usize);
        let controlled = actor.and_then(|actor| actor.controlled.as_deref());
        controlled.map_or(std::ptr::null(), std::ptr::from_ref)
    }

    /// Whether the activity that runs has a thread of the system for itself.
    pub(crate) fn is_on_thread(&self) -> bool {
        matches!(self.state().running, Some(StrandEnd::Thread(_)))
    }

    /// The number that an activity had in the recorded run, if there is one and it was there; otherwise its own.
    pub(crate) fn number_in_recording(&self, number: u32) -> u32 {
        let state = self.state();
        let recorded = state.recorded.as_ref();
        let recorded =
            recorded.and_then(|recorded| recorded.number_of(&state.families.name(number)));
        recorded.unwrap_or(number)
    }

    /// The activity that runs goes on when this one has ended.
    pub(crate) fn waits_for_end(&self, of: &Activity) {
        self.parks(Spot::Fact(&of.ended), Awaited::EndOf(of.number));
    }

    /// Itself, as its activities know it.
    pub(in crate::explore) fn controller(&self) -> Arc<dyn Controller> {
        // SAFETY: It is in an `Arc`, which whoever runs it has.
        unsafe {
            Arc::increment_strong_count(self);
            Arc::from_raw(self)
        }
    }

    /// The activity that runs is going to be this one.
    pub(in crate::explore) fn sits(&self, number: u32) {
        let state = self.state();
        state.current = number;
        if let Some(actor) = state.actors.get_mut(number as usize)
            && !state.is_ending
        {
            actor.phase = Phase::Runs;
        }
    }

    /// The activity that runs cannot go on before light ones have nothing to do any more.
    pub(in crate::explore) fn wait_until_idle(&self, is_idle: &dyn Fn() -> bool) {
        self.block(&|| self.state().is_idle() && is_idle());
        let state = self.state();
        let last = state.last.iter().enumerate();
        let last = last.filter(|(who, _)| state.actors[*who].is_light);
        let last: Vec<_> = last.filter_map(|(_, last)| *last).collect();
        state.actors[state.current as usize].inherited.extend(last);
    }

    /// A pool of this size, the n-th of this execution.
    pub(in crate::explore) fn pool(&self, size: usize, make: impl FnOnce() -> Pool) -> Pool {
        let state = self.state();
        let index = state.pools_used;
        state.pools_used += 1;
        match state.pools.get(index) {
            Some(&(known, pool)) if known == size => {
                pool.reopen();
                pool
            }
            _ => {
                let pool = make();
                state.pools.truncate(index);
                state.pools.push((size, pool));
                pool
            }
        }
    }

    /// What the activity that runs does next comes after the current step.
    pub(in crate::explore) fn comes_after_now(&self) {
        let state = self.state();
        if let Some(moment) = state.moment
            && let Some(actor) = state.actors.get_mut(state.current as usize)
        {
            actor.inherited.push(moment);
        }
    }

    /// Somebody is told of its last panic.
    pub(crate) fn forgets_panic(&self) {
        let state = self.state();
        if let Some(actor) = state.actors.get_mut(state.current as usize) {
            actor.panic = None;
        }
    }

    /// It has panicked, and goes on or not.
    pub(in crate::explore) fn has_panicked(&self) {
        let state = self.state();
        let is_ending = state.is_ending;
        if let Some(actor) = state.actors.get_mut(state.current as usize) {
            actor.is_missed |= !is_ending && actor.panic.is_some();
        }
    }

    /// It panics.
    pub(in crate::explore) fn panics(&self, panic: Panic) {
        let state = self.state();
        if !state.is_ending
            && !state.is_describing
            && let Some(actor) = state.actors.get_mut(state.current as usize)
        {
            actor.panic = Some(panic);
        }
    }

    /// Its panic has ended it, and nobody has been told yet; or somebody has.
    pub(crate) fn is_missed(&self, number: u32, is_missed: bool) {
        let state = self.state();
        if !state.is_ending {
            state.actors[number as usize].is_missed = is_missed;
        }
    }
}

/// A question that an activity leaves with others while it waits. Nobody asks it after that.
#[inline]
pub(super) fn outliving(question: &dyn Fn() -> bool) -> *const (dyn Fn() -> bool + 'static) {
    // SAFETY: Only the lifetime changes, of what is a pointer.
    unsafe {
        std::mem::transmute::<*const dyn Fn() -> bool, *const (dyn Fn() -> bool + 'static)>(
            question,
        )
    }
}

/// The same, for in how many ways it can go.
#[inline]
pub(super) fn outliving_ways(ways: &dyn Fn() -> u32) -> *const (dyn Fn() -> u32 + 'static) {
    // SAFETY: As above.
    unsafe {
        std::mem::transmute::<*const dyn Fn() -> u32, *const (dyn Fn() -> u32 + 'static)>(ways)
    }
}

/// The same, for which of several operations are possible.
#[inline]
fn outliving_cases(possible: &dyn Fn(usize) -> bool) -> *const (dyn Fn(usize) -> bool + 'static) {
    // SAFETY: As above.
    unsafe {
        std::mem::transmute::<*const dyn Fn(usize) -> bool, *const (dyn Fn(usize) -> bool + 'static)>(
            possible,
        )
    }
}

/// The end of a channel at which one waits who does this.
fn end_of_waiting(access: Access) -> Option<End> {
    match access {
        Access::Send => Some(End::Sending),
        Access::Receive => Some(End::Receiving),
        _ => None,
    }
}
