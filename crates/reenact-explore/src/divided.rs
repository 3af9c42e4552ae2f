//! Divides an optimal exploration among threads or processes.
//!
//! There are several times as many portions as workers, so that no worker is idle for long at the end. With many more,
//! the setup of each portion would become noticeable, and so would abandoned executions.

use std::{
    sync::{Mutex, PoisonError},
    thread,
};

use super::{
    Coverage, Divergence, EndedExecution, Explorer, Limit, Part, Progress, Report, Runs, Tally,
    budget_tracker::stop,
    optimal::{OptimalDriver, Portion, portions},
};

/// The approximate number of portions per worker.
const EACH: usize = 6;

/// The state that the workers share. The mutex guards the results.
struct Shared<'t> {
    most: Option<u64>,
    steps: Option<u32>,
    stops_at_failure: bool,
    tally: &'t Tally,
    done: Mutex<Done>,
}

/// The results of the portions that are done.
struct Done {
    portions: usize,
    report: Report,
}

impl<R: Runs> Explorer<'_, R> {
    /// Explores with `cores` threads, each with its own program, and passes each execution to `visit`, with the program
    /// that it belongs to. The classes are the same as with one thread, each once; but executions may be
    /// [abandoned](Progress::redundant), and their order differs.
    ///
    /// All programs must number their activities alike: either none has been run, or all have been run in the same way.
    pub fn run_on(
        mut self,
        cores: usize,
        make: impl Fn() -> R + Sync,
        visit: impl Fn(&R, &EndedExecution<'_, R>) + Sync,
    ) -> Report {
        let tally = Tally::default();
        let shared = self.shared(&tally);
        thread::scope(|scope| {
            for _ in 1..cores {
                let (shared, make, visit) = (&shared, &make, &visit);
                scope.spawn(move || {
                    let runs = make();
                    let portions = portions(&runs, EACH * cores);
                    shared.work(&runs, portions, &mut |e| visit(&runs, e), &mut |_, _| None);
                });
            }
            // This thread checks the time for all.
            let runs = self.runs;
            self.budget_tracker.reporter.start();
            let portions = portions(runs, EACH * cores);
            let mut visit = |execution: &EndedExecution<'_, R>| visit(runs, execution);
            self.look_and_work(&shared, portions, &mut visit);
        });
        shared.report()
    }

    /// Calls `divide` to create copies of this process, and explores this process's share of the portions, for `cores`
    /// processes. The report, and what is passed to `visit`, covers only this process.
    pub fn run_divided<'p>(
        mut self,
        cores: usize,
        divide: impl FnOnce() -> Part<'p>,
        mut visit: impl FnMut(&EndedExecution<'_, R>),
    ) -> Report {
        self.budget_tracker.reporter.start();
        let portions = portions(self.runs, EACH * cores);
        let shared = self.shared(divide().tally);
        self.look_and_work(&shared, portions, &mut visit);
        shared.report()
    }

    fn shared<'t>(&mut self, tally: &'t Tally) -> Shared<'t> {
        let budget = &mut self.budget_tracker.budget;
        Shared {
            most: budget.executions.take(),
            steps: budget.steps,
            stops_at_failure: self.budget_tracker.stops_at_failure,
            tally,
            done: Mutex::new(Done {
                portions: 0,
                report: Report {
                    progress: Progress::default(),
                    coverage: Coverage::default(),
                    divergence: None,
                },
            }),
        }
    }

    fn look_and_work(
        &mut self,
        shared: &Shared<'_>,
        portions: Vec<Portion<R::Event>>,
        visit: &mut impl FnMut(&EndedExecution<'_, R>),
    ) {
        let runs = self.runs;
        let mut look = |driver: &OptimalDriver<'_, R>, portions| {
            let progress = || shared.progress(&driver.progress(), portions);
            self.budget_tracker.limit(0, progress)
        };
        shared.work(runs, portions, visit, &mut look);
    }
}

impl Shared<'_> {
    fn report(self) -> Report {
        let done = self.done.into_inner();
        done.unwrap_or_else(PoisonError::into_inner).report
    }

    /// Explores portions until none is left. `look` is passed the number of portions and returns why to stop, if so.
    fn work<'a, R: Runs>(
        &self,
        runs: &'a R,
        portions: Vec<Portion<R::Event>>,
        visit: &mut impl FnMut(&EndedExecution<'_, R>),
        look: &mut dyn FnMut(&OptimalDriver<'a, R>, usize) -> Option<Limit>,
    ) {
        let count = portions.len();
        let mut left = (0..).zip(portions);
        loop {
            let number = self.tally.take(1);
            let Some((_, portion)) = left.find(|(index, _)| *index >= number) else {
                return;
            };
            let mut driver = OptimalDriver::within(runs, self.steps, portion);
            let divergence = self.explore(&mut driver, visit, &mut |driver| look(driver, count));
            let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
            done.portions += 1;
            let report = &mut done.report;
            report.progress = report.progress.plus(&driver.progress());
            for &limit in driver.coverage.stopped_by() {
                report.coverage.stop(limit);
            }
            report.divergence = report.divergence.take().or(divergence);
        }
    }

    /// Explores a portion, to its end or until all workers stop.
    fn explore<'a, R: Runs>(
        &self,
        driver: &mut OptimalDriver<'a, R>,
        visit: &mut impl FnMut(&EndedExecution<'_, R>),
        look: &mut dyn FnMut(&OptimalDriver<'a, R>) -> Option<Limit>,
    ) -> Option<Divergence> {
        while !self.tally.is_over() {
            let is_enough = self.most.filter(|&most| self.tally.executions() >= most);
            let limit = is_enough.map(Limit::Executions).or_else(|| look(driver));
            if let Some(limit) = limit {
                self.stop(driver, limit);
                break;
            }
            let executed = driver.execute(&mut |execution: &EndedExecution<'_, R>| {
                let execution = EndedExecution {
                    number: self.tally.count(1),
                    ..*execution
                };
                visit(&execution);
            });
            match executed {
                Ok(verdict) => {
                    let limit = verdict.and_then(|verdict| stop(verdict, self.stops_at_failure));
                    if let Some(limit) = limit {
                        self.stop(driver, limit);
                        break;
                    }
                }
                Err(found) => {
                    self.stop(driver, Limit::Divergence);
                    return Some(found);
                }
            }
            if !driver.go_back() {
                break;
            }
        }
        None
    }

    fn stop<R: Runs>(&self, driver: &mut OptimalDriver<'_, R>, limit: Limit) {
        driver.coverage.stop(limit);
        self.tally.end();
    }

    /// The progress of all workers, given this worker's progress in its portion. Portions are assumed to be equally
    /// large.
    fn progress(&self, own: &Progress, portions: usize) -> Progress {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let known = done.report.progress.plus(own);
        let made = |progress: &Progress| progress.started() as f64;
        let share = own
            .estimate
            .map_or(0.0, |all| made(own) / all.max(1) as f64);
        let share = (done.portions as f64 + share) / portions as f64;
        let estimate = (share > 0.0).then(|| (made(&known) / share).round() as u64);
        Progress {
            executions: self.tally.executions(),
            estimate,
            ..known
        }
    }
}
