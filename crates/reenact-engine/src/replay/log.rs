//! What happened in which order, as text: one line per operation of the replay, for `reenact` to show and to explore from.
//!
//! A line is fields with a tab after each. The first six are for people: the activity, its name, what it does, to what, where, and
//! what else there is to say. The others say what [`retrace`](crate::explore::retrace) needs to have an exploration do the
//! same: which object is met, how, what came of it, and where in the order of the object it was.

use std::{cell::Cell, fmt::Write as _, fs::File, io::Write, path::Path};

use reenact_trace::{Trace, TraceError};

use super::{
    name_of,
    sent::{Unhandled, label_of},
};
use crate::{Access, Activity, Announcement, Decision, Envelope, OperationKind};

thread_local! {
    /// Whether what the calling thread does is not done by its activity in an exploration.
    static IS_ANOTHERS: Cell<bool> = const { Cell::new(false) };
}

/// Does something that is no step of the calling activity in an exploration: it is part of another step, or done by a timer.
pub(crate) fn not_as_itself<R>(action: impl FnOnce() -> R) -> R {
    let before = IS_ANOTHERS.replace(true);
    let result = action();
    IS_ANOTHERS.set(before);
    result
}

/// An operation, and what there is to say of it.
pub(super) struct Happened<'a> {
    pub(super) trace: &'a Trace,
    pub(super) family: &'a str,
    pub(super) who: &'a Activity,
    pub(super) announcement: &'a Announcement<'a>,
    pub(super) decision: Decision,
    /// How many operations that changed the entity came before.
    pub(super) place: Option<u64>,
    pub(super) note: Option<&'a str>,
}

/// The file. A line is one write, so that nothing is lost when the program aborts, and lines are in the order in
/// which the entities saw the operations.
pub(super) struct Log {
    file: File,
    /// Messages that were sent and not handled.
    unhandled: Unhandled,
}

impl Log {
    pub(super) fn create(path: &Path) -> Result<Log, TraceError> {
        let file = File::options()
            .append(true)
            .create(true)
            .open(path)
            .map_err(|source| TraceError::Io {
                action: "cannot create",
                path: path.to_owned(),
                source,
            })?;
        Ok(Log {
            file,
            unhandled: Unhandled::default(),
        })
    }

    pub(super) fn happened(&self, happened: &Happened<'_>) {
        let operation = happened.announcement;
        if operation.access == Access::Queue {
            // In a replay nobody waits for that.
            return;
        }
        let note = match (happened.decision, operation.access) {
            (Decision::Decline, Access::Wake { .. }) => "timed out",
            (Decision::Decline, _) => "not to be had",
            _ => happened.note.unwrap_or_default(),
        };
        let (object, note) = match operation.envelope {
            Some(envelope) => self.message(happened, envelope),
            None => (object_of(happened), note.to_owned()),
        };
        let first = operation.touches.first();
        let access = first.map_or(operation.access, |touch| touch.access);
        let mut objects = String::new();
        let own = operation.entity.map(|entity| &entity.wanted);
        let own = own.filter(|_| operation.touches.is_empty());
        for cell in operation.touches.iter().map(|touch| touch.cell).chain(own) {
            let _ = write!(objects, "{:x} ", std::ptr::from_ref(cell).addr());
        }
        let result = match happened.decision {
            Decision::Free => "free".to_owned(),
            Decision::Go => "go".to_owned(),
            Decision::Decline => "decline".to_owned(),
            Decision::Answer(answer) => format!("={answer}"),
            Decision::Way(way) => format!("={way}"),
        };
        let message = match operation.message() {
            Some(message) => message.key(|number| happened.trace.family_name(number)),
            None => happened.family.to_owned(),
        };
        let mut traits = String::new();
        let is_step = !(operation.is_settled || IS_ANOTHERS.get());
        let all = [
            (
                is_step && !matches!(access, Access::Outside | Access::Own),
                "step",
            ),
            (operation.entity.is_some(), "recorded"),
            (std::thread::panicking(), "panicking"),
            (operation.is_timed, "timed"),
            (operation.access == Access::Ask, "asked"),
            (
                happened.decision == Decision::Answer(operation.predicted),
                "usual",
            ),
            (
                operation
                    .message()
                    .is_some_and(|message| message.is_numbered()),
                "numbered",
            ),
            (
                operation.possible.is_some() || operation.touches.len() > 1,
                "several",
            ),
        ];
        for (_, name) in all.iter().filter(|(is_so, _)| *is_so) {
            let _ = write!(traits, "{name} ");
        }
        let rest = format!(
            "{}\t{}\t{result}\t{}\t{}\t{message}\t{}",
            access.name(),
            objects.trim_end(),
            happened
                .place
                .map_or_else(String::new, |place| place.to_string()),
            first.map_or(usize::MAX, |touch| touch.room),
            traits.trim_end(),
        );
        self.line(happened, &object, &note, &rest);
    }

    pub(super) fn left(
        &self,
        trace: &Trace,
        family: &str,
        who: &Activity,
        operation: &Announcement<'_>,
    ) {
        let happened = Happened {
            trace,
            family,
            who,
            announcement: operation,
            decision: Decision::Free,
            place: None,
            note: None,
        };
        let traits = match (std::thread::panicking(), IS_ANOTHERS.get()) {
            (_, true) => "recorded",
            (true, _) => "step recorded panicking",
            (false, _) => "step recorded",
        };
        let rest = format!("{}\t0\tfree\t\t\t\t{traits}", Access::Release.name());
        self.line(&happened, &object_of(&happened), "", &rest);
    }

    /// The world outside is asked for something.
    pub(super) fn asked(&self, family: &str, operation: &Announcement<'_>, what: &str) {
        let site = operation.site;
        let name = operation.op.name();
        self.write(&format!("{family}\t-\t{name}\t{what}\t{site}\t\n"));
    }

    /// A light activity finds that those who run it have ended.
    pub(super) fn handled(&self, family: &str, message: &str) {
        self.write(&format!("{family}\t-\thandle\t{message}\t\t\n"));
    }

    /// A message is sent or handled: what that is about, and what else there is to say.
    fn message(&self, happened: &Happened<'_>, envelope: &Envelope<'_>) -> (String, String) {
        let Happened {
            trace,
            who,
            announcement,
            decision,
            note,
            ..
        } = *happened;
        if announcement.op.kind() != OperationKind::Turn {
            let label = label_of(announcement);
            self.unhandled.put(announcement, decision, &label);
            return (trace.family_name(envelope.to), label);
        }
        let which = note.unwrap_or_default();
        match self.unhandled.take(who.number, envelope.arrival) {
            Some(sent) => {
                let from = sent.from.map(|from| trace.family_name(from));
                let from = from.map_or_else(|| which.to_owned(), |from| format!("from {from}"));
                (sent.label, format!("{from} at {}", sent.site))
            }
            None => (which.to_owned(), String::new()),
        }
    }

    fn line(&self, happened: &Happened<'_>, object: &str, note: &str, rest: &str) {
        let Happened {
            family,
            who,
            announcement,
            ..
        } = happened;
        let what = announcement.op.name();
        let name = match who.name.as_str() {
            "" => "-",
            name => name,
        };
        // Where a message is handled is no line of the program.
        let site = match announcement.op.kind() {
            OperationKind::Turn => String::new(),
            _ => announcement.site.to_string(),
        };
        self.write(&format!(
            "{family}\t{name}\t{what}\t{object}\t{site}\t{note}\t{rest}\n"
        ));
    }

    fn write(&self, line: &str) {
        // A log that cannot be written must not change the replay.
        let _ = (&self.file).write_all(line.as_bytes());
    }
}

/// What an operation is done to.
fn object_of(happened: &Happened<'_>) -> String {
    let entity = happened.announcement.entity;
    entity.map_or_else(|| "-".to_owned(), |entity| name_of(happened.trace, entity))
}
