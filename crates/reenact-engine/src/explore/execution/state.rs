//! The state of an execution.

use std::{any::Any, collections::VecDeque, io, panic::Location, sync::Arc};

use reenact_explore::{Activity, Moment, Step};

use super::actor::{Actor, Pending, Phase};
use crate::{
    Access, Decision, Object, Touch,
    explore::{
        event::{Event, Touched},
        failure::{Failure, Panic},
        fiber::Fibers,
        gap::Reads,
        names::{Families, Met, ObjectSite, ObjectTable},
        object_state::ObjectState,
        recorded::{Given, RecordedInput},
        subject::Granularity,
        task_stack::{StackHandle, TaskStack},
    },
    loom::AtomicU64,
    pool::Pool,
};

/// Which activity takes the next step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Chosen {
    /// `next` has not been called.
    NotYet,
    /// This activity, whose step has been performed.
    This(u32),
    Nobody,
}

/// Chooses the next step.
pub(super) type ChooseStep = *mut dyn FnMut() -> Option<Step>;

/// What becomes of an operation that has just been announced.
pub(super) enum Announced {
    /// It has been performed already, or nobody observes it.
    Performed,
    /// It waits to be chosen: by this function, at once, if there is one.
    Waits(Option<ChooseStep>),
}

/// Why an execution does not go on although activities wait to be chosen. If there are several reasons, the greatest
/// counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Halt {
    /// It has shown that steps must be finer.
    TooCoarse,
    /// All activities repeat something for ever.
    Livelock,
    /// It cannot be continued, or its time is up.
    Interrupted,
}

pub(crate) struct State {
    pub(super) actors: Vec<Actor>,
    /// The activities that have a pending operation.
    pub(in crate::explore) about_to_act: Vec<Activity>,
    /// Number of activities of this execution.
    pub(super) born: u32,
    pub(super) objects: Vec<ObjectState>,
    pub(in crate::explore) names: ObjectTable,
    pub(in crate::explore) families: Families,
    pub(super) fibers: Fibers,
    /// The activities that run without being chosen, in this order, including those that have not begun.
    pub(super) ready: VecDeque<u32>,
    /// Tasks that say themselves which activity they are when they run.
    pub(super) tasks: VecDeque<io::Result<TaskStack>>,
    /// Number of activities that wait for a condition that is not an operation, and number of parked activities.
    pub(super) blocked: u32,
    pub(super) parked: u32,
    /// The current activity, and its stack.
    pub(super) current: u32,
    pub(super) running: Option<StackHandle>,
    /// What chooses the next step, if it is called as soon as a step is over; and its choice.
    pub(super) next: Option<ChooseStep>,
    pub(super) chosen: Chosen,
    /// The moment of the current step, if the strategy tracks dependences.
    pub(super) moment: Option<Moment>,
    pub(super) answer: u32,
    pub(super) decision: Decision,
    /// What else the current step has accessed: while it panicked, or by ending the wait of a selection.
    pub(super) besides: Vec<Touched>,
    /// The accesses of the transaction of the current step; and the objects that it has waited for, with the moment
    /// since which it has waited.
    pub(super) footprint: Option<Arc<[Touched]>>,
    pub(super) awaited: Option<(Vec<u32>, Option<Moment>)>,
    /// The activity and moment of each question, which may depend on anything; and the moment of each activity's last
    /// step.
    pub(super) asks: Vec<(u32, Moment)>,
    pub(super) last: Vec<Option<Moment>>,
    /// How fine steps are, and how fine they have turned out to have to be.
    pub(in crate::explore) granularity: Granularity,
    pub(in crate::explore) learned: Granularity,
    /// Why no activity is enabled any more.
    pub(super) halt: Option<Halt>,
    /// Whether steps have turned out to have to be finer before the first step, which matters only if the strategy tracks dependences; and whether
    /// an activity has left a queue since the start without a step.
    pub(super) was_coarse_at_start: bool,
    pub(super) has_skipped_steps: bool,
    /// Whether activities that repeat operations without effect let others go first.
    pub(in crate::explore) is_fair: bool,
    /// Whether an activity was held back that had not yielded.
    pub(super) has_cut_repetitions: bool,
    /// Whether any operation of this execution is a write or a read depending on what has happened before it.
    pub(super) has_conditional: bool,
    /// Whether any activity is suspected of repeating something.
    pub(super) is_watching: bool,
    /// Number of panics so far.
    pub(super) panics: u32,
    /// Whether all activities are being ended.
    pub(super) is_ending: bool,
    /// Whether labels of messages and the states of actors are requested.
    pub(in crate::explore) wants_labels: bool,
    /// The result of the current step, if labels are requested; and whether a description is being evaluated now.
    pub(in crate::explore) step_result: Option<String>,
    pub(super) is_describing: bool,
    /// Whether the execution is a process of its own, with its own threads.
    pub(in crate::explore) is_process: bool,
    pub(in crate::explore) main_has_ended: bool,
    /// Whether activities other than the main one may wait forever, except for a lock.
    pub(in crate::explore) allows_blocked: bool,
    /// How many waits of each activity may end without a reason.
    pub(in crate::explore) spurious_wakeups: u32,
    /// Whether an activity other than the main one has exited the process.
    pub(in crate::explore) has_exited: bool,
    /// The external data of a recorded run.
    pub(in crate::explore) recorded: Option<Arc<RecordedInput>>,
    pub(super) failures: Vec<Failure>,
    /// What the executions so far have read.
    pub(super) reads: Reads,
    /// What the latches of this execution come after; and, for each latch, where its part of that ends.
    pub(super) reasons: Vec<Moment>,
    pub(super) latches: Vec<usize>,
    /// When expected work was done that is not the work of a light activity.
    pub(super) work_done: Vec<Moment>,
    /// The pools, and how many of them this execution uses.
    pub(super) pools: Vec<(usize, Pool)>,
    pub(super) pools_used: usize,
    /// The last list of further accesses that had a single element, for reuse.
    alone: Option<Arc<[Touched]>>,
}

impl State {
    pub(super) fn new() -> State {
        State {
            actors: Vec::new(),
            about_to_act: Vec::new(),
            born: 0,
            objects: Vec::new(),
            names: ObjectTable::default(),
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
            besides: Vec::new(),
            footprint: None,
            awaited: None,
            asks: Vec::new(),
            last: Vec::new(),
            granularity: Granularity::default(),
            learned: Granularity::default(),
            halt: None,
            was_coarse_at_start: false,
            has_skipped_steps: false,
            is_fair: false,
            has_cut_repetitions: false,
            is_watching: false,
            has_conditional: false,
            panics: 0,
            is_ending: false,
            wants_labels: false,
            step_result: None,
            is_describing: false,
            is_process: false,
            main_has_ended: false,
            allows_blocked: false,
            spurious_wakeups: 0,
            has_exited: false,
            recorded: None,
            failures: Vec::new(),
            reads: Reads::default(),
            reasons: Vec::new(),
            latches: Vec::new(),
            work_done: Vec::new(),
            pools: Vec::new(),
            pools_used: 0,
            alone: None,
        }
    }

    /// Begins another execution, whose first activity is the main one.
    pub(super) fn begin_with_main(&mut self) {
        self.begin();
        self.born(Families::MAIN, "");
    }

    fn begin(&mut self) {
        for &number in self.names.here() {
            if let Some(object) = self.objects.get_mut(number as usize) {
                object.clear();
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
        self.halt = None;
        self.was_coarse_at_start = false;
        self.has_skipped_steps = false;
        self.is_watching = false;
        self.has_conditional = false;
        self.panics = 0;
        self.main_has_ended = false;
        self.failures.clear();
        self.reasons.clear();
        self.latches.clear();
        self.work_done.clear();
        self.tasks.clear();
        self.besides.clear();
        self.pools_used = 0;
        self.moment = None;
    }

    /// Lets activities whose step is over call `next`. In a whole process, activities run on other threads, which must
    /// not call it.
    pub(super) fn begin_choosing(&mut self, next: ChooseStep) {
        self.next = (!self.is_process).then_some(next);
        self.chosen = Chosen::NotYet;
    }

    /// Makes this activity the current one, on this stack.
    #[inline]
    pub(super) fn switch_to(&mut self, number: u32, stack: StackHandle) {
        self.current = number;
        self.running = Some(stack);
    }

    /// Returns the current activity and its stack.
    #[inline]
    pub(super) fn running(&self) -> (u32, Option<StackHandle>) {
        (self.current, self.running)
    }

    /// Enables no activity any more.
    #[cold]
    pub(super) fn halt(&mut self, reason: Halt) {
        self.halt = self.halt.max(Some(reason));
    }

    /// Ends the execution before its next step.
    #[cold]
    pub(in crate::explore) fn interrupt(&mut self) {
        self.halt(Halt::Interrupted);
    }

    /// Returns whether the execution cannot be continued.
    #[inline]
    pub(in crate::explore) fn is_interrupted(&self) -> bool {
        self.halt == Some(Halt::Interrupted)
    }

    /// Notes that this activity continues after it has waited. Returns whether it has to unwind.
    #[inline]
    pub(super) fn continues(&mut self, number: u32) -> bool {
        self.current = number;
        self.is_ending
    }

    /// Makes the execution a process of its own, which reports names to the one that explores.
    pub(in crate::explore) fn becomes_process(&mut self) {
        self.is_process = true;
        self.families.keep_log();
        self.names.keep_log();
    }

    /// Notes that the current activity waits to be unparked.
    pub(super) fn parks(&mut self, phase: Phase) {
        let actor = &mut self.actors[self.current as usize];
        actor.phase = phase;
        self.parked += 1;
        if actor.shared > 0 {
            self.waits_while_sharing(self.current);
        }
    }

    /// Makes the operation that `say` fills in the pending one of the current activity. Returns false, and announces
    /// nothing, if the activity was created before the exploration began.
    #[inline(always)]
    pub(super) fn fill_in(&mut self, say: impl FnOnce(&mut Pending)) -> bool {
        let actor = self.actors.get_mut(self.current as usize);
        let Some(actor) = actor else {
            return false;
        };
        actor.phase = Phase::Pending;
        say(&mut actor.pending);
        true
    }

    /// Announces the pending operation of the current activity.
    #[inline]
    pub(super) fn announces(&mut self) -> Announced {
        let number = self.current;
        let actor = &mut self.actors[number as usize];
        if self.wants_labels {
            actor.pending.find_line();
        }
        let waits_while_sharing = actor.shared > 0 && actor.pending.may_wait();
        let is_first = actor.count_first_operation();
        self.is_watching |= actor.repetition.is_suspicious;
        if is_first {
            self.families.meet_foreign(number);
        }
        if waits_while_sharing {
            self.waits_while_sharing(number);
        }
        self.about_to_act.push(Activity(number));
        // All fibers share the thread's panic count, so others would find themselves panicking. Therefore an activity
        // that panics continues as long as it can.
        if std::thread::panicking() && self.is_enabled(number) {
            self.perform(Step::from(Activity(number)));
            let met = self.actors[number as usize].pending.event.touches();
            self.besides.extend(met);
            return Announced::Performed;
        }
        Announced::Waits(self.next.filter(|_| self.is_settled()))
    }

    /// Determines which pending operations are writes and which are reads, after a step.
    #[inline]
    pub(super) fn settle_accesses(&mut self) {
        if self.has_conditional {
            for activity in &self.about_to_act {
                self.actors[activity.0 as usize].pending.settle_access();
            }
        }
    }

    /// Notes that the current activity waits for a condition that nothing notifies it of.
    pub(super) fn blocks(&mut self, phase: Phase) {
        self.actors[self.current as usize].phase = phase;
        self.blocked += 1;
    }

    /// Makes steps at least this fine from now on.
    pub(in crate::explore) fn refine(&mut self, granularity: Granularity) {
        self.granularity = self.granularity.or(granularity);
    }

    pub(super) fn object(&mut self, number: u32) -> &mut ObjectState {
        let index = number as usize;
        if self.objects.len() <= index {
            self.objects.resize_with(index + 1, ObjectState::default);
        }
        &mut self.objects[index]
    }

    pub(super) fn born(&mut self, number: u32, name: &str) {
        let index = number as usize;
        if self.actors.len() <= index {
            self.actors.resize_with(index + 1, Actor::not_started);
        }
        self.born = self.born.max(number + 1);
        self.inherit_now(number);
        let actor = &mut self.actors[index];
        actor.phase = Phase::Runs;
        actor.name.push_str(name);
    }

    /// Returns what the current activity's actions come after now: the current step, and others besides it.
    #[inline]
    pub(super) fn reasons_now(&self) -> impl Iterator<Item = Moment> {
        let besides = besides(self.moment, &self.last, &self.actors, self.current);
        self.moment.into_iter().chain(besides)
    }

    /// Returns the objects, and what the current activity's actions come after besides the current step.
    #[inline]
    pub(super) fn objects_and_reasons(
        &mut self,
    ) -> (&mut [ObjectState], impl Iterator<Item = Moment>) {
        let besides = besides(self.moment, &self.last, &self.actors, self.current);
        (&mut self.objects, besides)
    }

    /// Makes the next step of this activity come after what the current activity does now.
    pub(super) fn inherit_now(&mut self, number: u32) {
        if self.moment.is_some() {
            let mut inherited = std::mem::take(&mut self.actors[number as usize].inherited);
            self.reasons_now().for_each(|at| inherited.push(at));
            self.actors[number as usize].inherited = inherited;
        }
    }

    /// Notes what the setting of a latch comes after, and returns the number of the note. Returns none if the strategy
    /// does not track dependences.
    pub(super) fn latch(&mut self) -> Option<u32> {
        self.moment?;
        let mut all = std::mem::take(&mut self.reasons);
        self.reasons_now().for_each(|at| all.push(at));
        self.latches.push(all.len());
        self.reasons = all;
        Some(self.latches.len() as u32 - 1)
    }

    /// Makes the next step of the current activity come after this latch was set.
    pub(super) fn inherit_latch(&mut self, latch: u32) {
        if let Some(&until) = self.latches.get(latch as usize) {
            let before = latch.checked_sub(1);
            let from = before.map_or(0, |before| self.latches[before as usize]);
            let inherited = &mut self.actors[self.current as usize].inherited;
            inherited.extend_from_slice(&self.reasons[from..until]);
        }
    }

    /// Creates a child of the current activity and returns its number.
    pub(super) fn child(&mut self, name: &str, kind: u32) -> u32 {
        let number = self.next_child(kind);
        self.actors[self.current as usize].children[Families::kind_of(kind)] += 1;
        self.born(number, name);
        number
    }

    /// Creates a light activity, which has no work yet, and returns its number.
    pub(super) fn light_child(&mut self) -> u32 {
        let number = self.child("", Families::LIGHT);
        let actor = &mut self.actors[number as usize];
        actor.phase = Phase::Ended;
        actor.is_light = true;
        number
    }

    /// Returns the number that the next child of the current activity will have.
    pub(super) fn next_child(&mut self, kind: u32) -> u32 {
        let parent = self.current;
        self.families.meet_foreign(parent);
        let children = self.actors[parent as usize].children[Families::kind_of(kind)];
        self.families.child(parent, children | kind)
    }

    /// Returns where the data of this activity's model are kept; none if there is no such activity.
    pub(super) fn kept(&mut self, number: u32) -> Option<&mut Option<Box<dyn Any>>> {
        let actor = self.actors[..self.born as usize].get_mut(number as usize)?;
        Some(&mut actor.kept)
    }

    /// Returns the index of the next pool of this execution, and the pool that had it in an earlier one.
    pub(super) fn next_pool(&mut self) -> (usize, Option<(usize, Pool)>) {
        let index = self.pools_used;
        self.pools_used += 1;
        (index, self.pools.get(index).copied())
    }

    /// Returns the recorded run, if there is one, with the name of the current activity and what it has been given.
    pub(super) fn recorded_of_current(&mut self) -> Option<(Arc<RecordedInput>, String, Given)> {
        let recorded = Arc::clone(self.recorded.as_ref()?);
        let actor = self.actors.get_mut(self.current as usize)?;
        let given = std::mem::take(&mut actor.given);
        Some((recorded, self.families.name(self.current), given))
    }

    /// Puts back what the current activity has been given of the recorded run.
    pub(super) fn keep_given(&mut self, given: Given) {
        if let Some(actor) = self.actors.get_mut(self.current as usize) {
            actor.given = given;
        }
    }

    /// Returns the panics that may be why the program has failed: the last one of the main activity, after the one that
    /// caused it. If there is none, those of the threads that the program created without Reenact: a test binary catches
    /// the panics of its tests on such threads.
    pub(in crate::explore) fn panics_that_end(&self) -> Vec<(u32, Panic)> {
        let has_panicked = |number: u32| self.actors[number as usize].panic.is_some();
        let main = (0..self.born.min(1)).find(|&main| has_panicked(main));
        if let Some(main) = main {
            return self.panics_behind(main);
        }
        let foreign =
            (0..self.born).filter(|&who| self.families.is_foreign(who) && has_panicked(who));
        let mut panics: Vec<_> = foreign.flat_map(|who| self.panics_behind(who)).collect();
        panics.sort_by_key(|(who, _)| self.actors[*who as usize].panicked);
        panics.dedup_by_key(|(who, _)| *who);
        panics
    }

    /// Returns whether no activity runs, or might run, without being chosen.
    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.ready.is_empty() && self.tasks.is_empty() && self.blocked == 0
    }

    /// Returns whether no light activity has work.
    pub(super) fn is_idle(&self) -> bool {
        let mut actors = self.actors[..self.born as usize].iter();
        self.tasks.is_empty()
            && actors.all(|actor| {
                !actor.is_light || matches!(actor.phase, Phase::Ended | Phase::NotStarted)
            })
    }

    /// Returns the current activity.
    pub(crate) fn current(&self) -> u32 {
        self.current
    }

    /// Returns the number of activities that have a stack.
    pub(super) fn stacks(&self) -> usize {
        let actors = &self.actors[..self.born as usize];
        actors.iter().filter(|actor| actor.stack.is_some()).count()
    }

    pub(in crate::explore) fn activities(&self) -> u32 {
        self.born
    }

    pub(in crate::explore) fn pending(&self, number: u32) -> Option<&Event> {
        let pending = self.actors.get(number as usize)?.pending()?;
        Some(&pending.event)
    }

    /// Returns the number of an object that the current activity accesses.
    #[inline]
    pub(super) fn number(
        &mut self,
        cell: &AtomicU64,
        made_at: &'static Location<'static>,
        site: &'static Location<'static>,
        index: usize,
    ) -> u32 {
        // Other ways to identify the object are needed only to compare executions; before the first step, all
        // executions are the same.
        let is_learned = self.is_process || self.moment.is_some();
        match self.names.known(cell) {
            Some(number) if !is_learned => number,
            known => self.learned_number(cell, known, site, ObjectSite::new(site, index, made_at)),
        }
    }

    /// Returns the numbers of several objects together with how they are accessed. `first` is the index of the first.
    pub(super) fn touched_all(
        &mut self,
        touches: &[Touch<'_>],
        site: &'static Location<'static>,
        first: usize,
    ) -> Vec<Touched> {
        let touches = touches.iter().zip(first..);
        touches
            .map(|(touch, index)| self.touched(touch, site, index))
            .collect()
    }

    /// Returns the number of the object together with how it is accessed.
    #[inline]
    pub(super) fn touched(
        &mut self,
        touch: &Touch<'_>,
        site: &'static Location<'static>,
        index: usize,
    ) -> Touched {
        Touched {
            access: touch.access,
            object: self.number(touch.cell, touch.made_at, site, index),
        }
    }

    /// Returns the number of an object that the current activity is about to release, and whether that is a step. An
    /// activity that begins to wait on a condition releases the lock in the same step.
    #[inline]
    pub(super) fn prepare_release(&self, object: &Object, access: Access) -> (Option<u32>, bool) {
        let is_step = self.granularity.releases && !self.is_ending && access != Access::Wait;
        (self.names.known(&object.wanted), is_step)
    }

    /// Returns a list of only this access, reusing the last one if it is equal, as it often is.
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
        place: ObjectSite,
    ) -> u32 {
        let met = Met {
            activity: self.current,
            operation: self.actors[self.current as usize].operations_at(site),
            place,
            known,
        };
        let object = self.names.number(cell, met);
        self.object(object);
        object
    }
}

/// Returns what an activity's actions come after besides the current step: its own last step, if it runs within the
/// step of another activity, and what it has waited for since. Returns nothing if the strategy does not track
/// dependences.
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
