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
    Coverage, Execution, Explorer, Limit, Progress, Report, Runs, Verdict,
    optimal::{Course, portions},
    pace::sum,
};

/// So many portions are made for each, since they are not equally large.
const PORTIONS: usize = 24;

/// What the crew shares. Nothing is handed over through the atomics: each portion stands for itself, and what came of them is
/// in the mutex.
struct Shared {
    /// The first portion that nobody has taken.
    next: AtomicUsize,
    executions: AtomicU64,
    is_over: AtomicBool,
    report: Mutex<Report>,
}

impl<R: Runs> Explorer<'_, R> {
    /// Explores with as many threads as `cores`, each with a program of its own, and shows each execution to `visit`. The same
    /// classes as with one, each once; but executions may be [given up](Progress::redundant), and are in another order.
    pub fn run_on(
        mut self,
        cores: usize,
        make: impl Fn() -> R + Sync,
        visit: impl Fn(&Execution<'_, R>) + Sync,
    ) -> Report {
        let shared = Shared {
            next: AtomicUsize::new(0),
            executions: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            report: Mutex::new(Report {
                progress: Progress::default(),
                coverage: Coverage::default(),
                divergence: None,
            }),
        };
        let wanted = cores.max(1) * PORTIONS;
        let (steps, stops) = (self.budget.steps, self.stops_at_failure);
        let most = self.budget.executions;
        thread::scope(|scope| {
            for _ in 1..cores {
                let (shared, make, visit) = (&shared, &make, &visit);
                scope.spawn(move || {
                    let mut look = |_: &Course<'_, R>| None;
                    shared.work(&make(), wanted, steps, stops, most, visit, &mut look);
                });
            }
            // This thread looks at the clock for all.
            let (runs, began, mut told) = (self.runs, Instant::now(), None);
            let mut look = |course: &Course<'_, R>| self.is_over(course, began, &mut told);
            shared.work(runs, wanted, steps, stops, most, &visit, &mut look);
        });
        let report = shared.report.into_inner();
        report.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    #[expect(
        clippy::too_many_arguments,
        reason = "what one of the crew has to know"
    )]
    fn work<'a, R: Runs>(
        &self,
        runs: &'a R,
        wanted: usize,
        steps: Option<u32>,
        stops_at_failure: bool,
        most: Option<u64>,
        visit: &impl Fn(&Execution<'_, R>),
        look: &mut dyn FnMut(&Course<'a, R>) -> Option<Limit>,
    ) {
        let portions = portions(runs, wanted);
        let mut left = portions.into_iter().enumerate();
        loop {
            let number = self.next.fetch_add(1, Relaxed);
            let Some((_, portion)) = left.find(|(index, _)| *index >= number) else {
                return;
            };
            let mut course = Course::within(runs, steps, portion);
            let mut divergence = None;
            loop {
                if self.is_over.load(Relaxed) {
                    break;
                }
                let limit = match most {
                    Some(most) if self.executions.load(Relaxed) >= most => {
                        Some(Limit::Executions(most))
                    }
                    _ => look(&course),
                };
                if let Some(limit) = limit {
                    course.coverage.stop(limit);
                    self.is_over.store(true, Relaxed);
                    break;
                }
                let executed = course.execute(&mut |execution: &Execution<'_, R>| {
                    visit(&Execution {
                        number: self.executions.fetch_add(1, Relaxed),
                        ..*execution
                    });
                });
                match executed {
                    Ok(Some(verdict)) if stops_at_failure && Verdict::is_bad(verdict) => {
                        course.coverage.stop(Limit::Failure);
                        self.is_over.store(true, Relaxed);
                        break;
                    }
                    Ok(_) => {}
                    Err(found) => {
                        course.coverage.stop(Limit::Divergence);
                        divergence = Some(found);
                        self.is_over.store(true, Relaxed);
                        break;
                    }
                }
                if !course.go_back() {
                    break;
                }
            }
            let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
            report.progress = sum(&report.progress, &course.progress());
            for &limit in course.coverage.stopped_by() {
                report.coverage.stop(limit);
            }
            report.divergence = report.divergence.take().or(divergence);
        }
    }
}
