//! An execution, as the activities that run know it.

use std::{panic::resume_unwind, sync::atomic::Ordering::Relaxed};

use reenact_trace::Origin;

use super::{
    Leave, World,
    actor::{Pending, Phase},
};
use crate::{
    Access, Activity, Asked, Captured, Conductor, Decision, Fact, Operation, Recollection, Reply,
    clock::is_clock,
    explore::{
        event::{Event, How, NOTHING, Touch},
        names::Families,
        whole,
    },
};

impl Conductor for World {
    fn born(&self, origin: Origin, _index: u64, name: &str) -> u32 {
        match origin {
            Origin::Child(_) => {
                let state = self.state();
                let number = state.child(name, false);
                if state.is_whole {
                    state.actors[number as usize].strand = Some(whole::strand_of(number));
                    state.ready.push_back(number);
                }
                number
            }
            _ => Families::MAIN,
        }
    }

    fn stillborn(&self, activity: &Activity) {
        whole::end_unborn(activity.number);
    }

    fn arrive(&self, operation: &Operation<'_>) -> Decision {
        let state = self.state();
        let how = match operation.access {
            Access::Take => How::Take,
            Access::TryTake => How::TryTake,
            Access::Look => How::Look,
            Access::TryLook => How::TryLook,
            Access::Transact => How::Transact,
            Access::Observe => How::Read,
            Access::Update => How::Write,
            Access::Choose => How::Ask,
            // Without others, nothing waits for a signal here; and what is outside is asked.
            Access::Announce | Access::Outside | Access::Wait { .. } => return Decision::Go,
        };
        if matches!(how, How::TryTake | How::TryLook) && !state.releases_are_steps {
            state.releases_are_steps = true;
            state.is_too_coarse = state.moment.is_some();
            state.was_too_coarse |= state.moment.is_some();
        }
        let thing = match operation.entity {
            // Of all transactions there is one order, whoever else explores in this process.
            Some(_) if how == How::Transact => NOTHING,
            Some(entity) => state.number(&entity.wanted, operation.site, 0),
            None => NOTHING,
        };
        self.announce(Pending::of(Event {
            op: operation.op,
            site: operation.site,
            touch: Touch { how, thing },
            more: None,
        }));
        self.state().decision
    }

    fn leave(&self, operation: &Operation<'_>, _value: Option<u64>) {
        let (Some(entity), Access::Take | Access::TryTake | Access::Look | Access::TryLook) =
            (operation.entity, operation.access)
        else {
            return;
        };
        let state = self.state();
        let Some(thing) = state.names.known(&entity.wanted) else {
            return;
        };
        if is_clock(entity.key.load(Relaxed)) {
            // What transactions did is known by what they met.
            return;
        }
        if state.releases_are_steps && !state.is_ending {
            self.announce(Pending::of(Event {
                op: operation.op,
                site: operation.site,
                touch: Touch {
                    how: How::Release,
                    thing,
                },
                more: None,
            }));
        }
        self.state().release(thing, operation.access);
    }

    fn wait_for_fact(&self, _activity: &Activity, fact: &Fact, what: &dyn Fn() -> String) {
        let state = self.state();
        if !fact.is_established() {
            if state.is_ending {
                if std::thread::panicking() {
                    return self.block(&|| fact.is_established());
                }
                resume_unwind(Box::new(Leave));
            }
            let number = state.current;
            // SAFETY: Only the lifetime changes, and it is not looked at after this returns.
            let what = unsafe {
                std::mem::transmute::<
                    *const dyn Fn() -> String,
                    *const (dyn Fn() -> String + 'static),
                >(what)
            };
            state.actors[number as usize].phase = Phase::Waits { fact, what };
            self.wait();
        }
        let state = self.state();
        if state.moment.is_some()
            && let Some(moment) = fact.moment()
        {
            let number = state.current;
            let reasons = state.reasons.get(moment as usize);
            let reasons = reasons.cloned().unwrap_or_default();
            state.actors[number as usize].inherited.extend(reasons);
        }
    }

    fn established(&self, fact: &Fact) {
        let state = self.state();
        if state.moment.is_some() {
            let reasons = state.reasons_now();
            fact.note_moment(state.reasons.len() as u32);
            state.reasons.push(reasons);
        }
        for number in 0..state.born {
            let phase = &mut state.actors[number as usize].phase;
            if let Phase::Waits { fact: awaited, .. } = *phase
                && std::ptr::eq(awaited, fact)
            {
                *phase = Phase::Runs;
                state.ready.push_back(number);
            }
        }
    }

    fn ended(&self, _activity: &Activity) {}

    fn light_born(&self, _parent: &Activity) -> u32 {
        let state = self.state();
        let number = state.child("", true);
        let actor = &mut state.actors[number as usize];
        actor.phase = Phase::Ended;
        actor.is_light = true;
        number
    }

    fn recall(&self, _activity: &Activity, what: Captured) -> Option<Recollection> {
        let state = self.state();
        let number = state.current;
        let actor = &mut state.actors[number as usize];
        let recorded = state.recorded.as_ref().and_then(|recorded| {
            let family = state.families.name(number);
            recorded.recall(&family, &mut actor.heard, what)
        });
        Some(recorded.unwrap_or_else(|| actor.outside.recall(number, what)))
    }

    fn external(
        &self,
        _operation: &Operation<'_>,
        _what: &str,
        asked: Asked,
        hear: &mut dyn FnMut(Reply<'_>) -> bool,
    ) {
        let state = self.state();
        let number = state.current;
        if let Some(recorded) = &state.recorded {
            let family = state.families.name(number);
            let heard = &mut state.actors[number as usize].heard;
            recorded.play(&family, heard, asked, hear);
        }
    }
}
