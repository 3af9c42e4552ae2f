//! Reads the report of a program that has explored itself.

use std::{ffi::OsStr, fmt, fs, path::Path};

use indicatif::HumanCount;
use reenact_explore::Progress;
use reenact_trace::Exit;
use serde::Serialize;

use crate::error::Error;

/// The content of the report.
#[derive(Debug, Default, Serialize)]
pub(super) struct ExplorationReport {
    pub(super) executions: u64,
    /// What was explored, one sentence per part.
    pub(super) covered: Vec<String>,
    /// Whether nothing is left to explore.
    pub(super) complete: bool,
    /// Why something is left to explore, one sentence for each reason.
    pub(super) incomplete: Vec<String>,
    /// Why the exploration could not go on.
    pub(super) obstacle: Option<String>,
    pub(super) failures: Vec<String>,
    /// The number of the execution that failed.
    pub(super) execution: Option<u64>,
    /// Where the program does not follow the given schedule or recording. If it is a recording, nothing was explored.
    pub(super) divergence: Option<String>,
    /// The schedule that leads to the failure, step by step.
    pub(super) story: Option<String>,
    /// Whether the recorded execution fails.
    #[serde(skip)]
    pub(super) base_is_bad: bool,
    /// The outcomes that were found.
    pub(super) outcomes: Vec<FoundOutcome>,
    #[serde(skip)]
    pub(super) schedules: Vec<String>,
}

/// An outcome that was found.
#[derive(Debug, Default, Serialize)]
pub(super) struct FoundOutcome {
    pub(super) outcome: String,
    pub(super) bad: bool,
    /// The number of reorderings between the recorded execution and this one.
    pub(super) distance: u32,
    /// The number of executions with this outcome.
    pub(super) count: u64,
}

/// The progress of an exploration, as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProgressText(pub(super) Progress);

/// Estimates above this are not printed exactly: the exploration will not finish anyway.
const TOO_MANY: u64 = 1_000_000_000_000;

impl ProgressText {
    /// Reads the latest progress from the report.
    pub(super) fn read(report: &Path) -> Option<ProgressText> {
        ProgressText::last_of(&fs::read_to_string(report).ok()?)
    }

    fn last_of(report: &str) -> Option<ProgressText> {
        let mut lines = report.lines().rev();
        let last = lines.find_map(|line| line.strip_prefix("progress\t"))?;
        let mut numbers = last.split('\t').map(|number| number.parse().ok());
        Some(ProgressText(Progress {
            executions: numbers.next()??,
            steps: numbers.next()??,
            estimate: numbers.next().flatten(),
            ..Progress::default()
        }))
    }

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

impl ExplorationReport {
    /// Reads a report. A report without its end is an error.
    pub(super) fn read(
        text: &str,
        exit: Exit,
        program: &OsStr,
    ) -> Result<ExplorationReport, Error> {
        let mut exploration = ExplorationReport::default();
        let mut is_whole = false;
        for line in text.lines() {
            let (what, value) = line.split_once('\t').unwrap_or((line, ""));
            let value = unescape(value);
            let number = || value.parse().unwrap_or_default();
            match what {
                "error" => {
                    return Err(Error::Exploration {
                        program: program.to_owned(),
                        error: value,
                    });
                }
                "executions" => exploration.executions = number(),
                "complete" => exploration.complete = value == "true",
                "incomplete" => exploration.incomplete.push(value),
                "obstacle" => exploration.obstacle = Some(value),
                "covered" => exploration.covered.push(value),
                "failure" => exploration.failures.push(value),
                "execution" => exploration.execution = Some(number()),
                "divergence" => exploration.divergence = Some(value),
                // The program starts over: what it reported before is void.
                "again" => {
                    exploration = ExplorationReport::default();
                    is_whole = false;
                }
                "story" => exploration.story = Some(value),
                "base" => exploration.base_is_bad = value == "true",
                "outcome" => exploration.outcomes.push(FoundOutcome {
                    outcome: value,
                    ..FoundOutcome::default()
                }),
                "schedule" => exploration.schedules.push(value),
                "end" => is_whole = true,
                _ => {
                    if let Some(last) = exploration.outcomes.last_mut() {
                        match what {
                            "bad" => last.bad = value == "true",
                            "distance" => last.distance = value.parse().unwrap_or_default(),
                            "count" => last.count = number(),
                            _ => {}
                        }
                    }
                }
            }
        }
        match is_whole {
            true => Ok(exploration),
            false => Err(Error::NotExplored {
                program: program.to_owned(),
                exit,
            }),
        }
    }

    /// Returns an error if no execution came to its end.
    pub(super) fn check(self) -> Result<ExplorationReport, Error> {
        match &self.obstacle {
            Some(obstacle) if self.executions == 0 => {
                let mut why = self.incomplete.clone();
                if !why.contains(obstacle) {
                    why.insert(0, obstacle.clone());
                }
                Err(Error::NothingExplored(why.join("; ")))
            }
            _ => Ok(self),
        }
    }

    /// Returns the reasons why something is left to explore, a line for each.
    pub(super) fn what_is_left(&self) -> String {
        let reasons = self.incomplete.iter();
        reasons.map(|reason| format!("\n  {reason}")).collect()
    }

    /// Returns a summary of what was explored.
    pub(super) fn covered(&self) -> String {
        let executions = match self.executions {
            1 => "1 execution".to_owned(),
            executions => format!("{executions} executions"),
        };
        let found = self
            .execution
            .map(|number| format!("found in execution {number}"));
        let parts = found.into_iter().chain([executions]);
        parts
            .chain(self.covered.iter().cloned())
            .collect::<Vec<_>>()
            .join("; ")
    }
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some(other) => out.push(other),
                None => {}
            },
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Progress, ProgressText};

    fn text(report: &str) -> String {
        ProgressText::last_of(report)
            .expect("there is one")
            .to_string()
    }

    #[test]
    fn how_far_it_is_and_how_far_it_will_be() {
        assert_eq!(
            text("progress\t0\t0\nprogress\t1204\t9632\n"),
            "1,204 executions"
        );
        let size = |estimate: u64| text(&format!("progress\t1204\t9632\t{estimate}\n"));
        assert_eq!(size(8_972), "1,204 executions, about 9,000 in all");
        assert_eq!(size(123_456), "1,204 executions, about 120,000 in all");
        assert_eq!(size(7), "1,204 executions, about 1,200 in all");
        assert_eq!(
            size(u64::MAX),
            "1,204 executions, more than 1,000,000,000,000 in all"
        );
        assert_eq!(text("progress\t1\t8\t1\n"), "1 execution, about 1 in all");
        let is_far = |estimate| {
            let executions = 1_000;
            let progress = Progress {
                executions,
                estimate,
                ..Progress::default()
            };
            ProgressText(progress).is_far_from_its_end()
        };
        assert_eq!(
            [None, Some(1_500), Some(9_000)].map(is_far),
            [false, false, true]
        );
        assert_eq!(ProgressText::last_of("covered\tnothing\n"), None);
    }
}
