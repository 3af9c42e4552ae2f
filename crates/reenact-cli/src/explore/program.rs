//! Exploring a Rust program: it is started to explore itself, and what it tells is shown.

use std::{
    fs, io,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use reenact_trace::Exit;
use serde::Serialize;
use tempfile::TempDir;

use super::{
    print, print_json,
    told::{Progress, Told},
};
use crate::{args::ExploreArgs, error::Failure, process, report, signals};

/// How often it is looked how far it is.
const GLANCE: Duration = Duration::from_millis(100);

/// If it takes longer than this, it is said how long it may take.
const LONG: Duration = Duration::from_secs(2);

pub(super) fn run(args: &ExploreArgs) -> Result<Exit, Failure> {
    signals::take_over();
    let options = &args.program;
    let (program, arguments) = args.command.split_first().expect("clap asks for it");
    let mut command = Command::new(program);
    command.args(arguments);
    let mut errand = Errand::of(args);
    if let Some(schedule) = &options.schedule {
        errand.ask_for_file("schedule", schedule)?;
        errand.ask("show", "");
    }
    let Some(told) = errand.run(&mut command, args.json)? else {
        return Ok(Exit::Signal(signals::received().unwrap_or(libc::SIGINT)));
    };
    let kept = match (&told.schedules[..], &options.schedule) {
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
        true => print_json(&Summary {
            told: &told,
            schedule: kept.as_deref(),
        })?,
        false => print(|out| {
            match &told.story {
                Some(story) => writeln!(out, "{story}")?,
                None => writeln!(out, "nothing fails")?,
            }
            if let Some(misfit) = &told.misfit {
                writeln!(out, "the schedule does not quite fit the program: {misfit}")?;
            }
            writeln!(out, "{}", told.covered())?;
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
    Ok(Exit::Status(i32::from(told.story.is_some())))
}

#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    told: &'a Told,
    schedule: Option<&'a Path>,
}

/// What a program is asked to do.
pub(super) struct Errand {
    options: String,
}

impl Errand {
    pub(super) fn of(args: &ExploreArgs) -> Errand {
        let mut errand = Errand {
            options: String::new(),
        };
        let options = &args.program;
        let time = args.bounds.max_time.map(|time| time.as_millis());
        let numbers = [
            ("executions", options.executions.map(u128::from)),
            ("milliseconds", time),
            ("steps", options.max_steps.map(u128::from)),
            ("seed", options.seed.map(u128::from)),
            ("cores", options.cores.map(|cores| cores.get() as u128)),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                errand.ask(name, &number.to_string());
            }
        }
        if let Some(way) = &options.way {
            errand.ask("way", way);
        }
        errand
    }

    pub(super) fn ask(&mut self, name: &str, value: &str) {
        self.options += &format!("{name}={value}\n");
    }

    /// The same for lines of `name=value`.
    pub(super) fn ask_all(&mut self, lines: &str) {
        self.options += lines;
    }

    pub(super) fn ask_for_file(&mut self, name: &str, file: &Path) -> Result<(), Failure> {
        let file = std::path::absolute(file).map_err(Failure::Scratch)?;
        self.ask(name, &file.display().to_string());
        Ok(())
    }

    /// Starts the program to do it, and waits for what it tells; none if it was interrupted.
    pub(super) fn run(
        &self,
        command: &mut Command,
        is_quiet: bool,
    ) -> Result<Option<Told>, Failure> {
        let scratch = TempDir::new().map_err(Failure::Scratch)?;
        let report = scratch.path().join("report");
        command
            .env("REENACT", "explore")
            .env("REENACT_EXPLORE", &self.options)
            .env("REENACT_REPORT", &report)
            .stdin(Stdio::null());
        if is_quiet {
            command.stdout(Stdio::null());
        }
        let running = process::start(command)?;
        let spinner = report::spinner("exploring", "executions");
        let began = Instant::now();
        let mut is_said = is_quiet;
        let finished = running.wait_and(GLANCE, || {
            let Some(progress) = Progress::read(&report) else {
                return;
            };
            spinner.set_position(progress.executions);
            spinner.set_message(progress.unit());
            if !is_said && progress.is_far_from_its_end() && began.elapsed() > LONG {
                is_said = true;
                spinner.suspend(|| report::note(format_args!("this may take long: {progress}")));
            }
        });
        spinner.finish_and_clear();
        let exit = finished?.exit;
        if signals::received().is_some() {
            return Ok(None);
        }
        let text = match fs::read_to_string(&report) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Failure::Scratch(error)),
        };
        Told::read(&text, exit, command.get_program()).map(Some)
    }
}

/// Writes a schedule down.
pub(super) fn keep(file: &Path, schedule: &str) -> Result<(), Failure> {
    fs::write(file, schedule).map_err(|error| Failure::Schedule {
        path: file.to_owned(),
        error,
    })
}

/// The command that follows a schedule.
fn again(file: &Path, args: &ExploreArgs) -> String {
    let file = report::quoted(file);
    format!("reenact explore --schedule {file} -- {}", command(args))
}

/// The same, in one process and under a debugger.
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
