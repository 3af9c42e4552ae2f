//! What happened in which order, as text: one line per operation of the replay, for `reenact` to show.

use std::{fs::File, io::Write, path::Path};

use reenact_trace::{Trace, TraceError};

use super::name_of;
use crate::{Access, Activity, Announcement, Decision};

/// The file. A line is one write, so that nothing is lost when the program aborts, and lines are in the order in
/// which the entities saw the operations.
pub(super) struct Log {
    file: File,
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
        Ok(Log { file })
    }

    pub(super) fn happened(
        &self,
        trace: &Trace,
        family: &str,
        who: &Activity,
        operation: &Announcement<'_>,
        decision: Decision,
    ) {
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

    /// A light activity handles a message. Which code that is, only the program knows.
    pub(super) fn handled(&self, family: &str, message: &str) {
        self.write(&format!("{family}\t-\thandle\t{message}\t\t\n"));
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
        let name = match who.name.as_str() {
            "" => "-",
            name => name,
        };
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
