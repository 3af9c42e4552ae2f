//! How an execution has ended.

use reenact_explore::Verdict;

use super::{
    actor::{Awaited, Phase},
    state::{Halt, State},
};
use crate::{
    Access,
    explore::{
        failure::{BlockedActivity, Failure, Panic},
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
            () if self.is_interrupted() => Verdict::Interrupted,
            () if is_missed || !self.failures.is_empty() => Verdict::Failed,
            () if self.is_deadlock() => Verdict::Deadlock,
            () => Verdict::Finished,
        }
    }

    /// Returns whether there is a deadlock: no activity is enabled and some activity waits in vain. An activity that
    /// waits for messages may be meant to wait as long as the program runs; if the search allows that, only those that
    /// wait for a lock count once the main activity has ended.
    pub(in crate::explore) fn is_deadlock(&self) -> bool {
        let mut pending = self.about_to_act.iter();
        if self.halt >= Some(Halt::Livelock) || pending.any(|activity| self.is_enabled(activity.0))
        {
            return false;
        }
        let is_allowed = self.main_has_ended && self.allows_blocked;
        let mut actors = self.actors[..self.born as usize].iter();
        actors.any(|actor| match &actor.phase {
            Phase::Pending => {
                let access = actor.pending.event.touch.access;
                !is_allowed || matches!(access, Access::Take | Access::Look)
            }
            Phase::Parked(..) | Phase::Blocked(_) => !is_allowed,
            _ => false,
        })
    }

    /// Returns what went wrong.
    pub(in crate::explore) fn failures(&self) -> Vec<Failure> {
        let mut failures = self.failures.clone();
        let mut missed: Vec<_> = (0..self.born)
            .filter(|&number| self.actors[number as usize].is_missed)
            .flat_map(|number| self.panics_behind(number))
            .collect();
        // In the order in which they happened; one may be behind several.
        missed.sort_by_key(|(number, _)| self.actors[*number as usize].panicked);
        missed.dedup_by_key(|(number, _)| *number);
        let panics = missed.into_iter();
        failures.extend(
            panics.map(|(number, panic)| Failure::Panic(self.families.name(number), panic)),
        );
        if self.is_deadlock() {
            failures.push(match self.main_has_ended {
                true => Failure::BlockedAtEnd(self.waiting()),
                false => Failure::Deadlock(self.waiting()),
            });
        }
        failures
    }

    /// Returns the panic of an activity, after those that caused it, if the activity has panicked because of another
    /// one's panic.
    pub(super) fn panics_behind(&self, number: u32) -> Vec<(u32, Panic)> {
        let actor = &self.actors[number as usize];
        let mut panics = match actor.panic.as_ref().is_none_or(Panic::is_passed_on) {
            true => self
                .panic_before(number)
                .map_or_else(Vec::new, |cause| self.panics_behind(cause)),
            false => Vec::new(),
        };
        panics.extend(actor.panic.iter().map(|own| (number, own.clone())));
        panics
    }

    /// Returns the activity whose panic came before that of this one: preferably one whose panic it has observed.
    fn panic_before(&self, number: u32) -> Option<u32> {
        let last = match self.actors[number as usize].panicked {
            0 => u32::MAX,
            own => own,
        };
        let others = (0..self.born).filter(|&other| {
            let panicked = self.actors[other as usize].panicked;
            other != number && (1..last).contains(&panicked)
        });
        others.max_by_key(|&other| {
            let other = &self.actors[other as usize];
            (other.observed_by == Some(number), other.panicked)
        })
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
