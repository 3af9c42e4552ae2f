//! An execution, as whoever drives it knows it: step by step.

use reenact_multiverse::explore::{Changed, Links, Moment, Run, Step, can_be_taken};

use super::{World, state::Chosen};
use crate::{Access, explore::event::Event};

impl World {
    /// Takes the steps that `next` names, until it names none.
    ///
    /// Whose step is over asks itself who is next: if it is its own turn again, it just goes on.
    pub(in crate::explore) fn go_on(&self, next: &mut dyn FnMut() -> Option<Step>) {
        // SAFETY: Only the lifetime changes, and it is not used after this returns.
        let next = unsafe {
            std::mem::transmute::<
                *mut dyn FnMut() -> Option<Step>,
                *mut (dyn FnMut() -> Option<Step> + 'static),
            >(next)
        };
        // Whose step is over on a thread of its own is not who was asked.
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

    /// Takes steps that were taken before, from the start; `run` is this execution.
    pub(in crate::explore) fn repeat(
        &self,
        run: &impl Run<Event = Event>,
        steps: &mut dyn Iterator<Item = (Step, &Event)>,
    ) -> Result<(), Changed> {
        let (mut index, mut result) = (0, Ok(()));
        let mut aside = None;
        loop {
            self.go_on(&mut || {
                let (step, event) = steps.next()?;
                let state = self.state();
                let pending = state.pending(step.activity.0);
                let found = match (can_be_taken(run, step), pending) {
                    (Ok(()), Some(pending)) if event.touch.access == Access::Transact => {
                        // What it is shows when it has run.
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
                    let index = index as usize;
                    result = Err(Changed { index, found });
                }
                None
            });
            let Some((step, event)) = aside.take() else {
                return result;
            };
            let performed = self.step_at(step, Moment(index), &mut Links::default());
            if performed != *event {
                return Err(Changed {
                    index: index as usize,
                    found: format!("{performed:?}"),
                });
            }
            index += 1;
        }
    }

    /// Everybody waits: somebody takes the next step, which is performed, or nobody.
    #[inline]
    pub(super) fn choose(&self, next: *mut dyn FnMut() -> Option<Step>) {
        // SAFETY: Who set it waits for the end of what it says.
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

    /// Takes a step. Of one who cannot go on, nothing happens: it would wait for others on the thread of all.
    pub(in crate::explore) fn step(&self, step: Step) {
        let state = self.state();
        if !state.is_enabled(step.activity.0) {
            return;
        }
        state.perform(step);
        self.resume(step.activity.0);
        self.settle();
    }

    /// Takes a step, and says what it was and what it comes after.
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
