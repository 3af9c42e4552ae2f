//! One execution of each class, by several at once.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::Instant,
};

use super::{
    Coverage, Divergence, Execution, Explorer, Limit, Progress, Report, Runs, Verdict,
    optimal::{Course, portions},
    pace::sum,
};

/// So many portions are made for each, since they are not equally large.
const PORTIONS: usize = 24;

/// What the crew shares. Nothing is handed over through the atomics: each portion stands for itself, and what came of them is
/// in the mutex.
struct Shared {
    wanted: usize,
    most: Option<u64>,
    steps: Option<u32>,
    stops_at_failure: bool,
    /// The first portion that nobody has taken.
    next: AtomicUsize,
    executions: AtomicU64,
    is_over: AtomicBool,
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
        let shared = Shared {
            wanted: cores.max(1) * PORTIONS,
            most: self.budget.executions.take(),
            steps: self.budget.steps,
            stops_at_failure: self.stops_at_failure,
            next: AtomicUsize::new(0),
            executions: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            done: Mutex::new(Done {
                portions: 0,
                report: Report {
                    progress: Progress::default(),
                    coverage: Coverage::default(),
                    divergence: None,
                },
            }),
        };
        thread::scope(|scope| {
            for _ in 1..cores {
                let (shared, make, visit) = (&shared, &make, &visit);
                scope.spawn(move || {
                    shared.work(&make(), visit, &mut |_, _| None);
                });
            }
            // This thread looks at the clock for all.
            let (runs, began, mut told) = (self.runs, Instant::now(), None);
            let mut look = |course: &Course<'_, R>, portions| {
                let progress = || shared.progress(&course.progress(), portions);
                self.is_over(0, &progress, began, &mut told)
            };
            shared.work(runs, &visit, &mut look);
        });
        let done = shared.done.into_inner();
        done.unwrap_or_else(PoisonError::into_inner).report
    }
}

impl Shared {
    /// Explores one portion after the other. `look` is told which one and how many there are, and says why to stop.
    fn work<'a, R: Runs>(
        &self,
        runs: &'a R,
        visit: &impl Fn(&R, &Execution<'_, R>),
        look: &mut dyn FnMut(&Course<'a, R>, usize) -> Option<Limit>,
    ) {
        let portions = portions(runs, self.wanted);
        let count = portions.len();
        let mut left = portions.into_iter().enumerate();
        loop {
            let number = self.next.fetch_add(1, Relaxed);
            let Some((_, portion)) = left.find(|(index, _)| *index >= number) else {
                return;
            };
            let mut course = Course::within(runs, self.steps, portion);
            let divergence =
                self.explore(runs, &mut course, visit, &mut |course| look(course, count));
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
        runs: &R,
        course: &mut Course<'a, R>,
        visit: &impl Fn(&R, &Execution<'_, R>),
        look: &mut dyn FnMut(&Course<'a, R>) -> Option<Limit>,
    ) -> Option<Divergence> {
        while !self.is_over.load(Relaxed) {
            let is_enough = self
                .most
                .filter(|&most| self.executions.load(Relaxed) >= most);
            let limit = is_enough.map(Limit::Executions).or_else(|| look(course));
            if let Some(limit) = limit {
                self.stop(course, limit);
                break;
            }
            let executed = course.execute(&mut |execution: &Execution<'_, R>| {
                let execution = Execution {
                    number: self.executions.fetch_add(1, Relaxed),
                    ..*execution
                };
                visit(runs, &execution);
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
        self.is_over.store(true, Relaxed);
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
            executions: self.executions.load(Relaxed),
            estimate,
            ..known
        }
    }
}
