//! What a process that explores its program is asked to do, and how it tells what came of it.
//!
//! Asked in the environment, in lines of `name=value`; told in a file, a line for each thing to tell, with a tab after what it is
//! and what would break a line written as `\n`. Both are between the command `reenact` and the program that it starts.

use std::{
    fs::File,
    io::Write,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Duration,
};

use reenact_multiverse::explore::Progress;

use super::{
    schedule::Schedule,
    search::{Finding, Search, Way},
    whole::Forked,
};

/// Exit codes of a process that explored.
const NOTHING_FOUND: i32 = 0;
const FOUND: i32 = 1;
const IMPOSSIBLE: i32 = 2;

/// What is asked for.
struct Errand {
    search: Search,
    /// Whether the failing execution is run once more, with what it prints.
    shows: bool,
}

/// Where it is told.
struct Teller {
    file: Option<File>,
}

impl Teller {
    fn to(path: Option<&Path>) -> Teller {
        let file = path.and_then(|path| File::options().append(true).create(true).open(path).ok());
        Teller { file }
    }

    /// A line. If nobody can read it, it is not told.
    fn tell(&mut self, what: &str, value: &str) {
        let value = value.replace('\\', "\\\\").replace('\n', "\\n");
        if let Some(file) = &mut self.file {
            let _ = file.write_all(format!("{what}\t{value}\n").as_bytes());
        }
    }
}

/// Runs an errand. Returns in the children only.
pub(super) fn run(options: &str, report: Option<PathBuf>) {
    let status = Forked::in_parent(|| {
        let mut teller = Teller::to(report.as_deref());
        match Errand::parse(options) {
            Ok(errand) => errand.run(&mut teller),
            Err(error) => {
                teller.tell("error", &error);
                IMPOSSIBLE
            }
        }
    });
    if let Some(status) = status {
        // SAFETY: It ends the process, of which nothing has begun that would have to be ended.
        unsafe { libc::_exit(status) };
    }
}

impl Errand {
    fn parse(options: &str) -> Result<Errand, String> {
        let mut errand = Errand {
            search: Search::default(),
            shows: false,
        };
        for line in options.lines() {
            let (name, value) = line.split_once('=').unwrap_or((line, ""));
            let number = || {
                let parsed = value.parse::<u64>();
                parsed.map_err(|_| format!("`{line}`: `{value}` is no number"))
            };
            let search = &mut errand.search;
            match name {
                "way" => search.way = value.parse::<Way>().map_err(|error| error.to_string())?,
                "schedule" => search.way = Way::Schedule(read(Path::new(value))?),
                "executions" => search.executions = Some(number()?),
                "seconds" => search.time = Some(Duration::from_secs(number()?)),
                "steps" => search.steps = u32::try_from(number()?).unwrap_or(u32::MAX),
                "seed" => search.seed = number()?,
                "show" => errand.shows = true,
                _ => return Err(format!("`{name}` is nothing that can be asked for")),
            }
        }
        Ok(errand)
    }

    fn run(self, teller: &mut Teller) -> i32 {
        let forked = Forked::new();
        forked
            .is_shown
            .set(self.shows && matches!(self.search.way, Way::Schedule(_)));
        let finding = self.search.run(&forked, &mut |progress: &Progress| {
            let Progress {
                executions, steps, ..
            } = progress;
            teller.tell("progress", &format!("{executions}\t{steps}"));
            ControlFlow::Continue(())
        });
        tell(teller, &finding);
        match finding.failure {
            Some(_) => FOUND,
            None => NOTHING_FOUND,
        }
    }
}

fn tell(teller: &mut Teller, finding: &Finding) {
    teller.tell("executions", &finding.executions.to_string());
    teller.tell("complete", &finding.is_complete.to_string());
    for covered in &finding.covered {
        teller.tell("covered", covered);
    }
    if let Some(misfit) = &finding.misfit {
        teller.tell("misfit", &misfit.to_string());
    }
    if let Some(found) = &finding.failure {
        for failure in &found.failures {
            teller.tell("failure", &failure.to_string());
        }
        teller.tell("story", &found.to_string());
        teller.tell("execution", &found.execution.to_string());
        teller.tell("schedule", &found.schedule.to_string());
    }
    teller.tell("end", "");
}

fn read(path: &Path) -> Result<Schedule, String> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    text.parse()
        .map_err(|error| format!("{}: {error}", path.display()))
}
