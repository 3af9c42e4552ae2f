//! The execution as a controller: its answers to activities and their operations.

use std::{panic::Location, ptr::NonNull, sync::atomic::Ordering::Relaxed};

use super::{
    Execution,
    actor::Awaited,
    meeting::{outliving, outliving_ways},
};
use crate::{
    Access, Announcement, Asked, Captured, Change, ControlledActivity, Controller, Decision, End,
    Ending, Heard, Message, Newborn, NextArrival, Object, Op, OperationKind, Outcome, Question,
    Reply, Spot, Touch,
    clock::is_clock,
    explore::{
        event::{NOTHING, Touched},
        gap::Reads,
        names::Families,
        task_stack::TaskStack,
    },
    pool::Task,
};

impl Controller for Execution {
    fn born(&self, newborn: Newborn<'_>) -> u32 {
        match newborn {
            Newborn::Light(_) => self.light_child(),
            // Explored threads are created by `Execution::child`; this one is not part of the program.
            Newborn::Thread { .. } => Families::MAIN,
        }
    }

    fn end(&self, _who: &ControlledActivity, _how: Ending) {}

    fn operate(&self, _who: &ControlledActivity, announcement: &Announcement<'_>) -> Decision {
        self.decide(announcement)
    }

    fn wants_own(&self) -> bool {
        self.state().granularity.own
    }

    fn done(
        &self,
        _who: &ControlledActivity,
        announcement: &Announcement<'_>,
        outcome: Outcome<'_>,
    ) {
        self.conclude(announcement, outcome);
    }

    fn park(&self, _who: &ControlledActivity, at: Spot<'_>, what: &(dyn Fn() -> String + Sync)) {
        self.wait_at(at, what);
    }

    fn unpark(&self, at: Spot<'_>) {
        self.unparks(at);
    }

    fn outside(&self, _who: &ControlledActivity, question: Question<'_>) -> Option<Heard> {
        match question {
            Question::Sleep(time) => {
                let state = &mut *self.state();
                let number = state.current;
                let actor = state.actors.get_mut(number as usize)?;
                let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
                actor.outside.sleep(nanoseconds);
                state.suspect(number);
                Some(Heard::Done)
            }
            Question::Library(what) => {
                self.note_read(what);
                let state = &mut *self.state();
                let number = state.current;
                let actor = state.actors.get_mut(number as usize)?;
                let recorded = state.recorded.as_ref().and_then(|recorded| {
                    let family = state.families.name(number);
                    recorded.recall(&family, &mut actor.given, what)
                });
                let operations = actor.operations.iter().map(|(_, count)| count).sum();
                Some(recorded.unwrap_or_else(|| actor.outside.recall(number, operations, what)))
            }
            Question::Call {
                announcement,
                asked,
                hear,
                ..
            } => {
                self.announce_own(announcement);
                self.play_recorded(asked, hear);
                None
            }
            Question::Wait | Question::Exit | Question::Missing(_) | Question::IsSourceOver => None,
        }
    }

    fn message(&self, _who: &ControlledActivity, message: Message) -> NextArrival {
        self.handle_message(message)
    }

    fn run(&self, task: NonNull<Task>) -> bool {
        self.runs_task(task);
        true
    }
}

/// Returns the end of a channel at which this access takes place.
fn end_of(access: Access) -> Option<End> {
    match access {
        Access::Send | Access::TrySend | Access::DropSender => Some(End::Sending),
        Access::Receive | Access::TryReceive | Access::DropReceiver => Some(End::Receiving),
        _ => None,
    }
}

impl Execution {
    /// Announces an operation of the current activity, and decides how it goes.
    #[inline]
    pub(crate) fn decide(&self, announcement: &Announcement<'_>) -> Decision {
        self.refuse_while_describing();
        match announcement.touches {
            [] => self.arrives(announcement),
            _ => self.meets(announcement),
        }
    }

    /// Notes the outcome of an operation.
    #[inline]
    pub(crate) fn conclude(&self, announcement: &Announcement<'_>, outcome: Outcome<'_>) {
        let Announcement {
            op,
            access,
            object,
            touches,
            site,
            ..
        } = *announcement;
        if self.state().wants_labels {
            self.note_result(op, &outcome, touches);
        }
        match (outcome, object, touches) {
            (Outcome::Left(_), Some(object), _) => self.leaves(op, access, object, site),
            (Outcome::Left(_), None, _) => self.end_turn(announcement),
            (Outcome::Downgraded, Some(object), _) => self.downgrades(object),
            (Outcome::Footprint(met), _, _) => self.has_met(&met(), site),
            (Outcome::Happened(index), _, touches) => {
                let touch = touches[index];
                if let Some(end) = end_of(touch.access) {
                    self.comes(touch.cell, end, touch.room);
                }
                self.note_sent(announcement);
            }
            (Outcome::GaveUp, _, [touch]) => {
                if let Some(end) = end_of(touch.access) {
                    self.gives_up(touch, end);
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

    /// Notes the result of a step, for display.
    #[cold]
    fn note_result(&self, op: Op, outcome: &Outcome<'_>, touches: &[Touch<'_>]) {
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
            self.state().step_result = text;
        }
    }

    /// Handles a notification about the messages of the current activity.
    pub(crate) fn handle_message(&self, message: Message) -> NextArrival {
        if let Message::None = message {
            // The current step has made it run, by releasing it or by sending it a message.
            self.comes_after_now();
        }
        NextArrival::Any
    }

    /// Parks the current activity at this spot.
    pub(crate) fn wait_at(&self, at: Spot<'_>, what: &(dyn Fn() -> String + Sync)) {
        // SAFETY: Only the lifetime changes, and the closure is not called after this function returns.
        let what = unsafe {
            std::mem::transmute::<*const dyn Fn() -> String, *const (dyn Fn() -> String + 'static)>(
                what,
            )
        };
        let awaited = match at {
            Spot::Parker(_) => Awaited::Operation,
            Spot::Latch(_) => Awaited::Described(what),
        };
        self.parks(at, awaited);
    }

    /// Notes that an activity asks whether another one has ended: the order of ends matters from now on.
    pub(crate) fn note_end_question(&self) {
        let state = &mut *self.state();
        if !state.granularity.ends {
            state.require_end_steps();
        }
    }

    /// Returns whether the end of an activity is to be announced.
    pub(crate) fn wants_ends(&self) -> bool {
        let granularity = self.state().granularity;
        granularity.own || granularity.ends
    }

    /// Notes what the program reads from the C library.
    fn note_read(&self, what: Captured) {
        let read = match what {
            Captured::Clock => Reads::CLOCK,
            Captured::TimeOfDay => Reads::TIME_OF_DAY,
            Captured::Random => Reads::RANDOM,
        };
        let state = &mut *self.state();
        if !state.reads.has(read) {
            state.reads = state.reads.or(read);
            self.supervisor.note_read(read);
        }
    }

    /// Passes the recorded answer to a question of the current activity, if there is one, to `hear`.
    fn play_recorded(&self, asked: Asked, hear: &mut dyn FnMut(Reply<'_>) -> bool) {
        let played = self.state().recorded_of_current();
        let Some((recorded, family, mut given)) = played else {
            return;
        };
        // Outside the state: `hear` is code of a model.
        recorded.play(&family, &mut given, asked, hear);
        self.state().keep_given(given);
    }

    /// Announces an operation of the current activity on an object, without any further data.
    #[inline]
    pub(crate) fn arrives_at(
        &self,
        object: &Object,
        op: Op,
        access: Access,
        site: &'static Location<'static>,
    ) -> Decision {
        self.refuse_while_describing();
        let object = self.number_of(object, access, site);
        let touch = Touched { access, object };
        self.announce(|pending| pending.be(op, site, touch, None, usize::MAX));
        self.state().decision
    }

    /// Announces an operation on one object, or a question that may depend on anything.
    fn arrives(&self, announcement: &Announcement<'_>) -> Decision {
        let Announcement {
            op,
            access,
            object,
            site,
            ready,
            changes,
            ways,
            ..
        } = *announcement;
        match access {
            // External data concern only the activity itself, and the answer to a settled question is known.
            Access::Outside => {
                self.announce_own(announcement);
                return Decision::Go;
            }
            Access::Own => {
                self.announce_own(announcement);
                return Decision::Free;
            }
            Access::Ask if announcement.is_settled => return Decision::Free,
            _ => {}
        }
        let object = object.map_or(NOTHING, |object| self.number_of(object, access, site));
        let touch = Touched { access, object };
        self.state().has_conditional |= changes.is_some();
        self.announce(|pending| {
            pending.be(op, site, touch, ready, usize::MAX);
            if let Some(ways) = ways {
                pending.be_special().ways = Some(outliving_ways(ways));
            }
            if let Some(changes) = changes {
                pending.be_special().changes = Some(outliving(changes));
                pending.settle_access();
            }
        });
        match ways {
            Some(_) => Decision::Way(self.state().answer.into()),
            None => self.state().decision,
        }
    }

    /// Returns the number of an object that is about to be accessed in this way, which may require finer steps.
    #[inline]
    fn number_of(&self, object: &Object, access: Access, site: &'static Location<'static>) -> u32 {
        let state = &mut *self.state();
        match access {
            // All transactions of this process have one order, even if others explore in it at the same time.
            Access::Transact => return NOTHING,
            Access::TryTake | Access::TryLook if !state.granularity.releases => {
                state.require_finer_steps();
            }
            Access::Look | Access::TryLook if !state.granularity.queues => {
                let current = state.current;
                let object = state.names.known(&object.wanted);
                if object.is_some_and(|object| state.object(object).is_shared_by(current)) {
                    state.require_queue_steps();
                }
            }
            _ => {}
        }
        state.number(&object.wanted, object.made_at, site, 0)
    }

    /// Announces an action that concerns only the current activity, if such actions are steps.
    fn announce_own(&self, announcement: &Announcement<'_>) {
        let granularity = self.state().granularity;
        let is_end = announcement.op.kind() == OperationKind::End;
        if !(granularity.own || granularity.ends && is_end) || self.is_ending() {
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

    /// Notes that the current activity releases the object, or has read or changed its value.
    #[inline]
    pub(crate) fn leave_with(
        &self,
        op: Op,
        access: Access,
        object: &Object,
        value: Option<Change>,
        site: &'static Location<'static>,
    ) {
        if self.state().wants_labels {
            self.note_result(op, &Outcome::Left(value), &[]);
        }
        self.leaves(op, access, object, site);
    }

    /// Notes that the current activity releases the object.
    #[inline]
    pub(crate) fn leaves(
        &self,
        op: Op,
        access: Access,
        object: &Object,
        site: &'static Location<'static>,
    ) {
        if !matches!(
            access,
            Access::Take | Access::TryTake | Access::Look | Access::TryLook | Access::Wait
        ) {
            return;
        }
        let (known, is_step) = self.state().prepare_release(object, access);
        let Some(number) = known else {
            return;
        };
        if is_clock(object.key.load(Relaxed)) {
            // A transaction is known by the objects that it accessed.
            return;
        }
        if is_step {
            let access = Access::Release;
            let touch = Touched {
                access,
                object: number,
            };
            self.announce(|pending| pending.be(op, site, touch, None, usize::MAX));
        }
        self.state().release(number, access);
    }

    /// Creates a light activity and returns its number.
    fn light_child(&self) -> u32 {
        let number = self.state().light_child();
        self.be_known(number, "");
        number
    }

    /// Schedules a light activity that has work.
    fn runs_task(&self, task: NonNull<Task>) {
        if self.is_ending() {
            // No activity runs any more, and the task has to be freed.
            let current = self.state().current();
            // SAFETY: The code that schedules a task guarantees that it may be run.
            crate::activity::aside(|| unsafe { Task::run(task) });
            self.sits(current);
            return;
        }
        let state = &mut *self.state();
        let stack = state.fibers.take().map(|fiber| {
            // SAFETY: The fiber has no job. The closure borrows nothing, and the code that schedules a task guarantees
            // that it may be run.
            unsafe { fiber.give(move || Task::run(task)) };
            TaskStack::Fiber(fiber)
        });
        state.tasks.push_back(stack);
    }
}
