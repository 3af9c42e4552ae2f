//! Reads the reports of a program that explores itself.

use std::{
    ffi::OsStr,
    fmt,
    fs::File,
    io::{ErrorKind, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use indicatif::HumanCount;
use reenact_engine::explore::protocol::{Exploration, ExplorationReport, Report, receive, refusal};
use reenact_explore::Progress;
use reenact_trace::Exit;

use crate::error::Error;

/// Reads the reports while they are being written.
pub(super) struct Reports {
    path: PathBuf,
    file: Option<File>,
    /// The latest progress.
    pub(super) progress: Option<ProgressText>,
    result: Option<ExplorationReport>,
}

impl Reports {
    pub(super) fn of(path: &Path) -> Reports {
        Reports {
            path: path.to_owned(),
            file: None,
            progress: None,
            result: None,
        }
    }

    /// Reads the reports that have been written since the last call.
    pub(super) fn read(&mut self) {
        if self.file.is_none() {
            self.file = File::open(&self.path).ok();
        }
        let Some(file) = &mut self.file else {
            return;
        };
        while let Ok(position) = file.stream_position() {
            match receive(file) {
                Ok(Report::Progress(progress)) => self.progress = Some(ProgressText(progress)),
                Ok(Report::Explored(report)) => self.result = Some(report),
                Err(error) => {
                    // The rest may not have been written yet.
                    if error.kind() == ErrorKind::UnexpectedEof {
                        let _ = file.seek(SeekFrom::Start(position));
                    }
                    return;
                }
            }
        }
    }

    /// Returns the result of a program that has ended.
    pub(super) fn finish(
        mut self,
        exit: Exit,
        program: &OsStr,
    ) -> Result<ExplorationReport, Error> {
        if let Some(error) = refusal(&self.path) {
            return Err(Error::Exploration {
                program: program.to_owned(),
                error,
            });
        }
        self.read();
        let report = self.result.ok_or_else(|| Error::NotExplored {
            program: program.to_owned(),
            exit,
        })?;
        check(&report.exploration)?;
        Ok(report)
    }
}

/// The progress of an exploration, as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProgressText(pub(super) Progress);

/// Estimates above this are not printed exactly: the exploration will not finish anyway.
const TOO_MANY: u64 = 1_000_000_000_000;

impl ProgressText {
    /// Whether, by the estimate, less than half of the executions is done.
    pub(super) fn is_far_from_its_end(&self) -> bool {
        let estimate = self.0.estimate.unwrap_or(0);
        estimate / 2 > self.0.executions
    }

    /// Returns the text that follows the number of executions.
    pub(super) fn unit(&self) -> String {
        let Progress {
            executions,
            estimate,
            ..
        } = self.0;
        let unit = match executions {
            1 => "execution",
            _ => "executions",
        };
        match estimate.map(|estimate| estimate.max(executions)) {
            None => unit.to_owned(),
            Some(TOO_MANY..) => format!("{unit}, more than {} in all", HumanCount(TOO_MANY)),
            Some(estimate) => format!("{unit}, about {} in all", HumanCount(rounded(estimate))),
        }
    }
}

impl fmt::Display for ProgressText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", HumanCount(self.0.executions), self.unit())
    }
}

/// Rounds to two digits: an estimate is not more precise than that.
fn rounded(number: u64) -> u64 {
    let unit = 10u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(1));
    (number + unit / 2) / unit * unit
}

/// Returns an error if no execution came to its end.
fn check(exploration: &Exploration) -> Result<(), Error> {
    match &exploration.obstacle {
        Some(obstacle) if exploration.executions == 0 => {
            let mut why = exploration.incomplete.clone();
            if !why.contains(obstacle) {
                why.insert(0, obstacle.clone());
            }
            Err(Error::NothingExplored(why.join("; ")))
        }
        _ => Ok(()),
    }
}

/// Returns the reasons why something is left to explore, a line for each.
pub(super) fn what_is_left(exploration: &Exploration) -> String {
    let reasons = exploration.incomplete.iter();
    reasons.map(|reason| format!("\n  {reason}")).collect()
}

/// Returns a summary of what was explored.
pub(super) fn covered(exploration: &Exploration) -> String {
    let executions = match exploration.executions {
        1 => "1 execution".to_owned(),
        executions => format!("{executions} executions"),
    };
    let found = exploration
        .execution
        .map(|number| format!("found in execution {number}"));
    let parts = found.into_iter().chain([executions]);
    parts
        .chain(exploration.covered.iter().cloned())
        .collect::<Vec<_>>()
        .join("; ")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use reenact_engine::explore::protocol::send;

    use super::*;

    fn progress(executions: u64, estimate: Option<u64>) -> Progress {
        Progress {
            executions,
            estimate,
            ..Progress::default()
        }
    }

    #[test]
    fn how_far_it_is_and_how_far_it_will_be() {
        let text = |executions, estimate| ProgressText(progress(executions, estimate)).to_string();
        assert_eq!(text(1204, None), "1,204 executions");
        let size = |estimate| text(1204, Some(estimate));
        assert_eq!(size(8_972), "1,204 executions, about 9,000 in all");
        assert_eq!(size(123_456), "1,204 executions, about 120,000 in all");
        assert_eq!(size(7), "1,204 executions, about 1,200 in all");
        assert_eq!(
            size(u64::MAX),
            "1,204 executions, more than 1,000,000,000,000 in all"
        );
        assert_eq!(text(1, Some(1)), "1 execution, about 1 in all");
        let is_far = |estimate| ProgressText(progress(1_000, estimate)).is_far_from_its_end();
        assert_eq!(
            [None, Some(1_500), Some(9_000)].map(is_far),
            [false, false, true]
        );
    }

    #[test]
    fn a_report_that_is_being_written_is_read_when_it_is_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report");
        let mut reports = Reports::of(&path);
        reports.read();
        let mut file = File::create(&path).unwrap();
        send(&mut file, &Report::Progress(progress(1, None))).unwrap();
        let mut bytes = Vec::new();
        send(&mut bytes, &Report::Progress(progress(2, Some(300)))).unwrap();
        let last = bytes.pop().unwrap();
        file.write_all(&bytes).unwrap();
        reports.read();
        assert_eq!(reports.progress, Some(ProgressText(progress(1, None))));
        file.write_all(&[last]).unwrap();
        reports.read();
        assert_eq!(reports.progress, Some(ProgressText(progress(2, Some(300)))));
        let unfinished = reports.finish(Exit::Status(1), "app".as_ref());
        assert!(matches!(unfinished, Err(Error::NotExplored { .. })));
    }
}
