//! Driving an execution, step by step.

use reenact_explore::{Divergence, Links, Moment, Run, Step, can_be_taken};

use super::{
    Execution,
    state::{ChooseStep, Chosen},
};
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
        self.state().begin_choosing(next);
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
                self.state().note_met_selections();
                let (step, event) = steps.next()?;
                let is_possible = can_be_taken(run, step);
                let state = &mut *self.state();
                let pending = state.pending(step.activity.0);
                let found = match (is_possible, pending) {
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
    pub(super) fn choose(&self, next: ChooseStep) {
        self.state().settle_accesses();
        // SAFETY: `go_on`, which set the pointer, does not return before its last use.
        let step = unsafe { (*next)() };
        let state = &mut *self.state();
        state.chosen = match step {
            Some(step) => {
                debug_assert!(state.is_enabled(step.activity.0), "it can be taken");
                state.perform(step);
                Chosen::This(step.activity.0)
            }
            None => Chosen::Nobody,
        };
    }

    /// Asks `next` for the next step, like [`choose`](Execution::choose). Returns whether it is the current activity's,
    /// which then continues.
    #[inline]
    pub(super) fn choose_own(&self, next: ChooseStep) -> bool {
        let number = self.state().current;
        self.choose(next);
        let chosen = &mut self.state().chosen;
        let is_own = *chosen == Chosen::This(number);
        if is_own {
            *chosen = Chosen::NotYet;
        }
        is_own
    }

    /// Takes a step. Does nothing if the activity is not enabled: it would block the thread that all activities share.
    pub(in crate::explore) fn step(&self, step: Step) {
        if !self.state().is_enabled(step.activity.0) {
            return;
        }
        self.state().perform(step);
        self.resume(step.activity.0);
        self.settle();
        self.state().settle_accesses();
    }

    /// Takes a step. Returns its event and adds what it comes after to `links`.
    pub(in crate::explore) fn step_at(
        &self,
        step: Step,
        moment: Moment,
        links: &mut Links,
    ) -> Event {
        let number = step.activity.0;
        let mut event = match self.state().perform_at(step, moment, links) {
            Ok(event) => event,
            Err(pending) => return pending,
        };
        self.resume(number);
        self.state().complete(number, &mut event, links);
        self.settle();
        self.state().complete_besides(&mut event);
        self.state().settle_accesses();
        event
    }
}
