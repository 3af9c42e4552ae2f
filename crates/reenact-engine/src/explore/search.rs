//! The search for a failure: which executions are run, and the report of the result.

mod strategy;
mod workers;

use std::{
    fmt,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use reenact_explore::{
    Bounded, Bounding, Budget, Divergence, DivergencePoint, Explorer, GradualReport, Limit,
    Minimiser, Progress, RandomStrategy, Report, Sampler, Step, Verdict,
};

use self::strategy::name_of;
pub use self::strategy::{ParseStrategyError, Strategy};
use self::workers::Workers;
use super::{
    failure::Failure,
    follow::{Followed, follow, try_out, write_down},
    gap::{Gap, Reads},
    process::Family,
    schedule::{Line, Schedule},
    subject::{Describe, Granularity, Subject},
};

/// What to search, and how long.
#[derive(Clone, Debug)]
pub struct Search {
    /// How executions are chosen.
    pub strategy: Strategy,
    /// Maximum number of executions.
    pub executions: Option<u64>,
    /// Maximum duration.
    pub time: Option<Duration>,
    /// Maximum number of steps of an execution. A random execution, in which every activity gets its turn, that reaches
    /// it is a failure: a livelock.
    pub steps: u32,
    /// Seed of the random strategies.
    pub seed: u64,
    /// Maximum number of further executions to simplify a failing schedule.
    pub simplify: u64,
    /// Whether activities other than the main one may wait forever, except for a lock.
    pub allows_blocked: bool,
    /// How many waits of each activity may end without a reason.
    pub spurious_wakeups: u32,
    /// Number of workers of the random and exhaustive strategies. Everything else is done by one.
    pub cores: usize,
}

impl Default for Search {
    fn default() -> Search {
        Search {
            strategy: Strategy::Portfolio,
            executions: None,
            time: None,
            steps: 20_000,
            seed: 0,
            simplify: 1_000,
            allows_blocked: false,
            spurious_wakeups: 0,
            cores: 1,
        }
    }
}

/// Number of random executions of a portfolio.
const QUICK: u64 = 1_000;
/// Maximum number of executions of the exhaustive part of a portfolio without a budget.
const ENOUGH: u64 = 100_000;
/// How often a failing schedule is followed again before it is reported.
const REPEATED: u32 = 20;
/// How long it may take to report a failure when the time is up.
const TO_REPORT: Duration = Duration::from_millis(300);

/// The result of a search.
#[derive(Debug)]
pub struct Finding {
    /// Number of executions.
    pub executions: u64,
    /// Number of steps of all executions.
    pub steps: u64,
    /// What has been explored, one phrase for each part.
    pub covered: Vec<String>,
    /// Whether every class of executions was run to its end, and nothing happened that is not explored. If not, `gaps`
    /// says why.
    pub is_complete: bool,
    /// Why the search is not complete.
    pub gaps: Vec<Gap>,
    /// Where the program departs from the followed schedule.
    pub divergence: Option<Divergence>,
    /// The first failure.
    pub failure: Option<Found>,
}

/// A failure that was found.
#[derive(Debug)]
pub struct Found {
    /// What went wrong.
    pub failures: Vec<Failure>,
    /// The failing schedule.
    pub schedule: Schedule,
    /// The number of the failing execution, from 1.
    pub execution: u64,
    /// Whether following the schedule leads to the failure each time, so that it is worth keeping.
    pub is_reliable: bool,
}

impl Finding {
    /// Returns why the exploration could not go on, if that is so: it says nothing about the program then.
    pub fn obstacle(&self) -> Option<String> {
        let mut obstacles = self.gaps.iter().filter(|gap| gap.is_obstacle());
        match obstacles.next() {
            Some(obstacle) => Some(obstacle.to_string()),
            None if self.executions == 0 && self.failure.is_none() => {
                Some("no execution came to its end before the exploration stopped".to_owned())
            }
            None => None,
        }
    }

    /// The result for a program that was run once, without exploration.
    pub fn of_one() -> Finding {
        Finding {
            executions: 1,
            steps: 0,
            covered: vec!["not explored: this process is recorded or replayed".to_owned()],
            is_complete: false,
            gaps: vec![Gap::Strategy(
                "this process is recorded or replayed, which takes one execution".to_owned(),
            )],
            divergence: None,
            failure: None,
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        let lines = &self.schedule.lines;
        let switches = match self.schedule.switches() {
            1 => "1 switch".to_owned(),
            switches => format!("{switches} switches"),
        };
        let which = match self.is_reliable {
            true => "failing schedule",
            false => "schedule of an execution that failed",
        };
        writeln!(f, "\n{which}, with {switches} from one to another:")?;
        let width = lines.len().to_string().len();
        let mut number = 1;
        for (part, count) in self.schedule.folded() {
            for (number, line) in (number..).zip(part) {
                write!(f, "{number:>width$}. {} {}", line.who, line.sentence())?;
                match line.choice {
                    0 => writeln!(f)?,
                    choice => writeln!(f, " (choice {choice})")?,
                }
            }
            let (again, last) = (count - 1, number + part.len() - 1);
            match part.len() {
                _ if again == 0 => {}
                1 => writeln!(f, "{:width$}  step {number} again, {again} times", "")?,
                _ => writeln!(
                    f,
                    "{:width$}  steps {number} to {last} again, {again} times",
                    ""
                )?,
            }
            number += part.len() * count;
        }
        Ok(())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |number: u64, what: &str| match number {
            1 => format!("1 {what}"),
            _ => format!("{number} {what}s"),
        };
        write!(f, "{}", count(self.executions, "execution"))?;
        for covered in &self.covered {
            match covered.strip_prefix("complete: ") {
                Some(covered) if !self.is_complete => write!(f, "; {covered}")?,
                _ => write!(f, "; {covered}")?,
            }
        }
        // The others are in `covered`.
        let is_unsaid = |gap: &&Gap| !matches!(gap, Gap::Strategy(_) | Gap::Limit(_));
        for gap in self.gaps.iter().filter(is_unsaid) {
            write!(f, "; not complete: {gap}")?;
        }
        Ok(())
    }
}

/// The result of one part of a search.
pub(super) struct Tried {
    report: Report,
    bad: Option<(Vec<Step>, u64)>,
    /// Number of executions that reached the limit of steps.
    endless: u64,
}

/// A search in progress.
struct Hunt<'a, S: Subject> {
    subject: &'a S,
    search: &'a Search,
    began: Instant,
    finding: Finding,
    bad: Option<(Vec<Step>, u64)>,
    /// Why the last part does not cover everything.
    gaps: Vec<Gap>,
    /// The other workers, if there are any.
    workers: Option<Workers<'a, S>>,
    /// The number of an execution that failed in another worker and not here.
    missed: Option<u64>,
    listener: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
}

impl Search {
    /// Searches for a failure. Calls `listener` several times a second with the progress; it may stop the search.
    pub fn run<S: Subject>(
        &self,
        subject: &S,
        listener: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Finding
    where
        S::Event: std::hash::Hash,
    {
        self.hunt(subject, None, listener)
    }

    /// Searches on as many threads as there are cores to be used. Each has its own program, which `make` creates and
    /// which is the same as `subject`.
    pub fn run_on<S: Subject>(
        &self,
        subject: &S,
        make: &(dyn Fn() -> S + Sync),
        listener: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Finding
    where
        S::Event: std::hash::Hash,
    {
        self.hunt(subject, Some(Workers::Threads(make)), listener)
    }

    /// Searches with as many processes, copies of this one that `divide` makes.
    pub(super) fn run_divided<S: Subject>(
        &self,
        subject: &S,
        divide: &dyn Fn(usize) -> Family,
        listener: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Finding
    where
        S::Event: std::hash::Hash,
    {
        self.hunt(subject, Some(Workers::Processes(divide)), listener)
    }

    fn hunt<'a, S: Subject>(
        &'a self,
        subject: &'a S,
        workers: Option<Workers<'a, S>>,
        listener: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Finding
    where
        S::Event: std::hash::Hash,
    {
        let began = Instant::now();
        subject.allow_blocked(self.allows_blocked);
        subject.wake_spuriously(self.spurious_wakeups);
        let until = self.time.and_then(|time| began.checked_add(time));
        subject.supervisor().limit_time(until);
        let hunt = Hunt {
            subject,
            search: self,
            began,
            finding: Finding {
                executions: 0,
                steps: 0,
                covered: Vec::new(),
                is_complete: false,
                gaps: Vec::new(),
                divergence: None,
                failure: None,
            },
            bad: None,
            gaps: Vec::new(),
            workers: workers.filter(|_| self.cores > 1),
            missed: None,
            listener,
        };
        hunt.run()
    }
}

impl<S: Subject> Hunt<'_, S>
where
    S::Event: std::hash::Hash,
{
    fn run(mut self) -> Finding {
        if !matches!(self.search.strategy, Strategy::Schedule(_)) {
            self.subject.be_fair();
            if self.differs() {
                self.gaps = vec![Gap::Limit(Limit::Divergence)];
                return self.conclude();
            }
        }
        match &self.search.strategy {
            Strategy::Portfolio => {
                self.sample(RandomStrategy::Mixed, self.left(Some(QUICK)));
                if self.bad.is_none() && !self.is_over() {
                    let enough = self.search.time.is_none().then_some(ENOUGH);
                    self.exhaust(self.left(self.search.executions.or(enough)));
                }
            }
            Strategy::Exhaustive => self.exhaust(self.left(None)),
            Strategy::Random(strategy) => self.sample(*strategy, self.left(None)),
            Strategy::Preemptions(most) => self.bound(Bounding::Preemptions, *most),
            Strategy::Delays(most) => self.bound(Bounding::Delays, *most),
            Strategy::Schedule(schedule) => self.follow(schedule),
        }
        self.report_what_was_missed();
        if let Some((steps, execution)) = self.bad.take() {
            self.write_down(&steps, execution);
        }
        self.conclude()
    }

    /// Adds to the result why it is not complete.
    fn conclude(mut self) -> Finding {
        let notes = self.subject.supervisor().notes();
        let mut gaps = Vec::new();
        for gap in self.gaps.into_iter().chain(notes.gaps) {
            let gap = match gap {
                // The limit of a part is what was left of the time.
                Gap::Limit(Limit::Time(part)) => {
                    Gap::Limit(Limit::Time(self.search.time.unwrap_or(part)))
                }
                Gap::Limit(Limit::Interrupted) => match self.search.time {
                    Some(time) if self.began.elapsed() >= time => Gap::Limit(Limit::Time(time)),
                    _ => continue,
                },
                // If that was the reason to stop, it is not because of a failure.
                Gap::Limit(Limit::Failure) if self.finding.failure.is_none() => continue,
                gap => gap,
            };
            if !gaps.contains(&gap) {
                gaps.push(gap);
            }
        }
        self.finding.is_complete &= gaps.is_empty();
        self.finding.gaps = gaps;
        self.finding
    }

    /// Returns what the program has read from outside.
    pub(super) fn reads(&self) -> Reads {
        self.subject.supervisor().notes().reads
    }

    /// Sets why a part does not cover everything.
    fn stopped_by(&mut self, limits: &[Limit]) {
        self.gaps = limits.iter().copied().map(Gap::Limit).collect();
    }

    /// Runs the program twice, letting each activity run as long as it can. Returns whether the two executions differ.
    fn differs(&mut self) -> bool {
        let most = self.search.steps as usize;
        let first = self.with_settled_steps(|this| try_out(this.subject, &[], most));
        let again = try_out(self.subject, &first.steps, most);
        if [first.verdict, again.verdict].contains(&Verdict::Interrupted) {
            return false;
        }
        let mut lines = first.schedule.lines.iter().zip(&again.schedule.lines);
        let other = lines.position(|(line, other)| !line.is_same(other));
        let step = match other {
            _ if again.divergence.is_some() => None,
            Some(step) => Some(step),
            None if first.schedule.lines.len() != again.schedule.lines.len() => {
                Some(first.schedule.lines.len().min(again.schedule.lines.len()))
            }
            None if first.verdict == again.verdict => return false,
            None => None,
        };
        let describe = |schedule: &Schedule| match schedule.lines.get(step.unwrap_or(0)) {
            Some(Line {
                who, what, site, ..
            }) if site.is_empty() => format!("`{what}` of {who}"),
            Some(Line {
                who, what, site, ..
            }) => format!("`{what}` of {who} at {site}"),
            None => "the end".to_owned(),
        };
        let divergence = again.divergence.clone().unwrap_or_else(|| match step {
            Some(step) => Divergence {
                point: DivergencePoint::Step(step),
                expected: describe(&first.schedule),
                found: describe(&again.schedule),
            },
            None => Divergence {
                point: DivergencePoint::End,
                expected: format!("the first execution {}", end_of(&first)),
                found: format!("the second one {}", end_of(&again)),
            },
        });
        self.finding.executions = 2;
        self.finding.failure = Some(Found {
            failures: vec![Failure::Divergence(divergence, self.reads())],
            schedule: first.schedule,
            execution: 2,
            is_reliable: false,
        });
        true
    }

    /// Runs `part` again if steps have become finer meanwhile, because schedules of coarser steps cannot be repeated.
    fn with_settled_steps<R>(&mut self, mut part: impl FnMut(&mut Self) -> R) -> R {
        loop {
            let before = self.subject.granularity();
            let result = part(self);
            if self.subject.granularity() == before {
                return result;
            }
        }
    }

    /// Returns the rest of the budget, with at most `most` executions.
    fn left(&self, most: Option<u64>) -> Budget {
        let search = self.search;
        let executions = search
            .executions
            .map(|all| all.saturating_sub(self.finding.executions));
        let executions = match (executions, most) {
            (Some(left), Some(most)) => Some(left.min(most)),
            (left, most) => left.or(most),
        };
        let time = search
            .time
            .map(|time| time.saturating_sub(self.began.elapsed()));
        Budget {
            executions,
            steps: Some(search.steps),
            time,
        }
    }

    fn is_over(&self) -> bool {
        let budget = self.left(None);
        budget.executions == Some(0) || budget.time == Some(Duration::ZERO)
    }

    fn add(&mut self, progress: &Progress) {
        self.finding.executions += progress.executions;
        self.finding.steps += progress.steps;
    }

    fn sample(&mut self, strategy: RandomStrategy, budget: Budget) {
        let on_all = self.with_settled_steps(|this| {
            this.sample_on_all(this.sampler(strategy, this.later(budget)))
        });
        let Tried {
            report,
            bad,
            endless,
        } = on_all.unwrap_or_else(|| {
            self.with_settled_steps(|this| this.sample_alone(strategy, this.later(budget)))
        });
        self.bad = bad;
        self.add(&report.progress);
        // Enough executions is when a random strategy is done.
        let limits = report.coverage.stopped_by().iter();
        let limits = limits.filter(|limit| !matches!(limit, Limit::Executions(_)));
        self.stopped_by(&limits.copied().collect::<Vec<_>>());
        self.gaps.push(Gap::Strategy(
            "the executions were drawn at random".to_owned(),
        ));
        let name = name_of(strategy);
        let executions = report.progress.executions;
        let mut covered = format!(
            "{executions} of them at random ({name}, seed {})",
            self.search.seed
        );
        if endless > 0 {
            covered += &format!(", {endless} without an end in {} steps", self.search.steps);
        }
        self.finding.covered.push(covered);
    }

    fn sampler<'s>(&self, strategy: RandomStrategy, budget: Budget) -> Sampler<'s, S>
    where
        Self: 's,
    {
        let mut sampler = Sampler::of(self.subject)
            .strategy(strategy)
            .seed(self.search.seed)
            .steps(self.search.steps)
            .stop_at_failure();
        if let Some(executions) = budget.executions {
            sampler = sampler.executions(executions);
        }
        if let Some(time) = budget.time {
            sampler = sampler.time(time);
        }
        sampler
    }

    fn sample_alone(&mut self, strategy: RandomStrategy, budget: Budget) -> Tried {
        let sampler = self.sampler(strategy, budget);
        let mut bad = None;
        let mut endless = 0u64;
        let listener = &mut *self.listener;
        let before = self.finding.executions;
        let report = sampler
            .progress(|progress| listener(&after(before, progress)))
            .run(|seen| {
                let is_bad = seen.verdict.is_bad();
                endless += u64::from(seen.verdict == Verdict::Cut);
                if (is_bad || seen.verdict == Verdict::Cut) && bad.is_none() {
                    bad = Some((seen.schedule.to_vec(), before + seen.number + 1));
                }
            });
        Tried {
            report,
            bad,
            endless,
        }
    }

    /// Returns the budget with the time that is left now.
    fn later(&self, budget: Budget) -> Budget {
        let time = self.left(None).time;
        Budget { time, ..budget }
    }

    fn exhaust(&mut self, budget: Budget) {
        let before = self.finding.executions;
        let on_all = self.with_settled_steps(|this| this.exhaust_on_all(this.later(budget)));
        let Tried { report, bad, .. } =
            on_all.unwrap_or_else(|| self.exhaust_alone(self.later(budget)));
        self.bad = bad;
        self.add(&report.progress);
        if let Some(divergence) = report.divergence {
            self.finding.failure = Some(Found {
                failures: vec![Failure::Divergence(divergence, self.reads())],
                schedule: Schedule::default(),
                execution: before + report.progress.executions + 1,
                is_reliable: false,
            });
        }
        self.finding.is_complete = report.coverage.is_complete();
        self.stopped_by(report.coverage.stopped_by());
        let executions = report.progress.executions;
        self.finding
            .covered
            .push(match report.coverage.is_complete() {
                true => format!("complete: every class of executions once, {executions} of them"),
                false => format!("every class once, {executions} so far, {}", report.coverage),
            });
    }

    /// Explores exhaustively, starting again whenever steps had to become finer.
    fn exhaust_alone(&mut self, budget: Budget) -> Tried {
        self.with_settled_steps(|this| this.exhaust_once(this.later(budget)))
    }

    fn exhaust_once(&mut self, budget: Budget) -> Tried {
        let before = self.finding.executions;
        let mut bad = None;
        let listener = &mut *self.listener;
        let report = Explorer::of(self.subject)
            .budget(budget)
            .stop_at_failure()
            .progress(|progress| listener(&after(before, progress)))
            .run(|execution| {
                if execution.verdict.is_bad() && bad.is_none() {
                    let steps = execution.schedule().to_vec();
                    bad = Some((steps, before + execution.number + 1));
                }
            });
        Tried {
            report,
            bad,
            endless: 0,
        }
    }

    fn bound(&mut self, bounding: Bounding, most: u32) {
        let (report, bad) = self.with_settled_steps(|this| this.bound_once(bounding, most));
        self.bad = bad;
        self.add(&report.progress);
        self.finding.is_complete = report.is_everything;
        self.stopped_by(report.coverage.stopped_by());
        if !report.is_everything && self.gaps.is_empty() {
            let bound = match bounding {
                Bounding::Preemptions => "preemptions",
                Bounding::Delays => "delays",
            };
            self.gaps.push(Gap::Strategy(format!(
                "executions with more than {most} {bound} were left out"
            )));
        }
        self.finding.covered.push(report.to_string());
    }

    fn bound_once(
        &mut self,
        bounding: Bounding,
        most: u32,
    ) -> (GradualReport, Option<(Vec<Step>, u64)>) {
        let mut bad = None;
        let budget = self.left(None);
        let listener = &mut *self.listener;
        let report = Bounded::of(self.subject, bounding)
            .up_to(most)
            .budget(budget)
            .stop_at_failure()
            .progress(|progress| listener(&progress))
            .run(|seen, _| {
                if seen.verdict.is_bad() && bad.is_none() {
                    bad = Some((seen.schedule.to_vec(), seen.number + 1));
                }
            });
        (report, bad)
    }

    fn follow(&mut self, schedule: &Schedule) {
        let most = self.search.steps as usize;
        let mut followed = follow(self.subject, schedule, most);
        if followed.divergence.is_some() && self.subject.granularity() != Granularity::FINEST {
            // The schedule may have been written where steps were finer.
            self.subject.refine(Granularity::FINEST);
            let again = follow(self.subject, schedule, most);
            if again.divergence.is_none() {
                followed = again;
            }
        }
        self.finding.executions = 1;
        self.finding.steps = followed.steps.len() as u64;
        self.finding.covered.push(match &followed.divergence {
            None => "the one that the schedule describes".to_owned(),
            Some(divergence) => format!("as close to the schedule as the program is: {divergence}"),
        });
        self.finding.divergence = followed.divergence;
        self.gaps.push(Gap::Strategy(
            "only the execution of the schedule was run".to_owned(),
        ));
        if followed.verdict == Verdict::Interrupted {
            self.finding.executions = 0;
            self.gaps.push(Gap::Limit(Limit::Interrupted));
        }
        if followed.verdict.is_bad() {
            self.finding.failure = Some(Found {
                failures: followed.failures,
                schedule: followed.schedule,
                execution: 1,
                is_reliable: true,
            });
        }
    }

    /// Returns a schedule with as few switches as possible that fails in the same way.
    fn simplest(&self, steps: &[Step]) -> Option<Vec<Step>> {
        let bad = write_down(self.subject, steps, self.search.steps as usize);
        // A livelock is a cycle, which is shown as one and does not become shorter.
        if bad.divergence.is_some()
            || !bad.verdict.is_bad()
            || bad.failures.iter().any(Failure::is_livelock)
        {
            return None;
        }
        let minimal = Minimiser::of(self.subject, steps)
            .runs(self.search.simplify)
            .until(self.until())
            .find(|run, verdict| {
                verdict == bad.verdict && are_alike(&run.failures(), &bad.failures)
            });
        Some(minimal.ok()?.schedule)
    }

    /// Returns when the time is up.
    fn until(&self) -> Option<Instant> {
        self.search
            .time
            .and_then(|time| self.began.checked_add(time))
    }

    /// Follows a schedule again and again. Returns how often, and how often the execution failed; in this way, if that is
    /// known.
    fn repeat(&self, steps: &[Step], like: Option<(Verdict, &[Failure])>) -> (u32, u32) {
        let most = self.search.steps as usize;
        let (mut repeated, mut failed) = (0, 0);
        while repeated < REPEATED && !self.subject.supervisor().is_late() {
            let again = try_out(self.subject, steps, most);
            if again.verdict == Verdict::Interrupted {
                break;
            }
            repeated += 1;
            let is_same = match like {
                Some((verdict, failures)) => {
                    again.verdict == verdict && are_alike(&again.failures, failures)
                }
                None => again.verdict.is_bad(),
            };
            failed += u32::from(is_same && again.divergence.is_none());
        }
        (repeated, failed)
    }

    /// Runs the failing schedule once more, to report it, and then some more times, to see whether it always fails.
    fn write_down(&mut self, steps: &[Step], execution: u64) {
        let most = self.search.steps as usize;
        if let Some(until) = self.until() {
            // A failure that was found is reported.
            let until = until.max(Instant::now() + TO_REPORT);
            self.subject.supervisor().limit_time(Some(until));
        }
        let simplest = self.simplest(steps);
        let steps = simplest.as_deref().unwrap_or(steps);
        let Followed {
            schedule,
            divergence,
            verdict,
            mut failures,
            ..
        } = write_down(self.subject, steps, most);
        let mut is_reliable = verdict != Verdict::Interrupted;
        if verdict == Verdict::Interrupted {
            failures.push(Failure::Ended(
                "failed, and the time was up before its failure could be described".to_owned(),
            ));
        } else if let Some(divergence) = divergence {
            failures.insert(0, Failure::Divergence(divergence, self.reads()));
            is_reliable = false;
        } else if schedule.lines.len() >= most {
            failures.push(Failure::NoEnd(most));
            is_reliable = false;
        } else {
            let like = verdict.is_bad().then_some((verdict, &*failures));
            let (repeated, failed) = self.repeat(steps, like);
            is_reliable = verdict.is_bad() && failed == repeated;
            if failures.iter().any(Failure::is_livelock) {
                is_reliable = false;
            } else if !is_reliable {
                let reads = self.reads();
                failures.insert(
                    0,
                    Failure::Unreliable {
                        failed,
                        repeated,
                        reads,
                    },
                );
            }
        }
        self.finding.failure = Some(Found {
            failures,
            schedule,
            execution,
            is_reliable,
        });
    }
}

/// Describes how an execution ended.
fn end_of(followed: &Followed) -> String {
    let failures = followed.failures.iter().map(Failure::to_string);
    match failures.collect::<Vec<_>>().join("; ") {
        nothing if nothing.is_empty() => "did not fail".to_owned(),
        failures => format!("failed: {failures}"),
    }
}

/// Returns whether two executions fail in the same way. Deadlocks may differ in what waits for what.
fn are_alike(some: &[Failure], others: &[Failure]) -> bool {
    let is_alike = |(a, b): (&Failure, &Failure)| match (a, b) {
        (Failure::Deadlock(_), Failure::Deadlock(_)) => true,
        (a, b) => a == b,
    };
    some.len() == others.len() && some.iter().zip(others).all(is_alike)
}

/// Returns the progress of a search in a part that began after `before` executions.
fn after(before: u64, progress: Progress) -> Progress {
    Progress {
        executions: before + progress.executions,
        estimate: progress
            .estimate
            .map(|estimate| estimate.saturating_add(before)),
        ..progress
    }
}
