//! Explores with breakpoints: a session of the debugger without a user.

use std::io::{self, Write};

use reenact_ambient::Source;
use reenact_multiverse::{
    Expression, FoundStates, Overview, Semantics, Session, SessionError, UniverseStatus, Universes,
    Who, breakpoints, steps,
};
use reenact_trace::Exit;
use serde::Serialize;

use super::{print, print_json};
use crate::{
    args::ExploreArgs,
    error::Error,
    report, signals,
    universe::{BOLD, write_found, write_overview},
};

/// A run or a step, and the state of all universes after it.
#[derive(Serialize)]
struct StepReport {
    /// `None` for the run from the start.
    step: Option<String>,
    #[serde(flatten)]
    overview: Overview,
}

#[derive(Serialize)]
struct SessionJson<'a> {
    program: &'a str,
    breakpoints: &'a [String],
    stages: &'a [StepReport],
    #[serde(rename = "where")]
    matches: &'a [Matches],
}

#[derive(Serialize)]
struct Matches {
    condition: String,
    #[serde(flatten)]
    found: FoundStates,
}

pub(super) fn run<S: Semantics>(
    args: &ExploreArgs,
    conditions: &[Expression],
    language: S,
    source: &Source,
) -> Result<Exit, Error> {
    let mut session = Session::new(language, args.bounds.limits());
    session.interrupt_when(signals::is_interrupted);
    let kinds: Vec<_> = breakpoints(session.language())
        .map(|kind| kind.name)
        .collect();
    for text in &args.breakpoints {
        let added = session.add_breakpoint(text);
        added.map_err(|error| Error::question("--break", text, error, &kinds))?;
    }
    let names: Vec<_> = steps(session.language()).map(|step| step.name).collect();
    let progress = report::waiting("exploring");
    let mut stages = vec![StepReport {
        step: None,
        overview: session.start(),
    }];
    for text in &args.steps {
        let overview = take(&mut session, text.trim());
        let overview = overview.map_err(|error| Error::question("--step", text, error, &names))?;
        stages.push(StepReport {
            step: Some(text.clone()),
            overview,
        });
    }
    let mut matches = Vec::new();
    for condition in conditions {
        let found = session.find(condition, Universes::All);
        let text = condition.to_string();
        matches.push(Matches {
            found: found.map_err(|error| Error::question("--where", &text, error, &[]))?,
            condition: text,
        });
    }
    progress.finish_and_clear();
    if args.dot {
        print(|out| out.write_all(session.dot().as_bytes()))?;
        return Ok(Exit::Status(0));
    }
    match args.json {
        true => print_json(&SessionJson {
            program: source.name(),
            breakpoints: &args.breakpoints,
            stages: &stages,
            matches: &matches,
        })?,
        false => print(|out| write(out, source.name(), &session, &stages, &matches))?,
    }
    let groups = &session.overview().groups;
    let is_bad =
        |how: &UniverseStatus| matches!(how, UniverseStatus::Ended(ending) if ending.is_bad());
    let has_bad_ends = groups.iter().any(|group| is_bad(&group.how));
    let is_complete = groups
        .iter()
        .all(|group| group.how != UniverseStatus::Running);
    Ok(super::status(has_bad_ends, is_complete))
}

/// Takes `STEP [ACTIVITY]` in all universes.
fn take<S: Semantics>(session: &mut Session<S>, text: &str) -> Result<Overview, SessionError> {
    let (step, who) = match text.split_once(char::is_whitespace) {
        Some((step, name)) => (step, Who::Name(name.trim())),
        None => (text, Who::Stopped),
    };
    session.command(step, who, 1, Universes::All)
}

fn write<S: Semantics>(
    out: &mut dyn Write,
    name: &str,
    session: &Session<S>,
    stages: &[StepReport],
    matches: &[Matches],
) -> io::Result<()> {
    writeln!(out, "{BOLD}{name}{BOLD:#}")?;
    for (number, breakpoint) in session.breakpoints().iter() {
        writeln!(out, "Breakpoint {number}: {breakpoint}")?;
    }
    for stage in stages {
        let heading = match &stage.step {
            Some(step) => format!("After {step}"),
            None => "Run".to_owned(),
        };
        let states = report::counted(stage.overview.states as u64, "universe", "universes");
        writeln!(out, "\n{BOLD}{heading}{BOLD:#}, {states} passed so far")?;
        write_overview(out, &stage.overview)?;
    }
    for matches in matches {
        writeln!(out, "\n{BOLD}where {}{BOLD:#}", matches.condition)?;
        write_found(out, "    ", &matches.found)?;
    }
    Ok(())
}
