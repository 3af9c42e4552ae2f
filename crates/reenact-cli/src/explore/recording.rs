//! Explores from a recording: the recorded run is a path through the multiverse, and the exploration looks for other
//! outcomes near it.
//!
//! The recorded run is replayed once, with a log of its operations. The exploration first follows these operations, and
//! then varies them. If the program does not follow them, this is reported and nothing is explored.

use std::path::Path;

use rustix::fs::SeekFrom;

use reenact_engine::explore::protocol::{Exploration, ExplorationReport, FoundOutcome};
use reenact_trace::Exit;
use serde::Serialize;

use super::{
    exploration::{covered, what_is_left},
    print, print_json,
    program::{ExplorationRequest, keep},
};
use crate::{
    args::ExploreArgs,
    error::Error,
    recorded_path::{RecordedPath, Replayed},
    replay::DIVERGED,
    signals,
};

/// Default distance from the recorded run, in reorderings.
const NEAR: u32 = 2;

pub(super) fn run(args: &ExploreArgs, file: &Path) -> Result<Exit, Error> {
    signals::take_over();
    let options = &args.program;
    // What the replay reads of it, the executions read again.
    let input = rustix::fs::tell(std::io::stdin());
    let recording = match RecordedPath::replay(file, options.force, &args.command, options.trust) {
        Ok(Replayed::RecordedPath(recording)) => recording,
        Ok(Replayed::Interrupted(exit)) => return Ok(exit),
        Err(Error::Unfit(divergence)) => return does_not_fit(args, &divergence),
        Err(error) => return Err(error),
    };
    if let Ok(position) = input {
        let _ = rustix::fs::seek(std::io::stdin(), SeekFrom::Start(position));
    }
    let mut request = ExplorationRequest::of(args);
    request.ask_all(&recording.request()?);
    request.ask("around", "");
    if let Some(event) = options.from {
        request.ask("from", &event.to_string());
    }
    if !options.other_outcomes {
        request.ask("near", &options.near.unwrap_or(NEAR).to_string());
    }
    let Some(found) = request.run(&mut recording.command()?, true)? else {
        return Ok(Exit::Signal(signals::received().unwrap_or(libc::SIGINT)));
    };
    match &found.exploration.divergence {
        Some(divergence) => does_not_fit(args, divergence),
        None => report(args, file, &found),
    }
}

/// Reports that the program does not follow the recording, so that nothing could be explored.
fn does_not_fit(args: &ExploreArgs, divergence: &str) -> Result<Exit, Error> {
    if args.json {
        print_json(&Exploration {
            divergence: Some(divergence.to_owned()),
            ..Exploration::default()
        })?;
    } else {
        print(|out| {
            writeln!(
                out,
                "the recording cannot be explored: {divergence}\nnothing was explored"
            )
        })?;
    }
    Ok(Exit::Status(DIVERGED))
}

#[derive(Serialize)]
struct OutcomesJson<'a> {
    #[serde(flatten)]
    exploration: &'a Exploration,
    schedules: &'a [String],
}

fn report(args: &ExploreArgs, file: &Path, report: &ExplorationReport) -> Result<Exit, Error> {
    let ExplorationReport {
        exploration,
        schedules,
    } = report;
    let name = args.program.output.as_deref().unwrap_or(file);
    let name = Path::new(name.file_name().unwrap_or_default());
    let directory = args.program.output.as_ref().and_then(|path| path.parent());
    let mut kept = Vec::new();
    for (number, schedule) in (1..).zip(schedules) {
        let file = name.with_extension(format!("{number}.schedule"));
        let file = directory.unwrap_or(Path::new("")).join(file);
        keep(&file, schedule)?;
        kept.push(file.display().to_string());
    }
    if args.json {
        print_json(&OutcomesJson {
            exploration,
            schedules: &kept,
        })?;
    } else {
        print(|out| {
            let base = exploration.outcomes.first();
            for (outcome, schedule) in exploration.outcomes.iter().zip(&kept) {
                let FoundOutcome {
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
            writeln!(out, "\n{}", covered(exploration))?;
            let is_bad = base.is_some_and(|base| base.bad);
            let closest =
                (exploration.outcomes.iter().zip(&kept)).find(|(other, _)| other.bad != is_bad);
            match (is_bad, closest) {
                (true, Some((_, schedule))) => {
                    writeln!(
                        out,
                        "the closest execution that does not fail is {schedule}"
                    )?;
                }
                (true, None) => writeln!(out, "all of them fail")?,
                (false, Some((_, schedule))) => {
                    writeln!(out, "the closest execution that fails is {schedule}")?;
                }
                (false, None) => writeln!(out, "none of them fails")?,
            }
            if !exploration.complete {
                let left = what_is_left(exploration);
                writeln!(out, "not everything was explored:{left}")?;
            }
            Ok(())
        })?;
    }
    let is_bad = exploration.outcomes.iter().any(|outcome| outcome.bad);
    Ok(super::status(is_bad, exploration.complete))
}
