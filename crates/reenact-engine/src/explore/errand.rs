//! What a process that explores its program is asked to do, and how it tells what came of it.
//!
//! Asked in the environment, in lines of `name=value`; told in a file, a line for each thing to tell, with a tab after what it is
//! and what would break a line written as `\n`. Both are between the command `reenact` and the program that it starts.
//!
//! Who asks for `serve` is asked for more, see [`serve`](super::serve).

use std::{
    collections::BTreeMap,
    fs::File,
    io::Write,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use reenact_multiverse::explore::{Around, Budget, Moment, Progress, Step};

use super::{
    failure::Failure,
    follow::write_down,
    recorded::Recorded,
    retrace::{Limits, Path as Recording, retrace},
    schedule::Schedule,
    search::{Finding, Search, Way},
    serve::serve,
    subject::{Subject, Told},
    whole::Forked,
};

/// Exit codes of a process that explored.
const NOTHING_FOUND: i32 = 0;
const FOUND: i32 = 1;
const IMPOSSIBLE: i32 = 2;

/// What is asked for.
#[derive(Default)]
struct Errand {
    search: Search,
    /// Whether what the program prints is shown.
    shows: bool,
    /// The socket on which universes are asked for, one by one.
    serve: Option<PathBuf>,
    /// Whether giving a lock back is a step even if nobody tries to take one.
    releases: bool,
    /// What the world outside said to a recorded run.
    recorded: Option<Recorded>,
    /// Not to look for failures, but at what else could have happened than what was recorded.
    around: Option<Surroundings>,
    /// What the recorded run did, and the status that it exited with.
    path: Option<Recording>,
    exit: Option<i32>,
}

/// How far to look around a recorded run.
#[derive(Default)]
struct Surroundings {
    /// From this operation of its log on, from 1.
    from: usize,
    /// So many changes.
    near: Option<u32>,
}

/// Something that could have happened.
struct Outcome {
    distance: u32,
    steps: Vec<Step>,
    count: u64,
    is_bad: bool,
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

    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.tell("progress", &progress_of(progress));
        ControlFlow::Continue(())
    }
}

/// How many executions and steps there were, and how many executions there will be in all if that is known.
fn progress_of(progress: &Progress) -> String {
    let Progress {
        executions,
        steps,
        estimate,
        ..
    } = progress;
    match estimate {
        Some(estimate) => format!("{executions}\t{steps}\t{estimate}"),
        None => format!("{executions}\t{steps}"),
    }
}

/// Runs an errand. Returns in the children only.
pub(super) fn run(options: &str, report: Option<PathBuf>) {
    let status = Forked::in_parent(|| {
        let mut teller = Teller::to(report.as_deref());
        let result = Errand::parse(options).and_then(|errand| errand.run(&mut teller));
        result.unwrap_or_else(|error| {
            teller.tell("error", &error);
            IMPOSSIBLE
        })
    });
    if let Some(status) = status {
        // SAFETY: It ends the process, of which nothing has begun that would have to be ended.
        unsafe { libc::_exit(status) };
    }
}

impl Errand {
    fn parse(options: &str) -> Result<Errand, String> {
        let mut errand = Errand::default();
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
                "milliseconds" => search.time = Some(Duration::from_millis(number()?)),
                "steps" => search.steps = u32::try_from(number()?).unwrap_or(u32::MAX),
                "seed" => search.seed = number()?,
                "cores" => search.cores = number()? as usize,
                "show" => errand.shows = true,
                "serve" => errand.serve = Some(PathBuf::from(value)),
                "releases" => errand.releases = true,
                "recording" => {
                    let recorded = Recorded::open(Path::new(value));
                    errand.recorded = Some(recorded.map_err(|error| error.to_string())?);
                }
                "path" => errand.path = Some(Recording::read(Path::new(value))?),
                "exit" => errand.exit = Some(number()? as i32),
                "around" => errand.around = Some(Surroundings::default()),
                "from" | "near" => {
                    let around = errand.around.get_or_insert_default();
                    match name {
                        "from" => around.from = number()? as usize,
                        _ => around.near = Some(number()?.try_into().unwrap_or(u32::MAX)),
                    }
                }
                _ => return Err(format!("`{name}` is nothing that can be asked for")),
            }
        }
        Ok(errand)
    }

    fn run(self, teller: &mut Teller) -> Result<i32, String> {
        let forked = Forked::new(self.recorded);
        forked.is_shown.set(self.shows);
        if self.releases {
            forked.let_releases_be_steps();
        }
        if let Some(path) = &self.serve {
            let recording = self.path.as_ref().map(|path| (path, self.exit));
            return serve(forked, path, recording)
                .map(|()| NOTHING_FOUND)
                .map_err(|error| error.to_string());
        }
        match (self.around, &self.path) {
            (Some(around), Some(path)) => {
                around.run(&forked, &self.search, (path, self.exit), teller)
            }
            (Some(_), None) => Err("around what? A path is needed".to_owned()),
            (None, _) => {
                let listener = &mut |progress: &Progress| teller.progress(progress);
                let divide = |count| forked.divide(count);
                let finding = self.search.run_divided(&forked, &divide, listener);
                tell(teller, &finding);
                Ok(match finding.failure {
                    Some(_) => FOUND,
                    None => NOTHING_FOUND,
                })
            }
        }
    }
}

impl Surroundings {
    fn run(
        &self,
        forked: &Forked,
        search: &Search,
        recording: (&Recording, Option<i32>),
        teller: &mut Teller,
    ) -> Result<i32, String> {
        loop {
            let before = forked.fineness();
            let status = self.look(forked, search, recording, teller)?;
            if forked.fineness() == before {
                return Ok(status);
            }
            // It turned out that more are steps than were so far: what was found is forgotten.
            teller.tell("again", "");
        }
    }

    fn look(
        &self,
        forked: &Forked,
        search: &Search,
        (path, exit): (&Recording, Option<i32>),
        teller: &mut Teller,
    ) -> Result<i32, String> {
        let most = search.steps as usize;
        let began = Instant::now();
        let limits = Limits {
            steps: most,
            until: search.time.map(|time| began + time),
        };
        let base = retrace(forked, path, limits, exit).map_err(|error| error.to_string())?;
        if let Some(divergence) = &base.divergence {
            teller.tell("divergence", &divergence.to_string());
            teller.tell("end", "");
            return Ok(IMPOSSIBLE);
        }
        let mut outcomes: BTreeMap<String, Outcome> = BTreeMap::new();
        let from = base.step_of(self.from);
        let mut around = Around::of(forked, &base.steps).from(Moment(from as u32));
        if let Some(near) = self.near {
            around = around.near(near);
        }
        // A recorded run may be longer than others are allowed to be: others near it are as long.
        let most = most.max(base.steps.len().saturating_mul(2));
        let budget = Budget {
            executions: search.executions,
            steps: Some(u32::try_from(most).unwrap_or(u32::MAX)),
            time: search.time.map(|time| time.saturating_sub(began.elapsed())),
        };
        let report = around
            .budget(budget)
            .progress(|progress| teller.progress(&progress))
            .run(|seen, distance| {
                let outcome = outcomes
                    .entry(seen.run.outcome())
                    .or_insert_with(|| Outcome {
                        distance,
                        steps: seen.schedule.to_vec(),
                        count: 0,
                        is_bad: seen.verdict.is_bad(),
                    });
                outcome.count += 1;
            });
        let report =
            report.map_err(|misfit| format!("the recorded run cannot be had: {misfit}"))?;
        teller.tell("executions", &report.progress.executions.to_string());
        teller.tell("complete", &report.is_everything.to_string());
        teller.tell("covered", &report.to_string());
        teller.tell("base", &base.is_bad.to_string());
        let mut found: Vec<_> = outcomes.into_iter().collect();
        found.sort_by_key(|(_, outcome)| outcome.distance);
        for (text, outcome) in &found {
            teller.tell("outcome", text);
            teller.tell("bad", &outcome.is_bad.to_string());
            teller.tell("distance", &outcome.distance.to_string());
            teller.tell("count", &outcome.count.to_string());
            let written = write_down(forked, &outcome.steps, most);
            teller.tell("schedule", &written.schedule.to_string());
        }
        teller.tell("end", "");
        Ok(match found.iter().any(|(_, outcome)| outcome.is_bad) {
            true => FOUND,
            false => NOTHING_FOUND,
        })
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
        let failures = found.failures.iter().map(Failure::to_string);
        failures.for_each(|failure| teller.tell("failure", &failure));
        teller.tell("story", &found.to_string());
        teller.tell("execution", &found.execution.to_string());
        teller.tell("schedule", &found.schedule.to_string());
    }
    teller.tell("end", "");
}

/// The schedule in a file.
pub(super) fn read(path: &Path) -> Result<Schedule, String> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    text.parse()
        .map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{Progress, progress_of};

    #[test]
    fn the_size_of_a_search_is_told_where_it_is_known() {
        let mut progress = Progress {
            executions: 5,
            steps: 40,
            ..Progress::default()
        };
        assert_eq!(progress_of(&progress), "5\t40");
        progress.estimate = Some(9_000);
        assert_eq!(progress_of(&progress), "5\t40\t9000");
    }
}
