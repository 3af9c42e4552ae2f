//! What happened in which order, as text: one line per operation of the replay, for `reenact` to show.

use std::{fs::File, io::Write, path::Path};

use reenact_trace::{Trace, TraceError};

use super::{
    name_of,
    sent::{Unhandled, label_of},
};
use crate::{Access, Activity, Announcement, Arrival, Decision, Envelope, seat::HANDLE};

/// The file. A line is one write, so that nothing is lost when the program aborts, and lines are in the order in
/// which the entities saw the operations.
pub(super) struct Log {
    file: File,
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

    pub(super) fn happened(
        &self,
        trace: &Trace,
        family: &str,
        who: &Activity,
        operation: &Announcement<'_>,
        decision: Decision,
    ) {
        if let Some(envelope) = operation.envelope {
            return self.sent(trace, family, who, operation, envelope, decision);
        }
        let note = match decision {
            Decision::Decline if matches!(operation.access, Access::Wake { .. }) => "timed out",
            Decision::Decline => "not to be had",
            _ => "",
        };
        self.line(trace, family, who, operation, note);
    }

    pub(super) fn left(
        &self,
        trace: &Trace,
        family: &str,
        who: &Activity,
        operation: &Announcement<'_>,
    ) {
        self.line(trace, family, who, operation, "");
    }

    /// The world outside is asked for something.
    pub(super) fn asked(&self, family: &str, operation: &Announcement<'_>, what: &str) {
        let site = operation.site;
        let name = operation.op.name();
        self.write(&format!("{family}\t-\t{name}\t{what}\t{site}\t\n"));
    }

    /// A message is sent.
    fn sent(
        &self,
        trace: &Trace,
        family: &str,
        who: &Activity,
        operation: &Announcement<'_>,
        envelope: &Envelope<'_>,
        decision: Decision,
    ) {
        let label = label_of(operation);
        self.unhandled.put(operation, decision, &label);
        let receiver = trace.family_name(envelope.to);
        let (name, what) = (thread_of(who), operation.op.name());
        let site = operation.site;
        self.write(&format!(
            "{family}\t{name}\t{what}\t{receiver}\t{site}\t{label}\n"
        ));
    }

    /// A light activity handles a message, which is this one among those that it has.
    pub(super) fn handled(
        &self,
        trace: &Trace,
        family: &str,
        by: u32,
        arrival: Arrival,
        which: &str,
    ) {
        let what = HANDLE.name();
        let line = match self.unhandled.take(by, arrival) {
            Some(sent) => {
                let from = sent.from.map(|from| trace.family_name(from));
                let from = from.map_or_else(|| which.to_owned(), |from| format!("from {from}"));
                format!("{}\t\t{from} at {}", sent.label, sent.site)
            }
            None => format!("{which}\t\t"),
        };
        self.write(&format!("{family}\t-\t{what}\t{line}\n"));
    }

    fn line(
        &self,
        trace: &Trace,
        family: &str,
        who: &Activity,
        operation: &Announcement<'_>,
        note: &str,
    ) {
        let what = operation.op.name();
        let name = thread_of(who);
        let entity = operation
            .entity
            .map_or_else(|| "-".to_owned(), |entity| name_of(trace, entity));
        let line = format!(
            "{family}\t{name}\t{what}\t{entity}\t{}\t{note}\n",
            operation.site
        );
        self.write(&line);
    }

    fn write(&self, line: &str) {
        // A log that cannot be written must not change the replay.
        let _ = (&self.file).write_all(line.as_bytes());
    }
}

fn thread_of(who: &Activity) -> &str {
    match who.name.as_str() {
        "" => "-",
        name => name,
    }
}
