//! An execution, as the activities that run know it.

use std::{panic::Location, sync::atomic::Ordering::Relaxed};

use reenact_trace::Origin;

use super::{
    World,
    actor::{Awaited, Phase},
};
use crate::{
    Access, Activity, Asked, Captured, Conductor, Decision, Entity, Fact, Op, Operation,
    Recollection, Reply,
    clock::is_clock,
    explore::{
        event::{How, NOTHING},
        names::Families,
    },
};

impl Conductor for World {
    /// Children are born by [`World::child`].
    fn born(&self, _origin: Origin, _index: u64, _name: &str) -> u32 {
        Families::MAIN
    }

    fn arrive(&self, operation: &Operation<'_>) -> Decision {
        let Operation {
            op,
            access,
            entity,
            site,
            ..
        } = *operation;
        self.arrives(op, access, entity, site)
    }

    fn leave(&self, operation: &Operation<'_>, _value: Option<u64>) {
        if let Some(entity) = operation.entity {
            self.leaves(operation.op, operation.access, entity, operation.site);
        }
    }

    fn wait_for_fact(&self, _activity: &Activity, fact: &Fact, what: &dyn Fn() -> String) {
        // SAFETY: Only the lifetime changes, and it is not looked at after this returns.
        let what = unsafe {
            std::mem::transmute::<*const dyn Fn() -> String, *const (dyn Fn() -> String + 'static)>(
                what,
            )
        };
        self.wait_for(fact, Awaited::Told(what));
    }

    fn established(&self, fact: &Fact) {
        self.establishes(fact);
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

impl World {
    /// The activity that runs is about to do this, and does what is answered when it is.
    #[inline]
    pub(crate) fn arrives(
        &self,
        op: Op,
        access: Access,
        entity: Option<&Entity>,
        site: &'static Location<'static>,
    ) -> Decision {
        let state = self.state();
        let how = match access {
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
            state.becomes_finer();
        }
        let thing = match entity {
            // Of all transactions there is one order, whoever else explores in this process.
            Some(_) if how == How::Transact => NOTHING,
            Some(entity) => state.number(&entity.wanted, site, 0),
            None => NOTHING,
        };
        self.announce(|pending| pending.be(op, site, how, thing));
        self.state().decision
    }

    /// The activity that runs gives this back.
    #[inline]
    pub(crate) fn leaves(
        &self,
        op: Op,
        access: Access,
        entity: &Entity,
        site: &'static Location<'static>,
    ) {
        if !matches!(
            access,
            Access::Take | Access::TryTake | Access::Look | Access::TryLook
        ) {
            return;
        }
        let state = self.state();
        let Some(thing) = state.names.known(&entity.wanted) else {
            return;
        };
        if is_clock(entity.key.load(Relaxed)) {
            // What transactions did is known by what they met.
            return;
        }
        if state.releases_are_steps && !state.is_ending {
            self.announce(|pending| pending.be(op, site, How::Release, thing));
        }
        self.state().release(thing, access);
    }

    /// This is true now.
    pub(crate) fn establishes(&self, fact: &Fact) {
        let state = self.state();
        if state.moment.is_some() {
            let reasons = state.reasons_now();
            fact.note_moment(state.reasons.len() as u32);
            state.reasons.push(reasons);
        }
        for number in 0..state.born {
            let phase = &mut state.actors[number as usize].phase;
            if let Phase::Waits(awaited, _) = *phase
                && std::ptr::eq(awaited, fact)
            {
                *phase = Phase::Runs;
                state.ready.push_back(number);
            }
        }
    }
}
