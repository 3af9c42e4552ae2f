//! The programs on Reenact.

use std::sync::{
    Arc,
    atomic::{
        AtomicU64,
        Ordering::{Relaxed, SeqCst},
    },
};

use reenact::{
    sync::{
        Mutex, MutexGuard,
        atomic::AtomicU64 as Counter,
        mpsc::{Receiver, Sender, channel},
    },
    thread::spawn,
};
use reenact_engine::explore::Explored as Subject;
use reenact_explore::{Budget, Explorer, Report, Sampler};

use super::{
    Explored, Hunt, Patience, Stopwatch, Way,
    programs::{Outcome, Program, Shape},
    way::{classes, is_endless},
};

#[path = "../../../../peers/src/explore/table.rs"]
mod table;

/// How many executions a round draws at scale 1: about half a second of the smaller programs.
const EXECUTIONS: f64 = 200_000.0;

/// How many classes are run of a program of which nobody has waited for all.
const SOME_CLASSES: u64 = 20_000;

/// How many executions a seed may need to find a bug.
const PATIENCE: u64 = 100_000;

/// Explores the program on so many threads: as many executions as the scale says, or all of them as often as it takes to
/// measure that.
///
/// # Panics
///
/// If an execution ends as none should, or if there are more or fewer classes than are known.
pub fn run(way: Way, program: Program, cores: usize, scale: f64) -> Explored {
    match way.strategy() {
        None => Patience::at_scale(scale).repeat(|| exhaust(program, cores)),
        Some(strategy) => {
            let executions = (EXECUTIONS * scale).round().max(1.0) as u64;
            let counts = Counts::default();
            let watch = Stopwatch::start();
            let make = || subject(&counts.counting(program));
            let subject = make();
            let sampler = Sampler::of(&subject)
                .strategy(strategy)
                .executions(executions);
            let report = match cores {
                1 => sampler.run(|_| {}),
                _ => sampler.run_on(cores, make, |_, _| {}),
            };
            let explored = explored(program, watch, &report, &counts);
            assert_eq!(counts.ended(&report), explored.executions, "{program:?}");
            explored
        }
    }
}

/// Explores the program with each of so many seeds until its bug is found.
///
/// # Panics
///
/// If the way does not leave anything to chance.
pub fn hunt(way: Way, program: Program, seeds: u64) -> Hunt {
    let strategy = way.strategy().expect("a seed is for what is drawn");
    let body: Arc<dyn Fn()> = Arc::new(move || {
        let outcome = table::execute(program);
        assert!(!program.is_bug(&outcome), "the bug");
    });
    let subject = subject(&body);
    let hunt = |seed| {
        let report = Sampler::of(&subject)
            .strategy(strategy)
            .seed(seed)
            .executions(PATIENCE)
            .stop_at_failure()
            .run(|_| {});
        let progress = report.progress;
        (progress.failures + progress.deadlocks > 0).then_some(progress.executions)
    };
    Hunt::of(&(0..seeds).map(hunt).collect::<Vec<_>>())
}

fn exhaust(program: Program, cores: usize) -> Explored {
    let counts = Counts::default();
    let watch = Stopwatch::start();
    let make = || subject(&counts.counting(program));
    let subject = make();
    let budget = Budget {
        executions: is_endless(program).then_some(SOME_CLASSES),
        ..Budget::default()
    };
    let explorer = Explorer::of(&subject).budget(budget);
    let report = match cores {
        1 => explorer.run(|_| {}),
        _ => explorer.run_on(cores, make, |_, _| {}),
    };
    let explored = explored(program, watch, &report, &counts);
    if cores == 1 {
        assert_eq!(report.progress.redundant, 0, "{}: {report}", program.name());
        assert_eq!(counts.ended(&report), explored.executions, "{program:?}");
    } else {
        // Those who divide the work look how it begins.
        assert!(counts.ended(&report) >= explored.executions, "{program:?}");
    }
    if let Some(classes) = classes(program) {
        let name = program.name();
        assert_eq!(explored.executions, classes, "{name}: {report}");
    }
    Explored {
        complete: Some(report.coverage.is_complete()),
        ..explored
    }
}

/// How many executions came to the end of the program, and how many had the bug: counted by each thread for itself, or they would
/// wait for each other.
#[derive(Default)]
struct Counts(std::sync::Mutex<Vec<Arc<Count>>>);

/// What one thread counts. Apart from what others count, as a cache sees it.
#[derive(Default)]
#[repr(align(128))]
struct Count {
    ended: AtomicU64,
    bugs: AtomicU64,
}

impl Counts {
    /// How many were not given up on their way: such a one would be fast, and miss what comes at the end.
    fn ended(&self, report: &Report) -> u64 {
        self.sum(|count| &count.ended) + report.progress.deadlocks
    }

    fn sum(&self, of: impl Fn(&Count) -> &AtomicU64) -> u64 {
        let counts = self.0.lock().expect("nobody panicked");
        counts.iter().map(|count| of(count).load(Relaxed)).sum()
    }

    /// One execution, which counts itself once it has come to its end. For one thread.
    fn counting(&self, program: Program) -> Arc<dyn Fn()> {
        let count = Arc::new(Count::default());
        let mut counts = self.0.lock().expect("nobody panicked");
        counts.push(Arc::clone(&count));
        Arc::new(move || {
            let outcome = table::execute(program);
            assert!(program.allows(&outcome), "{outcome:?}");
            let one_more = |number: &AtomicU64| number.store(number.load(Relaxed) + 1, Relaxed);
            one_more(&count.ended);
            if program.is_bug(&outcome) {
                one_more(&count.bugs);
            }
        })
    }
}

/// The program as the calling thread explores it.
fn subject(body: &Arc<dyn Fn()>) -> Subject {
    Subject::new(Arc::clone(body)).expect("this process is neither recorded nor replayed")
}

fn explored(program: Program, watch: Stopwatch, report: &Report, counts: &Counts) -> Explored {
    let progress = report.progress;
    let deadlocks = progress.deadlocks;
    let bugs = counts.sum(|count| &count.bugs) + deadlocks;
    let explored = watch.explored(progress.executions, bugs);
    assert_eq!(progress.failures, 0, "{}: {report}", program.name());
    assert!(deadlocks == 0 || program.allows(&Outcome::Deadlock));
    Explored {
        steps: Some(progress.steps + progress.repeated),
        ..explored
    }
}

include!("../../../../peers/src/explore/std_like.rs");

#[cfg(test)]
mod tests {
    use super::{Program, Way, classes, hunt, run};

    /// Enough executions for every bug to be among them.
    const SCALE: f64 = 0.005;

    #[test]
    fn every_program_checks_out_in_every_way() {
        for program in Program::ALL {
            for way in [Way::Mixed, Way::Walk, Way::Urw, Way::Pct, Way::Pos] {
                for cores in [1, 2] {
                    let explored = run(way, program, cores, SCALE);
                    assert_eq!(explored.executions, 1000, "{program:?} {way:?}");
                    assert_eq!(explored.bugs > 0, program.has_bug(), "{program:?} {way:?}");
                    assert!(explored.bugs < 1000, "{program:?} {way:?}");
                }
            }
        }
    }

    #[test]
    fn every_class_is_run_once() {
        for program in Program::ALL {
            let Some(classes) = classes(program) else {
                continue;
            };
            for cores in [1, 2] {
                let explored = run(Way::Exhaustive, program, cores, SCALE);
                assert_eq!(explored.executions, classes, "{program:?}");
                assert_eq!(explored.complete, Some(true), "{program:?}");
            }
        }
    }

    #[test]
    fn every_bug_is_found() {
        for program in Program::ALL.into_iter().filter(|program| program.has_bug()) {
            for way in [Way::Mixed, Way::Walk, Way::Urw, Way::Pct, Way::Pos] {
                let hunt = hunt(way, program, 20);
                assert_eq!(hunt.found, 20, "{program:?} {way:?}");
                assert!(
                    hunt.executions_until_bug_median < Some(500),
                    "{program:?} {way:?}"
                );
            }
        }
    }
}
