//! Driving an execution, step by step.

use reenact_explore::{Divergence, Links, Moment, Run, Step, can_be_taken};

use super::{Execution, state::Chosen};
use crate::{Access, explore::event::Event};

impl Execution {
    /// Takes the steps that `next` returns, until it returns none.
    ///
    /// An activity whose step is over calls `next` itself: if it has the next turn again, it continues without a
    /// switch.
    pub(in crate::explore) fn go_on(&self, next: &mut dyn FnMut() -> Option<Step>) {
        // SAFETY: Only the lifetime changes, and the pointer is not used after this function returns.
        let next = unsafe {
            std::mem::transmute::<
                *mut dyn FnMut() -> Option<Step>,
                *mut (dyn FnMut() -> Option<Step> + 'static),
            >(next)
        };
        // In a whole process, activities run on other threads, which must not call `next`.
        self.state().next = (!self.state().is_whole).then_some(next);
        self.state().chosen = Chosen::NotYet;
        loop {
            if self.state().chosen == Chosen::NotYet {
                self.choose(next);
            }
            let chosen = std::mem::replace(&mut self.state().chosen, Chosen::NotYet);
            let Chosen::This(number) = chosen else {
                break;
            };
            self.resume(number);
            if !self.state().is_settled() {
                self.settle();
            }
        }
        self.state().next = None;
    }

    /// Repeats steps of an earlier execution from the start. `run` is this execution.
    pub(in crate::explore) fn repeat(
        &self,
        run: &impl Run<Event = Event>,
        steps: &mut dyn Iterator<Item = (Step, &Event)>,
    ) -> Result<(), Divergence> {
        let (mut index, mut result) = (0, Ok(()));
        let mut aside = None;
        loop {
            self.go_on(&mut || {
                let (step, event) = steps.next()?;
                let state = self.state();
                let pending = state.pending(step.activity.0);
                let found = match (can_be_taken(run, step), pending) {
                    (Ok(()), Some(pending)) if event.touch.access == Access::Transact => {
                        // The event of a transaction is known only after it has run.
                        aside = (pending.touch == event.touch).then_some((step, event));
                        aside.is_none().then(|| format!("{pending:?}"))
                    }
                    (Ok(()), Some(pending)) if pending.may_become(event) => {
                        state.is_at(Moment(index));
                        index += 1;
                        return Some(step);
                    }
                    (Ok(()), pending) => Some(format!("{pending:?}")),
                    (Err(found), _) => Some(found),
                };
                if let Some(found) = found {
                    result = Err(Divergence::at_event(index as usize, step, event, found));
                }
                None
            });
            let Some((step, event)) = aside.take() else {
                return result;
            };
            let performed = self.step_at(step, Moment(index), &mut Links::default());
            if performed != *event {
                let found = format!("{performed:?}");
                return Err(Divergence::at_event(index as usize, step, event, found));
            }
            index += 1;
        }
    }

    /// Asks `next` for the next step, while all activities wait, and performs it if there is one.
    #[inline]
    pub(super) fn choose(&self, next: *mut dyn FnMut() -> Option<Step>) {
        // SAFETY: `go_on`, which set the pointer, does not return before its last use.
        let step = unsafe { (*next)() };
        let state = self.state();
        state.chosen = match step {
            Some(step) => {
                debug_assert!(state.is_enabled(step.activity.0), "it can be taken");
                state.perform(step);
                Chosen::This(step.activity.0)
            }
            None => Chosen::Nobody,
        };
    }

    /// Takes a step. Does nothing if the activity is not enabled: it would block the thread that all activities share.
    pub(in crate::explore) fn step(&self, step: Step) {
        let state = self.state();
        if !state.is_enabled(step.activity.0) {
            return;
        }
        state.perform(step);
        self.resume(step.activity.0);
        self.settle();
    }

    /// Takes a step. Returns its event and adds what it comes after to `links`.
    pub(in crate::explore) fn step_at(
        &self,
        step: Step,
        moment: Moment,
        links: &mut Links,
    ) -> Event {
        let state = self.state();
        state.is_at(moment);
        let number = step.activity.0;
        if !state.is_enabled(number) {
            let pending = state.pending(number).cloned();
            return pending.unwrap_or_else(Event::nothing);
        }
        state.links(number, links);
        let mut event = state.actors[number as usize].pending.event.clone();
        state.unwinding.clear();
        state.perform(step);
        self.resume(number);
        let state = self.state();
        if event.touch.access == Access::Transact {
            event.more = state.met(number, links);
        }
        if !state.unwinding.is_empty() {
            let more = event.touches().skip(1);
            event.more = Some(more.chain(state.unwinding.drain(..)).collect());
        }
        self.settle();
        event
    }
}
