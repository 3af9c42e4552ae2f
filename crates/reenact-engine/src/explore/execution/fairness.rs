//! Fairness: who repeats something without any effect lets the others go first.
//!
//! A loop that waits for something (`while !ready.load() { yield_now() }`) can be repeated any number of times before
//! another activity changes what it looks at. A scheduler of a real system does not let that happen forever; here, the
//! activity is held back after a few repetitions, until something has changed that it has accessed, or until all who
//! could continue are held back. Then they take turns, and time passes for them. If that does not help for long, it is
//! a livelock.
//!
//! Only activities under suspicion are watched: those that yield or sleep, fail to get something without waiting for
//! it, or have performed an operation at the same line many times.

use reenact_explore::Links;

use super::{
    Execution,
    state::{Halt, State},
};
use crate::{
    Access,
    explore::{failure::Failure, gap::Gap},
};

/// How often an activity may repeat operations without effect before it is held back.
const REPETITIONS: u32 = 3;
/// How many operations at the same line make an activity suspicious.
pub(super) const SUSPICIOUS: u32 = 8;
/// How often an activity that is held back repeats an operation when nobody else can continue, before that is a
/// livelock.
const TURNS: u32 = 500;
/// Maximum number of objects that are remembered of an activity.
const OBJECTS: usize = 16;

/// What an activity has accessed, and whether that has changed since.
#[derive(Default)]
pub(super) struct Repetition {
    pub(super) is_suspicious: bool,
    /// The objects that it has accessed, and their versions then.
    seen: Vec<(u32, u32)>,
    /// Whether it has found or done something new since it last yielded.
    is_new: bool,
    /// Number of operations without effect since something changed.
    fruitless: u32,
    is_held_back: bool,
    /// Number of steps that it has taken although it is held back.
    turns: u32,
}

impl Repetition {
    #[inline]
    pub(super) fn clear(&mut self) {
        if self.is_suspicious {
            self.forget();
            self.is_suspicious = false;
        }
    }

    /// Returns the version that this object had when the activity last accessed it.
    fn version_of(&self, object: u32) -> Option<u32> {
        let mut seen = self.seen.iter();
        let seen = seen.find(|&&(known, _)| known == object);
        seen.map(|&(_, version)| version)
    }

    fn remember(&mut self, object: u32, version: u32) {
        if let Some(known) = self.seen.iter_mut().find(|(known, _)| *known == object) {
            known.1 = version;
            return;
        }
        if self.seen.len() == OBJECTS {
            self.seen.remove(0);
        }
        self.seen.push((object, version));
    }

    #[cold]
    fn forget(&mut self) {
        self.seen.clear();
        self.is_new = false;
        self.fruitless = 0;
        self.is_held_back = false;
        self.turns = 0;
    }
}

impl Execution {
    /// Notes that the current activity yields.
    pub(crate) fn yields(&self) {
        self.state().yields();
    }

    /// Notes whether longer repetitions than those of this execution would have been possible.
    pub(in crate::explore) fn note_repetitions(&self) {
        if std::mem::take(&mut self.state().has_cut_repetitions) {
            self.supervisor.note(Gap::Repetition);
        }
    }
}

impl State {
    /// Returns whether the activity is held back, although it could continue, because others can.
    #[cold]
    pub(super) fn lets_others_go_first(&self, number: u32) -> bool {
        if !self.watches(number) || !self.waits_for_change(number) {
            return false;
        }
        // Those that all repeat something take turns in a fixed order, which has no effect either.
        let turn = |who: u32| (self.actors[who as usize].repetition.turns, who);
        let mut others = self.about_to_act.iter().map(|other| other.0);
        others.any(|other| {
            other != number
                && self.can_go_on(other)
                && (!self.waits_for_change(other) || turn(other) < turn(number))
        })
    }

    /// Returns whether the activity may be held back.
    #[inline]
    pub(super) fn watches(&self, number: u32) -> bool {
        self.is_fair && self.actors[number as usize].repetition.is_suspicious
    }

    /// Returns whether the activity is held back, its pending operation repeats an earlier one, and nothing has changed
    /// that it has accessed.
    #[inline]
    fn waits_for_change(&self, number: u32) -> bool {
        let actor = &self.actors[number as usize];
        let (repetition, touch) = (&actor.repetition, actor.pending.event.touch);
        repetition.is_held_back
            && !is_progress(touch.access)
            && repetition.version_of(touch.object).is_some()
            && self.changed_for(repetition).next().is_none()
    }

    /// Returns the objects that have changed since the activity accessed them.
    fn changed_for(&self, repetition: &Repetition) -> impl Iterator<Item = u32> {
        let seen = repetition.seen.iter();
        let changed = seen.filter(|&&(object, version)| self.version(object) != version);
        changed.map(|&(object, _)| object)
    }

    fn version(&self, object: u32) -> u32 {
        let object = self.objects.get(object as usize);
        object.map_or(0, |object| object.version)
    }

    /// Adds the steps until which the activity has been held back.
    pub(super) fn link_repetition(&self, number: u32, links: &mut Links) {
        let repetition = &self.actors[number as usize].repetition;
        if !repetition.is_held_back {
            return;
        }
        if self.waits_for_change(number) {
            // It goes on because nobody else can.
            self.last.iter().flatten().for_each(|&at| links.after(at));
        } else {
            for object in self.changed_for(repetition) {
                let changed_at = self.objects[object as usize].changed_at;
                changed_at.into_iter().for_each(|at| links.after(at));
            }
        }
    }

    /// Notes that an activity performs its pending operation, before that has any effect.
    #[cold]
    pub(super) fn begin_repetition(&mut self, number: u32) {
        let is_idle = self.waits_for_change(number);
        let is_fruitless = self.is_fruitless(number);
        let actor = &self.actors[number as usize];
        let event = &actor.pending.event;
        let is_unchanged =
            |object| actor.repetition.version_of(object) == Some(self.version(object));
        let is_known = event.touches().all(|touch| is_unchanged(touch.object));
        let is_progress = is_progress(event.touch.access);
        let actor = &mut self.actors[number as usize];
        let repetition = &mut actor.repetition;
        if !is_known || is_progress {
            repetition.is_new = true;
            repetition.fruitless = 0;
        } else if is_fruitless {
            repetition.fruitless += 1;
        }
        repetition.is_held_back = is_known && repetition.fruitless >= REPETITIONS;
        self.has_cut_repetitions |= repetition.is_held_back;
        if !is_idle {
            repetition.turns = 0;
            return;
        }
        repetition.is_held_back = true;
        repetition.turns += 1;
        // Time passes, faster and faster, for those that wait for a point in time.
        actor.outside.sleep(1 << repetition.turns.min(50));
        if repetition.turns == TURNS {
            let who = self.waiting_for_change();
            self.failures.push(Failure::Livelock(who));
            self.halt(Halt::Livelock);
        }
    }

    /// Remembers the objects that an activity has accessed in the step that it has just performed.
    #[cold]
    pub(super) fn end_repetition(&mut self, number: u32) {
        let actor = &mut self.actors[number as usize];
        let repetition = &mut actor.repetition;
        for touch in actor.pending.event.touches() {
            let object = self.objects.get(touch.object as usize);
            let version = object.map_or(0, |object| object.version);
            repetition.remember(touch.object, version);
        }
    }

    /// Notes that an object has changed. A change that only concerns the activity itself, such as that it takes a lock
    /// and gives it back, is not news for it.
    #[inline]
    pub(super) fn changes(&mut self, number: u32, object: u32, concerns_only_itself: bool) {
        if self.is_watching {
            self.has_changed(number, object, concerns_only_itself);
        }
    }

    #[cold]
    fn has_changed(&mut self, number: u32, object: u32, concerns_only_itself: bool) {
        let moment = self.moment;
        let changed = &mut self.objects[object as usize];
        changed.version = changed.version.wrapping_add(1);
        changed.changed_at = moment;
        let version = changed.version;
        if let Some(actor) = self.actors.get_mut(number as usize)
            && actor.repetition.is_suspicious
            && concerns_only_itself
            && actor.repetition.version_of(object) == Some(version.wrapping_sub(1))
        {
            actor.repetition.remember(object, version);
        }
    }

    /// Notes that the current activity yields. If it has found nothing new since the last time, it is held back.
    fn yields(&mut self) {
        self.is_watching = true;
        if let Some(actor) = self.actors.get_mut(self.current as usize) {
            let repetition = &mut actor.repetition;
            repetition.is_held_back |= !repetition.is_new && !repetition.seen.is_empty();
            repetition.is_suspicious = true;
            repetition.is_new = false;
        }
    }

    /// Returns whether a pending operation that finds its object unchanged has no effect: it only looks, or does not
    /// get what it tries to get, as the last time.
    fn is_fruitless(&self, number: u32) -> bool {
        let actor = &self.actors[number as usize];
        match actor.pending.event.touch.access {
            // How often that happens is limited.
            Access::Wait | Access::Wake { .. } if actor.wakes_spuriously => false,
            Access::Read | Access::Look | Access::Wait => true,
            Access::ReceiveTimeout | Access::SendTimeout => true,
            Access::TryTake | Access::TryLook | Access::Wake { .. } => self.prospect(number) == 0,
            Access::TryReceive | Access::TrySend => self.prospect(number) == 0,
            _ => false,
        }
    }

    /// Watches an activity that has not got what it wanted.
    #[inline]
    pub(super) fn suspect(&mut self, number: u32) {
        self.is_watching = true;
        self.actors[number as usize].repetition.is_suspicious = true;
    }

    /// Returns the names of the activities that wait for a change.
    fn waiting_for_change(&self) -> Vec<String> {
        let all = self.about_to_act.iter().map(|activity| activity.0);
        let all = all.filter(|&number| self.waits_for_change(number));
        let mut all: Vec<_> = all.map(|number| self.families.name(number)).collect();
        all.sort();
        all
    }
}

/// Returns whether an access makes it possible for others to continue.
fn is_progress(access: Access) -> bool {
    matches!(
        access,
        Access::Write | Access::Send | Access::Receive | Access::Notify { .. } | Access::Transact
    )
}
