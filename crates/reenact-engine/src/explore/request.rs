//! The request to a process that explores its program, and the report of the results.
//!
//! The command `reenact` starts the program with the request in its environment, as lines of `name=value`. The reports
//! are messages in a file; see [`protocol`](super::protocol).
//!
//! With `serve`, further questions follow over a socket; see [`serve`](super::serve).

use std::{
    collections::BTreeMap,
    fs::File,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use reenact_explore::{Around, Budget, Limit, Moment, Progress, Step};

use super::{
    failure::Failure,
    follow::write_down,
    gap::Gap,
    message::send,
    process::Forked,
    protocol::{Exploration, ExplorationReport, FoundOutcome, Report},
    recorded::RecordedInput,
    retrace::{Limits, RecordedPath, retrace},
    schedule::Schedule,
    search::{Finding, Search, Strategy},
    serve::serve,
    stuck,
    subject::{Describe, Subject},
};
use crate::refusal;

/// Exit codes of a process that explored.
const NOTHING_FOUND: i32 = 0;
const FOUND: i32 = 1;
const IMPOSSIBLE: i32 = 2;

/// How long it may take to describe the outcomes when the time is up.
const TO_DESCRIBE: Duration = Duration::from_millis(300);

/// The request.
#[derive(Default)]
struct ExploreRequest {
    search: Search,
    /// Whether the output of the program is shown.
    shows: bool,
    /// The socket on which single universes are requested.
    serve: Option<PathBuf>,
    /// Whether releasing a lock is a step even if no activity uses a try-lock.
    releases: bool,
    /// The external data of a recorded run.
    recorded: Option<RecordedInput>,
    /// Explores what else could have happened in a recorded run, instead of searching for failures.
    around: Option<Surroundings>,
    /// The operations of the recorded run, and its exit status.
    path: Option<RecordedPath>,
    exit: Option<i32>,
}

/// How far to explore around a recorded run.
#[derive(Default)]
struct Surroundings {
    /// From this operation of its log on, from 1.
    from: usize,
    /// Maximum number of changes.
    near: Option<u32>,
}

/// A possible outcome.
struct PossibleOutcome {
    distance: u32,
    steps: Vec<Step>,
    count: u64,
    is_bad: bool,
}

/// Writes the reports.
struct ReportWriter {
    file: Option<File>,
}

impl ReportWriter {
    fn to(path: Option<&Path>) -> ReportWriter {
        let file = path.and_then(|path| File::options().append(true).create(true).open(path).ok());
        ReportWriter { file }
    }

    /// Writes a report. Errors are ignored: then there is no reader.
    fn write(&mut self, report: &Report) {
        if let Some(file) = &mut self.file {
            let _ = send(file, report);
        }
    }

    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        self.write(&Report::Progress(progress));
        ControlFlow::Continue(())
    }
}

/// Serves a request. Returns only in the child processes.
pub(super) fn run(options: &str, report: Option<PathBuf>) {
    let status = Forked::in_parent(|| {
        let mut report_writer = ReportWriter::to(report.as_deref());
        let result =
            ExploreRequest::parse(options).and_then(|request| request.run(&mut report_writer));
        result.unwrap_or_else(|why| refusal::refuse(report.as_deref(), &why))
    });
    if let Some(status) = status {
        // SAFETY: `_exit` only ends the process; the program has not begun.
        unsafe { libc::_exit(status) };
    }
}

impl ExploreRequest {
    fn parse(options: &str) -> Result<ExploreRequest, String> {
        let mut request = ExploreRequest::default();
        for line in options.lines() {
            let (name, value) = line.split_once('=').unwrap_or((line, ""));
            let number = || {
                let parsed = value.parse::<u64>();
                parsed.map_err(|_| format!("`{line}`: `{value}` is not a number"))
            };
            let search = &mut request.search;
            match name {
                "strategy" => {
                    search.strategy = value
                        .parse::<Strategy>()
                        .map_err(|error| error.to_string())?
                }
                "schedule" => search.strategy = Strategy::Schedule(read(Path::new(value))?),
                "executions" => search.executions = Some(number()?),
                "milliseconds" => search.time = Some(Duration::from_millis(number()?)),
                "steps" => search.steps = u32::try_from(number()?).unwrap_or(u32::MAX),
                "seed" => search.seed = number()?,
                "cores" => search.cores = number()? as usize,
                "allow-blocked" => search.allows_blocked = true,
                "spurious-wakeups" => {
                    search.spurious_wakeups = u32::try_from(number()?).unwrap_or(u32::MAX);
                }
                "show" => request.shows = true,
                "serve" => request.serve = Some(PathBuf::from(value)),
                "releases" => request.releases = true,
                "recording" => {
                    let recorded = RecordedInput::open(Path::new(value));
                    request.recorded = Some(recorded.map_err(|error| error.to_string())?);
                }
                "path" => request.path = Some(RecordedPath::read(Path::new(value))?),
                "exit" => request.exit = Some(number()? as i32),
                "around" => request.around = Some(Surroundings::default()),
                "from" | "near" => {
                    let around = request.around.get_or_insert_default();
                    match name {
                        "from" => around.from = number()? as usize,
                        _ => around.near = Some(number()?.try_into().unwrap_or(u32::MAX)),
                    }
                }
                _ => return Err(format!("there is no option `{name}`")),
            }
        }
        Ok(request)
    }

    fn run(self, report_writer: &mut ReportWriter) -> Result<i32, String> {
        if self.search.time.is_some() {
            stuck::prepare_once();
        }
        let forked = Forked::new(self.recorded);
        forked.is_shown.set(self.shows);
        if self.releases {
            forked.let_releases_be_steps();
        }
        if let Some(path) = &self.serve {
            let recording = self.path.as_ref().map(|path| (path, self.exit));
            forked.wake_spuriously(self.search.spurious_wakeups);
            return serve(forked, path, recording)
                .map(|()| NOTHING_FOUND)
                .map_err(|error| error.to_string());
        }
        match (self.around, &self.path) {
            (Some(around), Some(path)) => {
                around.run(&forked, &self.search, (path, self.exit), report_writer)
            }
            (Some(_), None) => Err("`around` needs a path".to_owned()),
            (None, _) => {
                let listener = &mut |progress: &Progress| report_writer.progress(*progress);
                let divide = |count| forked.divide(count);
                let finding = self.search.run_divided(&forked, &divide, listener);
                let status = match finding.failure {
                    Some(_) => FOUND,
                    None => NOTHING_FOUND,
                };
                report_writer.write(&Report::Explored(report_of(finding)));
                Ok(status)
            }
        }
    }
}

impl Surroundings {
    fn run(
        &self,
        forked: &Forked,
        search: &Search,
        recording: (&RecordedPath, Option<i32>),
        report_writer: &mut ReportWriter,
    ) -> Result<i32, String> {
        loop {
            let before = forked.granularity();
            let (report, status) = self.explore(forked, search, recording, report_writer)?;
            // If steps had to become finer, the results are discarded.
            if forked.granularity() == before {
                report_writer.write(&Report::Explored(report));
                return Ok(status);
            }
        }
    }

    /// Explores once. Returns the result and the exit status.
    fn explore(
        &self,
        forked: &Forked,
        search: &Search,
        (path, exit): (&RecordedPath, Option<i32>),
        report_writer: &mut ReportWriter,
    ) -> Result<(ExplorationReport, i32), String> {
        let most = search.steps as usize;
        let began = Instant::now();
        let until = search.time.and_then(|time| began.checked_add(time));
        forked.allow_blocked(search.allows_blocked);
        forked.supervisor().limit_time(until);
        let limits = Limits { steps: most, until };
        let base = retrace(forked, path, limits, exit).map_err(|error| error.to_string())?;
        let notes = || forked.supervisor().notes();
        if let Some(obstacle) = notes().gaps.iter().find(|gap| gap.is_obstacle()) {
            return Err(obstacle.to_string());
        }
        if let Some(divergence) = &base.divergence {
            let exploration = Exploration {
                divergence: Some(divergence.to_string()),
                ..Exploration::default()
            };
            let schedules = Vec::new();
            let report = ExplorationReport {
                exploration,
                schedules,
            };
            return Ok((report, IMPOSSIBLE));
        }
        let mut outcomes: BTreeMap<String, PossibleOutcome> = BTreeMap::new();
        let from = base.step_of(self.from);
        let mut around = Around::of(forked, &base.steps).from(Moment(from as u32));
        if let Some(near) = self.near {
            around = around.near(near);
        }
        // A recorded run may exceed the limit of steps; executions near it are about as long.
        let most = most.max(base.steps.len().saturating_mul(2));
        let budget = Budget {
            executions: search.executions,
            steps: Some(u32::try_from(most).unwrap_or(u32::MAX)),
            time: search.time.map(|time| time.saturating_sub(began.elapsed())),
        };
        let report = around
            .budget(budget)
            .progress(|progress| report_writer.progress(progress))
            .run(|seen, distance| {
                let outcome =
                    outcomes
                        .entry(seen.run.outcome())
                        .or_insert_with(|| PossibleOutcome {
                            distance,
                            steps: seen.schedule.to_vec(),
                            count: 0,
                            is_bad: seen.verdict.is_bad(),
                        });
                outcome.count += 1;
            });
        let report = report
            .map_err(|divergence| format!("the recorded run cannot be repeated: {divergence}"))?;
        let mut gaps = notes().gaps;
        for &limit in report.coverage.stopped_by() {
            if limit != Limit::Interrupted {
                gaps.push(Gap::Limit(limit));
            } else if let Some(time) = search.time.filter(|_| forked.supervisor().is_late()) {
                gaps.push(Gap::Limit(Limit::Time(time)));
            }
        }
        if !report.is_everything && gaps.is_empty() {
            gaps.push(Gap::Strategy(report.to_string()));
        }
        // The outcomes that were found are described, even if the time is up.
        let until = until.map(|until| until.max(Instant::now() + TO_DESCRIBE));
        forked.supervisor().limit_time(until);
        let mut found: Vec<_> = outcomes.into_iter().collect();
        found.sort_by_key(|(_, outcome)| outcome.distance);
        let status = match found.iter().any(|(_, outcome)| outcome.is_bad) {
            true => FOUND,
            false => NOTHING_FOUND,
        };
        let schedules = found.iter().map(|(_, outcome)| {
            let written = write_down(forked, &outcome.steps, most);
            written.schedule.to_string()
        });
        let schedules = schedules.collect();
        let outcomes = found.into_iter().map(|(text, outcome)| FoundOutcome {
            outcome: text,
            bad: outcome.is_bad,
            distance: outcome.distance,
            count: outcome.count,
        });
        let exploration = Exploration {
            executions: report.progress.executions,
            covered: vec![report.to_string()],
            complete: report.is_everything && gaps.is_empty(),
            incomplete: gaps.iter().map(Gap::to_string).collect(),
            outcomes: outcomes.collect(),
            ..Exploration::default()
        };
        let report = ExplorationReport {
            exploration,
            schedules,
        };
        Ok((report, status))
    }
}

/// Returns the report of a search for failures.
fn report_of(finding: Finding) -> ExplorationReport {
    let obstacle = finding.obstacle();
    let mut exploration = Exploration {
        executions: finding.executions,
        covered: finding.covered,
        complete: finding.is_complete,
        incomplete: finding.gaps.iter().map(Gap::to_string).collect(),
        obstacle,
        divergence: finding.divergence.map(|divergence| divergence.to_string()),
        ..Exploration::default()
    };
    let mut schedules = Vec::new();
    if let Some(found) = &finding.failure {
        exploration.failures = found.failures.iter().map(Failure::to_string).collect();
        exploration.story = Some(found.to_string());
        exploration.execution = Some(found.execution);
        if found.is_reliable {
            schedules.push(found.schedule.to_string());
        }
    }
    ExplorationReport {
        exploration,
        schedules,
    }
}

/// Reads the schedule in a file.
pub(super) fn read(path: &Path) -> Result<Schedule, String> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    text.parse()
        .map_err(|error| format!("{}: {error}", path.display()))
}
