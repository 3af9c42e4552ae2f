//! `reenact refine`: replays a recording and shows what was not collected when it was recorded.

mod lanes;

use std::{
    borrow::Cow,
    collections::HashMap,
    fs,
    io::{BufWriter, Write},
    path::Path,
};

use anstyle::Style;
use reenact_engine::probes::{RECORDS, records::Records};
use reenact_refine::{Call, CallPlan, Executable, ExecutableFile, Outcome};
use reenact_trace::{Exit, Origin, Trace};
use serde::Serialize;
use tempfile::TempDir;

use self::lanes::Selection;
use crate::{
    args::RefineArgs,
    error::Error,
    replay::{DIVERGED, Operation, Plan, ProgramOutput, ReplayOptions, log},
    report, screen, signals,
    trust::Consent,
};

pub(crate) fn run(args: &RefineArgs) -> Result<Exit, Error> {
    signals::take_over();
    let plan = Plan::new(&ReplayOptions {
        trace: &args.file,
        force: args.force,
        command: &args.command,
        really_write: false,
        consent: Consent {
            is_named: !args.command.is_empty(),
            is_trusted: args.trust,
        },
    })?;
    plan.notes().iter().for_each(report::note);
    let scratch = TempDir::new().map_err(Error::Scratch)?;
    let replay = Refinement { plan, scratch };
    match args.lanes {
        true => lanes_of(args, &replay),
        false => calls_of(args, &replay),
    }
}

/// A replay that is looked into.
struct Refinement {
    plan: Plan,
    scratch: TempDir,
}

impl Refinement {
    /// Replays once, with the probes of a file; returns the exit and the operations. `None` after a signal.
    fn run(&self, probes: Option<&Path>) -> Result<Option<(Exit, Vec<Operation>)>, Error> {
        let operations = self.scratch.path().join("log");
        let outcome = self.plan.run_with(
            ProgramOutput::Hidden.stdio(),
            self.scratch.path(),
            Some(&operations),
            probes,
        )?;
        if signals::received().is_some() {
            return Ok(None);
        }
        report::note(format_args!("the replay: {outcome}"));
        if let Some(report) = outcome.report() {
            report::note(report);
        }
        let exit = Exit::Status(match outcome.is_same() {
            true => 0,
            false => DIVERGED,
        });
        Ok(Some((exit, log::read(&operations)?)))
    }
}

/// The exit after a signal, if one was received.
fn after_signal() -> Exit {
    signals::received().map_or(Exit::Status(0), Exit::Signal)
}

fn lanes_of(args: &RefineArgs, replay: &Refinement) -> Result<Exit, Error> {
    let Some((exit, operations)) = replay.run(None)? else {
        return Ok(after_signal());
    };
    let selection = Selection {
        last: args.last,
        object: args.object.as_deref(),
    };
    lanes::print(&operations, &selection).map_err(Error::Output)?;
    Ok(exit)
}

fn calls_of(args: &RefineArgs, replay: &Refinement) -> Result<Exit, Error> {
    let file = ExecutableFile::open(replay.plan.executable()).map_err(|error| refused(&error))?;
    let executable = file.read().map_err(|error| refused(&error))?;
    let calls = CallPlan::new(&executable, &args.calls).map_err(|error| refused(&error))?;
    calls.notes().iter().for_each(report::note);
    let probes = replay.scratch.path().join("probes");
    let bytes = postcard::to_stdvec(calls.plan()).map_err(|error| refused(&error))?;
    fs::write(&probes, bytes).map_err(Error::Scratch)?;
    let Some((exit, operations)) = replay.run(Some(&probes))? else {
        return Ok(after_signal());
    };
    let records = fs::read(probes.with_extension(RECORDS)).map_err(Error::Scratch)?;
    let records = Records::read(&records).map_err(|error| refused(&error))?;
    if records.lost > 0 {
        report::note(format_args!(
            "{} stops found no room and are missing",
            records.lost
        ));
    }
    let trace = Trace::open(&args.file)?;
    let seen = Seen {
        executable: &executable,
        calls: calls.decode(&records, main_of(&trace)),
        trace: &trace,
        operations,
    };
    match args.json {
        true => seen.print_json(),
        false => seen.print(),
    }
    .map_err(Error::Output)?;
    Ok(exit)
}

/// Returns the number of the main activity.
fn main_of(trace: &Trace) -> Option<u32> {
    let mut crowds = trace.crowds();
    let main = crowds.find(|crowd| crowd.first.origin == Origin::Main);
    main.map(|main| main.first.number)
}

fn refused(error: &dyn std::fmt::Display) -> Error {
    Error::Refine(error.to_string())
}

/// What a replay has shown.
struct Seen<'a> {
    executable: &'a Executable<'a>,
    trace: &'a Trace,
    calls: Vec<Call>,
    operations: Vec<Operation>,
}

/// One line of the result.
#[derive(Serialize)]
struct Line<'a> {
    activity: String,
    operation: Option<u64>,
    site: String,
    #[serde(skip)]
    moment: u64,
    /// When the call ended.
    #[serde(skip)]
    end: u64,
    #[serde(flatten)]
    item: Item<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Item<'a> {
    Call {
        function: &'a str,
        depth: usize,
        arguments: Vec<Argument<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a str>,
        outcome: &'static str,
    },
    Did {
        what: &'a str,
        object: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        note: &'a str,
    },
}

#[derive(Serialize)]
struct Argument<'a> {
    name: &'a str,
    value: &'a str,
}

impl Seen<'_> {
    /// Returns everything that was seen, by activity, in order.
    fn lines(&self) -> Vec<Line<'_>> {
        let mut lines = Vec::new();
        let mut activities = HashMap::new();
        let operations = self.operations.iter().map(|operation| Line {
            activity: operation.activity.clone(),
            operation: operation.ordinal,
            site: operation.source.clone(),
            moment: operation.moment.unwrap_or(0),
            end: 0,
            item: Item::Did {
                what: &operation.operation,
                object: &operation.object,
                note: &operation.note,
            },
        });
        let calls = self.calls.iter().map(|call| Line {
            activity: match call.activity {
                Some(number) => self.trace.family_name(number),
                None => "-".to_owned(),
            },
            operation: Some(call.operation),
            site: call
                .caller
                .and_then(|caller| self.executable.line_before(caller))
                .unwrap_or_default(),
            moment: call.sequence,
            end: call.end.unwrap_or(u64::MAX),
            item: Item::Call {
                function: &call.function,
                depth: call.depth,
                arguments: call
                    .arguments
                    .iter()
                    .map(|(name, value)| Argument { name, value })
                    .collect(),
                result: match &call.result {
                    Outcome::Returned(result) => Some(result),
                    Outcome::GoesOn | Outcome::NotReturned => None,
                },
                outcome: match call.result {
                    Outcome::Returned(_) => "returned",
                    Outcome::GoesOn => "went on elsewhere",
                    Outcome::NotReturned => "did not return",
                },
            },
        });
        for line in operations.chain(calls) {
            let next = activities.len();
            let activity = *activities.entry(line.activity.clone()).or_insert(next);
            lines.push((activity, line));
        }
        lines.sort_by_key(|(activity, line)| (*activity, line.moment));
        lines.into_iter().map(|(_, line)| line).collect()
    }

    fn print_json(&self) -> std::io::Result<()> {
        let mut out = BufWriter::new(screen::stdout());
        for line in self.lines() {
            writeln!(out, "{}", screen::json(&line))?;
        }
        out.flush()
    }

    fn print(&self) -> std::io::Result<()> {
        let mut out = BufWriter::new(screen::stdout());
        let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
        let mut activity = String::new();
        // When the calls end that the current line is part of.
        let mut open: Vec<u64> = Vec::new();
        for line in self.lines() {
            if line.activity != activity {
                activity = line.activity.clone();
                open.clear();
                writeln!(out, "{bold}{activity}{bold:#}")?;
            }
            while open.last().is_some_and(|end| *end <= line.moment) {
                open.pop();
            }
            let indent = 2 * open.len();
            let text = match &line.item {
                Item::Call {
                    function,
                    arguments,
                    result,
                    outcome,
                    ..
                } => {
                    open.push(line.end);
                    let arguments = arguments.iter();
                    let arguments = arguments
                        .map(|Argument { name, value }| format!("{name}: {}", beginning(value)));
                    let arguments = arguments.collect::<Vec<_>>().join(", ");
                    let end = match result {
                        Some(result) => format!("-> {}", beginning(result)),
                        None => format!("({outcome})"),
                    };
                    format!("{bold}{function}{bold:#}({arguments}) {end}")
                }
                Item::Did { what, object, note } => format!("{what} {object}  {note}"),
            };
            let number = line
                .operation
                .map_or_else(String::new, |number| number.to_string());
            let text = format!("{number:>6}  {:indent$}{text}", "");
            writeln!(out, "{}  {dim}{}{dim:#}", text.trim_end(), line.site)?;
        }
        out.flush()
    }
}

/// Returns the beginning of a value, if it is long. The whole is in the output of `--json`.
fn beginning(value: &str) -> Cow<'_, str> {
    const LONGEST: usize = 120;
    match value.char_indices().nth(LONGEST) {
        None => value.into(),
        Some((end, _)) => format!("{}…", &value[..end]).into(),
    }
}
