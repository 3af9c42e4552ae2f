//! Replay as a controller: its decisions about activities and their operations.

use std::sync::{
    Arc, Mutex, OnceLock, PoisonError,
    atomic::{
        AtomicBool,
        Ordering::{Relaxed, SeqCst},
    },
};

use reenact_trace::Origin;

use super::{
    Replay, Runner,
    cursor::{Cursor, Next, ObservedAs},
    describe,
    ending::is_exiting,
    log::{Happened, not_as_itself},
    object_of,
    sent::refuse_while_describing,
};
use crate::{
    Access, Announcement, Arrival, Change, ControlledActivity, Controller, Decision, Ending, Heard,
    Message, Newborn, NextArrival, Outcome, Question, Spot, activity::HOT, clock::is_clock,
};

impl Controller for Replay {
    fn born(&self, newborn: Newborn<'_>) -> u32 {
        match newborn {
            Newborn::Thread {
                origin,
                index,
                name,
            } => self.thread_born(origin, index, name),
            Newborn::Light(parent) => {
                let runner = self.runner(parent);
                self.meets(runner);
                self.light_birth(runner)
            }
        }
    }

    fn begin(&self, who: &ControlledActivity, first: Option<u32>) {
        if let Some(first) = first {
            return self.begin_light(who.number, first);
        }
        let runner = self.runner(who);
        if !runner.is_known {
            self.at_end(
                runner,
                "the end of the recording, in which it had not begun",
            );
        }
    }

    fn end(&self, who: &ControlledActivity, how: Ending) {
        let runner = self.runner(who);
        match how {
            Ending::Returned if runner.is_light => self.end_light(runner),
            Ending::Returned => self.code_ended(runner),
            Ending::NeverRan => self.never_ran(runner),
            Ending::ThreadGone => self.thread_gone(runner),
        }
    }

    fn operate(&self, who: &ControlledActivity, announcement: &Announcement<'_>) -> Decision {
        if self.log.is_some() {
            refuse_while_describing();
        }
        let runner = self.runner(who);
        let is_recorded = matches!(announcement.access, Access::Ask | Access::Outside)
            || announcement.object.is_some()
            || announcement.predicted != 0;
        if is_recorded {
            self.meets(runner);
        }
        let decision = match announcement.access {
            // If senders record, the answer is the message's position in its receiver's order.
            Access::Send if announcement.predicted != 0 => {
                Decision::Answer(self.position_of(runner, announcement.predicted))
            }
            _ if is_recorded => self.recorded(runner, announcement),
            // Not recorded, so there is nothing to wait for.
            _ => Decision::Free,
        };
        if let Some(log) = &self.log {
            let place = self.place(runner, announcement, decision);
            let message = announcement.message();
            let note = message.map(|message| self.describe_arrival(message));
            let happened = Happened {
                trace: &self.trace,
                family: self.family_of(runner),
                who,
                announcement,
                decision,
                place,
                note: note.as_deref(),
            };
            log.happened(&happened, &mut runner.unwritten());
        }
        decision
    }

    fn wants_own(&self) -> bool {
        self.log.is_some()
    }

    fn done(
        &self,
        who: &ControlledActivity,
        announcement: &Announcement<'_>,
        outcome: Outcome<'_>,
    ) {
        match outcome {
            Outcome::Left(value) => self.left(who, announcement, value),
            Outcome::Downgraded => {
                if let Some(object) = announcement.object {
                    self.turns.bump(object);
                }
                not_as_itself(|| self.operate(who, announcement));
            }
            Outcome::Placed => self.transacted(self.runner(who), announcement),
            Outcome::Disconnected => self.write_line(self.runner(who), announcement, None),
            _ => {}
        }
    }

    fn park(&self, who: &ControlledActivity, at: Spot<'_>, what: &(dyn Fn() -> String + Sync)) {
        let runner = self.runner(who);
        self.meets(runner);
        // In a loop: it may be woken for an earlier spot at the same address.
        let mut has_slept = true;
        while has_slept && !at.is_over() {
            let mut asleep = None;
            has_slept = self.turns.wait_at(at, runner.parker(), || {
                asleep = Some(self.sleeps(runner, what));
            });
        }
    }

    fn unpark(&self, at: Spot<'_>) {
        self.turns.unpark(at);
    }

    fn outside(&self, who: &ControlledActivity, question: Question<'_>) -> Option<Heard> {
        let runner = || self.runner(who);
        match question {
            // The order comes from the trace.
            Question::Sleep(_) => Some(Heard::Done),
            Question::Call {
                announcement,
                what,
                asked,
                hear,
            } => {
                let runner = runner();
                self.meets(runner);
                self.play(runner, announcement, what, asked, hear);
                if let Some(log) = &self.log {
                    log.asked(self.family_of(runner), announcement, what);
                }
                Some(Heard::Done)
            }
            Question::Library(what) => self.recollection(runner(), what),
            Question::Print { stream, text } => self.prints(runner(), stream, text),
            Question::Wait => self.waits(runner()),
            Question::Exit => {
                self.exits(runner());
                Some(Heard::Done)
            }
            Question::Missing(what) => self.withheld(runner(), what),
            Question::IsSourceOver => self.source_is_over(runner()).then_some(Heard::Done),
        }
    }

    fn plays(&self) -> bool {
        true
    }

    fn message(&self, who: &ControlledActivity, message: Message) -> NextArrival {
        let runner = self.runner(who);
        match message {
            Message::Next => {
                runner.receives.store(true, Relaxed);
                return self.next_for(runner);
            }
            Message::Handled(arrival, tag) => {
                if let Some(log) = self.log.as_ref().filter(|_| arrival == Arrival::CLOSING) {
                    log.handled(self.family_of(runner), &self.describe_arrival(arrival));
                }
                self.receive(runner, arrival, tag);
            }
            Message::Unexpected(arrival) => self.unexpected_arrival(runner, arrival),
            Message::None => {}
        }
        NextArrival::Any
    }

    fn worker(&self, is_awake: bool) {
        match is_awake {
            true => self.turns.one_more_awake(),
            false => self.one_less_awake(),
        }
    }
}

impl Replay {
    /// Performs an operation whose outcome the trace determines.
    fn recorded(&self, runner: &Runner, operation: &Announcement<'_>) -> Decision {
        let mut cursor = runner.cursor();
        HOT.with(|hot| hot.fast_path.set(cursor.fast_path()));
        cursor.observation = ObservedAs::Silent;
        let doing = || match object_of(operation) {
            Some(name) => format!("{} ({name})", describe(operation)),
            None => describe(operation),
        };
        if operation.access == Access::Transact {
            // The calls of the C library within the transaction come before its own event.
            let event = self.expect_as_recorded(runner, &mut cursor, &doing);
            return self.transact(runner, &mut cursor, operation, event);
        }
        match self.expect(runner, &mut cursor, &doing) {
            None => self.silent(runner, &mut cursor, operation),
            Some(event) => self.surprising(runner, &mut cursor, operation, event),
        }
    }

    /// Returns how many operations have changed the object before this one, for the log. A read that goes as predicted
    /// does not wait and may happen late, so its place comes from what the activity knows.
    fn place(
        &self,
        runner: &Runner,
        operation: &Announcement<'_>,
        decision: Decision,
    ) -> Option<u64> {
        let object = operation.object?;
        if decision == Decision::Decline && !matches!(operation.access, Access::Wake { .. }) {
            return None;
        }
        let key = object.key.load(Relaxed);
        let mut cursor = runner.cursor();
        if let (Access::Read, Decision::Answer(_)) = (operation.access, decision) {
            return cursor.places.get(&key).copied();
        }
        let place = object.version.load(Relaxed);
        let changes = match operation.access {
            Access::Read => cursor.observation == ObservedAs::First,
            access => access == Access::Write,
        };
        if matches!(operation.access, Access::Read | Access::Write) {
            cursor.places.insert(key, place + u64::from(changes));
        }
        Some(place)
    }

    /// Writes the kept line of an operation, if there is one, now that its outcome is known.
    fn write_line(&self, runner: &Runner, operation: &Announcement<'_>, change: Option<Change>) {
        if let Some(log) = &self.log
            && let Some(unwritten) = runner.unwritten().take()
        {
            log.done(operation, change, unwritten);
        }
    }

    /// Called when an operation has taken effect.
    fn left(&self, who: &ControlledActivity, operation: &Announcement<'_>, value: Option<Change>) {
        let Some(object) = operation.object else {
            return;
        };
        if let Some(value) = value {
            let runner = self.runner(who);
            self.write_line(runner, operation, Some(value));
            let mut cursor = runner.cursor();
            cursor.seen.insert(object.key.load(Relaxed), value.now);
            if operation.access == Access::Read {
                match cursor.observation {
                    ObservedAs::Silent => {}
                    ObservedAs::First => self.turns.bump(object),
                    ObservedAs::Look => self.turns.looked(object),
                }
                return;
            }
        } else if let Some(log) = &self.log
            && operation.access != Access::Wait
        {
            let family = self.family_of(self.runner(who));
            log.left(&self.trace, family, who, operation);
        }
        match operation.access {
            _ if is_clock(object.key.load(Relaxed)) => self.turns.moved(object),
            Access::Look | Access::TryLook => self.turns.looked(object),
            _ => self.turns.bump(object),
        }
    }

    fn thread_born(&self, origin: Origin, index: u64, name: &str) -> u32 {
        let (index, name) = match origin {
            Origin::Foreign => {
                let name = reenact_trace::kept_name(name);
                let mut foreign = self.foreign.lock().unwrap_or_else(PoisonError::into_inner);
                let count = foreign.entry(name.to_owned()).or_default();
                *count += 1;
                (*count - 1, name.to_owned())
            }
            _ => (index, String::new()),
        };
        if let Origin::Child(parent) = origin {
            self.birth(parent);
        }
        let foreign = reenact_trace::foreign_name(index, &name);
        let place = self.places.get(&(origin, index, name)).copied();
        let stranger = place.filter(|number| {
            let mut strangers = self
                .strangers
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            strangers.remove(number)
        });
        let known = place.filter(|number| {
            let mut not_started = self
                .not_started
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            not_started.remove(*number)
        });
        let number = stranger.or(known).unwrap_or_else(|| self.unknown());
        let is_foreign = origin == Origin::Foreign;
        let is_stranger = is_foreign && known.is_none();
        if !is_stranger {
            // Before the main thread ceases to be a guest: otherwise nobody would seem to be awake in between to a
            // worker that goes to sleep.
            self.turns.one_more_awake();
        }
        if origin == Origin::Main {
            self.guests.fetch_sub(1, SeqCst);
        }
        let runner = Arc::new(Runner {
            number,
            family: OnceLock::from(match (known, origin) {
                (Some(number), _) => self.trace.family_name(number),
                (None, Origin::Main) => "main".to_owned(),
                (None, Origin::Foreign | Origin::Unknown) => foreign,
                (None, Origin::Child(parent)) => {
                    format!("{}.{index}", self.family_of(&self.find(parent)))
                }
            }),
            cursor: Mutex::new(Cursor::new(self.trace.events(number))),
            parker: OnceLock::new(),
            ended: AtomicBool::new(false),
            consumed: AtomicBool::new(known.is_none()),
            is_foreign,
            is_stranger: AtomicBool::new(is_stranger),
            is_light: false,
            receives: AtomicBool::new(false),
            is_known: known.is_some(),
            last_operation: OnceLock::new(),
            waiting: Mutex::new(None),
            unwritten: Mutex::new(None),
        });
        let mut cursor = runner.cursor();
        self.load(&runner, &mut cursor);
        drop(cursor);
        self.runners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(number, runner);
        number
    }

    /// Checks the end of the code of an activity that has a thread.
    fn code_ended(&self, runner: &Runner) {
        let mut cursor = runner.cursor();
        let doing = "the activity's code ended";
        self.settle(runner, &mut cursor, doing);
        match cursor.next {
            Next::End { .. } if !cursor.exits() => self.load(runner, &mut cursor),
            Next::End { .. } => self.diverge(runner, &cursor, &cursor.describe(), doing),
            _ => self.at_end(
                runner,
                "the end of the recording, its own code having ended",
            ),
        }
        drop(cursor);
        runner.ended.store(true, SeqCst);
        // It still counts as awake: until the thread is gone, destructors may perform operations.
    }

    /// Ends an activity whose thread could not be started.
    fn never_ran(&self, runner: &Runner) {
        let cursor = runner.cursor();
        if !cursor.is_consumed() {
            let did = "its thread could not be started";
            self.diverge(runner, &cursor, &cursor.describe(), did);
        }
        drop(cursor);
        runner.ended.store(true, SeqCst);
        self.thread_gone(runner);
    }

    fn thread_gone(&self, runner: &Runner) {
        if !runner.ended.load(SeqCst) && !runner.is_foreign {
            // Our threads end before they are gone, unless the whole process ends.
            self.exit_begins(runner);
            return;
        }
        let mut cursor = runner.cursor();
        let doing = "the thread ended";
        self.settle(runner, &mut cursor, doing);
        if let Next::End { .. } = cursor.next {
            if runner.ended.swap(true, SeqCst) {
                if is_exiting() && cursor.exits() {
                    drop(cursor);
                    // In a destructor of a thread-local.
                    return self.exit_begins(runner);
                }
                self.diverge(runner, &cursor, &cursor.describe(), doing);
            }
            self.load(runner, &mut cursor);
        }
        drop(cursor);
        self.consumed(runner);
        self.runners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&runner.number);
        if runner.is_stranger.load(SeqCst) {
            return;
        }
        if runner.is_foreign {
            self.guests.fetch_sub(1, SeqCst);
        }
        self.one_less_awake();
    }
}
