//! How an execution has ended.

use reenact_explore::Verdict;

use super::{
    actor::{Awaited, Phase},
    state::State,
};
use crate::{
    Access,
    explore::{
        failure::{BlockedActivity, Failure},
        names::Families,
    },
    site::Site,
};

impl Families {
    /// Describes what a parked activity waits for.
    pub(super) fn describe(&self, awaited: &Awaited) -> String {
        match awaited {
            Awaited::EndOf(number) => format!("the end of {}", self.name(*number)),
            Awaited::Operation => "a notification".to_owned(),
            // SAFETY: The parked activity has the closure on its stack.
            Awaited::Described(what) => unsafe { (**what)() },
        }
    }
}

impl State {
    /// Returns how the execution has ended.
    pub(in crate::explore) fn verdict(&self) -> Verdict {
        let actors = &self.actors[..self.born as usize];
        let is_missed = actors.iter().any(|actor| actor.is_missed);
        match () {
            () if is_missed || !self.failures.is_empty() => Verdict::Failed,
            () if self.is_deadlock() => Verdict::Deadlock,
            () => Verdict::Finished,
        }
    }

    /// Returns whether there is a deadlock: no activity is enabled and some activity waits in vain. Until the main
    /// activity has ended, that is any activity that waits; after that, only those that wait for a lock. An activity
    /// that waits for messages may be meant to wait as long as the program runs.
    pub(in crate::explore) fn is_deadlock(&self) -> bool {
        if self.is_livelocked {
            return false;
        }
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

    /// Returns what went wrong.
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

    /// Returns the activities that wait, and for what.
    fn waiting(&self) -> Vec<BlockedActivity> {
        let mut waiting = Vec::new();
        for number in 0..self.born {
            let actor = &self.actors[number as usize];
            let who = self.families.name(number);
            let (what, site, holder) = match &actor.phase {
                Phase::Pending => {
                    let event = &actor.pending.event;
                    let touch = event.touch;
                    let object = self.objects.get(touch.object as usize);
                    let holder = match touch.access {
                        Access::Take | Access::Look => object.and_then(|object| object.holder),
                        _ => None,
                    };
                    let holder = holder.map(|(who, at)| {
                        (self.families.name(who), Site::text(Site::announced(at)))
                    });
                    let what = event.op.name().to_owned();
                    (what, event.line().map(|site| site.to_string()), holder)
                }
                // It waits within its last operation.
                Phase::Parked(_, Awaited::Operation) => {
                    let event = &actor.pending.event;
                    (
                        event.op.name().to_owned(),
                        event.line().map(|site| site.to_string()),
                        None,
                    )
                }
                Phase::Parked(_, awaited) => (self.families.describe(awaited), None, None),
                Phase::Blocked(_) => ("something other than an operation".to_owned(), None, None),
                _ => continue,
            };
            waiting.push(BlockedActivity {
                who,
                what,
                site,
                holder,
            });
        }
        waiting
    }
}
