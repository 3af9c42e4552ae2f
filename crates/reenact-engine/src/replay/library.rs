//! What an activity asks the C library for, from the trace: readings of clocks, random bytes; and its waits that are not
//! operations.
//!
//! The standard library and others wait with a time limit, and read the clock before and after. Nothing orders such a
//! wait with what ends it, so it may be woken once or more often, or not begin at all. How often the clock is read around
//! it is therefore not a divergence: readings that the trace does not have come from the real clock, shifted to the
//! recorded time (see [`crate::captured`]), and recorded ones that nobody asks for are skipped. At the next operation,
//! and at the next wait, the activity is where the trace is again.
//!
//! This holds for foreign threads at all times: what they do besides their operations may be a library's. In a process
//! in which nobody waits like that, any other activity reads the clock as often as recorded. Whether somebody will wait
//! is not yet known when an activity reads the clock once more, so that is a divergence only if the activity comes to
//! its next operation before.

use std::sync::atomic::Ordering::Relaxed;

use reenact_trace::{Event, Item, Kind};

use super::{
    Replay, Runner,
    cursor::{Cursor, LibraryCalls, Next},
    report::Difference,
};
use crate::{
    Captured, Heard,
    captured::{WAIT, is_of_library, op_of},
    object::tag,
    printed::is_print,
};

/// How many readings that the trace does not have an activity gets before its next operation or wait. One that goes on
/// like this for ever would otherwise never diverge.
const MOST_EXTRA: u32 = 10_000;

impl Replay {
    /// Returns the recorded answer of the C library; `None` if the trace has none here.
    pub(super) fn recollection(&self, runner: &Runner, what: Captured) -> Option<Heard> {
        let doing = || what.op().name().to_owned();
        let mut cursor = runner.cursor();
        let is_reading = what != Captured::Random;
        let event = if runner.is_foreign || is_reading {
            self.library_call(runner, &mut cursor, what.kind(), &doing)?
        } else {
            match self.expect(runner, &mut cursor, &doing) {
                Some(event) if event.kind == what.kind() => event,
                _ => self.diverge(runner, &cursor, &cursor.describe(), &doing()),
            }
        };
        let elapsed = cursor.elapsed(event);
        self.pass(runner, &mut cursor, event);
        drop(cursor);
        Some(match what {
            Captured::Random => Heard::Bytes(self.data(runner, event.number, &doing())),
            _ => Heard::Elapsed(elapsed),
        })
    }

    /// The activity is about to wait, with a time limit, for something that is not an operation. Returns whether the
    /// recorded wait timed out; `None` if the recorded activity did not wait here.
    pub(super) fn waits(&self, runner: &Runner) -> Option<Heard> {
        let mut cursor = runner.cursor();
        self.has_waited.store(true, Relaxed);
        cursor.release();
        cursor.library = LibraryCalls::default();
        let doing = || WAIT.name().to_owned();
        self.pass_checks(runner, &mut cursor, &doing);
        let event = self.seek(runner, &mut cursor, Kind::WAITED, &doing)?;
        self.pass(runner, &mut cursor, event);
        Some(Heard::TimedOut(event.number != 0))
    }

    /// Returns the next recorded call of this kind; `None` if the trace has none here and that is no divergence, or not
    /// yet.
    fn library_call(
        &self,
        runner: &Runner,
        cursor: &mut Cursor,
        kind: Kind,
        doing: &dyn Fn() -> String,
    ) -> Option<Event> {
        self.pass_checks(runner, cursor, doing);
        if let Some(next) = cursor.next_library().filter(|next| next.kind == kind) {
            return Some(next);
        }
        if self.may_differ(runner) {
            return self.seek(runner, cursor, kind, doing);
        }
        if cursor.silent_left() == 0 && matches!(cursor.next, Next::Cut { .. }) {
            self.at_end(
                runner,
                &format!("the end of the recording, before: {}", doing()),
            );
        }
        if cursor.library.doubt.is_none() {
            let difference = Difference::here(cursor, &cursor.describe(), &doing());
            cursor.library.doubt = Some(Box::new(difference));
            cursor.hold();
        }
        cursor.library.extra += 1;
        if cursor.library.extra > MOST_EXTRA {
            self.resolve_doubt(runner, cursor);
        }
        None
    }

    /// Skips to the next call of this kind before the activity's next operation, if there is one.
    fn seek(
        &self,
        runner: &Runner,
        cursor: &mut Cursor,
        kind: Kind,
        doing: &dyn Fn() -> String,
    ) -> Option<Event> {
        // A wait has readings of the clock before and after it, and so does what is printed.
        let ends = |next| next == Kind::WAITED || is_print(next);
        match cursor.is_in_reach(|next| next == kind, ends) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => self.cannot_read(&error),
        }
        loop {
            self.pass_checks(runner, cursor, doing);
            let next = cursor.next_library()?;
            if next.kind == kind {
                return Some(next);
            }
            self.skip(runner, cursor, next);
        }
    }

    pub(super) fn skip(&self, runner: &Runner, cursor: &mut Cursor, event: Event) {
        cursor.skip_reading(event);
        self.pass(runner, cursor, event);
    }

    /// Goes past a call of the C library, or something printed.
    pub(super) fn pass(&self, runner: &Runner, cursor: &mut Cursor, event: Event) {
        // Those of foreign threads are not in the hash, nor is what is printed.
        if !runner.is_foreign && !is_print(event.kind) {
            cursor.count(tag(0, op_of(event.kind)));
        }
        self.load(runner, cursor);
    }

    pub(super) fn pass_checks(
        &self,
        runner: &Runner,
        cursor: &mut Cursor,
        doing: &dyn Fn() -> String,
    ) {
        while cursor.silent_left() == 0 && matches!(cursor.next, Next::Tick { .. }) {
            self.check(runner, cursor, doing);
            self.load(runner, cursor);
        }
    }

    /// Whether the activity may call the C library more or less often than recorded.
    pub(super) fn may_differ(&self, runner: &Runner) -> bool {
        runner.is_foreign
            || self.has_waited.load(Relaxed)
            || *self.waits_are_recorded.get_or_init(|| {
                let is_wait =
                    |item| matches!(item, Ok(Item::Event(event)) if event.kind == Kind::WAITED);
                let mut crowds = self.trace.crowds();
                crowds.any(|crowd| self.trace.events(crowd.first.number).any(is_wait))
            })
    }

    /// Diverges if the activity has read the clock more often than recorded and no activity has waited since. Called
    /// before its next operation, and at its end.
    pub(super) fn resolve_doubt(&self, runner: &Runner, cursor: &mut Cursor) {
        if let Some(difference) = cursor.library.doubt.take() {
            if !self.may_differ(runner) {
                self.differs(runner, &difference);
            }
            cursor.release();
        }
    }

    /// Skips the recorded calls of the C library that the activity has not made before its next operation or its end,
    /// unless leaving them out is a divergence.
    pub(super) fn skip_library(
        &self,
        runner: &Runner,
        cursor: &mut Cursor,
        doing: &dyn Fn() -> String,
    ) {
        if cursor.begun.iter().any(Option::is_some) {
            self.has_printed_all(runner, cursor, &doing());
        }
        loop {
            self.skip_calls(runner, cursor, doing);
            match cursor.next_library() {
                Some(next) if is_print(next.kind) => {
                    self.has_not_printed(runner, cursor, next, &doing());
                }
                _ => return,
            }
        }
    }

    /// The same, up to the next text that the trace has.
    pub(super) fn skip_calls(
        &self,
        runner: &Runner,
        cursor: &mut Cursor,
        doing: &dyn Fn() -> String,
    ) {
        loop {
            self.pass_checks(runner, cursor, doing);
            let Some(next) = cursor.next_library() else {
                return;
            };
            // The waits of libraries do not ask for random bytes.
            let is_left_out = !is_print(next.kind)
                && (runner.is_foreign || next.kind != Kind::RANDOM && self.may_differ(runner));
            if !is_left_out {
                return;
            }
            self.skip(runner, cursor, next);
        }
    }

    /// Whether the trace has nothing more for the activity but calls of the C library that it need not make.
    pub(super) fn needs_nothing_more(&self, runner: &Runner, cursor: &Cursor) -> bool {
        cursor.next_library().is_some()
            && self.may_differ(runner)
            && cursor.has_only_library(
                *runner
                    .last_operation
                    .get_or_init(|| self.end_of_last_operation(runner)),
            )
    }

    /// Returns the position in the trace at which the activity's last operation ends. An activity that ends in the trace
    /// ends in the replay too, so that counts as one that is never reached.
    fn end_of_last_operation(&self, runner: &Runner) -> u64 {
        let mut stream = self.trace.events(runner.number);
        let mut last = 0;
        while let Some(item) = stream.next() {
            match item {
                Ok(Item::Event(event)) if is_of_library(event.kind) => {
                    if event.silent > 0 {
                        last = stream.position() - 1;
                    }
                }
                Ok(Item::Event(_)) => last = stream.position(),
                Ok(Item::Tick { silent: 0, .. } | Item::Cut { silent: 0, .. }) => {}
                Ok(Item::Tick { .. } | Item::Cut { .. }) => last = stream.position(),
                Ok(Item::End { .. }) | Err(_) => return u64::MAX,
            }
        }
        last
    }
}
