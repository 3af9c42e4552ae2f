//! Explored tests: keeping and reporting a failing schedule.

use std::{
    fmt, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{Explorer, Failure, Finding, Found, Gap, Program, Schedule, Strategy};

/// The environment variable that names a schedule file to follow instead of exploring.
const SCHEDULE: &str = "REENACT_SCHEDULE";

/// An exploration that has found a failure, or that could not go on.
#[derive(Debug)]
pub struct Failed {
    outcome: Outcome,
    /// Summary of the executions that were tried.
    tried: String,
    /// The file that the schedule was written to, or the error.
    kept: Option<Result<PathBuf, String>>,
    /// The name of the test.
    name: Option<String>,
}

#[derive(Debug)]
enum Outcome {
    Found(Found),
    /// It could not go on, and nothing failed before.
    Obstacle(String),
}

impl Failed {
    /// Returns what went wrong in the program; nothing if the exploration could not go on.
    pub fn failures(&self) -> &[Failure] {
        match &self.outcome {
            Outcome::Found(found) => &found.failures,
            Outcome::Obstacle(_) => &[],
        }
    }

    /// Returns the failing schedule; an empty one if there is none.
    pub fn schedule(&self) -> &Schedule {
        const NONE: &Schedule = &Schedule {
            remarks: Vec::new(),
            lines: Vec::new(),
        };
        match &self.outcome {
            Outcome::Found(found) => &found.schedule,
            Outcome::Obstacle(_) => NONE,
        }
    }

    /// Returns the file that holds the failing schedule.
    pub fn file(&self) -> Option<&Path> {
        self.kept.as_ref()?.as_deref().ok()
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failed {
            outcome,
            tried,
            kept,
            name,
        } = self;
        match outcome {
            Outcome::Found(found) => {
                writeln!(f, "{found}")?;
                writeln!(f, "found in execution {} ({tried})", found.execution)?;
            }
            Outcome::Obstacle(obstacle) => {
                writeln!(f, "this cannot be explored: {obstacle}")?;
                writeln!(f, "nothing failed before ({tried})")?;
            }
        }
        match kept {
            None => match outcome {
                Outcome::Found(found) if !found.is_reliable => {
                    writeln!(
                        f,
                        "the schedule is not kept, because it would not be a regression test"
                    )
                }
                _ => Ok(()),
            },
            Some(Err(error)) => writeln!(f, "the schedule could not be kept: {error}"),
            Some(Ok(file)) => {
                let (file, test) = (file.display(), name.as_deref().unwrap_or_default());
                writeln!(f, "kept as {file}, which is tried first from now on")?;
                writeln!(f, "to follow it, under a debugger if need be:")?;
                writeln!(
                    f,
                    "  {SCHEDULE}={file} cargo test {test} -- --exact --nocapture"
                )
            }
        }
    }
}

impl std::error::Error for Failed {}

impl Explorer {
    /// Explores `program`, beginning with the kept schedules.
    ///
    /// # Errors
    ///
    /// Returns an error if an execution fails. It shows the failing schedule step by step, and how to reproduce it.
    pub fn try_check(
        &self,
        program: impl Fn() + Send + Sync + 'static,
    ) -> Result<Finding, Box<Failed>> {
        self.try_check_program(&(Arc::new(program) as Program))
    }

    pub(super) fn try_check_program(&self, program: &Program) -> Result<Finding, Box<Failed>> {
        let run = |explorer: &Explorer| explorer.run_program(Arc::clone(program));
        if let Some(schedule) = schedule_of_environment() {
            let mut explorer = self.clone().strategy(Strategy::Schedule(schedule));
            explorer.keep = None;
            return explorer.judge(run(&explorer), None);
        }
        for file in self.kept_schedules() {
            let schedule = match read(&file) {
                Ok(schedule) => schedule,
                Err(error) => {
                    eprintln!("reenact: {} is left out: {error}", file.display());
                    continue;
                }
            };
            let explorer = self.clone().strategy(Strategy::Schedule(schedule));
            let finding = run(&explorer);
            if let (None, Some(divergence)) = (&finding.failure, &finding.divergence) {
                eprintln!("reenact: {} no longer fits: {divergence}", file.display());
            }
            explorer.judge(finding, Some(file))?;
        }
        self.judge(run(self), None)
    }

    fn judge(&self, mut finding: Finding, file: Option<PathBuf>) -> Result<Finding, Box<Failed>> {
        let outcome = match (finding.failure.take(), finding.obstacle()) {
            (Some(found), _) => Outcome::Found(found),
            (None, Some(obstacle)) => Outcome::Obstacle(obstacle),
            (None, None) => {
                tell_what_is_not_explored(&finding);
                return Ok(finding);
            }
        };
        let kept = match (file, &self.keep, &outcome) {
            (Some(file), ..) => Some(Ok(file)),
            (None, Some((directory, name)), Outcome::Found(found)) if found.is_reliable => {
                Some(keep(directory, name, found).map_err(|error| error.to_string()))
            }
            _ => None,
        };
        Err(Box::new(Failed {
            outcome,
            tried: finding.to_string(),
            kept,
            name: self.keep.as_ref().map(|(_, name)| name.clone()),
        }))
    }

    /// Returns the files of kept schedules, sorted by name.
    fn kept_schedules(&self) -> Vec<PathBuf> {
        let Some((directory, name)) = &self.keep else {
            return Vec::new();
        };
        let prefix = format!("{}.", file_name(name));
        let Ok(entries) = fs::read_dir(directory) else {
            return Vec::new();
        };
        let mut files: Vec<_> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let number = name.strip_prefix(&prefix);
                let number = number.and_then(|rest| rest.strip_suffix(".schedule"));
                number.is_some_and(|number| number.parse::<u32>().is_ok())
            })
            .collect();
        files.sort();
        files
    }
}

/// Prints what the program did outside the control of the exploration: nothing fails, but that says less than it seems.
fn tell_what_is_not_explored(finding: &Finding) {
    for gap in &finding.gaps {
        if let Gap::Thread(_) | Gap::Input = gap {
            eprintln!("reenact: {gap}");
        }
    }
}

/// Returns the prefix of a test's schedule files.
fn file_name(name: &str) -> String {
    name.replace("::", ".")
}

fn read(file: &Path) -> Result<Schedule, String> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    text.parse()
        .map_err(|error: super::NoSchedule| error.to_string())
}

fn schedule_of_environment() -> Option<Schedule> {
    let file = PathBuf::from(std::env::var_os(SCHEDULE)?);
    match read(&file) {
        Ok(schedule) => Some(schedule),
        Err(error) => panic!("{SCHEDULE}={}: {error}", file.display()),
    }
}

/// Writes a schedule to a new file.
fn keep(directory: &Path, name: &str, found: &Found) -> io::Result<PathBuf> {
    fs::create_dir_all(directory)?;
    let mut schedule = found.schedule.clone();
    schedule.remarks = std::iter::once(name.to_owned())
        .chain(found.failures.iter().map(ToString::to_string))
        .collect();
    let text = schedule.to_string();
    let name = file_name(name);
    let mut number = 1;
    loop {
        let file = directory.join(format!("{name}.{number}.schedule"));
        match fs::File::create_new(&file) {
            Ok(mut created) => {
                created.write_all(text.as_bytes())?;
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Runs a test with the attribute `#[reenact::test]`. `package` is the directory of its package.
#[track_caller]
pub fn run(
    package: &str,
    name: &str,
    explorer: Explorer,
    program: impl Fn() + Send + Sync + 'static,
) {
    run_program(package, name, explorer, Arc::new(program));
}

#[track_caller]
fn run_program(package: &str, name: &str, explorer: Explorer, program: Program) {
    // `cargo test` does not include the crate's name in the name of a test.
    let name = name.split_once("::").map_or(name, |(_, name)| name);
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map_or(package.into(), PathBuf::from);
    explorer
        .keep(package.join("schedules"), name)
        .check_program(program);
}
