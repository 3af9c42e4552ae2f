//! Schedules with as few switches as a failure needs.

use proptest::prelude::*;
use reenact_explore::{
    Activity, Divergence, MinimiseError, Minimiser, RandomStrategy, Sampler, Step, Verdict, replay,
    switches,
};

use crate::cells::*;

/// A schedule that fails, of those that chance gives first.
fn bad(program: &Cells, seed: u64) -> Vec<Step> {
    let mut bad = None;
    Sampler::of(&program)
        .strategy(RandomStrategy::Walk)
        .seed(seed)
        .stop_at_failure()
        .executions(100_000)
        .run(|execution| {
            if execution.verdict.is_bad() {
                bad = Some(execution.schedule.to_vec());
            }
        });
    bad.expect("it fails sometimes")
}

/// The simplest schedules that are found from several others that fail.
fn check(program: &Cells, expected: usize) {
    for seed in 0..10 {
        let schedule = bad(program, seed);
        let verdict = |schedule: &[Step]| {
            let run = replay(&program, schedule).expect("it fits");
            assert!(possible(&run).is_empty(), "it is to the end");
            reenact_explore::Run::verdict(&run)
        };
        let before = verdict(&schedule);
        let minimal = Minimiser::of(&program, &schedule)
            .find(|_, verdict| verdict == before)
            .expect("it fails");
        assert_eq!(verdict(&minimal.schedule), before);
        assert_eq!(minimal.switches, switches(&minimal.schedule));
        assert_eq!(minimal.switches, expected, "{:?}", minimal.schedule);
        assert!(minimal.forced <= minimal.schedule.len());
        assert!(minimal.runs <= 1000);
    }
}

/// ```text
/// 0, 1, 2: look 1 × 5; look 0; touch 0; look 1 × 5
/// ```
#[test]
fn a_lost_update_needs_two_switches() {
    let looks = || vec![Look(1); 5];
    let thread = [looks(), vec![Look(0), Touch(0)], looks()].concat();
    let two = Cells::new([thread.clone(), thread.clone()]).failing(|outcome| {
        // Both looked before the first touch.
        outcome.cells[0][0].1.len() == 2
    });
    check(&two, 2);
    // The third one is another switch: it has to be somewhere.
    let three = Cells::new([thread.clone(), thread.clone(), thread])
        .failing(|outcome| outcome.cells[0].iter().any(|(_, looks)| looks.len() > 1));
    check(&three, 3);
}

/// ```text
/// 0, 1, 2: look 1 × 100; look 0; touch 0; look 1 × 100
/// ```
#[test]
fn most_of_a_long_schedule_is_left_out_at_once() {
    let looks = || vec![Look(1); 100];
    let thread = [looks(), vec![Look(0), Touch(0)], looks()].concat();
    let program = Cells::new([thread.clone(), thread.clone(), thread])
        .failing(|outcome| outcome.cells[0][0].1.len() == 3);
    check(&program, 4);
}

/// ```text
/// i: lock i; lock i + 1; unlock both
/// ```
#[test]
fn a_deadlock_of_philosophers_needs_a_switch_less_than_there_are() {
    for n in [2, 3] {
        let program = Cells::new((0..n).map(|i| {
            let (left, right) = (i, (i + 1) % n);
            vec![
                Touch(0),
                Lock(left),
                Lock(right),
                Unlock(right),
                Unlock(left),
            ]
        }));
        check(&program, n - 1);
    }
}

/// ```text
/// 0: begin 1; touch; await 1        1: pick 1 of 3; touch
/// ```
#[test]
fn a_failure_may_need_a_choice() {
    let program = Cells::new([
        vec![Begin(1), Touch(0), Await(1), Look(0)],
        vec![Pick(1, 3), Touch(0)],
    ])
    .failing(|outcome| outcome.touches(0) == [1, 0] && outcome.cells[1][1].0 == (1, 2));
    // It has to begin, be overtaken, and wait.
    check(&program, 2);
}

#[test]
fn the_end_is_left_to_the_program_once_the_failure_is_certain() {
    let thread = [vec![Touch(0)], vec![Touch(1); 20]].concat();
    let program =
        Cells::new([thread.clone(), thread]).failing(|outcome| outcome.touches(0) == [1, 0]);
    let minimal = Minimiser::of(&&program, &bad(&program, 1))
        .find(|_, verdict| verdict == Verdict::Failed)
        .expect("it fails");
    assert_eq!((minimal.forced, minimal.switches), (1, 1));
}

#[test]
fn a_schedule_that_does_not_fit_or_does_not_fail_is_an_error() {
    let program = Cells::new([vec![Touch(0)], vec![Touch(0)]]);
    let step = Step::from(Activity(1));
    let error = Minimiser::of(&&program, &[step, step])
        .find(|_, _| true)
        .unwrap_err();
    let found = "it has nothing to do".to_owned();
    let divergence = Divergence::at_step(1, step, found);
    assert_eq!(error, MinimiseError::Divergence(divergence));
    assert_eq!(
        error.to_string(),
        "step 2 of the schedule, choice 0 of activity 1, does not fit: it has nothing to do"
    );
    let error = Minimiser::of(&&program, &[step]).find(|_, verdict| verdict.is_bad());
    assert_eq!(error, Err(MinimiseError::Other));
}

proptest! {
    #![proptest_config(config())]

    /// If nothing but the same class counts as the same, all that is left is to write it down again.
    #[test]
    fn a_class_is_written_down_with_the_fewest_switches(program in program(), any: usize) {
        let Some(all) = by_brute_force(&program, 3000) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        for (outcome, schedules) in &all {
            let schedule = &schedules[any % schedules.len()];
            let minimal = Minimiser::of(&&program, schedule)
                .runs(2)
                .find(|run, _| run.outcome == *outcome)
                .expect("it is the same");
            let fewest = schedules.iter().map(|schedule| switches(schedule)).min();
            prop_assert_eq!(Some(minimal.switches), fewest);
        }
    }
}
