//! The interface of an execution for models whose announcements are more than operations on one recorded object.

use std::{panic::Location, sync::Arc};

use reenact_explore::Moment;

use super::{Execution, actor::Phase};
use crate::{
    Access, Announcement, Decision, End, Named, Object, OperationKind, Touch,
    explore::{
        event::{ANY_CHANNEL, Touched},
        object_state::Passed,
    },
    loom::AtomicU64,
};

impl Execution {
    /// Announces an operation of the current activity on several objects, or on one of which nothing is recorded.
    #[inline]
    pub(super) fn meets(&self, announcement: &Announcement<'_>) -> Decision {
        let [first] = announcement.touches else {
            return self.announce_many(announcement);
        };
        let is_message = announcement.op.kind() == OperationKind::MessageSend;
        let is_reservation = is_message && announcement.access != Access::Send;
        if announcement.ways.is_some() || announcement.access == Access::Transact || is_reservation
        {
            return self.announce_many(announcement);
        }
        let ready = match first.access {
            Access::Send | Access::Receive => self.enabling_condition(announcement),
            Access::SendTimeout | Access::ReceiveTimeout => {
                self.require_finer_steps();
                // Whether the other end arrives is not known before this step, which might as well have come before the
                // arrival.
                self.forget_reasons();
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
                self.state().has_skipped_steps = true;
                return Decision::Free;
            }
            _ => announcement.ready,
        };
        match is_message {
            true => self.announce_message(announcement, first),
            false => self.announce_one(announcement, first, ready),
        }
        if let Some(end) = end_of_waiting(first.access) {
            self.comes(first.cell, end, first.room);
            match announcement.envelope {
                Some(_) if is_message => self.note_sent(announcement),
                Some(_) => self.begin_turn(),
                None => {}
            }
        }
        Decision::Free
    }

    /// Returns the condition under which the operation is enabled; none if beginning to wait is a step already, because
    /// others can observe it. At a channel without capacity, others observe a waiting sender; they observe a waiting
    /// receiver only if some activity checks for one.
    #[inline]
    fn enabling_condition<'a>(
        &self,
        announcement: &Announcement<'a>,
    ) -> Option<&'a dyn Fn() -> bool> {
        let first = &announcement.touches[0];
        if first.room > 0 {
            return announcement.ready;
        }
        if announcement.is_timed {
            self.require_finer_steps();
        }
        match first.access {
            Access::Send => None,
            _ if self.is_finer() => None,
            _ => announcement.ready,
        }
    }

    #[inline]
    fn announce_one(
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
        let may_end_selections = self.state().granularity.meetings && is_at_channel(touch.access);
        self.announce(move |pending| {
            pending.be(op, site, touched, ready, room);
            pending.is_about(about.take());
            if may_end_selections {
                pending.be_special();
                pending.event.more = Some(Arc::new(ANY_CHANNEL));
            }
        });
    }

    /// Announces the sending of a message.
    fn announce_message(&self, announcement: &Announcement<'_>, touch: &Touch<'_>) {
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
    fn announce_many(&self, announcement: &Announcement<'_>) -> Decision {
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
        if access == Access::Transact {
            let awaited = self.state().touched_all(touches, site, 1);
            let awaited = awaited.into_iter().map(|touch| touch.object);
            self.announce(|pending| {
                pending.be(op, site, Touched::nothing(access), ready, usize::MAX);
                pending.be_special().awaits.extend(awaited);
            });
            return self.state().decision;
        }
        let is_message = op.kind() == OperationKind::MessageSend;
        let about = self.about(announcement);
        let first = self.state().touched(&touches[0], site, 0);
        let mut more = match touches.len() {
            1 => None,
            _ => Some(self.state().touched_all(&touches[1..], site, 1).into()),
        };
        let mut ready = ready;
        let mut enlists = false;
        if is_message {
            if touches.len() == 1 {
                more = self.besides(site);
            }
        } else {
            self.note_tries(announcement, first, more.as_deref().unwrap_or_default());
            let state = &mut *self.state();
            if state.granularity.meetings {
                // Others can observe that it waits.
                enlists = ways.is_some() && waits_without_room(announcement);
                ready = ready.filter(|_| !enlists);
                more = Some(
                    more.iter()
                        .flat_map(|more| more.iter())
                        .copied()
                        .chain(ANY_CHANNEL)
                        .collect(),
                );
            }
        }
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
        match (access, ways) {
            (_, Some(ways)) if enlists && ways() == 0 => {
                self.stays();
                for touch in touches {
                    let end = end_of_try(touch.access);
                    self.comes(touch.cell, end, touch.room);
                }
                Decision::Free
            }
            (_, Some(_)) => Decision::Way(self.state().answer.into()),
            (Access::Send, None) => {
                self.comes(touches[0].cell, End::Sending, touches[0].room);
                self.note_sent(announcement);
                Decision::Free
            }
            _ => self.state().decision,
        }
    }

    /// Notes that the current activity is about to select, to try, or to end a timed wait, which may require finer steps.
    fn note_tries(&self, announcement: &Announcement<'_>, first: Touched, more: &[Touched]) {
        let waits = waits_without_room(announcement);
        let touched = std::iter::once(&first).chain(more);
        for (touch, touched) in announcement.touches.iter().zip(touched) {
            match touch.access {
                Access::SendTimeout | Access::ReceiveTimeout => {
                    self.require_finer_steps();
                    self.forget_reasons();
                }
                Access::TrySend | Access::TryReceive => {
                    if touch.access == Access::TryReceive || touch.room == 0 {
                        self.require_finer_steps();
                    }
                    let state = &mut *self.state();
                    if touch.room == 0 && !state.granularity.meetings {
                        // If it had been known that this can be observed, it would have been another step.
                        state.has_skipped_steps |= waits;
                        let end = end_of_try(touch.access);
                        if state.object(touched.object).selects(end, waits) {
                            state.require_meeting_steps();
                        }
                    }
                }
                _ => {}
            }
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
    fn require_finer_steps(&self) {
        let state = &mut *self.state();
        if !state.granularity.drops {
            state.require_finer_steps();
        }
    }

    /// Notes that the current activity gives up waiting at this end of a channel.
    pub(super) fn gives_up(&self, touch: &Touch<'_>, end: End) {
        let state = &mut *self.state();
        let number = state.current;
        let actor = state.actors.get(number as usize);
        if actor.is_some_and(|actor| actor.has_left) {
            return;
        }
        if let Some(object) = state.names.known(touch.cell)
            && let Some(moment) = state.moment
        {
            state.passed(object, Passed::GaveUp(end), moment, touch.room);
            state.withdraws(number, object, end, touch.room);
        }
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
        state.has_skipped_steps |= !state.granularity.drops;
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
        self.queue_changes(queue.cell);
        match self.is_step_to_leave(access) {
            true => self.passed(queue.cell, Passed::Stopped(end, is_last), usize::MAX),
            false => self.drop_without_step(queue, is_last, site),
        }
    }

    /// Notes that the current activity leaves the sending end of a queue without a step. Receivers need to know when
    /// that happened.
    fn drop_without_step(
        &self,
        queue: &Touch<'_>,
        is_last: bool,
        site: &'static Location<'static>,
    ) {
        let state = &mut *self.state();
        if state.is_ending || state.actors.get(state.current as usize).is_none() {
            return;
        }
        state.has_skipped_steps = true;
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
        self.queue_changes(queue);
        let moment = self.state().moment;
        if let Some(moment) = moment {
            self.comes_at(queue, end, room, moment);
        }
    }

    /// Notes that the current activity changes a queue.
    #[inline]
    fn queue_changes(&self, queue: &AtomicU64) {
        let state = &mut *self.state();
        if state.is_watching
            && let Some(object) = state.names.known(queue)
        {
            state.changes(state.current, object, false);
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

    /// Notes that the current activity begins to wait in a selection.
    fn stays(&self) {
        let state = &mut *self.state();
        let number = state.current as usize;
        state.actors[number].has_left = false;
    }

    /// Makes the next step of the current activity, the end of a timed wait, come after its own steps only.
    pub(crate) fn forget_reasons(&self) {
        let state = &mut *self.state();
        if let Some(actor) = state.actors.get_mut(state.current as usize) {
            actor.inherited.clear();
            actor.has_left = false;
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
            state.shares(number, object);
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

    /// Returns whether all activities are being ended.
    pub(crate) fn is_ending(&self) -> bool {
        self.state().is_ending
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

/// Returns the end of a channel at which this is a case of a selection.
fn end_of_try(access: Access) -> End {
    match access {
        Access::TrySend => End::Sending,
        _ => End::Receiving,
    }
}

/// Returns whether this is an operation at a channel, which may end the wait of a selection.
fn is_at_channel(access: Access) -> bool {
    matches!(
        access,
        Access::Send
            | Access::Receive
            | Access::SendTimeout
            | Access::ReceiveTimeout
            | Access::DropSender
            | Access::DropReceiver
    )
}

/// Returns whether the operation waits and is, or may turn out to be, at a channel without capacity.
fn waits_without_room(announcement: &Announcement<'_>) -> bool {
    let mut touches = announcement.touches.iter();
    (announcement.ready.is_some() || announcement.is_timed) && touches.any(|touch| touch.room == 0)
}
