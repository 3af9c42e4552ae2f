//! Exploring from a recording: what happened is a path through the multiverse, and what else could have happened is beside it.
//!
//! The recorded run is replayed once, with a log of its operations. That is a schedule, which the program follows when it
//! explores, and around which it looks.

use std::path::Path;

use reenact::explore::{Line, Schedule};
use reenact_trace::Exit;
use serde::Serialize;
use tempfile::TempDir;

use super::{
    print, print_json,
    program::{Errand, keep},
    told::{Outcome, Told},
};
use crate::{
    args::ExploreArgs,
    error::Failure,
    replay::{Operation, Output, Plan, Request, log},
    report, signals,
};

/// How far to look, if nobody says.
const NEAR: u32 = 2;

pub(super) fn run(args: &ExploreArgs, file: &Path) -> Result<Exit, Failure> {
    signals::take_over();
    let options = &args.program;
    let plan = Plan::new(&Request {
        trace: file,
        force: options.force,
        command: &args.command,
        really_write: false,
    })?;
    plan.notes().iter().for_each(report::note);
    let scratch = TempDir::new().map_err(Failure::Scratch)?;
    let log = scratch.path().join("log");
    let outcome = plan.run(Output::Hidden.stdio(), scratch.path(), Some(&log))?;
    if let Some(signal) = signals::received() {
        return Ok(Exit::Signal(signal));
    }
    if !outcome.is_same() {
        report::note(format_args!(
            "the recorded run could not be replayed: {outcome}"
        ));
    }
    let recorded = Recorded::read(&log)?;
    let path = scratch.path().join("recorded.schedule");
    std::fs::write(&path, recorded.schedule.to_string()).map_err(Failure::Scratch)?;
    let mut errand = Errand::of(args);
    errand.ask_for_file("schedule", &path)?;
    errand.ask_for_file("recording", file)?;
    errand.ask("around", "");
    if let Some(event) = options.from {
        errand.ask("from", &recorded.line_of(event).to_string());
    }
    if !options.other_outcomes {
        errand.ask("near", &options.near.unwrap_or(NEAR).to_string());
    }
    let Some(told) = errand.run(&mut plan.command(), true)? else {
        return Ok(Exit::Signal(signals::received().unwrap_or(libc::SIGINT)));
    };
    tell(args, file, &told)
}

/// What was recorded, as a schedule.
struct Recorded {
    schedule: Schedule,
    /// Which operation of the log each line is, from 1.
    numbers: Vec<usize>,
}

impl Recorded {
    fn read(path: &Path) -> Result<Recorded, Failure> {
        let mut recorded = Recorded {
            schedule: Schedule::default(),
            numbers: Vec::new(),
        };
        // What an activity does at one line of the program, one operation after the other, is one step of its own there.
        let mut last: std::collections::HashMap<String, (String, String)> = Default::default();
        for (number, operation) in (1..).zip(log::read(path)?) {
            let Operation {
                activity,
                operation,
                source,
                ..
            } = operation;
            // These are steps for a debugger only.
            let is_own = ["spawn", "spawn a task", "begin", "end", "join"];
            let is_release = ["unlock", "unlock after reading", "unlock after writing"];
            if is_release.contains(&&*operation) || is_own.contains(&&*operation) {
                continue;
            }
            let group = last.entry(activity.clone()).or_default();
            let goes_on = !source.is_empty() && group.1 == source && group.0 != operation;
            if goes_on {
                continue;
            }
            *group = (operation.clone(), source.clone());
            recorded.numbers.push(number);
            recorded.schedule.lines.push(Line {
                who: activity,
                what: operation,
                site: source,
                choice: 0,
            });
        }
        Ok(recorded)
    }

    /// The line of the schedule at which this operation is, or the next one after it.
    fn line_of(&self, event: usize) -> usize {
        self.numbers.partition_point(|&number| number < event)
    }
}

#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    told: &'a Told,
    schedules: &'a [String],
}

fn tell(args: &ExploreArgs, file: &Path, told: &Told) -> Result<Exit, Failure> {
    let name = args.program.output.as_deref().unwrap_or(file);
    let name = Path::new(name.file_name().unwrap_or_default());
    let directory = args.program.output.as_ref().and_then(|path| path.parent());
    let mut kept = Vec::new();
    for (number, schedule) in (1..).zip(&told.schedules) {
        let file = name.with_extension(format!("{number}.schedule"));
        let file = directory.unwrap_or(Path::new("")).join(file);
        keep(&file, schedule)?;
        kept.push(file.display().to_string());
    }
    if args.json {
        print_json(&Summary {
            told,
            schedules: &kept,
        })?;
    } else {
        print(|out| {
            if let Some(misfit) = &told.misfit {
                writeln!(
                    out,
                    "what was recorded is followed as closely as can be: {misfit}\n"
                )?;
            }
            let base = told.outcomes.first();
            for (outcome, schedule) in told.outcomes.iter().zip(&kept) {
                let Outcome {
                    outcome,
                    distance,
                    count,
                    ..
                } = outcome;
                let far = match distance {
                    0 => "what was recorded".to_owned(),
                    1 => "1 reordering away".to_owned(),
                    far => format!("{far} reorderings away"),
                };
                let times = match count {
                    1 => "once".to_owned(),
                    count => format!("{count} times"),
                };
                writeln!(out, "{far}, {times}: {schedule}")?;
                for line in outcome.lines() {
                    writeln!(out, "  {line}")?;
                }
            }
            writeln!(out, "\n{}", told.covered())?;
            let is_bad = base.is_some_and(|base| base.bad);
            let closest = (told.outcomes.iter().zip(&kept)).find(|(other, _)| other.bad != is_bad);
            match (is_bad, closest) {
                (true, Some((_, schedule))) => {
                    writeln!(
                        out,
                        "the closest execution that does not fail is {schedule}"
                    )?;
                }
                (true, None) => writeln!(out, "none of them does not fail")?,
                (false, Some((_, schedule))) => {
                    writeln!(out, "the closest execution that fails is {schedule}")?;
                }
                (false, None) => writeln!(out, "none of them fails")?,
            }
            Ok(())
        })?;
    }
    Ok(Exit::Status(i32::from(
        told.outcomes.iter().any(|outcome| outcome.bad),
    )))
}
