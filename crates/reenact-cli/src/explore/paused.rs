//! Explores with breakpoints: a session of the debugger without a user.

use std::{
    io::{self, Write},
    num::NonZeroUsize,
};

use reenact_ambient::Source;
use reenact_multiverse::{
    Expression, Found, How, Limits, Semantics, Session, SessionError, Standings, Universes, Who,
    breakpoints, steps,
};
use reenact_trace::Exit;
use serde::Serialize;

use super::{MAX_STATES_IN_DEBUGGER, print, print_json};
use crate::{
    args::ExploreArgs,
    error::Failure,
    report, signals,
    universe::{BOLD, write_found, write_standings},
};

/// A run or a step, and the state of all universes after it.
#[derive(Serialize)]
struct Stage {
    /// `None` for the run from the start.
    step: Option<String>,
    #[serde(flatten)]
    standings: Standings,
}

#[derive(Serialize)]
struct Json<'a> {
    program: &'a str,
    breakpoints: &'a [String],
    stages: &'a [Stage],
    #[serde(rename = "where")]
    places: &'a [Place],
}

#[derive(Serialize)]
struct Place {
    condition: String,
    #[serde(flatten)]
    found: Found,
}

pub(super) fn run<S: Semantics>(
    args: &ExploreArgs,
    conditions: &[Expression],
    language: S,
    source: &Source,
) -> Result<Exit, Failure> {
    let limits = Limits {
        states: args
            .bounds
            .max_states
            .map_or(MAX_STATES_IN_DEBUGGER, NonZeroUsize::get),
        time: args.bounds.max_time,
    };
    let mut session = Session::new(language, limits);
    session.interrupt_when(signals::is_interrupted);
    let kinds: Vec<_> = breakpoints(session.language())
        .map(|kind| kind.name)
        .collect();
    for text in &args.breakpoints {
        let added = session.add_breakpoint(text);
        added.map_err(|error| Failure::question("--break", text, error, &kinds))?;
    }
    let names: Vec<_> = steps(session.language()).map(|step| step.name).collect();
    let progress = report::waiting("exploring");
    let mut stages = vec![Stage {
        step: None,
        standings: session.start(),
    }];
    for text in &args.steps {
        let standings = take(&mut session, text.trim());
        let standings =
            standings.map_err(|error| Failure::question("--step", text, error, &names))?;
        stages.push(Stage {
            step: Some(text.clone()),
            standings,
        });
    }
    let mut places = Vec::new();
    for condition in conditions {
        let found = session.find(condition, Universes::All);
        let text = condition.to_string();
        places.push(Place {
            found: found.map_err(|error| Failure::question("--where", &text, error, &[]))?,
            condition: text,
        });
    }
    progress.finish_and_clear();
    if args.dot {
        print(|out| out.write_all(session.dot().as_bytes()))?;
        return Ok(Exit::Status(0));
    }
    match args.json {
        true => print_json(&Json {
            program: source.name(),
            breakpoints: &args.breakpoints,
            stages: &stages,
            places: &places,
        })?,
        false => print(|out| write(out, source.name(), &session, &stages, &places))?,
    }
    let groups = &session.standings().groups;
    let is_bad = |how: &How| matches!(how, How::Ended(ending) if ending.is_bad());
    let has_bad_ends = groups.iter().any(|group| is_bad(&group.how));
    Ok(Exit::Status(i32::from(has_bad_ends)))
}

/// Takes `STEP [ACTIVITY]` in all universes.
fn take<S: Semantics>(session: &mut Session<S>, text: &str) -> Result<Standings, SessionError> {
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
    stages: &[Stage],
    places: &[Place],
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
        let states = report::counted(stage.standings.states as u64, "universe", "universes");
        writeln!(out, "\n{BOLD}{heading}{BOLD:#}, {states} passed so far")?;
        write_standings(out, &stage.standings)?;
    }
    for place in places {
        writeln!(out, "\n{BOLD}where {}{BOLD:#}", place.condition)?;
        write_found(out, "    ", &place.found)?;
    }
    Ok(())
}
