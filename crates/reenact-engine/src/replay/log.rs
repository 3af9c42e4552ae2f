//! The log of a replay: one line of text per operation, in order, for `reenact` to show and to explore from.
//!
//! A line consists of tab-separated fields. The first six are for people: the activity, its name, what it does, to
//! what, where, and a note. The others are what [`retrace`](crate::explore::retrace) needs to repeat the operation in
//! an exploration: the object, the access, the result, the position in the order of the object, and the line where the
//! operation was announced. The last two are the number of operations that the activity has done, this one included, and
//! when the line was written, relative to what probes have seen.
//!
//! Most lines are written when the operation may happen. If more is known once it has happened, the line is
//! [kept](Unwritten) until then: a value that is read or written, the selected operation of several, a channel that
//! turns out to be closed. No other activity accesses the object meanwhile, so the lines of an object stay in order.
//!
//! The names of objects are known only when the log is complete ([`ObjectName`]). So an object is written as its number
//! between two [`MARK`]s, and an earlier line that begins with a tab defines it: `object`, the number, its type, and
//! the file, line and column where it was made. [`crate::log`] reads these lines.

use std::{
    cell::Cell,
    fmt::{self, Write as _},
    fs::File,
    io::Write,
    os::unix::fs::OpenOptionsExt,
    panic::Location,
    path::Path,
    sync::{Mutex, PoisonError, atomic::Ordering::Relaxed},
};

use reenact_trace::{Trace, TraceError};

use super::sent::{Unhandled, label_of};
use crate::{
    Access, Announcement, Change, ControlledActivity, Decision, End, Envelope, Map, Object,
    ObjectName, OperationKind, Selected, Touch, activity::Hot, clock, log::MARK, loom::AtomicU64,
    probes, site::Site,
};

thread_local! {
    /// Whether operations of the calling thread are not steps of its activity in an exploration.
    static IS_ANOTHERS: Cell<bool> = const { Cell::new(false) };
}

/// Runs `action`, whose operations are not steps of the calling activity in an exploration: they are part of another
/// step, or a timer performs them.
pub(crate) fn not_as_itself<R>(action: impl FnOnce() -> R) -> R {
    let before = IS_ANOTHERS.replace(true);
    let result = action();
    IS_ANOTHERS.set(before);
    result
}

/// An operation and its outcome, as far as it is known.
pub(super) struct Happened<'a> {
    pub(super) trace: &'a Trace,
    pub(super) family: &'a str,
    pub(super) who: &'a ControlledActivity,
    pub(super) announcement: &'a Announcement<'a>,
    pub(super) decision: Decision,
    /// How many operations have changed the object before.
    pub(super) place: Option<u64>,
    pub(super) note: Option<&'a str>,
}

/// A line of the log.
#[derive(Default)]
struct LogLine {
    family: String,
    name: String,
    what: &'static str,
    object: String,
    site: String,
    note: String,
    access: &'static str,
    objects: String,
    /// The number of the object whose order the operation is recorded in.
    order: String,
    result: String,
    place: String,
    room: String,
    message: String,
    traits: String,
    announced_at: String,
    ordinal: String,
}

impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields: [&str; 16] = [
            &self.family,
            &self.name,
            self.what,
            &self.object,
            &self.site,
            &self.note,
            self.access,
            &self.objects,
            &self.order,
            &self.result,
            &self.place,
            &self.room,
            &self.message,
            &self.traits,
            &self.announced_at,
            &self.ordinal,
        ];
        f.write_str(&fields.join("\t"))
    }
}

/// A line that is not yet complete. An activity has at most one.
pub(super) struct Unwritten {
    line: LogLine,
    /// For a selection: the cases, and the index of the selected one.
    cases: Option<(Vec<Case>, usize)>,
}

/// A case of a selection: the number of an object, and the access to it.
type Case = (u64, Access);

/// The log file. Each line is one write, so that nothing is lost when the program aborts, and lines are in the order in
/// which the objects saw the operations.
pub(super) struct LogFile {
    file: File,
    /// Messages that were sent and not yet handled.
    unhandled: Unhandled,
    /// All objects by number: where each was made, and whether the log defines it.
    objects: Mutex<Vec<(&'static Location<'static>, bool)>>,
    /// Numbers of objects that consist of several parts, by the address of the first part.
    wholes: Mutex<Map<usize, u64>>,
}

impl LogFile {
    pub(super) fn create(path: &Path) -> Result<LogFile, TraceError> {
        let file = File::options()
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(path)
            .map_err(|source| TraceError::Io {
                action: "cannot create",
                path: path.to_owned(),
                source,
            })?;
        Ok(LogFile {
            file,
            unhandled: Unhandled::default(),
            objects: Mutex::default(),
            wholes: Mutex::default(),
        })
    }

    /// Returns the number of an object in the log, and defines it if `noun`, its type, is known. The number is kept in
    /// the object, so that another object at the same address is not mistaken for it.
    fn number(
        &self,
        cell: &AtomicU64,
        made_at: &'static Location<'static>,
        noun: Option<&str>,
    ) -> u64 {
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        let shift = Object::WISH.count_ones();
        let kept = cell.load(Relaxed) >> shift;
        let is_known = |kept: u64| {
            let object = objects.get((kept as usize).wrapping_sub(1));
            object.is_some_and(|(at, _)| std::ptr::eq(*at, made_at))
        };
        let number = match is_known(kept) {
            true => kept,
            // An object that was numbered in an earlier session is new as well.
            false => {
                objects.push((made_at, false));
                let number = objects.len() as u64;
                let with_number = |kept: u64| Some(kept & Object::WISH | number << shift);
                let _ = cell.fetch_update(Relaxed, Relaxed, with_number);
                number
            }
        };
        let (_, is_defined) = &mut objects[number as usize - 1];
        if let Some(noun) = noun.filter(|_| !*is_defined) {
            *is_defined = true;
            let ObjectName { file, line, .. } = ObjectName::only(noun, made_at);
            let column = made_at.column();
            self.write(&format!(
                "\tobject\t{number}\t{noun}\t{file}\t{line}\t{column}\n"
            ));
        }
        number
    }

    fn touched(&self, operation: &Announcement<'_>, index: usize, touch: &Touch<'_>) -> u64 {
        let is_named = index == 0 || operation.op.kind() == OperationKind::Select;
        let noun = noun_of(operation).filter(|_| is_named);
        self.number(touch.cell, touch.made_at, noun)
    }

    /// Returns the number of the object whose order the operation is recorded in.
    fn order(&self, operation: &Announcement<'_>) -> Option<u64> {
        let object = operation.object?;
        let noun = noun_of(operation).filter(|_| operation.touches.is_empty());
        Some(self.number(&object.wanted, object.made_at, noun))
    }

    fn order_text(&self, operation: &Announcement<'_>) -> String {
        let order = self.order(operation);
        order.map_or_else(String::new, |order| order.to_string())
    }

    /// Describes what an operation acts on.
    fn object_of(&self, happened: &Happened<'_>) -> String {
        let operation = happened.announcement;
        let key = operation.object.map(|object| object.key.load(Relaxed));
        if let Some(clock) = key.and_then(clock::name_of) {
            return clock;
        }
        let touched = operation.touches.first();
        let touched = touched.map(|touch| self.touched(operation, 0, touch));
        let number = touched.or_else(|| self.order(operation));
        let number = number.map(|number| self.whole(operation, number));
        match (number, operation.with) {
            (Some(number), _) => format!("{MARK}{number}{MARK}"),
            (None, Some(other)) => happened.trace.family_name(other),
            (None, None) => "-".to_owned(),
        }
    }

    /// Returns the cases of a selection and the index of the selected one; `None` if it selects none.
    fn cases(
        &self,
        operation: &Announcement<'_>,
        decision: Decision,
    ) -> Option<(Vec<Case>, usize)> {
        let (Access::Ask, Decision::Answer(answer)) = (operation.access, decision) else {
            return None;
        };
        let case = Selected::case(answer).filter(|_| is_at_channel(operation))?;
        let cases = operation.touches.iter().enumerate();
        let number = |(index, touch)| self.touched(operation, index, touch);
        let cases = cases.map(|case| (number(case), case.1.access));
        Some((cases.collect(), case))
    }

    /// Returns the number that the log shows for an object that consists of several parts, from the number of a part.
    fn whole(&self, operation: &Announcement<'_>, number: u64) -> u64 {
        let Some(part) = operation.op.info().part else {
            return number;
        };
        let touched = operation.touches.first().map(|touch| touch.cell);
        let cell = touched.or(operation.object.map(|object| &object.wanted));
        let at = cell.map_or(0, |cell| std::ptr::from_ref(cell).addr());
        let mut wholes = self.wholes.lock().unwrap_or_else(PoisonError::into_inner);
        let whole = wholes.entry(at.wrapping_add_signed(-part));
        match part {
            // An object that was at this address before is gone.
            0 => *whole.insert_entry(number).get(),
            _ => *whole.or_insert(number),
        }
    }

    /// Logs an operation that happens. `unwritten` is the line of the same activity that has not been written yet.
    pub(super) fn happened(&self, happened: &Happened<'_>, unwritten: &mut Option<Unwritten>) {
        let operation = happened.announcement;
        if operation.access == Access::Queue {
            // A replay does not wait for this access.
            return;
        }
        let is_at_channel = is_at_channel(operation);
        let line = self.line(happened);
        let cases = self.cases(operation, happened.decision);
        let next = match unwritten.take() {
            Some(Unwritten {
                line: selection,
                cases: Some(cases),
            }) if is_at_channel => selected(selection, cases, line),
            before => {
                if let Some(before) = before {
                    self.write_line(&before.line);
                }
                line
            }
        };
        let is_kept = cases.is_some()
            || is_at_channel && happened.decision == Decision::Decline
            || is_of_value(operation) && !matches!(happened.decision, Decision::Answer(_));
        match is_kept {
            true => *unwritten = Some(Unwritten { line: next, cases }),
            false => self.write_line(&next),
        }
    }

    /// Writes a kept line: its operation has happened, with this change of a value if there is one.
    pub(super) fn done(
        &self,
        operation: &Announcement<'_>,
        change: Option<Change>,
        unwritten: Unwritten,
    ) {
        let mut line = unwritten.line;
        if let Some(text) = change.and_then(|change| change.text(operation.op.info().values)) {
            line.note = text;
        }
        self.write_line(&line);
    }

    fn line(&self, happened: &Happened<'_>) -> LogLine {
        let operation = happened.announcement;
        let (object, note) = match operation.envelope {
            Some(envelope) => self.message(happened, envelope),
            None => (self.object_of(happened), note_of(happened)),
        };
        let first = operation.touches.first();
        let access = first.map_or(operation.access, |touch| touch.access);
        let mut objects = String::new();
        for (index, touch) in operation.touches.iter().enumerate() {
            let _ = write!(objects, "{} ", self.touched(operation, index, touch));
        }
        let order = self.order_text(operation);
        if objects.is_empty() {
            objects.clone_from(&order);
        }
        let result = match happened.decision {
            Decision::Free => "free".to_owned(),
            Decision::Go => "go".to_owned(),
            Decision::Decline => "decline".to_owned(),
            Decision::Answer(answer) => format!("={answer}"),
            Decision::Way(way) => format!("={way}"),
        };
        let message = match (operation.message(), operation.with) {
            (Some(message), _) => message.key(|number| happened.trace.family_name(number)),
            (None, Some(other)) => happened.trace.family_name(other),
            (None, None) => happened.family.to_owned(),
        };
        let mut traits = String::new();
        let is_step = !(operation.is_settled || IS_ANOTHERS.get());
        let all = [
            (
                is_step && !matches!(access, Access::Outside | Access::Own),
                "step",
            ),
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
        LogLine {
            object,
            note,
            access: access.name(),
            objects: objects.trim_end().to_owned(),
            order,
            result,
            place: happened
                .place
                .map_or_else(String::new, |place| place.to_string()),
            room: first.map_or(usize::MAX, |touch| touch.room).to_string(),
            message,
            traits: traits.trim_end().to_owned(),
            ..columns(happened)
        }
    }

    /// Logs a release.
    pub(super) fn left(
        &self,
        trace: &Trace,
        family: &str,
        who: &ControlledActivity,
        operation: &Announcement<'_>,
    ) {
        if is_at_channel(operation) {
            // At a channel there is nothing to release but the turn.
            return;
        }
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
            (_, true) => "",
            (true, _) => "step panicking",
            (false, _) => "step",
        };
        let line = LogLine {
            object: self.object_of(&happened),
            access: Access::Release.name(),
            order: self.order_text(operation),
            result: "free".to_owned(),
            traits: traits.to_owned(),
            ..columns(&happened)
        };
        self.write_line(&line);
    }

    /// Logs a request for external data.
    pub(super) fn asked(&self, family: &str, operation: &Announcement<'_>, what: &str) {
        let site = Site::text(Site::shown(operation.site));
        self.write_line(&LogLine {
            family: family.to_owned(),
            name: "-".to_owned(),
            what: operation.op.name(),
            object: what.to_owned(),
            site,
            ordinal: ordinal(),
            ..LogLine::default()
        });
    }

    /// Logs that a light activity handles the end of its system.
    pub(super) fn handled(&self, family: &str, message: &str) {
        self.write_line(&LogLine {
            family: family.to_owned(),
            name: "-".to_owned(),
            what: "handle",
            object: message.to_owned(),
            ordinal: ordinal(),
            ..LogLine::default()
        });
    }

    /// Returns the object and the note of a line for a message that is sent or handled.
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
                match &*sent.site {
                    "" => (sent.label, from),
                    site => (sent.label, format!("{from} at {site}")),
                }
            }
            None => (which.to_owned(), String::new()),
        }
    }

    fn write_line(&self, line: &LogLine) {
        let moment = probes::moment().map_or_else(String::new, |moment| moment.to_string());
        self.write(&format!("{line}\t{moment}\n"));
    }

    fn write(&self, line: &str) {
        // A log that cannot be written must not change the replay.
        let _ = (&self.file).write_all(line.as_bytes());
    }
}

/// Merges the line of a selection with the line of the selected operation.
fn selected(selection: LogLine, (cases, case): (Vec<Case>, usize), line: LogLine) -> LogLine {
    let text = |&(number, access): &Case| match end_of(access) {
        End::Sending => format!("send to {MARK}{number}{MARK}"),
        End::Receiving => format!("receive from {MARK}{number}{MARK}"),
    };
    let note = match (&*cases, &*line.note) {
        ([_], note) => note.to_owned(),
        (cases, note) => {
            let all: Vec<_> = cases.iter().map(text).collect();
            let chosen = cases.get(case).map(text).unwrap_or_default();
            let note = if note.is_empty() {
                String::new()
            } else {
                format!(" ({note})")
            };
            format!("{chosen}{note}, of: {}", all.join(", "))
        }
    };
    LogLine {
        object: line.object,
        site: line.site,
        note,
        place: line.place,
        order: line.order,
        result: format!("{} {}", selection.result, line.result),
        ..selection
    }
}

/// Fills in the columns for the activity, the operation and the location.
fn columns(happened: &Happened<'_>) -> LogLine {
    let operation = happened.announcement;
    let name = match happened.who.name.as_str() {
        "" => "-",
        name => name,
    };
    // The site of a turn is not a line of the program.
    let site = match operation.op.kind() {
        OperationKind::Turn => None,
        _ => Site::shown(operation.site),
    };
    LogLine {
        family: happened.family.to_owned(),
        name: name.to_owned(),
        what: operation.op.name(),
        site: Site::text(site),
        announced_at: operation.site.to_string(),
        ordinal: ordinal(),
        ..LogLine::default()
    }
}

/// Returns how many operations the calling activity has done, the current one included.
fn ordinal() -> String {
    // SAFETY: The pointer is null or valid, as explained in `fast_path::take`.
    let fast_path = unsafe { Hot::fast_path().as_ref() };
    fast_path.map_or_else(String::new, |path| path.position().to_string())
}

/// Returns the note on an operation that has not happened yet.
fn note_of(happened: &Happened<'_>) -> String {
    let operation = happened.announcement;
    let note = match (happened.decision, operation.access) {
        (Decision::Decline, Access::Wake { .. }) => "timed out",
        (Decision::Decline, _) if is_at_channel(operation) => "disconnected",
        (Decision::Decline, _) => "not to be had",
        (Decision::Answer(answer), Access::Ask) if is_at_channel(operation) => {
            match (Selected::case(answer), operation.op.kind()) {
                (Some(_), _) => "",
                (None, _) if operation.is_timed => "timed out",
                (None, OperationKind::ChannelSend) => "full",
                (None, OperationKind::ChannelReceive) => "empty",
                (None, _) => "none was possible",
            }
        }
        (Decision::Answer(value), _) if is_of_value(operation) => {
            let text = Change::from(value).text(operation.op.info().values);
            return text.unwrap_or_default();
        }
        _ => happened.note.unwrap_or_default(),
    };
    note.to_owned()
}

/// Whether the operation reads or writes a value.
fn is_of_value(operation: &Announcement<'_>) -> bool {
    operation.object.is_some() && matches!(operation.access, Access::Read | Access::Write)
}

/// Whether the operation is at one or several ends of channels.
fn is_at_channel(operation: &Announcement<'_>) -> bool {
    use OperationKind::{ChannelClose, ChannelReceive, ChannelSend, Select};
    let kind = operation.op.kind();
    matches!(kind, ChannelSend | ChannelReceive | ChannelClose | Select)
}

fn end_of(access: Access) -> End {
    match access {
        Access::Send | Access::TrySend | Access::SendTimeout | Access::DropSender => End::Sending,
        _ => End::Receiving,
    }
}

/// Returns the type of an operation's object. An operation on a part does not know the type of the whole.
fn noun_of(operation: &Announcement<'_>) -> Option<&'static str> {
    let is_part = operation.op.info().part.is_some_and(|part| part != 0);
    (!is_part).then(|| operation.op.object())
}
