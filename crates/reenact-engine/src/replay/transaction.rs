//! Transactions: operations of which only the end shows whether they take or look.
//!
//! The trace contains which it was. The activity waits for its turn before it begins, so that it runs once and sees the
//! recorded values; at the end, the outcome must be the recorded one. It is counted only then, since the two count as
//! different operations.

use std::sync::atomic::Ordering::Relaxed;

use reenact_trace::{Event, Kind};

use super::{Replay, Runner, cursor::Cursor, describe, external::is_external};
use crate::{
    Access, Announcement, Clock, Decision, clock, record::token_of, replay::turns::end_take,
};

/// What the trace says about a transaction that has begun.
#[derive(Clone, Copy)]
pub(super) enum Expected {
    /// As predicted. It may have advanced the clock only if this activity was also the last to do so.
    Silent { may_step: bool },
    /// An event.
    Event(Event),
}

impl Replay {
    /// Waits for the turn of a transaction to begin.
    pub(super) fn transact(
        &self,
        runner: &Runner,
        cursor: &mut Cursor,
        operation: &Announcement<'_>,
        event: Option<Event>,
    ) -> Decision {
        let clock = operation.object.expect("transactions are on a clock");
        // External events within the transaction come before its own event.
        let event = match event {
            Some(event) if is_external(event) => match cursor.event_after_outside() {
                Ok(event) => event,
                Err(error) => self.cannot_read(&error),
            },
            event => event,
        };
        let expected = match event {
            None => {
                let may_step = clock.last.load(Relaxed) == token_of(runner.number);
                let now = clock.version.load(Relaxed);
                if !may_step && cursor.deltas.get(clock.key.load(Relaxed)) != Some(now) {
                    self.diverge(
                        runner,
                        cursor,
                        "another operation, or no transaction of others since the last of this activity; a transaction in which something else is recorded, such as a lock, cannot be replayed",
                        &describe(operation),
                    );
                }
                Expected::Silent { may_step }
            }
            Some(event) => {
                if !matches!(event.kind, Kind::TAKE | Kind::TAKE_AFTER_LOOKS | Kind::LOOK) {
                    self.diverge(runner, cursor, &cursor.describe(), &describe(operation));
                }
                self.wait_for_turn(runner, cursor, operation, clock, event);
                Expected::Event(event)
            }
        };
        cursor.transaction = Some(expected);
        Decision::Go
    }

    /// Checks that a transaction which is about to take effect does so as recorded.
    pub(super) fn transacted(&self, runner: &Runner, operation: &Announcement<'_>) {
        let clock = operation.object.expect("transactions are on a clock");
        let mut cursor = runner.cursor();
        let Some(expected) = cursor.transaction.take() else {
            return;
        };
        let doing = || describe(operation);
        // Skips hash checks, in case of external events within the transaction, all of which must have been consumed by
        // now.
        let next = self.expect(runner, &mut cursor, &doing);
        if next.is_some_and(is_external) {
            self.diverge(runner, &cursor, &cursor.describe(), &doing());
        }
        let agrees = match (expected, operation.access) {
            (Expected::Silent { may_step }, Access::Take) => may_step,
            (Expected::Silent { .. }, Access::Look) => true,
            (Expected::Event(event), Access::Take) => event.kind != Kind::LOOK,
            (Expected::Event(event), Access::Look) => {
                event.kind == Kind::LOOK || is_uncounted_look(event)
            }
            _ => false,
        };
        if !agrees {
            let recorded = match expected {
                Expected::Silent { may_step: false } => "a transaction that only read",
                Expected::Event(event) if event.kind == Kind::LOOK => {
                    "a transaction that only read"
                }
                Expected::Event(_) => "a transaction that wrote",
                Expected::Silent { may_step: true } => "a transaction that did not have to wait",
            };
            let name = clock::name_of(clock.key.load(Relaxed)).unwrap_or_default();
            let did = format!("{} ({name})", describe(operation));
            self.diverge(runner, &cursor, recorded, &did);
        }
        if let Expected::Silent { .. } = expected {
            cursor.count_down();
        }
        cursor.count(clock.tag(operation.op));
        if let Expected::Event(event) = expected {
            self.load(runner, &mut cursor);
            if operation.access == Access::Look && is_uncounted_look(event) {
                // It leaves like any look; the clock advances before.
                end_take(clock);
            }
        }
    }
}

/// Whether the event is a look that was recorded as a step because the number of looks had reached its maximum.
fn is_uncounted_look(event: Event) -> bool {
    event.kind == Kind::TAKE_AFTER_LOOKS && event.second == u64::from(Clock::MOST_LOOKS)
}
