//! An execution as a controller: what it answers to activities and their operations.

use std::{panic::Location, ptr::NonNull, sync::atomic::Ordering::Relaxed};

use super::{
    World,
    actor::{Awaited, Phase},
    meeting::outliving_ways,
};
use crate::{
    Access, Activity, Announcement, Change, Controller, Decision, End, Ending, Entity, Heard,
    Message, Newborn, NextArrival, Op, OperationKind, Outcome, Question, Spot, Touch,
    clock::is_clock,
    explore::{
        event::{NOTHING, Touched},
        names::Families,
        strand::Strand,
        thing::Passed,
    },
    pool::Task,
};

impl Controller for World {
    fn born(&self, newborn: Newborn<'_>) -> u32 {
        match newborn {
            Newborn::Light(_) => self.light_child(),
            // Threads are born by `World::child`; this one is not part of the program.
            Newborn::Thread { .. } => Families::MAIN,
        }
    }

    fn end(&self, _who: &Activity, _how: Ending) {}

    fn operate(&self, _who: &Activity, announcement: &Announcement<'_>) -> Decision {
        self.decide(announcement)
    }

    fn wants_own(&self) -> bool {
        self.state().fineness.own
    }

    fn done(&self, _who: &Activity, announcement: &Announcement<'_>, outcome: Outcome<'_>) {
        self.conclude(announcement, outcome);
    }

    fn park(&self, _who: &Activity, at: Spot<'_>, what: &(dyn Fn() -> String + Sync)) {
        self.waits_at(at, what);
    }

    fn unpark(&self, at: Spot<'_>) {
        self.unparks(at);
    }

    fn outside(&self, _who: &Activity, question: Question<'_>) -> Option<Heard> {
        let state = self.state();
        let number = state.current;
        let actor = state.actors.get_mut(number as usize)?;
        match question {
            Question::Sleep(time) => {
                let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
                actor.outside.sleep(nanoseconds);
                Some(Heard::Done)
            }
            Question::Library(what) => {
                let recorded = state.recorded.as_ref().and_then(|recorded| {
                    let family = state.families.name(number);
                    recorded.recall(&family, &mut actor.given, what)
                });
                Some(recorded.unwrap_or_else(|| actor.outside.recall(number, what)))
            }
            Question::Call {
                announcement,
                asked,
                hear,
                ..
            } => {
                self.concerns_itself(announcement);
                let state = self.state();
                let actor = state.actors.get_mut(number as usize)?;
                if let Some(recorded) = &state.recorded {
                    let family = state.families.name(number);
                    recorded.play(&family, &mut actor.given, asked, hear);
                }
                None
            }
            Question::Missing(_) | Question::IsSourceOver => None,
        }
    }

    fn message(&self, _who: &Activity, message: Message) -> NextArrival {
        self.is_told(message)
    }

    fn run(&self, task: NonNull<Task>) -> bool {
        self.runs_task(task);
        true
    }
}

/// The end of a channel at which this is done.
fn end_of(access: Access) -> Option<End> {
    match access {
        Access::Send | Access::TrySend | Access::DropSender => Some(End::Sending),
        Access::Receive | Access::TryReceive | Access::DropReceiver => Some(End::Receiving),
        _ => None,
    }
}

impl World {
    /// The activity that runs is about to do something.
    #[inline]
    pub(crate) fn decide(&self, announcement: &Announcement<'_>) -> Decision {
        self.refuses_while_describing();
        match announcement.touches {
            [] => self.arrives(announcement),
            _ => self.meets(announcement),
        }
    }

    /// What became of it.
    #[inline]
    pub(crate) fn conclude(&self, announcement: &Announcement<'_>, outcome: Outcome<'_>) {
        let Announcement {
            op,
            access,
            entity,
            touches,
            site,
            ..
        } = *announcement;
        if self.state().wants_labels {
            self.notes_what_came(op, &outcome, touches);
        }
        match (outcome, entity, touches) {
            (Outcome::Left(_), Some(entity), _) => self.leaves(op, access, entity, site),
            (Outcome::Left(_), None, _) => self.ends_turn(announcement),
            (Outcome::Downgraded, Some(entity), _) => self.downgrades(entity),
            (Outcome::Footprint(met), _, _) => self.has_met(&met(), site),
            (Outcome::Happened(index), _, touches) => {
                let touch = touches[index];
                if let Some(end) = end_of(touch.access) {
                    self.comes(touch.cell, end, touch.room);
                }
                self.is_sent(announcement);
            }
            (Outcome::GaveUp, _, [touch]) => {
                if let Some(end) = end_of(touch.access) {
                    self.passed(touch.cell, Passed::GaveUp(end), touch.room);
                }
            }
            (Outcome::Disconnected, _, [touch]) => {
                if let Some(end) = end_of(touch.access) {
                    self.found_gone(touch.cell, end.other());
                }
            }
            (Outcome::Dropped { is_last }, _, [touch]) => {
                if let Some(end) = end_of(touch.access) {
                    self.dropped(touch, end, is_last, site);
                }
            }
            _ => {}
        }
    }

    /// What came of a step, for people.
    #[cold]
    fn notes_what_came(&self, op: Op, outcome: &Outcome<'_>, touches: &[Touch<'_>]) {
        let text = match *outcome {
            Outcome::Left(Some(change)) => change.text(op.info().values),
            Outcome::Happened(case) if touches.len() > 1 => {
                let what = match end_of(touches[case].access) {
                    Some(End::Sending) => "sends",
                    _ => "receives",
                };
                Some(format!("{what}, case {} of {}", case + 1, touches.len()))
            }
            _ => None,
        };
        if text.is_some() {
            self.state().came_of = text;
        }
    }

    /// Something about the messages of the activity that runs.
    pub(crate) fn is_told(&self, message: Message) -> NextArrival {
        if let Message::None = message {
            // Whoever let it go, or sent it something, has made it run.
            self.comes_after_now();
        }
        NextArrival::Any
    }

    /// The activity that runs waits at this spot.
    pub(crate) fn waits_at(&self, at: Spot<'_>, what: &(dyn Fn() -> String + Sync)) {
        // SAFETY: Only the lifetime changes, and it is not looked at after this returns.
        let what = unsafe {
            std::mem::transmute::<*const dyn Fn() -> String, *const (dyn Fn() -> String + 'static)>(
                what,
            )
        };
        let awaited = match at {
            Spot::Parker(_) => Awaited::Operation,
            Spot::Fact(_) => Awaited::Described(what),
        };
        self.parks(at, awaited);
    }

    /// Somebody asks whether an activity has ended: when that is makes a difference from now on.
    pub(crate) fn asks_for_end(&self) {
        let state = self.state();
        if !state.fineness.ends {
            state.lets_ends_be_steps();
        }
    }

    /// Whether the end of an activity is announced.
    pub(crate) fn wants_ends(&self) -> bool {
        let fineness = self.state().fineness;
        fineness.own || fineness.ends
    }

    /// The activity that runs is about to do something to an entity, of which nothing else is to be known.
    #[inline]
    pub(crate) fn arrives_at(
        &self,
        entity: &Entity,
        op: Op,
        access: Access,
        site: &'static Location<'static>,
    ) -> Decision {
        self.refuses_while_describing();
        let thing = self.number_of(entity, access, site);
        let touch = Touched { access, thing };
        self.announce(|pending| pending.be(op, site, touch, None, usize::MAX));
        self.state().decision
    }

    /// An operation on one entity, or a question that may depend on anything.
    fn arrives(&self, announcement: &Announcement<'_>) -> Decision {
        let Announcement {
            op,
            access,
            entity,
            site,
            ready,
            ways,
            ..
        } = *announcement;
        match access {
            // The world outside is asked; and what is settled is known.
            Access::Outside => {
                self.concerns_itself(announcement);
                return Decision::Go;
            }
            Access::Own => {
                self.concerns_itself(announcement);
                return Decision::Free;
            }
            Access::Ask if announcement.is_settled => return Decision::Free,
            _ => {}
        }
        let thing = entity.map_or(NOTHING, |entity| self.number_of(entity, access, site));
        let touch = Touched { access, thing };
        self.announce(|pending| {
            pending.be(op, site, touch, ready, usize::MAX);
            if let Some(ways) = ways {
                pending.be_special().ways = Some(outliving_ways(ways));
            }
        });
        match ways {
            Some(_) => Decision::Way(self.state().answer.into()),
            None => self.state().decision,
        }
    }

    /// The number of an entity that is about to be met like this, which may make a difference of what was none.
    #[inline]
    fn number_of(&self, entity: &Entity, access: Access, site: &'static Location<'static>) -> u32 {
        let state = self.state();
        match access {
            // Of all transactions there is one order, whoever else explores in this process.
            Access::Transact => return NOTHING,
            Access::TryTake | Access::TryLook if !state.fineness.releases => {
                state.becomes_finer();
            }
            Access::Look | Access::TryLook if !state.fineness.queues => {
                let current = state.current;
                let thing = state.names.known(&entity.wanted);
                if thing.is_some_and(|thing| state.thing(thing).is_shared_by(current)) {
                    state.lets_queues_be_steps();
                }
            }
            _ => {}
        }
        state.number(&entity.wanted, entity.made_at, site, 0)
    }

    /// The activity that runs does something that concerns nobody else.
    fn concerns_itself(&self, announcement: &Announcement<'_>) {
        let state = self.state();
        let is_end = announcement.op.kind() == OperationKind::End;
        if !(state.fineness.own || state.fineness.ends && is_end) || state.is_ending {
            return;
        }
        let Announcement {
            op,
            site,
            ready,
            with,
            ..
        } = *announcement;
        self.announce(|pending| {
            pending.be(op, site, Touched::nothing(Access::Own), ready, usize::MAX);
            pending.be_special().with = with;
        });
    }

    /// The activity that runs gives this back, or has read or changed the value that is there now.
    #[inline]
    pub(crate) fn leaves_with(
        &self,
        op: Op,
        access: Access,
        entity: &Entity,
        value: Option<Change>,
        site: &'static Location<'static>,
    ) {
        if self.state().wants_labels {
            self.notes_what_came(op, &Outcome::Left(value), &[]);
        }
        self.leaves(op, access, entity, site);
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
            Access::Take | Access::TryTake | Access::Look | Access::TryLook | Access::Wait
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
        // Who begins to wait gives it back in the same step.
        if state.fineness.releases && !state.is_ending && access != Access::Wait {
            let access = Access::Release;
            let touch = Touched { access, thing };
            self.announce(|pending| pending.be(op, site, touch, None, usize::MAX));
        }
        self.state().release(thing, access);
    }

    /// A light activity is born: its number.
    fn light_child(&self) -> u32 {
        let state = self.state();
        let number = state.child("", Families::LIGHT);
        let actor = &mut state.actors[number as usize];
        actor.phase = Phase::Ended;
        actor.is_light = true;
        self.be_known(number, "");
        number
    }

    /// A light activity has something to do.
    fn runs_task(&self, task: NonNull<Task>) {
        let state = self.state();
        if state.is_ending {
            // Nobody runs any more, and what is left is to be freed.
            let current = state.current();
            // SAFETY: Who schedules it promises that it may be run.
            crate::activity::aside(|| unsafe { Task::run(task) });
            self.sits(current);
            return;
        }
        // SAFETY: It borrows nothing; and who schedules it promises that it may be run.
        let strand = unsafe { state.fibers.with(move || Task::run(task)) };
        state.tasks.push_back(strand.map(Strand::Fiber));
    }
}
