//! Explores a Rust program: starts it so that it explores itself, and prints its report.

use std::{
    fs,
    io::{self, IsTerminal},
    ops::ControlFlow,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use reenact_engine::explore::protocol::{Exploration, ExplorationReport};
use reenact_trace::Exit;
use serde::Serialize;
use tempfile::TempDir;

use super::{
    exploration::{Reports, covered, what_is_left},
    print, print_json,
};
use crate::{args::ExploreArgs, error::Error, process, report, signals};

/// How often progress is read.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How long a program may take to report when its time is up. It takes less than a second if it uses reenact.
const TO_STOP: Duration = Duration::from_secs(5);

/// After this time, the user is warned if the exploration may take long.
const LONG: Duration = Duration::from_secs(2);

pub(super) fn run(args: &ExploreArgs) -> Result<Exit, Error> {
    signals::take_over();
    let options = &args.program;
    let (program, arguments) = args.command.split_first().expect("clap asks for it");
    let mut command = Command::new(program);
    command.args(arguments);
    let mut request = ExplorationRequest::of(args);
    if let Some(schedule) = &options.schedule {
        request.ask_for_file("schedule", schedule)?;
        request.ask("show", "");
    }
    let Some(report) = request.run(&mut command, args.json)? else {
        return Ok(Exit::Signal(signals::received().unwrap_or(libc::SIGINT)));
    };
    let ExplorationReport {
        exploration,
        schedules,
    } = report;
    let kept = match (&schedules[..], &options.schedule) {
        ([schedule, ..], None) => {
            let name = Path::new(program).file_name().unwrap_or(program);
            let file = options.output.clone();
            let file = file.unwrap_or_else(|| Path::new(name).with_extension("schedule"));
            keep(&file, schedule)?;
            Some(file)
        }
        _ => None,
    };
    let again = kept.as_ref().map(|file| again(file, args));
    match args.json {
        true => print_json(&FailureJson {
            exploration: &exploration,
            schedule: kept.as_deref(),
        })?,
        false => print(|out| {
            match &exploration.story {
                Some(story) => writeln!(out, "{story}")?,
                None if exploration.complete || options.schedule.is_some() => {
                    writeln!(out, "nothing fails")?;
                }
                None => writeln!(
                    out,
                    "nothing failed, but not everything was explored:{}",
                    what_is_left(&exploration)
                )?,
            }
            if let Some(divergence) = &exploration.divergence {
                writeln!(
                    out,
                    "the program does not follow the schedule exactly: {divergence}"
                )?;
            }
            writeln!(out, "{}", covered(&exploration))?;
            if exploration.story.is_some() && schedules.is_empty() && options.schedule.is_none() {
                writeln!(out, "no schedule is written: it would not always fail")?;
            }
            if let (Some(file), Some(again)) = (&kept, &again) {
                writeln!(
                    out,
                    "\nthe schedule is in {}; to follow it:",
                    file.display()
                )?;
                writeln!(out, "  {again}")?;
                writeln!(out, "under a debugger:")?;
                writeln!(out, "  {}", debugged(file, args))?;
            }
            Ok(())
        })?,
    }
    // Whoever follows a schedule asks for no more than that.
    let is_all = match options.schedule {
        Some(_) => exploration.divergence.is_none(),
        None => exploration.complete,
    };
    Ok(super::status(exploration.story.is_some(), is_all))
}

#[derive(Serialize)]
struct FailureJson<'a> {
    #[serde(flatten)]
    exploration: &'a Exploration,
    schedule: Option<&'a Path>,
}

/// The options that are passed to the program.
pub(super) struct ExplorationRequest {
    options: String,
    /// The maximum time.
    time: Option<Duration>,
}

impl ExplorationRequest {
    pub(super) fn of(args: &ExploreArgs) -> ExplorationRequest {
        let mut request = ExplorationRequest {
            options: String::new(),
            time: args.bounds.max_time,
        };
        let options = &args.program;
        let time = args.bounds.max_time.map(|time| time.as_millis());
        let numbers = [
            ("executions", options.executions.map(u128::from)),
            ("milliseconds", time),
            ("steps", options.max_steps.map(u128::from)),
            ("seed", options.seed.map(u128::from)),
            ("spurious-wakeups", options.spurious_wakeups.map(u128::from)),
            ("cores", options.cores.map(|cores| cores.get() as u128)),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                request.ask(name, &number.to_string());
            }
        }
        if options.allow_blocked {
            request.ask("allow-blocked", "");
        }
        if let Some(strategy) = &options.strategy {
            request.ask("strategy", strategy);
        }
        request
    }

    pub(super) fn ask(&mut self, name: &str, value: &str) {
        self.options += &format!("{name}={value}\n");
    }

    /// Adds lines of the form `name=value`.
    pub(super) fn ask_all(&mut self, lines: &str) {
        self.options += lines;
    }

    pub(super) fn ask_for_file(&mut self, name: &str, file: &Path) -> Result<(), Error> {
        let file = std::path::absolute(file).map_err(Error::Scratch)?;
        self.ask(name, &file.display().to_string());
        Ok(())
    }

    /// Starts the program and waits for its report. Returns `None` if it was interrupted.
    pub(super) fn run(
        &self,
        command: &mut Command,
        is_quiet: bool,
    ) -> Result<Option<ExplorationReport>, Error> {
        let scratch = TempDir::new().map_err(Error::Scratch)?;
        let report = scratch.path().join("report");
        command
            .env("REENACT", "explore")
            .env("REENACT_EXPLORE", &self.options)
            .env("REENACT_REPORT", &report);
        // Every execution reads the same input, up to its end: what is typed has none.
        if io::stdin().is_terminal() {
            command.stdin(Stdio::null());
        }
        if is_quiet {
            command.stdout(Stdio::null());
        }
        let mut reports = Reports::of(&report);
        let running = process::start(command)?;
        let spinner = report::spinner("exploring", "executions");
        let began = Instant::now();
        let mut is_warned = is_quiet;
        let late = self.time.map(|time| began + time + TO_STOP);
        let mut is_killed = false;
        let finished = running.wait_and(POLL_INTERVAL, || {
            if late.is_some_and(|late| Instant::now() >= late) {
                is_killed = true;
                return ControlFlow::Break(());
            }
            reports.read();
            let Some(progress) = reports.progress else {
                return ControlFlow::Continue(());
            };
            spinner.set_position(progress.0.executions);
            spinner.set_message(progress.unit());
            if !is_warned && progress.is_far_from_its_end() && began.elapsed() > LONG {
                is_warned = true;
                spinner.suspend(|| report::note(format_args!("this may take long: {progress}")));
            }
            ControlFlow::Continue(())
        });
        spinner.finish_and_clear();
        let exit = finished?.exit;
        if signals::received().is_some() {
            return Ok(None);
        }
        if is_killed {
            return Err(Error::Exploration {
                program: command.get_program().to_owned(),
                error:
                    "it had not ended when the time was up, and was killed: does it use reenact?"
                        .to_owned(),
            });
        }
        reports.finish(exit, command.get_program()).map(Some)
    }
}

/// Writes a schedule to a file.
pub(super) fn keep(file: &Path, schedule: &str) -> Result<(), Error> {
    fs::write(file, schedule).map_err(|error| Error::Schedule {
        path: file.to_owned(),
        error,
    })
}

/// Returns the command that follows a schedule.
fn again(file: &Path, args: &ExploreArgs) -> String {
    let file = report::quoted(file);
    format!("reenact explore --schedule {file} -- {}", command(args))
}

/// Returns the command that follows a schedule in one process, under a debugger.
fn debugged(file: &Path, args: &ExploreArgs) -> String {
    let file = report::quoted(file);
    format!(
        "REENACT=follow REENACT_SCHEDULE={file} rust-gdb --args {}",
        command(args)
    )
}

fn command(args: &ExploreArgs) -> String {
    let words = args.command.iter();
    let words: Vec<_> = words.map(|word| report::quoted(Path::new(word))).collect();
    words.join(" ")
}
