//! The activities of an execution: their numbers and data, their pools, and how they begin, wait for each other and end.

use std::{fmt::Write, sync::Arc};

use super::{
    Execution,
    actor::{Awaited, Phase},
};
use crate::{
    ControlledActivity, Controller, Op, Spot,
    activity::Controlled,
    explore::{any_of, failure::Panic, names::Families, process, task_stack::StackHandle},
    pool::Pool,
    site::{self, Site},
};

impl Execution {
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

    /// Returns the place of the current activity in the family tree.
    pub(in crate::explore) fn current_name(&self) -> String {
        let state = &*self.state();
        state.families.name(state.current)
    }

    /// Returns the place of the current activity in the family tree, and its last operation. Called in a copy of the
    /// process that an activity has been interrupted in, perhaps in the middle of something.
    pub(in crate::explore) fn describe_stuck(&self) -> (String, String) {
        // SAFETY: The copy has no other thread, and what has been interrupted does not continue.
        let state = unsafe { self.state.peek() };
        let who = state.families.name(state.current);
        let Some(actor) = state.actors.get(state.current as usize) else {
            return (who, String::new());
        };
        let mut after = String::new();
        if !actor.operations.is_empty() {
            let event = &actor.pending.event;
            after = event.op.name().to_owned();
            if let Some(line) = Site::announced(event.site) {
                site::learn_file(line.file);
                let _ = write!(after, " at {line}");
            }
        }
        (who, after)
    }

    /// Creates a child of the current activity and returns its number.
    pub(crate) fn child(&self, name: &str) -> u32 {
        let number = self.child_on_fiber(name);
        let is_process = self.state().is_process;
        if is_process {
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
    pub(crate) fn activity(&self, number: u32) -> Option<Arc<ControlledActivity>> {
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
    pub(crate) fn waits_for_end(&self, of: &ControlledActivity) {
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
        let inherited = &mut state.actors[state.current as usize].inherited;
        inherited.extend(last);
        inherited.extend_from_slice(&state.work_done);
    }

    /// Notes that work that light activities expected has been done, by the current activity.
    pub(crate) fn expected_work_is_done(&self) {
        let state = &mut *self.state();
        let mut work_done = std::mem::take(&mut state.work_done);
        state.reasons_now().for_each(|at| work_done.push(at));
        state.work_done = work_done;
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

    /// Returns whether the current activity's next wait may end without a reason, which is a choice of the exploration.
    #[track_caller]
    pub(in crate::explore) fn wakes_spuriously(&self, op: Op) -> bool {
        let number = {
            let state = &*self.state();
            let most = state.spurious_wakeups;
            let number = state.current as usize;
            let actor = state.actors.get(number);
            if state.is_ending || actor.is_none_or(|actor| actor.spurious_wakeups >= most) {
                return false;
            }
            number
        };
        let does = any_of(op, 2) == Some(1);
        let state = &mut *self.state();
        let actor = &mut state.actors[number];
        actor.wakes_spuriously = does;
        actor.spurious_wakeups += u32::from(does);
        if state.wants_labels {
            state.step_result = Some(if does { "yes" } else { "no" }.to_owned());
        }
        does
    }

    /// Notes that the current activity's last panic has been observed.
    pub(crate) fn forget_panic(&self) {
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
            state.panics += 1;
            actor.panicked = state.panics;
            actor.panic = Some(panic);
        }
    }

    /// Sets whether this activity has ended by a panic that has not been observed.
    pub(crate) fn is_missed(&self, number: u32, is_missed: bool) {
        let state = &mut *self.state();
        if !state.is_ending {
            let observer = (!is_missed).then_some(state.current);
            let actor = &mut state.actors[number as usize];
            actor.is_missed = is_missed;
            actor.observed_by = observer;
        }
    }
}
