//! What a program that explored itself tells.

use std::{ffi::OsStr, fmt, fs, path::Path};

use indicatif::HumanCount;
use reenact_trace::Exit;
use serde::Serialize;

use crate::error::Failure;

/// What was told.
#[derive(Debug, Default, Serialize)]
pub(super) struct Told {
    pub(super) executions: u64,
    /// What has been tried, a sentence for each part.
    pub(super) covered: Vec<String>,
    /// Whether that is everything.
    pub(super) complete: bool,
    pub(super) failures: Vec<String>,
    /// In which execution the failure was.
    pub(super) execution: Option<u64>,
    /// Where a schedule does not fit.
    pub(super) misfit: Option<String>,
    /// Where a recording does not fit: then there is nothing else.
    pub(super) divergence: Option<String>,
    /// How it comes to the failure.
    pub(super) story: Option<String>,
    /// Whether what was recorded fails.
    #[serde(skip)]
    pub(super) base_is_bad: bool,
    /// What could have happened.
    pub(super) outcomes: Vec<Outcome>,
    #[serde(skip)]
    pub(super) schedules: Vec<String>,
}

/// Something that could have happened.
#[derive(Debug, Default, Serialize)]
pub(super) struct Outcome {
    pub(super) outcome: String,
    pub(super) bad: bool,
    /// By how many reorderings it differs from what was recorded.
    pub(super) distance: u32,
    /// In how many executions.
    pub(super) count: u64,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) executions: u64,
    /// How many there will be in all, if that can be told.
    pub(super) estimate: Option<u64>,
}

/// Beyond this, a number says no more than that it is no use to wait.
const TOO_MANY: u64 = 1_000_000_000_000;

impl Progress {
    /// What was told last.
    pub(super) fn read(report: &Path) -> Option<Progress> {
        Progress::last_of(&fs::read_to_string(report).ok()?)
    }

    fn last_of(report: &str) -> Option<Progress> {
        let mut lines = report.lines().rev();
        let last = lines.find_map(|line| line.strip_prefix("progress\t"))?;
        let mut numbers = last.split('\t').map(|number| number.parse().ok());
        Some(Progress {
            executions: numbers.next()??,
            estimate: numbers.nth(1).flatten(),
        })
    }

    /// Whether most is yet to come, as far as that can be told.
    pub(super) fn is_far_from_its_end(&self) -> bool {
        let estimate = self.estimate.unwrap_or(0);
        estimate / 2 > self.executions
    }

    /// What follows the number of executions so far.
    pub(super) fn unit(&self) -> String {
        let unit = match self.executions {
            1 => "execution",
            _ => "executions",
        };
        match self.estimate.map(|estimate| estimate.max(self.executions)) {
            None => unit.to_owned(),
            Some(TOO_MANY..) => format!("{unit}, more than {} in all", HumanCount(TOO_MANY)),
            Some(estimate) => format!("{unit}, about {} in all", HumanCount(rounded(estimate))),
        }
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", HumanCount(self.executions), self.unit())
    }
}

/// To two digits: more would look as if they were known.
fn rounded(number: u64) -> u64 {
    let unit = 10u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(1));
    (number + unit / 2) / unit * unit
}

impl Told {
    /// Reads a report. One that is not whole is none.
    pub(super) fn read(text: &str, exit: Exit, program: &OsStr) -> Result<Told, Failure> {
        let mut told = Told::default();
        let mut is_whole = false;
        for line in text.lines() {
            let (what, value) = line.split_once('\t').unwrap_or((line, ""));
            let value = unescape(value);
            let number = || value.parse().unwrap_or_default();
            match what {
                "error" => {
                    return Err(Failure::Exploration {
                        program: program.to_owned(),
                        error: value,
                    });
                }
                "executions" => told.executions = number(),
                "complete" => told.complete = value == "true",
                "covered" => told.covered.push(value),
                "failure" => told.failures.push(value),
                "execution" => told.execution = Some(number()),
                "misfit" => told.misfit = Some(value),
                "divergence" => told.divergence = Some(value),
                // What was told before is not so.
                "again" => {
                    told = Told::default();
                    is_whole = false;
                }
                "story" => told.story = Some(value),
                "base" => told.base_is_bad = value == "true",
                "outcome" => told.outcomes.push(Outcome {
                    outcome: value,
                    ..Outcome::default()
                }),
                "schedule" => told.schedules.push(value),
                "end" => is_whole = true,
                _ => {
                    if let Some(last) = told.outcomes.last_mut() {
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
            true => Ok(told),
            false => Err(Failure::NotExplored {
                program: program.to_owned(),
                exit,
            }),
        }
    }

    /// What has been tried.
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
    use super::Progress;

    fn text(report: &str) -> String {
        Progress::last_of(report).expect("it is told").to_string()
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
            Progress {
                executions,
                estimate,
            }
            .is_far_from_its_end()
        };
        assert_eq!(
            [None, Some(1_500), Some(9_000)].map(is_far),
            [false, false, true]
        );
        assert_eq!(Progress::last_of("covered\tnothing\n"), None);
    }
}
