//! Executions with few preemptions or delays, and fingerprints, against trying everything.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use reenact_explore::{
    Activity, Bounded, Bounding, Budget, Fingerprint, Fingerprinter, Limit, Links, Run, Runs, Step,
    Verdict,
};

use crate::cells::*;

const MOST_SCHEDULES: usize = 3000;

/// How many preemptions or delays a schedule has.
fn cost(program: &Cells, bounding: Bounding, schedule: &[Step]) -> u32 {
    let mut run = (&program).start();
    let mut last = None;
    let mut cost = 0;
    for &step in schedule {
        let enabled = |activity: &Activity| run.is_enabled(*activity);
        cost += match (bounding, last) {
            (Bounding::Preemptions, Some(last)) => {
                u32::from(last != step.activity && enabled(&last))
            }
            (Bounding::Preemptions, None) => 0,
            (Bounding::Delays, _) => {
                let count = run.activities();
                let start = last.unwrap_or(Activity(0)).0;
                (start..start + count)
                    .map(|number| Activity(number % count))
                    .take_while(|&activity| activity != step.activity)
                    .filter(enabled)
                    .count() as u32
            }
        };
        last = Some(step.activity);
        run.step(step);
    }
    cost
}

fn fingerprint(program: &Cells, schedule: &[Step]) -> Fingerprint {
    let mut run = (&program).start();
    let mut prints = Fingerprinter::default();
    for &step in schedule {
        let mut links = Links::default();
        let event = run.step_at(step, prints.next(), &mut links);
        prints.push(step, &event, &links);
    }
    prints.fingerprint()
}

/// The outcomes that are visited, with the number of preemptions or delays that each takes.
fn explore(program: &Cells, bounding: Bounding, most: u32) -> BTreeMap<Outcome, u32> {
    let mut visited = BTreeMap::new();
    Bounded::of(&program, bounding)
        .up_to(most)
        .run(|execution, level| {
            assert_eq!(cost(program, bounding, execution.schedule), level);
            let before = visited.insert(execution.run.outcome.clone(), level);
            assert_eq!(before, None, "a class is visited once");
        });
    visited
}

/// The outcomes that there are, with the fewest preemptions or delays that each takes.
fn expect(
    program: &Cells,
    bounding: Bounding,
    all: &BTreeMap<Outcome, Vec<Vec<Step>>>,
) -> BTreeMap<Outcome, u32> {
    all.iter()
        .map(|(outcome, schedules)| {
            let costs = schedules
                .iter()
                .map(|schedule| cost(program, bounding, schedule));
            (outcome.clone(), costs.min().expect("there is one"))
        })
        .collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn simple_executions_are_visited_as_if_by_brute_force(program in program()) {
        let Some(all) = by_brute_force(&program, MOST_SCHEDULES) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        for bounding in [Bounding::Preemptions, Bounding::Delays] {
            let mut expected = expect(&program, bounding, &all);
            prop_assert_eq!(explore(&program, bounding, u32::MAX), expected.clone());
            for most in [2, 1, 0] {
                expected.retain(|_, cost| *cost <= most);
                prop_assert_eq!(explore(&program, bounding, most), expected.clone());
            }
        }
    }

    #[test]
    fn fingerprints_are_those_of_classes(program in program()) {
        let Some(all) = by_brute_force(&program, MOST_SCHEDULES) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let mut known = BTreeSet::new();
        for schedules in all.values() {
            let prints: BTreeSet<_> =
                schedules.iter().map(|schedule| fingerprint(&program, schedule)).collect();
            prop_assert_eq!(prints.len(), 1, "one class, one fingerprint");
            prop_assert!(known.is_disjoint(&prints), "another class, another fingerprint");
            known.extend(prints);
        }
    }
}

/// ```text
/// 0: touch 0 × 3; look 2        1: touch 1 × 3; look 2
/// ```
#[test]
fn equal_prefixes_are_not_repeated() {
    let thread = |cell| [vec![Touch(cell); 3], vec![Look(2)]].concat();
    let program = Cells::new([thread(0), thread(1)]);
    let report = Bounded::of(&&program, Bounding::Preemptions).run(|_, _| ());
    assert_eq!(report.progress.executions, 1);
    // One for each pair of points, instead of 70 interleavings.
    assert!(report.progress.redundant < 35, "{report:?}");
    assert_eq!(
        report.to_string(),
        "1 executions, 0 deadlocks, 0 failures; complete"
    );
}

/// ```text
/// 0: lock 0; lock 1; …        1: lock 1; lock 0; …
/// ```
#[test]
fn a_deadlock_is_found_with_one_preemption_and_the_report_says_so() {
    let program = Cells::new([
        vec![Lock(0), Lock(1), Unlock(1), Unlock(0)],
        vec![Lock(1), Lock(0), Unlock(0), Unlock(1)],
    ]);
    for bounding in [Bounding::Preemptions, Bounding::Delays] {
        let mut found = None;
        let report = Bounded::of(&&program, bounding)
            .stop_at_failure()
            .run(|execution, level| found = Some((execution.verdict, level)));
        assert_eq!(found, Some((Verdict::Deadlock, 1)));
        assert_eq!(report.all_up_to, Some(0));
        assert_eq!(report.coverage.stopped_by(), [Limit::Failure]);
    }
    let report = Bounded::of(&&program, Bounding::Preemptions)
        .up_to(0)
        .run(|_, _| ());
    assert_eq!(
        report.to_string(),
        "2 executions, 0 deadlocks, 0 failures; all schedules without preemptions"
    );
    let report = Bounded::of(&&program, Bounding::Preemptions)
        .up_to(1)
        .run(|_, _| ());
    assert_eq!(report.progress.deadlocks, 1);
    assert_eq!(report.all_up_to, Some(1));
}

#[test]
fn a_budget_is_kept_and_reported() {
    let program = Cells::new([vec![Touch(0); 3], vec![Touch(0); 3]]);
    let budget = Budget {
        executions: Some(4),
        ..Budget::default()
    };
    let report = Bounded::of(&&program, Bounding::Preemptions)
        .budget(budget)
        .run(|_, _| ());
    assert_eq!(
        report.to_string(),
        "4 executions, 0 deadlocks, 0 failures; all schedules without preemptions, stopped after 4 executions"
    );
    let budget = Budget {
        steps: Some(2),
        ..Budget::default()
    };
    let report = Bounded::of(&&program, Bounding::Delays)
        .budget(budget)
        .run(|execution, _| {
            assert_eq!(execution.verdict, Verdict::Cut);
        });
    assert!(!report.is_everything);
    assert_eq!(report.progress.executions, 4);
}
