//! `reenact replay`: runs a recorded program again, once or many times, and reports whether it behaved the same way.

mod environment;
pub(crate) mod log;
mod plan;

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    process::Stdio,
};

use indicatif::ProgressBar;
use reenact_engine::Unrecorded;
use reenact_trace::{Exit, Trace, printable_lines};
use serde::Serialize;
use tempfile::TempDir;

pub(crate) use self::{
    log::Operation,
    plan::{Plan, ReplayOptions, ReplayOutcome},
};
use crate::{args::ReplayArgs, error::Error, report, screen, signals, trust::Consent, unrecorded};

/// The exit status of a replay that diverged.
pub(crate) const DIVERGED: i32 = 86;

pub(crate) fn run(args: &ReplayArgs) -> Result<Exit, Error> {
    signals::take_over();
    let plan = Plan::new(&ReplayOptions {
        trace: &args.file,
        force: args.force,
        command: &args.command,
        consent: Consent {
            is_named: !args.command.is_empty(),
            is_trusted: args.trust,
        },
        really_write: args.really_write,
    })?;
    let scratch = TempDir::new().map_err(Error::Scratch)?;
    // Fail before the program runs if the file cannot be written.
    let file = args.log.as_ref().and_then(Option::as_ref);
    let create = |path: &Path| File::create(path).map_err(cannot_write(path));
    let file = file
        .map(|path| create(path).map(|file| (path, file)))
        .transpose()?;
    let mut series = Series::new(args, &plan);
    for number in 1..=args.times {
        let shown = number == 1 || args.verbose;
        let is_logged = number == 1 && args.log.is_some();
        let log = is_logged.then(|| scratch.path().join("log"));
        let output = match (shown, args.json) {
            (false, _) => ProgramOutput::Hidden,
            (true, true) => ProgramOutput::ToStandardError,
            (true, false) => ProgramOutput::Inherited,
        };
        let outcome = plan.run(output.stdio(), scratch.path(), log.as_deref())?;
        if let Some(signal) = signals::received() {
            return Ok(Exit::Signal(signal));
        }
        series.add(number, outcome, shown)?;
        match (&log, &file) {
            (Some(log), Some((path, file))) => log::write(log, file).map_err(cannot_write(path))?,
            (Some(log), None) => log::print(log)?,
            (None, _) => {}
        }
    }
    Ok(series.finish())
}

fn cannot_write(path: &Path) -> impl Fn(io::Error) -> Error {
    move |error| Error::Log {
        path: path.to_owned(),
        error,
    }
}

/// Where the output of a replayed program goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramOutput {
    Inherited,
    ToStandardError,
    Hidden,
}

impl ProgramOutput {
    /// Returns standard input, output and error. A program whose output is hidden cannot be interactive, so its input
    /// is only inherited if it is a file.
    pub(crate) fn stdio(self) -> [Stdio; 3] {
        match self {
            ProgramOutput::Inherited => [Stdio::inherit(), Stdio::inherit(), Stdio::inherit()],
            ProgramOutput::ToStandardError => {
                [Stdio::inherit(), std::io::stderr().into(), Stdio::inherit()]
            }
            ProgramOutput::Hidden => [plan::standard_input_if_file(), Stdio::null(), Stdio::null()],
        }
    }
}

/// The replays of one invocation.
struct Series<'a> {
    args: &'a ReplayArgs,
    bar: ProgressBar,
    same: u64,
    last: Option<Exit>,
    /// The last report of a divergence, which is not printed again.
    reported: Option<String>,
    plan: &'a Plan,
    /// Whether it has been said what may explain a difference.
    has_explained: bool,
}

impl<'a> Series<'a> {
    fn new(args: &'a ReplayArgs, plan: &'a Plan) -> Self {
        for note in plan.notes() {
            report::note(note);
        }
        let bar = if args.times > 1 && !args.verbose {
            report::bar(args.times, "replaying")
        } else {
            ProgressBar::hidden()
        };
        Series {
            args,
            bar,
            same: 0,
            last: None,
            reported: None,
            plan,
            has_explained: false,
        }
    }

    /// Returns what the recording does not contain, which may explain a difference.
    fn not_recorded(&self) -> Vec<Unrecorded> {
        let trace = Trace::open(self.plan.trace());
        trace.map_or_else(
            |_| Vec::new(),
            |trace| unrecorded::of(&trace, Some(self.plan.executable())),
        )
    }

    fn add(&mut self, number: u64, outcome: ReplayOutcome, shown: bool) -> Result<(), Error> {
        let is_same = outcome.is_same();
        let not_recorded = match is_same {
            true => Vec::new(),
            false => self.not_recorded(),
        };
        self.same += u64::from(is_same);
        self.last = Some(outcome.exit());
        self.bar.inc(1);
        if self.args.json {
            let line = screen::json(&ReplayJson {
                replay: number,
                of: self.args.times,
                outcome: &outcome,
                not_recorded: &not_recorded,
            });
            return writeln!(std::io::stdout(), "{line}").map_err(Error::Output);
        }
        // If the terminal shows a progress bar, not every replay gets a line.
        if self.bar.is_hidden() || !is_same || number == 1 {
            self.bar.suspend(|| {
                report::note(format_args!(
                    "replay {number} of {}: {outcome}",
                    self.args.times
                ));
                if let Some(text) = outcome.report()
                    && !shown
                    && self.reported.as_deref() != Some(text)
                {
                    let _ = writeln!(screen::stderr(), "{}", printable_lines(text));
                }
                // Only once: it is the same for all replays of the recording.
                if !is_same && !self.has_explained {
                    let lines = not_recorded.iter().map(ToString::to_string);
                    let is_said = |line: &String| {
                        let report = outcome.report().unwrap_or_default();
                        report.contains(&**line)
                    };
                    for line in lines.filter(|line| !is_said(line)) {
                        report::note(format_args!("not recorded: {line}"));
                    }
                }
            });
            self.has_explained |= !is_same;
            self.reported = outcome.report().map(str::to_owned).or(self.reported.take());
        }
        Ok(())
    }

    fn finish(self) -> Exit {
        self.bar.finish_and_clear();
        let times = self.args.times;
        if times == 1 {
            return self.last.unwrap_or(Exit::Status(0));
        }
        if !self.args.json {
            report::note(format_args!(
                "{} of {times} replays ended as recorded",
                self.same
            ));
        }
        Exit::Status(if self.same == times { 0 } else { DIVERGED })
    }
}

#[derive(Serialize)]
struct ReplayJson<'a> {
    replay: u64,
    of: u64,
    #[serde(flatten)]
    outcome: &'a ReplayOutcome,
    /// What may explain a difference.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    not_recorded: &'a [Unrecorded],
}
