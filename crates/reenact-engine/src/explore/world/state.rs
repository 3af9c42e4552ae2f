//! What there is to know of an execution.

use std::{
    collections::VecDeque,
    io,
    panic::Location,
    sync::{Arc, atomic::AtomicU64},
};

use reenact_multiverse::{
    Activity,
    explore::{Moment, Step},
};

use super::actor::{Actor, Phase};
use crate::{
    Access, Arrival, Decision, End, Touch,
    explore::{
        event::{Event, Touched},
        failure::{Failure, Panic},
        fiber::Fibers,
        names::{Families, Met, Place, Things},
        recorded::Recorded,
        strand::{Strand, StrandEnd},
        subject::Fineness,
        thing::Thing,
    },
    pool::Pool,
};

/// Who takes the next step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Chosen {
    /// Nobody has been asked.
    NotYet,
    /// This one, whose step is performed.
    This(u32),
    Nobody,
}

pub(crate) struct State {
    pub(super) actors: Vec<Actor>,
    /// Those who are about to do something.
    pub(in crate::explore) about_to_act: Vec<Activity>,
    /// How many were born in this execution.
    pub(super) born: u32,
    pub(super) things: Vec<Thing>,
    pub(in crate::explore) names: Things,
    pub(in crate::explore) families: Families,
    pub(super) fibers: Fibers,
    /// Who runs without being chosen, in this order, and those that have not begun.
    pub(super) ready: VecDeque<u32>,
    /// What says itself who it is when it runs.
    pub(super) tasks: VecDeque<io::Result<Strand>>,
    /// How many wait for something that is no operation; and how many wait until they are let go on.
    pub(super) blocked: u32,
    pub(super) parked: u32,
    /// The activity that runs, and what it runs on.
    pub(super) current: u32,
    pub(super) running: Option<StrandEnd>,
    /// Who says what the next step is, if that is asked for as soon as the one before is over; and who takes it.
    pub(super) next: Option<*mut dyn FnMut() -> Option<Step>>,
    pub(super) chosen: Chosen,
    /// When the current step is; whether anybody wants to know.
    pub(super) moment: Option<Moment>,
    pub(super) answer: u32,
    pub(super) decision: Decision,
    /// What the current step has met besides, while it panicked.
    pub(super) unwinding: Vec<Touched>,
    /// What the transaction of the current step has met; and what it has waited for, since when.
    pub(super) footprint: Option<Arc<[Touched]>>,
    pub(super) awaited: Option<(Vec<u32>, Option<Moment>)>,
    /// When questions were asked that may depend on anything, and by whom; when each activity did something last.
    pub(super) asks: Vec<(u32, Moment)>,
    pub(super) last: Vec<Option<Moment>>,
    /// How fine steps are; and as how fine they have turned out to have to be.
    pub(in crate::explore) fineness: Fineness,
    pub(in crate::explore) learned: Fineness,
    /// Whether it turned out in the middle of this execution, or of an earlier one, that they have to be.
    pub(super) is_too_coarse: bool,
    /// Whether it was so before the first step, in which case only those have to know who compare executions; and whether somebody
    /// has left a queue since the start without that having been a step.
    pub(super) was_coarse_at_start: bool,
    pub(super) has_left_silently: bool,
    pub(in crate::explore) was_too_coarse: bool,
    /// Everything is to come to its end, whatever it does.
    pub(super) is_ending: bool,
    /// Whether somebody wants to know what messages are, and how actors are; and whether that is being found out now.
    pub(in crate::explore) wants_labels: bool,
    /// What came of the current step, if they are.
    pub(in crate::explore) came_of: Option<String>,
    pub(super) is_describing: bool,
    /// Whether it is a process of its own, with threads of its own.
    pub(in crate::explore) is_whole: bool,
    pub(in crate::explore) main_has_ended: bool,
    /// Whether somebody else has ended the program.
    pub(in crate::explore) has_exited: bool,
    /// What the world outside said to a recorded run.
    pub(in crate::explore) recorded: Option<Arc<Recorded>>,
    pub(super) failures: Vec<Failure>,
    /// What the facts of this execution come after, and up to where that is what each of them does.
    pub(super) reasons: Vec<Moment>,
    pub(super) facts: Vec<usize>,
    /// Pools, and how many of them this execution has.
    pub(super) pools: Vec<(usize, Pool)>,
    pub(super) pools_used: usize,
    /// What somebody met last besides another thing, if it was nothing else.
    alone: Option<Arc<[Touched]>>,
}

impl State {
    pub(super) fn new() -> State {
        State {
            actors: Vec::new(),
            about_to_act: Vec::new(),
            born: 0,
            things: Vec::new(),
            names: Things::default(),
            families: Families::default(),
            fibers: Fibers::default(),
            ready: VecDeque::new(),
            tasks: VecDeque::new(),
            blocked: 0,
            parked: 0,
            current: 0,
            running: None,
            next: None,
            chosen: Chosen::NotYet,
            moment: None,
            answer: 0,
            decision: Decision::Go,
            unwinding: Vec::new(),
            footprint: None,
            awaited: None,
            asks: Vec::new(),
            last: Vec::new(),
            fineness: Fineness::default(),
            learned: Fineness::default(),
            is_too_coarse: false,
            was_coarse_at_start: false,
            has_left_silently: false,
            was_too_coarse: false,
            is_ending: false,
            wants_labels: false,
            came_of: None,
            is_describing: false,
            is_whole: false,
            main_has_ended: false,
            has_exited: false,
            recorded: None,
            failures: Vec::new(),
            reasons: Vec::new(),
            facts: Vec::new(),
            pools: Vec::new(),
            pools_used: 0,
            alone: None,
        }
    }

    /// Another execution begins.
    pub(super) fn begin(&mut self) {
        for &number in self.names.here() {
            if let Some(thing) = self.things.get_mut(number as usize) {
                thing.clear();
            }
        }
        self.names.begin();
        for actor in &mut self.actors[..self.born as usize] {
            actor.clear();
        }
        self.born = 0;
        self.about_to_act.clear();
        self.blocked = 0;
        self.parked = 0;
        self.asks.clear();
        self.last.clear();
        self.ready.clear();
        self.is_ending = false;
        self.is_too_coarse = false;
        self.was_coarse_at_start = false;
        self.has_left_silently = false;
        self.main_has_ended = false;
        self.failures.clear();
        self.reasons.clear();
        self.facts.clear();
        self.tasks.clear();
        self.unwinding.clear();
        self.pools_used = 0;
        self.moment = None;
    }

    /// These are steps from now on, too.
    pub(in crate::explore) fn refine(&mut self, fineness: Fineness) {
        self.fineness = self.fineness.or(fineness);
    }

    pub(super) fn thing(&mut self, number: u32) -> &mut Thing {
        let index = number as usize;
        if self.things.len() <= index {
            self.things.resize_with(index + 1, Thing::default);
        }
        &mut self.things[index]
    }

    pub(super) fn born(&mut self, number: u32, name: &str) {
        let index = number as usize;
        if self.actors.len() <= index {
            self.actors.resize_with(index + 1, Actor::unborn);
        }
        self.born = self.born.max(number + 1);
        self.inherits_now(number);
        let actor = &mut self.actors[index];
        actor.phase = Phase::Runs;
        actor.name.push_str(name);
    }

    /// What the activity that runs does now comes after this: the current step, and what there is besides.
    #[inline]
    pub(super) fn reasons_now(&self) -> impl Iterator<Item = Moment> {
        let besides = besides(self.moment, &self.last, &self.actors, self.current);
        self.moment.into_iter().chain(besides)
    }

    /// The things, and what the activity that runs comes after besides the current step with what it does to one of them.
    #[inline]
    pub(super) fn things_and_reasons(&mut self) -> (&mut [Thing], impl Iterator<Item = Moment>) {
        let besides = besides(self.moment, &self.last, &self.actors, self.current);
        (&mut self.things, besides)
    }

    /// What this activity does next comes after what the one that runs does now.
    pub(super) fn inherits_now(&mut self, number: u32) {
        if self.moment.is_some() {
            let mut inherited = std::mem::take(&mut self.actors[number as usize].inherited);
            self.reasons_now().for_each(|at| inherited.push(at));
            self.actors[number as usize].inherited = inherited;
        }
    }

    /// Something becomes true: by what number it is known what that comes after, if somebody compares executions.
    pub(super) fn fact(&mut self) -> Option<u32> {
        self.moment?;
        let mut all = std::mem::take(&mut self.reasons);
        self.reasons_now().for_each(|at| all.push(at));
        self.facts.push(all.len());
        self.reasons = all;
        Some(self.facts.len() as u32 - 1)
    }

    /// What the activity that runs does next comes after this became true.
    pub(super) fn inherits_fact(&mut self, fact: u32) {
        if let Some(&until) = self.facts.get(fact as usize) {
            let before = fact.checked_sub(1);
            let from = before.map_or(0, |before| self.facts[before as usize]);
            let inherited = &mut self.actors[self.current as usize].inherited;
            inherited.extend_from_slice(&self.reasons[from..until]);
        }
    }

    /// The number of a new child of the activity that runs.
    pub(super) fn child(&mut self, name: &str, kind: u32) -> u32 {
        let number = self.next_child(kind);
        self.actors[self.current as usize].children[Families::kind_of(kind)] += 1;
        self.born(number, name);
        number
    }

    /// The number that the next child of the activity that runs will have.
    pub(super) fn next_child(&mut self, kind: u32) -> u32 {
        let parent = self.current;
        self.families.meet_foreign(parent);
        let children = self.actors[parent as usize].children[Families::kind_of(kind)];
        self.families.child(parent, children | kind)
    }

    /// The last panic of the first activity.
    pub(in crate::explore) fn panic_of_main(&self) -> Option<Panic> {
        self.actors.first()?.panic.clone()
    }

    /// Whether nobody runs, or might, without being chosen.
    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.ready.is_empty() && self.tasks.is_empty() && self.blocked == 0
    }

    /// Whether no light activity has anything to do.
    pub(super) fn is_idle(&self) -> bool {
        let mut actors = self.actors[..self.born as usize].iter();
        self.tasks.is_empty()
            && actors
                .all(|actor| !actor.is_light || matches!(actor.phase, Phase::Ended | Phase::Unborn))
    }

    /// The activity that runs.
    pub(crate) fn current(&self) -> u32 {
        self.current
    }

    /// How many activities are on their way.
    pub(super) fn strands(&self) -> usize {
        let actors = &self.actors[..self.born as usize];
        actors.iter().filter(|actor| actor.strand.is_some()).count()
    }

    pub(in crate::explore) fn activities(&self) -> u32 {
        self.born
    }

    pub(in crate::explore) fn pending(&self, number: u32) -> Option<&Event> {
        let pending = self.actors.get(number as usize)?.pending()?;
        Some(&pending.event)
    }

    #[inline]
    pub(in crate::explore) fn is_enabled(&self, number: u32) -> bool {
        let Some(actor) = self.actors.get(number as usize) else {
            return false;
        };
        let Some(pending) = actor.pending() else {
            return false;
        };
        if self.is_too_coarse {
            return false;
        }
        let is_not_ready = |ready: *const dyn Fn() -> bool| {
            // SAFETY: The activity waits with it on its stack.
            unsafe { !(*ready)() }
        };
        if pending.ready.is_some_and(is_not_ready) {
            return false;
        }
        let touch = pending.event.touch;
        let Some(thing) = self.things.get(touch.thing as usize) else {
            return true;
        };
        match touch.access {
            Access::Take => thing.is_free(),
            Access::Look => thing.may_look(),
            Access::Wake { timed } => {
                let lock = pending.event.more.as_ref().and_then(|more| more.first());
                let lock = lock.and_then(|lock| self.things.get(lock.thing as usize));
                (timed || actor.is_notified) && lock.is_none_or(Thing::is_free)
            }
            _ => true,
        }
    }

    /// In how many ways what is pending can go.
    #[inline]
    pub(in crate::explore) fn choices(&self, number: u32) -> u32 {
        let Some(pending) = self.actors.get(number as usize).and_then(Actor::pending) else {
            return 1;
        };
        match pending.event.touch.access {
            Access::Notify { all: false } => {
                let thing = self.things.get(pending.event.touch.thing as usize);
                thing.map_or(1, |thing| thing.waiters.len().max(1) as u32)
            }
            // SAFETY: The activity waits with it on its stack.
            _ => pending
                .special
                .ways
                .map_or(1, |ways| unsafe { (*ways)() }.max(1)),
        }
    }

    /// How what is pending would go now: which of several operations are possible, a bit for each; otherwise 0 if it would be
    /// declined (a try that fails, a wait whose time is up, a channel without anybody at its other end), and 1 if not.
    pub(in crate::explore) fn prospect(&self, number: u32) -> u64 {
        let Some(actor) = self.actors.get(number as usize) else {
            return 1;
        };
        let Some(pending) = actor.pending() else {
            return 1;
        };
        if let Some(possible) = pending.special.possible {
            let cases = pending.event.touches().count().min(64);
            // SAFETY: The activity waits with it on its stack.
            let is_possible = |case: &usize| unsafe { (*possible)(*case) };
            return (0..cases).filter(is_possible).map(|case| 1 << case).sum();
        }
        let touch = pending.event.touch;
        let Some(thing) = self.things.get(touch.thing as usize) else {
            return 1;
        };
        let goes = match touch.access {
            Access::TryTake => thing.is_free(),
            Access::TryLook => thing.holder.is_none(),
            Access::Wake { .. } => actor.is_notified,
            Access::Send => !thing.is_over(End::Sending),
            Access::Receive => !thing.is_over(End::Receiving),
            _ => true,
        };
        u64::from(goes)
    }

    /// The message that what is pending sends, if that is known by more than its sender.
    pub(in crate::explore) fn message(&self, number: u32) -> Option<Arrival> {
        let pending = self.actors.get(number as usize)?.pending()?;
        pending.special.message
    }

    /// The number of a thing that the activity that runs meets.
    #[inline]
    pub(super) fn number(
        &mut self,
        cell: &AtomicU64,
        made_at: &'static Location<'static>,
        site: &'static Location<'static>,
        index: usize,
    ) -> u32 {
        // Who does not compare executions need not learn by what else it is known; and before the first step, all are the same.
        let is_learned = self.is_whole || self.moment.is_some();
        match self.names.known(cell) {
            Some(number) if !is_learned => number,
            known => self.learned_number(cell, known, site, Place::new(site, index, made_at)),
        }
    }

    /// The same, with how it meets it.
    #[inline]
    pub(super) fn touched(
        &mut self,
        touch: &Touch<'_>,
        site: &'static Location<'static>,
        index: usize,
    ) -> Touched {
        Touched {
            access: touch.access,
            thing: self.number(touch.cell, touch.made_at, site, index),
        }
    }

    /// This alone, in what is used again for the next one: it is often the same.
    pub(super) fn alone(&mut self, touched: Touched) -> Arc<[Touched]> {
        match &self.alone {
            Some(alone) if **alone == [touched] => Arc::clone(alone),
            _ => Arc::clone(self.alone.insert(Arc::new([touched]))),
        }
    }

    #[inline]
    fn learned_number(
        &mut self,
        cell: &AtomicU64,
        known: Option<u32>,
        site: &'static Location<'static>,
        place: Place,
    ) -> u32 {
        let met = Met {
            activity: self.current,
            operation: self.actors[self.current as usize].operations_at(site),
            place,
            known,
        };
        let thing = self.names.number(cell, met);
        self.thing(thing);
        thing
    }
}

/// What an activity does now comes after this, besides the current step: its own last one, if it goes on in the step of another,
/// and what it has waited for since. Nothing if nobody compares executions.
#[inline]
fn besides(
    moment: Option<Moment>,
    last: &[Option<Moment>],
    actors: &[Actor],
    activity: u32,
) -> impl Iterator<Item = Moment> {
    let last = last.get(activity as usize).copied().flatten();
    let actor = actors.get(activity as usize);
    let inherited = actor.map_or(&[][..], |actor| &actor.inherited);
    let all = last.into_iter().chain(inherited.iter().copied());
    all.filter(move |&at| moment.is_some_and(|moment| at != moment))
}
