//! One execution of each class, by several at once: threads, or processes.
//!
//! There are some more portions than there are who explore them, so that nobody is without work for long at the end. With many more,
//! what is done for each before anything is explored would count, and so would executions that are given up.

use std::{
    sync::{Mutex, PoisonError},
    thread,
    time::Instant,
};

use super::{
    Coverage, Divergence, Execution, Explorer, Limit, Part, Progress, Report, Runs, Tally, Verdict,
    optimal::{Course, Portion, portions},
    pace::sum,
};

/// So many portions come to each, about.
const EACH: usize = 6;

/// What the crew shares. What came of the portions is in the mutex.
struct Shared<'t> {
    most: Option<u64>,
    steps: Option<u32>,
    stops_at_failure: bool,
    tally: &'t Tally,
    done: Mutex<Done>,
}

/// What came of the portions that are done.
struct Done {
    portions: usize,
    report: Report,
}

impl<R: Runs> Explorer<'_, R> {
    /// Explores with as many threads as `cores`, each with a program of its own, and shows each execution to `visit`, with the
    /// program that it is one of. The same classes as with one, each once; but executions may be
    /// [given up](Progress::redundant), and are in another order.
    ///
    /// All programs must number their activities alike: none has been run, or all have been in the same way.
    pub fn run_on(
        mut self,
        cores: usize,
        make: impl Fn() -> R + Sync,
        visit: impl Fn(&R, &Execution<'_, R>) + Sync,
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
            // This thread looks at the clock for all.
            let runs = self.runs;
            let (began, portions) = (Instant::now(), portions(runs, EACH * cores));
            let mut visit = |execution: &Execution<'_, R>| visit(runs, execution);
            self.look_and_work(&shared, began, portions, &mut visit);
        });
        shared.report()
    }

    /// Lets `divide` make others of this process, and explores as many portions as come to each of so many. What is returned, and
    /// shown to `visit`, is that of the process.
    pub fn run_divided<'p>(
        mut self,
        cores: usize,
        divide: impl FnOnce() -> Part<'p>,
        mut visit: impl FnMut(&Execution<'_, R>),
    ) -> Report {
        let began = Instant::now();
        let portions = portions(self.runs, EACH * cores);
        let shared = self.shared(divide().tally);
        self.look_and_work(&shared, began, portions, &mut visit);
        shared.report()
    }

    fn shared<'t>(&mut self, tally: &'t Tally) -> Shared<'t> {
        Shared {
            most: self.budget.executions.take(),
            steps: self.budget.steps,
            stops_at_failure: self.stops_at_failure,
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
        began: Instant,
        portions: Vec<Portion<R::Event>>,
        visit: &mut impl FnMut(&Execution<'_, R>),
    ) {
        let (runs, mut told) = (self.runs, None);
        let mut look = |course: &Course<'_, R>, portions| {
            let progress = || shared.progress(&course.progress(), portions);
            self.is_over(0, &progress, began, &mut told)
        };
        shared.work(runs, portions, visit, &mut look);
    }
}

impl Shared<'_> {
    fn report(self) -> Report {
        let done = self.done.into_inner();
        done.unwrap_or_else(PoisonError::into_inner).report
    }

    /// Explores one portion after the other. `look` is told how many there are, and says why to stop.
    fn work<'a, R: Runs>(
        &self,
        runs: &'a R,
        portions: Vec<Portion<R::Event>>,
        visit: &mut impl FnMut(&Execution<'_, R>),
        look: &mut dyn FnMut(&Course<'a, R>, usize) -> Option<Limit>,
    ) {
        let count = portions.len();
        let mut left = (0..).zip(portions);
        loop {
            let number = self.tally.take(1);
            let Some((_, portion)) = left.find(|(index, _)| *index >= number) else {
                return;
            };
            let mut course = Course::within(runs, self.steps, portion);
            let divergence = self.explore(&mut course, visit, &mut |course| look(course, count));
            let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
            done.portions += 1;
            let report = &mut done.report;
            report.progress = sum(&report.progress, &course.progress());
            for &limit in course.coverage.stopped_by() {
                report.coverage.stop(limit);
            }
            report.divergence = report.divergence.take().or(divergence);
        }
    }

    /// Explores a portion, to its end or to where it is over for all.
    fn explore<'a, R: Runs>(
        &self,
        course: &mut Course<'a, R>,
        visit: &mut impl FnMut(&Execution<'_, R>),
        look: &mut dyn FnMut(&Course<'a, R>) -> Option<Limit>,
    ) -> Option<Divergence> {
        while !self.tally.is_over() {
            let is_enough = self.most.filter(|&most| self.tally.executions() >= most);
            let limit = is_enough.map(Limit::Executions).or_else(|| look(course));
            if let Some(limit) = limit {
                self.stop(course, limit);
                break;
            }
            let executed = course.execute(&mut |execution: &Execution<'_, R>| {
                let execution = Execution {
                    number: self.tally.count(1),
                    ..*execution
                };
                visit(&execution);
            });
            match executed {
                Ok(Some(verdict)) if self.stops_at_failure && Verdict::is_bad(verdict) => {
                    self.stop(course, Limit::Failure);
                    break;
                }
                Ok(_) => {}
                Err(found) => {
                    self.stop(course, Limit::Divergence);
                    return Some(found);
                }
            }
            if !course.go_back() {
                break;
            }
        }
        None
    }

    fn stop<R: Runs>(&self, course: &mut Course<'_, R>, limit: Limit) {
        course.coverage.stop(limit);
        self.tally.end();
    }

    /// How far all are, given how far one is with its portion, of so many. They are taken to be equally large.
    fn progress(&self, own: &Progress, portions: usize) -> Progress {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let known = sum(&done.report.progress, own);
        let made = |progress: &Progress| (progress.executions + progress.redundant) as f64;
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
