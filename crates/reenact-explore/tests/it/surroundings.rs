//! What is near an execution, against trying everything.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use reenact_explore::{
    Activity, Around, Budget, Divergence, Limit, Moment, Runs, Step, Verdict, replay, switches,
};

use crate::cells::*;

const MOST_SCHEDULES: usize = 3000;

/// The outcomes that are visited, with their distance.
fn explore(program: &Cells, base: &[Step], from: u32, near: u32) -> BTreeMap<Outcome, u32> {
    let mut visited = BTreeMap::new();
    let around = Around::of(&program, base).from(Moment(from)).near(near);
    let report = around.run(|execution, distance| {
        let run = replay(&program, execution.schedule).expect("it fits");
        assert_eq!(run.outcome, execution.run.outcome);
        let before = visited.insert(execution.run.outcome.clone(), distance);
        assert_eq!(before, None, "a class is visited once");
    });
    let report = report.expect("it fits");
    assert!(near < u32::MAX || report.is_everything);
    visited
}

/// Which events, each named by its thread and number, come before which dependent ones of other threads.
fn order(program: &Cells, schedule: &[Step]) -> BTreeSet<[(u32, usize); 2]> {
    let mut at = vec![0; program.threads.len()];
    let events: Vec<_> = schedule
        .iter()
        .map(|step| {
            let who = step.activity.0;
            let number = at[who as usize];
            at[who as usize] += 1;
            ((who, number), program.threads[who as usize][number])
        })
        .collect();
    let mut order = BTreeSet::new();
    for (second, (b, act_b)) in events.iter().enumerate() {
        for (a, act_a) in &events[..second] {
            if a.0 != b.0 && (&program).dependent(act_a, act_b) {
                order.insert([*a, *b]);
            }
        }
    }
    order
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn everything_is_near_enough(program in program(), any: usize) {
        let Some(all) = by_brute_force(&program, MOST_SCHEDULES) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let schedules: Vec<_> = all.values().flatten().collect();
        let base = schedules[any % schedules.len()];
        let visited = explore(&program, base, 0, u32::MAX);
        prop_assert!(visited.keys().eq(all.keys()));
    }

    #[test]
    fn what_comes_before_stays_as_it_is(program in program(), any: usize, from in 1..8u32) {
        let Some(all) = by_brute_force(&program, MOST_SCHEDULES) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let schedules: Vec<_> = all.values().flatten().collect();
        let base = schedules[any % schedules.len()];
        let kept = &base[..base.len().min(from as usize)];
        let visited = explore(&program, base, from, u32::MAX);
        let expected = all.iter().filter(|(_, schedules)| {
            schedules.iter().any(|schedule| schedule.starts_with(kept))
        });
        prop_assert!(visited.keys().eq(expected.map(|(outcome, _)| outcome)));
    }

    /// If steps do the same whatever comes before them, the neighbours are those that differ in the order of one pair.
    #[test]
    fn neighbours_differ_in_one_pair(program in program(), any: usize) {
        let threads = program.threads.iter().map(|thread| {
            let plain = thread.iter().filter_map(|act| match *act {
                Look(cell) | Lock(cell) => Some(Look(cell)),
                Touch(cell) | Pick(cell, _) | Draw(cell) | Unlock(cell) => Some(Touch(cell)),
                Begin(_) | Await(_) => None,
            });
            plain.collect()
        });
        let program = Cells::new(threads);
        let Some(all) = by_brute_force(&program, MOST_SCHEDULES) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let schedules: Vec<_> = all.values().flatten().collect();
        let base = schedules[any % schedules.len()];
        let of_base = order(&program, base);
        let expected: BTreeMap<_, _> = all
            .iter()
            .map(|(outcome, schedules)| {
                let other = order(&program, &schedules[0]);
                (outcome.clone(), other.difference(&of_base).count() as u32)
            })
            .filter(|(_, distance)| *distance <= 1)
            .collect();
        prop_assert_eq!(explore(&program, base, 0, 1), expected);
    }
}

/// ```text
/// 0, 1, 2, 3: touch
/// ```
#[test]
fn the_distance_of_two_orders_is_the_number_of_their_inversions() {
    let program = Cells::new(vec![vec![Touch(0)]; 4]);
    let base: Vec<Step> = [2, 0, 3, 1].map(|who| Activity(who).into()).to_vec();
    let mut counts = [0; 7];
    for distance in explore(&program, &base, 0, u32::MAX).values() {
        counts[*distance as usize] += 1;
    }
    assert_eq!(counts, [1, 3, 5, 6, 5, 3, 1]);
    assert_eq!(explore(&program, &base, 0, 2).len(), 9);
    // Only the last two can be turned round.
    assert_eq!(explore(&program, &base, 2, u32::MAX).len(), 2);
}

#[test]
fn another_way_is_one_change() {
    let program = Cells::new([vec![Pick(0, 3), Pick(1, 2)]]);
    let base: Vec<Step> = (0..2).map(|_| Activity(0).into()).collect();
    assert_eq!(explore(&program, &base, 0, 1).len(), 4);
    assert_eq!(explore(&program, &base, 0, 2).len(), 6);
    assert_eq!(explore(&program, &base, 1, 2).len(), 2);
}

/// ```text
/// i: lock i; lock i + 1; unlock both
/// ```
#[test]
fn the_philosophers_eat_if_one_of_them_is_late() {
    for n in [2, 3] {
        let program = Cells::new((0..n).map(|i| {
            let (left, right) = (i, (i + 1) % n);
            vec![Lock(left), Lock(right), Unlock(right), Unlock(left)]
        }));
        let base: Vec<Step> = (0..n as u32).map(|who| Activity(who).into()).collect();
        let around = || Around::of(&&program, &base).near(5).closest_good();
        let good = around().expect("it fits").expect("there is one");
        assert_eq!((good.distance, good.verdict), (1, Verdict::Finished));
        // One of them goes in between, the others wait for each other, and the last.
        assert_eq!(switches(&good.schedule), n - 1);
        let again = replay(&&program, &good.schedule).expect("it fits");
        assert!(possible(&again).is_empty());

        let bad = Around::of(&&program, &good.schedule).closest_bad();
        let bad = bad.expect("it fits").expect("there is one");
        assert_eq!((bad.distance, bad.verdict), (1, Verdict::Deadlock));
        let outcomes = Around::of(&&program, &base).outcomes(|_, verdict| verdict);
        let outcomes = outcomes.expect("it fits");
        assert_eq!(outcomes[&Verdict::Deadlock].distance, 0);
        assert_eq!(outcomes[&Verdict::Finished].distance, 1);
    }
}

#[test]
fn a_schedule_that_does_not_fit_is_an_error() {
    let program = Cells::new([vec![Lock(0)], vec![Lock(0)]]);
    let base = [Activity(0).into(), Activity(1).into()];
    let error = Around::of(&&program, &base).run(|_, _| ()).unwrap_err();
    assert_eq!(
        error,
        Divergence::at_step(1, base[1], "it waits for Lock(0)".to_owned())
    );
}

#[test]
fn a_budget_is_kept_and_reported() {
    let program = Cells::new(vec![vec![Touch(0)]; 4]);
    let budget = Budget {
        executions: Some(3),
        ..Budget::default()
    };
    let report = Around::of(&&program, &[])
        .budget(budget)
        .run(|_, _| ())
        .expect("it fits");
    assert_eq!(report.coverage.stopped_by(), [Limit::Executions(3)]);
    assert_eq!(report.all_up_to, Some(0));
    let report = Around::of(&&program, &[])
        .near(1)
        .run(|_, _| ())
        .expect("it fits");
    assert_eq!(
        report.to_string(),
        "4 executions, 0 deadlocks, 0 failures; all schedules with at most 1 change"
    );
    let budget = Budget {
        steps: Some(2),
        ..Budget::default()
    };
    let runs = &program;
    let around = Around::of(&runs, &[]).budget(budget);
    let report = around.run(|execution, _| assert_eq!(execution.verdict, Verdict::Cut));
    let report = report.expect("it fits");
    assert_eq!((report.progress.executions, report.all_up_to), (12, None));
    assert!(!report.is_everything);
}
