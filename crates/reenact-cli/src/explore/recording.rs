//! Exploring from a recording: what happened is a path through the multiverse, and what else could have happened is beside it.
//!
//! The recorded run is replayed once, with a log of its operations. When the program explores, it does those first, and then looks
//! around them. If they are not what it does, that is said, and nothing is explored.

use std::path::Path;

use reenact_trace::Exit;
use serde::Serialize;

use super::{
    print, print_json,
    program::{Errand, keep},
    told::{Outcome, Told},
};
use crate::{
    args::ExploreArgs,
    error::Failure,
    recording::{Recording, Replayed},
    replay::DIVERGED,
    signals,
};

/// How far to look, if nobody says.
const NEAR: u32 = 2;

pub(super) fn run(args: &ExploreArgs, file: &Path) -> Result<Exit, Failure> {
    signals::take_over();
    let options = &args.program;
    let recording = match Recording::replay(file, options.force, &args.command) {
        Ok(Replayed::Recording(recording)) => recording,
        Ok(Replayed::Interrupted(exit)) => return Ok(exit),
        Err(Failure::Unfit(divergence)) => return does_not_fit(args, &divergence),
        Err(failure) => return Err(failure),
    };
    let mut errand = Errand::of(args);
    errand.ask_all(&recording.request()?);
    errand.ask("around", "");
    if let Some(event) = options.from {
        errand.ask("from", &event.to_string());
    }
    if !options.other_outcomes {
        errand.ask("near", &options.near.unwrap_or(NEAR).to_string());
    }
    let Some(told) = errand.run(&mut recording.command(), true)? else {
        return Ok(Exit::Signal(signals::received().unwrap_or(libc::SIGINT)));
    };
    match &told.divergence {
        Some(divergence) => does_not_fit(args, divergence),
        None => tell(args, file, &told),
    }
}

/// Nothing is known of what else could have happened. Says so, and nothing else.
fn does_not_fit(args: &ExploreArgs, divergence: &str) -> Result<Exit, Failure> {
    if args.json {
        print_json(&Told {
            divergence: Some(divergence.to_owned()),
            ..Told::default()
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
