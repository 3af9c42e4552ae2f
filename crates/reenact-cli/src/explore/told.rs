//! What a program that explored itself tells.

use std::{ffi::OsStr, fs, path::Path};

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

impl Told {
    /// How many executions there have been so far.
    pub(super) fn progress(report: &Path) -> Option<u64> {
        let text = fs::read_to_string(report).ok()?;
        let last = text
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix("progress\t"))?;
        last.split('\t').next()?.parse().ok()
    }

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
