//! What exploration finds is what there is: the same as trying every step and every choice at every point.

use std::{
    collections::BTreeSet,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Arc, Mutex as Plain},
};

use reenact_engine::explore::{Explored, Subject};
use reenact_explore::{Activity, Budget, Explorer, Limit, Links, Moment, Run, Runs, Step, Verdict};
use reenact_testing::generated;

/// What the activities of a program have seen, each by itself.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Plain<Vec<Vec<i32>>>>);

impl Log {
    /// An activity has seen this.
    pub(crate) fn note(&self, activity: usize, seen: i32) {
        let mut logs = self.0.lock().unwrap();
        if logs.len() <= activity {
            logs.resize(activity + 1, Vec::new());
        }
        logs[activity].push(seen);
    }

    pub(crate) fn take(&self) -> Vec<Vec<i32>> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// How an execution went, as far as it can be observed from within.
pub(crate) type Outcome = (Verdict, Vec<Vec<i32>>);

/// A small program.
pub(crate) trait Program: fmt::Debug + Clone + 'static {
    /// Does what it does, and notes what it sees.
    fn run(&self, log: &Log);

    /// Whether each class is visited once. Where what an event meets is known only in hindsight, some executions are
    /// begun in vain.
    fn is_exact(&self) -> bool {
        true
    }
}

/// More executions than this are not tried by brute force.
const MOST: usize = 400;

fn most() -> usize {
    let asked = std::env::var("REENACT_MOST").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(MOST)
}

/// What an exploration has found.
pub(crate) struct Found {
    /// Whether it is all there is, as far as it knows.
    pub(crate) is_complete: bool,
    pub(crate) outcomes: BTreeSet<Outcome>,
    pub(crate) executions: u64,
}

fn explored(program: &impl Program, log: &Log) -> Explored {
    let (program, log) = (program.clone(), log.clone());
    let run = move || {
        log.take();
        program.run(&log);
    };
    Explored::new(Arc::new(run)).expect("nothing is recorded")
}

/// Explores again whenever that turns out to need finer steps.
fn until_fine_enough<R>(explored: &Explored, explore: impl Fn(&Explored) -> R) -> R {
    loop {
        // Once it has, schedules of before are none any more, and who finds that panics.
        let before = explored.granularity();
        let result = catch_unwind(AssertUnwindSafe(|| explore(explored)));
        match result {
            _ if explored.granularity() != before => {}
            Ok(result) => return result,
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// Tries everything. None if that is too much, or if somebody else has to choose and that is not wanted.
pub(crate) fn brute_force(program: &impl Program, with_choices: bool) -> Option<Found> {
    let log = Log::default();
    until_fine_enough(&explored(program, &log), |explored| {
        try_everything(explored, &log, with_choices)
    })
}

fn try_everything(explored: &Explored, log: &Log, with_choices: bool) -> Option<Found> {
    let mut path: Vec<(Vec<Step>, usize)> = Vec::new();
    let mut outcomes = BTreeSet::new();
    for executions in 1..=most() {
        let mut run = explored.start();
        let mut links = Links::default();
        let mut moment = 0;
        // Not `step`, which does not detect that finer steps are needed.
        let mut take = |run: &mut _, step| {
            Run::step_at(run, step, Moment(moment), &mut links);
            moment += 1;
        };
        for (steps, taken) in &path {
            take(&mut run, steps[*taken]);
        }
        loop {
            let steps = steps(&run);
            if steps.iter().any(|step| step.choice > 0) && !with_choices {
                return None;
            }
            let Some(&first) = steps.first() else {
                break;
            };
            take(&mut run, first);
            path.push((steps, 0));
        }
        outcomes.insert((run.verdict(), log.take()));
        drop(run);
        while path
            .pop_if(|(steps, taken)| *taken + 1 == steps.len())
            .is_some()
        {}
        match path.last_mut() {
            Some((_, taken)) => *taken += 1,
            None => {
                return Some(Found {
                    is_complete: true,
                    outcomes,
                    executions: executions as u64,
                });
            }
        }
    }
    None
}

fn steps(run: &impl Run) -> Vec<Step> {
    let activities = (0..run.activities()).map(Activity);
    activities
        .filter(|&activity| run.is_enabled(activity))
        .flat_map(|activity| {
            (0..run.choices(activity)).map(move |choice| Step { activity, choice })
        })
        .collect()
}

/// Explores each class once.
pub(crate) fn explore(program: &impl Program) -> Found {
    let log = Log::default();
    until_fine_enough(&explored(program, &log), |explored| {
        let mut outcomes = BTreeSet::new();
        let mut classes = BTreeSet::new();
        let budget = Budget {
            executions: Some(100_000),
            ..Budget::default()
        };
        let report = Explorer::of(explored).budget(budget).run(|execution| {
            outcomes.insert((execution.verdict, log.take()));
            if std::env::var_os("REENACT_SHOW").is_some() {
                eprintln!("{:?}", execution.verdict);
                for (who, event) in execution.events() {
                    eprintln!("  {who:?} {event:?}");
                }
            }
            let is_new = classes.insert(execution.schedule().to_vec());
            assert!(is_new, "a schedule is not run twice");
        });
        assert!(
            report.progress.redundant == 0 || !program.is_exact(),
            "{program:#?}"
        );
        let stopped_by = report.coverage.stopped_by();
        let is_complete = stopped_by.is_empty();
        let is_unreached = stopped_by == [Limit::Unreached] && !program.is_exact();
        assert!(is_complete || is_unreached, "{report}: {program:#?}");
        Found {
            is_complete,
            outcomes,
            executions: report.progress.executions,
        }
    })
}

/// How many programs were compared, and of how many it was left out because of choices or of their size.
#[derive(Default, Debug, Clone, Copy)]
pub(crate) struct Compared {
    pub(crate) programs: u32,
    pub(crate) left_out: u32,
    /// Of how many not everything was found, as the exploration says.
    pub(crate) incomplete: u32,
    pub(crate) classes: u64,
    pub(crate) executions: u64,
}

/// Compares both for programs made from these seeds.
pub(crate) fn compare<P: Program>(
    seeds: std::ops::Range<u64>,
    make: impl Fn(&mut Chance) -> P,
) -> Compared {
    let mut compared = Compared::default();
    let only = std::env::var("REENACT_PROGRAM").ok();
    let seeds = match only.and_then(|only| only.parse::<u64>().ok()) {
        Some(only) => only..only + 1,
        None => seeds,
    };
    for seed in seeds {
        let program = make(&mut Chance(seed));
        let Some(all) = brute_force(&program, EXPLORER_CHOOSES) else {
            compared.left_out += 1;
            continue;
        };
        let found = catch_unwind(AssertUnwindSafe(|| explore(&program)));
        let found =
            found.unwrap_or_else(|_| panic!("program {seed} cannot be explored: {program:?}"));
        let missed: Vec<_> = all.outcomes.difference(&found.outcomes).collect();
        let invented: Vec<_> = found.outcomes.difference(&all.outcomes).collect();
        assert!(
            (missed.is_empty() || !found.is_complete) && invented.is_empty(),
            "program {seed}: missed {missed:?}, invented {invented:?}: {program:?}"
        );
        assert!(found.executions <= all.executions);
        compared.programs += 1;
        compared.incomplete += u32::from(!found.is_complete);
        compared.classes += found.executions;
        compared.executions += all.executions;
    }
    compared
}

/// Whether the explorer that visits each class once tries all choices, too. Until it does, programs that have choices
/// are run by brute force only.
pub(crate) const EXPLORER_CHOOSES: bool = true;

/// Random numbers.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        // Splitmix.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ word >> 31) % bound as u64) as usize
    }

    /// So many, each made by this.
    pub(crate) fn some<T>(
        &mut self,
        between: std::ops::RangeInclusive<usize>,
        mut make: impl FnMut(&mut Chance) -> T,
    ) -> Vec<T> {
        let count = between.start() + self.below(between.end() - between.start() + 1);
        (0..count).map(|_| make(self)).collect()
    }
}

/// Which programs of each kind are tried: more, or others, if the environment says so.
pub(crate) fn seeds(usual: u64) -> std::ops::Range<u64> {
    let asked = std::env::var("REENACT_PROGRAMS").ok();
    let count = asked.and_then(|asked| asked.parse().ok()).unwrap_or(usual);
    let first = generated::seed() << 16;
    first..first + count
}
