//! How an execution has ended.

use reenact_multiverse::explore::Verdict;

use super::{
    actor::{Awaited, Phase},
    state::State,
};
use crate::{
    Access,
    explore::{
        failure::{Failure, Waiting},
        names::Families,
    },
    site::Site,
};

impl Families {
    /// What somebody waits for who waits.
    pub(super) fn told(&self, awaited: &Awaited) -> String {
        match awaited {
            Awaited::EndOf(number) => format!("the end of {}", self.name(*number)),
            Awaited::Operation => "somebody to let it go on".to_owned(),
            // SAFETY: The activity waits with it on its stack.
            Awaited::Described(what) => unsafe { (**what)() },
        }
    }
}

impl State {
    /// How it has ended.
    pub(in crate::explore) fn verdict(&self) -> Verdict {
        let actors = &self.actors[..self.born as usize];
        let is_missed = actors.iter().any(|actor| actor.is_missed);
        match () {
            () if is_missed || !self.failures.is_empty() => Verdict::Failed,
            () if self.is_deadlock() => Verdict::Deadlock,
            () => Verdict::Finished,
        }
    }

    /// Who waits in vain: anybody, as long as the first activity does; after that, those who wait for what others have. Whoever
    /// waits for messages may be there to wait for as long as the program runs.
    pub(in crate::explore) fn is_deadlock(&self) -> bool {
        let mut pending = self.about_to_act.iter();
        if pending.any(|activity| self.is_enabled(activity.0)) {
            return false;
        }
        let mut actors = self.actors[..self.born as usize].iter();
        actors.any(|actor| match &actor.phase {
            Phase::Pending => {
                let access = actor.pending.event.touch.access;
                !self.main_has_ended || matches!(access, Access::Take | Access::Look)
            }
            Phase::Parked(..) | Phase::Blocked(_) => !self.main_has_ended,
            _ => false,
        })
    }

    /// What went wrong.
    pub(in crate::explore) fn failures(&self) -> Vec<Failure> {
        let mut failures = self.failures.clone();
        for number in 0..self.born {
            let actor = &self.actors[number as usize];
            if actor.is_missed
                && let Some(panic) = &actor.panic
            {
                let who = self.families.name(number);
                failures.push(Failure::Panic(who, panic.clone()));
            }
        }
        if self.is_deadlock() {
            failures.push(Failure::Deadlock(self.waiting()));
        }
        failures
    }

    /// Who waits for what.
    fn waiting(&self) -> Vec<Waiting> {
        let mut waiting = Vec::new();
        for number in 0..self.born {
            let actor = &self.actors[number as usize];
            let who = self.families.name(number);
            let (what, site, holder) = match &actor.phase {
                Phase::Pending => {
                    let event = &actor.pending.event;
                    let touch = event.touch;
                    let thing = self.things.get(touch.thing as usize);
                    let holder = match touch.access {
                        Access::Take | Access::Look => thing.and_then(|thing| thing.holder),
                        _ => None,
                    };
                    let holder = holder.map(|(who, at)| {
                        (self.families.name(who), Site::text(Site::announced(at)))
                    });
                    let what = event.op.name().to_owned();
                    (what, event.line().map(|site| site.to_string()), holder)
                }
                // It waits within what it was about to do last.
                Phase::Parked(_, Awaited::Operation) => {
                    let event = &actor.pending.event;
                    (
                        event.op.name().to_owned(),
                        event.line().map(|site| site.to_string()),
                        None,
                    )
                }
                Phase::Parked(_, awaited) => (self.families.told(awaited), None, None),
                Phase::Blocked(_) => ("something that is no operation".to_owned(), None, None),
                _ => continue,
            };
            waiting.push(Waiting {
                who,
                what,
                site,
                holder,
            });
        }
        waiting
    }
}
