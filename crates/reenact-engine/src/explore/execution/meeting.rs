//! The interface of an execution for models whose announcements are more than operations on one recorded object.

use std::{panic::Location, sync::Arc};

use reenact_explore::Moment;

use super::{
    Execution,
    actor::{Awaited, Phase},
};
use crate::{
    Access, Activity, Announcement, Controller, Decision, End, Named, Object, OperationKind, Spot,
    Touch,
    activity::Controlled,
    explore::{
        event::Touched, failure::Panic, names::Families, object_state::Passed, process,
        task_stack::StackHandle,
    },
    loom::AtomicU64,
    pool::Pool,
};

impl Execution {
    /// Announces an operation of the current activity on several objects, or on one of which nothing is recorded.
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
                // Whether the other end arrives is not known before this step, which might as well have come before the
                // arrival.
                self.forgets_reasons();
                None
            }
            Access::DropSender | Access::DropReceiver => {
                if !self.is_step_to_leave(first.access) {
                    return Decision::Free;
                }
                None
            }
            Access::Queue if !self.state().granularity.queues => {
                // If it had been known that this can be observed, it would have been a step.
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

    /// Returns the condition under which the operation is enabled; none if beginning to wait is a step already, because
    /// others can observe it. At a channel without capacity, others observe a waiting sender; they observe a waiting
    /// receiver only if some activity checks for one.
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
        let room = touch.room;
        let mut about = self.about(announcement);
        let about = &mut about;
        self.announce(move |pending| {
            pending.be(op, site, touched, ready, room);
            pending.is_about(about.take());
        });
    }

    /// Announces the sending of a message.
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

    /// Returns what the sending of a message accesses besides the mailbox. A send from outside a turn also reads
    /// `idle`, because its order with a wait for idleness can be observed.
    fn besides(&self, site: &'static Location<'static>) -> Option<Arc<[Touched]>> {
        let idle = Touch::new(&self.idle, Access::Read);
        (!self.is_in_turn()).then(|| {
            let state = &mut *self.state();
            let idle = state.touched(&idle, site, 1);
            state.alone(idle)
        })
    }

    /// Announces an operation that accesses several objects or can go several ways.
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
        if access == Access::Transact {
            let awaited = self.state().touched_all(touches, site, 1);
            let awaited = awaited.into_iter().map(|touch| touch.object);
            self.announce(|pending| {
                pending.be(op, site, Touched::nothing(access), ready, usize::MAX);
                pending.be_special().awaits.extend(awaited);
            });
        } else {
            let first = self.state().touched(&touches[0], site, 0);
            let more = match touches.len() {
                1 if is_message => self.besides(site),
                1 => None,
                _ => Some(self.state().touched_all(&touches[1..], site, 1).into()),
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

    /// Notes the accesses of the current activity's transaction.
    pub(super) fn has_met(&self, met: &[Touch<'_>], site: &'static Location<'static>) {
        let state = &mut *self.state();
        let met = state.touched_all(met, site, 1);
        // If executions are not compared, the accesses are not needed, but each object has a number from now on.
        if state.moment.is_some() {
            state.footprint = Some(met.into());
        }
    }

    /// Makes steps finer: an activity tries to receive, which shows whether all senders are gone, or does something
    /// else that makes more actions observable.
    fn becomes_finer(&self) {
        let state = &mut *self.state();
        if !state.granularity.drops {
            state.becomes_finer();
        }
    }

    /// Panics if this operation could meet a pending selection at a channel without capacity. Both would have to be one
    /// step, which is not supported.
    fn meets_no_selection(&self, touch: &Touch<'_>, waits: bool) {
        let other = match touch.access {
            Access::TrySend => Access::TryReceive,
            _ => Access::TrySend,
        };
        let state = &mut *self.state();
        let Some(object) = state.names.known(touch.cell) else {
            return;
        };
        let is_met = state.about_to_act.iter().any(|who| {
            let actor = &state.actors[who.0 as usize];
            actor.pending().is_some_and(|pending| {
                let mut touches = pending.event.touches();
                (pending.ready.is_some() || waits)
                    && touches.any(|touch| touch.access == other && touch.object == object)
            })
        });
        assert!(
            !is_met,
            "exploration does not support this: at a channel without room, a selection, or one who does not wait, may meet a selection"
        );
    }

    pub(in crate::explore) fn is_in_turn(&self) -> bool {
        let state = &mut *self.state();
        let actor = state.actors.get(state.current as usize);
        actor.is_some_and(|actor| actor.is_light)
    }

    pub(in crate::explore) fn in_background(&self) {
        let state = &mut *self.state();
        if let Some(actor) = state.actors.get_mut(state.current as usize) {
            actor.is_light = false;
        }
    }

    /// Returns whether steps are as fine as a try-receive needs.
    pub(crate) fn is_finer(&self) -> bool {
        let state = &mut *self.state();
        // If that had been known, it would have been another step.
        state.has_left_silently |= !state.granularity.drops;
        state.granularity.drops
    }

    /// Returns whether dropping a handle of this end of a channel is a step.
    fn is_step_to_leave(&self, access: Access) -> bool {
        access == Access::DropReceiver || self.state().granularity.drops
    }

    /// Notes that a handle of this end of a channel was dropped.
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

    /// Notes that the current activity leaves the sending end of a queue without a step. Receivers need to know when
    /// that happened.
    fn leaves_silently(&self, queue: &Touch<'_>, is_last: bool, site: &'static Location<'static>) {
        let state = &mut *self.state();
        if state.is_ending || state.actors.get(state.current as usize).is_none() {
            return;
        }
        state.has_left_silently = true;
        let object = state.number(queue.cell, queue.made_at, site, 0);
        let moment = state.moment;
        let (objects, reasons) = state.objects_and_reasons();
        let reasons = moment.into_iter().chain(reasons);
        objects[object as usize].left(End::Sending, is_last, reasons);
    }

    /// Notes what the current activity has just done at a queue.
    #[inline]
    pub(crate) fn passed(&self, queue: &AtomicU64, what: Passed, room: usize) {
        let state = &mut *self.state();
        if let Some(moment) = state.moment
            && let Some(object) = state.names.known(queue)
        {
            state.passed(object, what, moment, room);
        }
    }

    /// Notes that the current activity has reached this end of a queue in its step: it performs its operation or waits
    /// there, or finds that the other end is gone.
    #[inline]
    pub(crate) fn comes(&self, queue: &AtomicU64, end: End, room: usize) {
        let moment = self.state().moment;
        if let Some(moment) = moment {
            self.comes_at(queue, end, room, moment);
        }
    }

    fn comes_at(&self, queue: &AtomicU64, end: End, room: usize, moment: Moment) {
        let state = &mut *self.state();
        let Some(object) = state.names.known(queue) else {
            return;
        };
        if state.object(object).is_over(end) {
            return state.found_gone(object, end.other());
        }
        let what = match end {
            End::Sending => Passed::Sent,
            End::Receiving => Passed::Received,
        };
        state.passed(object, what, moment, room);
    }

    /// Makes the next step of the current activity come after its own steps only.
    pub(crate) fn forgets_reasons(&self) {
        let state = &mut *self.state();
        if let Some(actor) = state.actors.get_mut(state.current as usize) {
            actor.inherited.clear();
        }
    }

    /// Makes the next step of the current activity come after the drops of this end of a queue.
    pub(crate) fn found_gone(&self, queue: &AtomicU64, end: End) {
        let state = &mut *self.state();
        if state.moment.is_some()
            && let Some(object) = state.names.known(queue)
        {
            state.found_gone(object, end);
        }
    }

    /// Notes that the current activity downgrades its exclusive access to shared access.
    pub(super) fn downgrades(&self, object: &Object) {
        let state = &mut *self.state();
        if let Some(object) = state.names.known(object.cell()) {
            let (number, moment) = (state.current, state.moment);
            let (objects, reasons) = state.objects_and_reasons();
            objects[object as usize].downgraded(number, moment, reasons);
        }
    }

    /// Blocks the current activity until this is true. Nothing notifies it.
    pub(crate) fn block(&self, until: &dyn Fn() -> bool) {
        while !until() {
            self.state().blocks(Phase::Blocked(outliving(until)));
            self.wait();
            self.state().blocked -= 1;
        }
    }

    /// Returns whether steps must be finer than they were.
    pub(in crate::explore) fn needs_finer_steps(&self) -> bool {
        self.state().needs_finer_steps
    }

    /// Returns whether all activities are being ended.
    pub(crate) fn is_ending(&self) -> bool {
        self.state().is_ending
    }

    /// Returns the data of this activity's model; none if there is no such activity.
    pub(crate) fn kept<T: Clone + 'static>(
        &self,
        number: u32,
        first: impl FnOnce() -> T,
    ) -> Option<T> {
        let known = self
            .state()
            .kept(number)?
            .as_ref()
            .map(|kept| kept.downcast_ref().cloned());
        if let Some(known) = known {
            return known;
        }
        let first = first();
        *self.state().kept(number)? = Some(Box::new(first.clone()));
        Some(first)
    }

    /// Returns the current activity's number and the name that the program gave it. None if it has a thread.
    pub(crate) fn current_on_fiber(&self) -> Option<(u32, Option<String>)> {
        if self.is_on_thread() {
            return None;
        }
        let state = &*self.state();
        let actor = state.actors.get(state.current as usize);
        let name = actor.map(|actor| actor.name.clone());
        Some((state.current, name.filter(|name| !name.is_empty())))
    }

    /// Creates a child of the current activity and returns its number.
    pub(crate) fn child(&self, name: &str) -> u32 {
        let number = self.child_on_fiber(name);
        let is_whole = self.state().is_whole;
        if is_whole {
            self.runs_on(number, process::stack_of(number));
        }
        number
    }

    /// Returns the number that the next child of the current activity will have.
    pub(crate) fn next_child(&self, is_light: bool) -> u32 {
        let kind = if is_light { Families::LIGHT } else { 0 };
        self.state().next_child(kind)
    }

    /// Creates a child that the program starts without Reenact, and returns its number.
    pub(crate) fn foreign_child(&self) -> u32 {
        let number = self.state().child("", Families::FOREIGN);
        self.be_known(number, "");
        self.runs_on(number, process::stack_of(number));
        number
    }

    /// Creates a child that will be [started](Execution::start) on a fiber, and returns its number.
    pub(crate) fn child_on_fiber(&self, name: &str) -> u32 {
        let number = self.state().child(name, 0);
        self.be_known(number, name);
        number
    }

    /// Creates what identifies an activity to the code that it runs, or reuses that of an activity that had its number
    /// in an earlier execution.
    pub(super) fn be_known(&self, number: u32, name: &str) {
        let mut kept = self.state().actors[number as usize].controlled.take();
        if !kept.as_mut().is_some_and(|kept| kept.be_again(name)) {
            kept = None;
        }
        let known =
            kept.unwrap_or_else(|| Box::new(Controlled::explored(self.controller(), number, name)));
        self.state().actors[number as usize].controlled = Some(known);
    }

    /// Returns an activity by its number.
    pub(crate) fn activity(&self, number: u32) -> Option<Arc<Activity>> {
        let state = &*self.state();
        let controlled = state.actors.get(number as usize)?.controlled.as_ref();
        Some(Arc::clone(&controlled?.activity))
    }

    /// Makes the calling code this activity, and returns what identifies it there.
    pub(crate) fn begins(&self, number: u32) -> *const Controlled {
        self.state().current = number;
        if number == Families::MAIN {
            self.be_known(number, "");
        }
        self.controlled(number)
    }

    /// Returns what identifies an activity to the code that it runs; null if there is no such activity.
    #[inline]
    pub(crate) fn controlled(&self, number: u32) -> *const Controlled {
        let state = &*self.state();
        let actor = state.actors.get(number as usize);
        let controlled = actor.and_then(|actor| actor.controlled.as_deref());
        controlled.map_or(std::ptr::null(), std::ptr::from_ref)
    }

    /// Returns whether the current activity has an OS thread to itself.
    pub(crate) fn is_on_thread(&self) -> bool {
        matches!(self.state().running, Some(StackHandle::Thread(_)))
    }

    /// Returns the number that an activity had in the recorded run, if there is one and the activity was part of it;
    /// otherwise its own number.
    pub(crate) fn number_in_recording(&self, number: u32) -> u32 {
        let state = &mut *self.state();
        let recorded = state.recorded.as_ref();
        let recorded =
            recorded.and_then(|recorded| recorded.number_of(&state.families.name(number)));
        recorded.unwrap_or(number)
    }

    /// Parks the current activity until this one has ended.
    pub(crate) fn waits_for_end(&self, of: &Activity) {
        self.parks(Spot::Latch(&of.ended), Awaited::EndOf(of.number));
    }

    /// Returns the execution as the controller of its activities.
    pub(in crate::explore) fn controller(&self) -> Arc<dyn Controller> {
        // SAFETY: An execution is always in an `Arc`, and the code that runs it holds one, so the pointer is that of a
        // live `Arc`.
        unsafe {
            Arc::increment_strong_count(self);
            Arc::from_raw(self)
        }
    }

    /// Makes the running code this activity.
    pub(in crate::explore) fn sits(&self, number: u32) {
        let state = &mut *self.state();
        state.current = number;
        if let Some(actor) = state.actors.get_mut(number as usize)
            && !state.is_ending
        {
            actor.phase = Phase::Runs;
        }
    }

    /// Blocks the current activity until light activities have no more work.
    pub(in crate::explore) fn wait_until_idle(&self, is_idle: &dyn Fn() -> bool) {
        self.block(&|| self.state().is_idle() && is_idle());
        let state = &mut *self.state();
        let last = state.last.iter().enumerate();
        let last = last.filter(|(who, _)| state.actors[*who].is_light);
        let last: Vec<_> = last.filter_map(|(_, last)| *last).collect();
        state.actors[state.current as usize].inherited.extend(last);
    }

    /// Returns the next pool of this execution, which has this size.
    pub(in crate::explore) fn pool(&self, size: usize, make: impl FnOnce() -> Pool) -> Pool {
        let (index, known) = self.state().next_pool();
        match known {
            Some((known, pool)) if known == size => {
                pool.reopen();
                pool
            }
            _ => {
                let pool = make();
                let pools = &mut self.state().pools;
                pools.truncate(index);
                pools.push((size, pool));
                pool
            }
        }
    }

    /// Makes the next step of the current activity come after the current step.
    pub(in crate::explore) fn comes_after_now(&self) {
        let state = &mut *self.state();
        if let Some(moment) = state.moment
            && let Some(actor) = state.actors.get_mut(state.current as usize)
        {
            actor.inherited.push(moment);
        }
    }

    /// Notes that the current activity's last panic has been observed.
    pub(crate) fn forgets_panic(&self) {
        let state = &mut *self.state();
        if let Some(actor) = state.actors.get_mut(state.current as usize) {
            actor.panic = None;
        }
    }

    /// Notes that the current activity has panicked, whether it continues or not.
    pub(in crate::explore) fn has_panicked(&self) {
        let state = &mut *self.state();
        let is_ending = state.is_ending;
        if let Some(actor) = state.actors.get_mut(state.current as usize) {
            actor.is_missed |= !is_ending && actor.panic.is_some();
        }
    }

    /// Notes a panic of the current activity.
    pub(in crate::explore) fn panics(&self, panic: Panic) {
        let state = &mut *self.state();
        if !state.is_ending
            && !state.is_describing
            && let Some(actor) = state.actors.get_mut(state.current as usize)
        {
            actor.panic = Some(panic);
        }
    }

    /// Sets whether this activity has ended by a panic that has not been observed.
    pub(crate) fn is_missed(&self, number: u32, is_missed: bool) {
        let state = &mut *self.state();
        if !state.is_ending {
            state.actors[number as usize].is_missed = is_missed;
        }
    }
}

/// Erases the lifetime of a closure that an activity exposes to others while it waits. They do not call it after that.
#[inline]
pub(super) fn outliving(question: &dyn Fn() -> bool) -> *const (dyn Fn() -> bool + 'static) {
    // SAFETY: Only the lifetime of the pointee changes; a raw pointer makes no promise about it.
    unsafe {
        std::mem::transmute::<*const dyn Fn() -> bool, *const (dyn Fn() -> bool + 'static)>(
            question,
        )
    }
}

/// Erases the lifetime of a closure that returns the number of ways.
#[inline]
pub(super) fn outliving_ways(ways: &dyn Fn() -> u32) -> *const (dyn Fn() -> u32 + 'static) {
    // SAFETY: Only the lifetime of the pointee changes; a raw pointer makes no promise about it.
    unsafe {
        std::mem::transmute::<*const dyn Fn() -> u32, *const (dyn Fn() -> u32 + 'static)>(ways)
    }
}

/// Erases the lifetime of a closure that says which of several operations are possible.
#[inline]
fn outliving_cases(possible: &dyn Fn(usize) -> bool) -> *const (dyn Fn(usize) -> bool + 'static) {
    // SAFETY: Only the lifetime of the pointee changes; a raw pointer makes no promise about it.
    unsafe {
        std::mem::transmute::<*const dyn Fn(usize) -> bool, *const (dyn Fn(usize) -> bool + 'static)>(
            possible,
        )
    }
}

/// Returns the end of a channel at which an activity with this access waits.
fn end_of_waiting(access: Access) -> Option<End> {
    match access {
        Access::Send => Some(End::Sending),
        Access::Receive => Some(End::Receiving),
        _ => None,
    }
}
