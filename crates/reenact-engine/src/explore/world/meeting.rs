//! An execution, as the models know it that tell it more than entities do.

use std::{
    panic::Location,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use super::{
    World,
    actor::{Awaited, Phase},
};
use crate::{
    Access, Activity, Conductor, Decision, Op,
    activity::Conducted,
    explore::{
        event::{How, NOTHING, Touch},
        failure::Panic,
        names::Families,
        strand::Strand,
        thing::{End, Passed},
        whole,
    },
    pool::Pool,
};

/// What an activity meets, in its model's words.
pub struct Meeting<'a> {
    /// What it does.
    pub op: Op,
    /// How it meets the thing.
    pub how: How,
    /// What it meets.
    pub thing: &'a AtomicU64,
    /// Whether it can, if that is not a matter of who has what.
    pub possible: Option<&'a dyn Fn() -> bool>,
    /// How much fits into a queue.
    pub room: usize,
    /// What else it meets, and how much fits into that.
    pub more: &'a [(How, &'a AtomicU64, usize)],
    /// Those things that have to change before it can.
    pub awaits: &'a [&'a AtomicU64],
    /// In how many ways it can go.
    pub answers: u32,
    /// The same, where that changes with what others do.
    pub count: Option<&'a dyn Fn() -> u32>,
    /// The line of the program.
    pub site: &'static Location<'static>,
}

impl World {
    /// The activity that runs meets something: returns which of the answers it is.
    #[inline]
    pub(in crate::explore) fn meets(&self, meeting: &Meeting<'_>) -> u32 {
        let thing = match meeting.how {
            How::Transact | How::Choose => NOTHING,
            _ => self.state().number(meeting.thing, meeting.site, 0),
        };
        if !meeting.more.is_empty() || !meeting.awaits.is_empty() || meeting.count.is_some() {
            return self.meets_more(meeting, thing);
        }
        self.announce(|pending| {
            pending.be(meeting.op, meeting.site, meeting.how, thing);
            pending.possible = meeting.possible.map(outliving);
            pending.answers = meeting.answers;
            pending.room = meeting.room;
        });
        self.state().answer
    }

    /// The activity that runs meets others at a queue.
    #[inline]
    pub(in crate::explore) fn meets_at_queue(
        &self,
        op: Op,
        how: How,
        queue: &AtomicU64,
        possible: Option<&dyn Fn() -> bool>,
        room: usize,
        site: &'static Location<'static>,
    ) {
        let thing = self.state().number(queue, site, 0);
        self.announce(|pending| {
            pending.be(op, site, how, thing);
            pending.possible = possible.map(outliving);
            pending.room = room;
        });
    }

    /// The same for one who meets more than this thing, or in as many ways as others leave open.
    fn meets_more(&self, meeting: &Meeting<'_>, thing: u32) -> u32 {
        let state = self.state();
        let more = meeting.more.iter().enumerate();
        let more = more.map(|(index, &(how, cell, _))| Touch {
            how,
            thing: state.number(cell, meeting.site, index + 1),
        });
        let more = (!meeting.more.is_empty()).then(|| more.collect());
        let awaits = meeting.awaits.iter().enumerate();
        let awaits = awaits.map(|(index, cell)| state.number(cell, meeting.site, index + 1));
        let awaits: Vec<_> = awaits.collect();
        let possible = meeting.possible.map(outliving);
        // SAFETY: Only the lifetime changes, and it is not looked at after this returns.
        let count = meeting.count.map(|count| unsafe {
            std::mem::transmute::<*const dyn Fn() -> u32, *const (dyn Fn() -> u32 + 'static)>(count)
        });
        self.announce(|pending| {
            pending.be(meeting.op, meeting.site, meeting.how, thing);
            pending.event.more = more;
            pending.possible = possible;
            pending.answers = meeting.answers;
            pending.count = count;
            pending.room = meeting.room;
            let rooms = meeting.more.iter().map(|&(_, _, room)| room);
            pending.more_room.extend(rooms);
            pending.awaits.extend(awaits);
        });
        self.state().answer
    }

    /// What the transaction of the activity that runs has met.
    pub(in crate::explore) fn has_met(
        &self,
        met: &mut dyn Iterator<Item = (How, &AtomicU64)>,
        site: &'static Location<'static>,
    ) {
        let state = self.state();
        let met = met.enumerate().map(|(index, (how, cell))| Touch {
            how,
            thing: state.number(cell, site, index + 1),
        });
        let met = met.collect();
        state.footprint = Some(met);
    }

    /// What becomes true meanwhile is so because all those at this end of a queue have gone.
    pub(in crate::explore) fn because_gone(
        &self,
        queue: &AtomicU64,
        end: End,
        establish: impl FnOnce(),
    ) {
        let state = self.state();
        if let Some(thing) = state.names.known(queue) {
            state.more_reasons = state.thing(thing).stopped(end).to_vec();
        }
        establish();
        self.state().more_reasons.clear();
    }

    /// Somebody tries to receive, who can tell whether all of the sending end have gone.
    pub(in crate::explore) fn tries_to_receive(&self) {
        let state = self.state();
        if !state.stops_are_steps {
            state.becomes_finer();
        }
    }

    /// Whether it is a step to leave this end of a queue.
    pub(in crate::explore) fn is_step_to_leave(&self, end: End) -> bool {
        end == End::Receiving || self.state().stops_are_steps
    }

    /// The activity that runs leaves the sending end of a queue, and that is no step. Whoever receives there has to know when.
    pub(in crate::explore) fn leaves_silently(
        &self,
        queue: &AtomicU64,
        is_last: bool,
        site: &'static Location<'static>,
    ) {
        let state = self.state();
        if state.is_ending || state.actors.get(state.current as usize).is_none() {
            return;
        }
        state.has_left_silently = true;
        let (thing, moment) = (state.number(queue, site, 0), state.moment);
        state.thing(thing).left(End::Sending, is_last, moment);
    }

    /// What the activity that runs has just done at a queue.
    #[inline]
    pub(in crate::explore) fn passed(&self, queue: &AtomicU64, what: Passed) {
        let state = self.state();
        if let Some(moment) = state.moment
            && let Some(thing) = state.names.known(queue)
        {
            let number = state.current;
            state.thing(thing).passed(number, what, moment);
        }
    }

    /// The activity that runs gives up a lock and waits for a signal, with the lock again: whether there was one.
    pub(in crate::explore) fn waits(
        &self,
        op: Op,
        lock: &AtomicU64,
        condition: &AtomicU64,
        timed: bool,
        site: &'static Location<'static>,
        release: impl FnOnce(),
    ) -> bool {
        let meeting = |how, more| Meeting {
            op,
            how,
            thing: condition,
            possible: None,
            room: usize::MAX,
            more,
            awaits: &[],
            answers: 1,
            count: None,
            site,
        };
        self.meets(&meeting(How::Wait, &[]));
        release();
        let state = self.state();
        if let Some(lock) = state.names.known(lock) {
            state.release(lock, Access::Take);
        }
        self.meets(&meeting(
            How::Wake { timed },
            &[(How::Take, lock, usize::MAX)],
        ));
        self.state().decision != Decision::Decline
    }

    /// The activity that runs has taken something, and only looks at it from now on.
    pub(in crate::explore) fn downgrades(&self, thing: &AtomicU64) {
        let state = self.state();
        if let Some(thing) = state.names.known(thing) {
            let (number, moment) = (state.current, state.moment);
            state.thing(thing).downgraded(number, moment);
        }
    }

    /// The activity that runs cannot go on before this is true, and nobody will say when it is.
    pub(in crate::explore) fn block(&self, until: &dyn Fn() -> bool) {
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
    pub(in crate::explore) fn is_ending(&self) -> bool {
        self.state().is_ending
    }

    /// The activity that runs sleeps for so long.
    pub(in crate::explore) fn sleeps(&self, time: Duration) {
        let state = self.state();
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        state.actors[state.current as usize]
            .outside
            .sleep(nanoseconds);
    }

    /// What the model of this activity keeps with it; none if there is no such activity.
    pub(in crate::explore) fn kept<T: Clone + 'static>(
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
    pub(in crate::explore) fn name_given(&self, number: u32) -> Option<&str> {
        let name = &self.state().actors.get(number as usize)?.name;
        (!name.is_empty()).then_some(name)
    }

    /// A new child of the activity that runs: its number.
    pub(crate) fn child(&self, name: &str) -> u32 {
        let state = self.state();
        let number = state.child(name, false);
        if state.is_whole {
            state.actors[number as usize].strand = Some(whole::strand_of(number));
            state.ready.push_back(number);
        }
        self.be_known(number, name);
        number
    }

    /// It will be known where it runs. What is left of the one that had its number in an earlier execution is used again.
    fn be_known(&self, number: u32, name: &str) {
        let kept = &mut self.state().actors[number as usize].conducted;
        if !kept.as_mut().is_some_and(|kept| kept.be_again(name)) {
            *kept = None;
        }
        kept.get_or_insert_with(|| Box::new(Conducted::explored(self.conductor(), number, name)));
    }

    /// An activity, as others know it.
    pub(crate) fn activity(&self, number: u32) -> Option<&Arc<Activity>> {
        let actor = self.state().actors.get(number as usize)?;
        Some(&actor.conducted.as_ref()?.activity)
    }

    /// The calling code is this activity from now on: what it is known by there.
    pub(crate) fn begins(&self, number: u32) -> *const Conducted {
        let state = self.state();
        state.current = number;
        if number == Families::MAIN {
            self.be_known(number, "");
        }
        let conducted = &state.actors[number as usize].conducted;
        conducted
            .as_deref()
            .map_or(std::ptr::null(), std::ptr::from_ref)
    }

    /// The activity that runs goes on when this one has ended.
    pub(crate) fn waits_for_end(&self, of: &Activity) {
        self.wait_for(&of.ended, Awaited::EndOf(of.number));
    }

    /// Itself, as its activities know it.
    pub(in crate::explore) fn conductor(&self) -> Arc<dyn Conductor> {
        // SAFETY: It is in an `Arc`, which whoever runs it has.
        unsafe {
            Arc::increment_strong_count(self);
            Arc::from_raw(self)
        }
    }

    /// Something is to be run that says itself which activity it is.
    pub(in crate::explore) fn schedules(&self, job: impl FnOnce() + 'static) {
        let state = self.state();
        if !state.is_ending {
            // SAFETY: It borrows nothing.
            let strand = unsafe { state.fibers.with(job) }.map(Strand::Fiber);
            state.tasks.push_back(strand);
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
    pub(in crate::explore) fn forgets_panic(&self) {
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
            && let Some(actor) = state.actors.get_mut(state.current as usize)
        {
            actor.panic = Some(panic);
        }
    }

    /// Its panic has ended it, and nobody has been told yet; or somebody has.
    pub(in crate::explore) fn is_missed(&self, number: u32, is_missed: bool) {
        let state = self.state();
        if !state.is_ending {
            state.actors[number as usize].is_missed = is_missed;
        }
    }
}

/// A question that an activity leaves with others while it waits. Nobody asks it after that.
#[inline]
fn outliving(question: &dyn Fn() -> bool) -> *const (dyn Fn() -> bool + 'static) {
    // SAFETY: Only the lifetime changes, of what is a pointer.
    unsafe {
        std::mem::transmute::<*const dyn Fn() -> bool, *const (dyn Fn() -> bool + 'static)>(
            question,
        )
    }
}
