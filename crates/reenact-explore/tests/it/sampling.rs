//! What strategies promise, counted. Seeds are fixed, so a test that passes once always does.

use std::{collections::BTreeMap, ops::ControlFlow, sync::Mutex, time::Duration};

use reenact_explore::{Limit, RandomStrategy, Run, Runs, Sampler, Step, Verdict};

use crate::{cells::*, strategies::ALL};

/// How often each schedule is drawn, once the strategy has learned what it learns.
fn draw(program: &Cells, strategy: RandomStrategy, executions: u64) -> BTreeMap<Vec<Step>, u64> {
    let mut drawn = BTreeMap::new();
    Sampler::of(&program)
        .strategy(strategy)
        .seed(7)
        .executions(executions + 16)
        .run(|execution| {
            if execution.number >= 16 {
                *drawn.entry(execution.schedule.to_vec()).or_default() += 1;
            }
        });
    drawn
}

/// How far that is from uniform, as a sum of squares, in units of what chance would give: about 1 if it is.
fn unevenness(drawn: &BTreeMap<Vec<Step>, u64>, schedules: usize) -> f64 {
    let expected = drawn.values().sum::<u64>() as f64 / schedules as f64;
    let missing = (schedules - drawn.len()) as f64 * expected;
    let square = |&count: &u64| (count as f64 - expected).powi(2) / expected;
    (drawn.values().map(square).sum::<f64>() + missing) / (schedules - 1) as f64
}

/// ```text
/// 0: touch × n        1: touch × n
/// ```
#[test]
fn interleavings_of_two_threads_are_equally_likely() {
    for (n, schedules) in [(2, 6), (3, 20), (4, 70)] {
        let program = Cells::new([vec![Touch(0); n], vec![Touch(0); n]]);
        let drawn = draw(&program, RandomStrategy::Urw, 200 * schedules);
        let uneven = unevenness(&drawn, schedules as usize);
        assert!(uneven < 1.5, "{n}: {uneven}");
        if n > 2 {
            let walk = draw(&program, RandomStrategy::Walk, 200 * schedules);
            assert!(unevenness(&walk, schedules as usize) > 10.0);
        }
    }
}

/// ```text
/// 0: touch; begin 1; touch; touch        1: touch; begin 2; touch        2: touch; touch        3: touch
/// ```
#[test]
fn interleavings_with_children_are_equally_likely() {
    let program = Cells::new([
        vec![Touch(0), Begin(1), Touch(0), Touch(0)],
        vec![Touch(0), Begin(2), Touch(0)],
        vec![Touch(0), Touch(0)],
        vec![Touch(0)],
    ]);
    let all = by_brute_force(&program, 100_000).expect("there are few");
    let schedules = all.values().map(Vec::len).sum();
    let drawn = draw(&program, RandomStrategy::Urw, 20 * schedules as u64);
    assert_eq!(drawn.len(), schedules);
    let uneven = unevenness(&drawn, schedules);
    assert!(uneven < 1.2, "{uneven}");
}

fn frequency(program: &Cells, strategy: RandomStrategy, executions: u64) -> f64 {
    let report = Sampler::of(&program)
        .strategy(strategy)
        .seed(11)
        .executions(executions)
        .run(|_| ());
    report.progress.failures as f64 / report.progress.executions as f64
}

/// ```text
/// 0: look × 8; touch; touch; look × 8        1: look × 8; touch; touch; look × 8
/// ```
#[test]
fn a_failure_of_depth_2_is_found_as_often_as_promised() {
    let thread = [vec![Look(1); 8], vec![Touch(0), Touch(0)], vec![Look(1); 8]].concat();
    let program = Cells::new([thread.clone(), thread])
        .failing(|outcome| matches!(outcome.touches(0)[..], [0, 1, 1, 0] | [1, 0, 0, 1]));
    let (n, k) = (2.0, 36.0);
    for strategy in [
        RandomStrategy::Pct { depth: 2 },
        RandomStrategy::Pctcp { depth: 2 },
    ] {
        let frequency = frequency(&program, strategy, 10_000);
        assert!(frequency >= 1.0 / (n * k), "{strategy:?}: {frequency}");
    }
}

/// ```text
/// 0: look × 4; touch; touch; look × 4        1: look × 4; touch; touch; look × 4
/// ```
#[test]
fn a_failure_of_depth_3_is_found_as_often_as_promised() {
    let thread = [vec![Look(1); 4], vec![Touch(0), Touch(0)], vec![Look(1); 4]].concat();
    let program = Cells::new([thread.clone(), thread])
        .failing(|outcome| matches!(outcome.touches(0)[..], [0, 1, 0, 1] | [1, 0, 1, 0]));
    let (n, k) = (2.0, 20.0);
    for strategy in [
        RandomStrategy::Pct { depth: 3 },
        RandomStrategy::Pctcp { depth: 3 },
    ] {
        let frequency = frequency(&program, strategy, 10_000);
        assert!(frequency >= 1.0 / (n * k * k), "{strategy:?}: {frequency}");
    }
    assert_eq!(
        frequency(&program, RandomStrategy::Pct { depth: 1 }, 100),
        0.0
    );
}

/// ```text
/// 0: begin 1; await 1; begin 2; await 2; …        1, 2, …: look        20: look; touch        41: touch
/// ```
#[test]
fn activities_that_come_one_after_the_other_are_one_chain() {
    const CHILDREN: usize = 40;
    let mut main = Vec::new();
    for child in 1..=CHILDREN {
        main.extend([Begin(child), Await(child)]);
    }
    let mut threads = vec![main];
    threads.extend((0..CHILDREN).map(|_| vec![Look(1)]));
    threads[CHILDREN / 2].push(Touch(0));
    threads.push(vec![Touch(0)]);
    // The last one has to be late: later than all of one chain, or later than each of twenty activities.
    let program = Cells::new(threads).failing(|outcome| outcome.touches(0) == [20, 41]);
    let chains = frequency(&program, RandomStrategy::Pctcp { depth: 1 }, 1000);
    let activities = frequency(&program, RandomStrategy::Pct { depth: 1 }, 1000);
    assert!(chains > 4.0 * activities, "{chains} and {activities}");
}

#[test]
fn every_strategy_finds_every_outcome_and_its_schedule_leads_there_again() {
    let program = Cells::new([
        vec![Lock(0), Pick(0, 2), Lock(1), Unlock(1), Unlock(0)],
        vec![Lock(1), Draw(0), Lock(0), Unlock(0), Unlock(1)],
        vec![Look(0)],
    ]);
    let all = by_brute_force(&program, 1_000_000).expect("there are few");
    for strategy in ALL {
        let mut found = BTreeMap::new();
        let report = Sampler::of(&&program)
            .strategy(strategy)
            .executions(3_000)
            .run(|execution| {
                let mut again = (&&program).start();
                for &step in execution.schedule {
                    again.step(step);
                }
                assert_eq!(again.outcome, execution.run.outcome);
                found.insert(again.outcome, execution.verdict);
            });
        assert!(report.progress.deadlocks > 0, "{strategy:?}");
        assert!(found.keys().eq(all.keys()), "{strategy:?}");
    }
}

/// The two have different strengths, see above: one that takes turns is good at both.
#[test]
fn a_mixture_draws_two_by_one_strategy_and_one_by_the_other() {
    let program = Cells::new([vec![Touch(0); 4], vec![Touch(0); 4]]);
    let by = |strategy| {
        let mut drawn = Vec::new();
        Sampler::of(&&program)
            .strategy(strategy)
            .seed(3)
            .executions(600)
            .run(|execution| drawn.push(execution.schedule.to_vec()));
        drawn
    };
    let (mixed, urw) = (by(RandomStrategy::Mixed), by(RandomStrategy::Urw));
    let pct = by(RandomStrategy::Pct { depth: 3 });
    // Everybody has four steps whoever draws, so each has learned the same of two or three executions as of sixteen.
    for number in 16..600 {
        let other = match number % 3 {
            2 => &pct,
            _ => &urw,
        };
        assert_eq!(mixed[number], other[number], "{number}");
    }
}

#[test]
fn what_is_drawn_does_not_depend_on_the_number_of_threads() {
    let thread = vec![Touch(0), Pick(1, 2), Look(0), Lock(0), Unlock(0)];
    let program = Cells::new([thread.clone(), thread.clone(), thread]);
    for strategy in ALL {
        let draw = |cores| {
            let drawn = Mutex::new(BTreeMap::new());
            let report = Sampler::of(&&program)
                .strategy(strategy)
                .seed(3)
                .executions(500)
                .run_on(
                    cores,
                    || &program,
                    |_, execution| {
                        let schedule = execution.schedule.to_vec();
                        let mut drawn = drawn.lock().unwrap();
                        assert_eq!(drawn.insert(execution.number, schedule), None);
                    },
                );
            assert_eq!(
                report.to_string(),
                "500 executions, 0 deadlocks, 0 failures; stopped after 500 executions"
            );
            drawn.into_inner().unwrap()
        };
        let mut alone = BTreeMap::new();
        Sampler::of(&&program)
            .strategy(strategy)
            .seed(3)
            .executions(500)
            .run(|execution| {
                alone.insert(execution.number, execution.schedule.to_vec());
            });
        assert_eq!(alone.len(), 500);
        assert_eq!(draw(1), alone);
        assert_eq!(draw(3), alone);
    }
}

#[test]
fn limits_are_kept_and_reported() {
    let program = Cells::new([vec![Touch(0); 4], vec![Touch(0); 4]])
        .failing(|outcome| outcome.touches(0).first() == Some(&1));
    let runs = &program;
    let sampler = || Sampler::of(&runs).seed(1);

    let report = sampler().run(|_| ());
    assert_eq!(report.coverage.stopped_by(), [Limit::Executions(1000)]);

    let mut last = None;
    let report = sampler()
        .stop_at_failure()
        .run(|execution| last = Some(execution.verdict));
    assert_eq!(report.coverage.stopped_by(), [Limit::Failure]);
    assert_eq!((last, report.progress.failures), (Some(Verdict::Failed), 1));

    let report = sampler()
        .stop_at_failure()
        .run_on(2, || &program, |_, _| ());
    assert_eq!(report.coverage.stopped_by(), [Limit::Failure]);

    let report = sampler().steps(3).executions(5).run(|execution| {
        assert_eq!(execution.verdict, Verdict::Cut);
        assert_eq!(execution.schedule.len(), 3);
    });
    let limits = [Limit::Steps(3), Limit::Executions(5)];
    assert_eq!(report.coverage.stopped_by(), limits);

    let report = sampler().time(Duration::ZERO).run(|_| ());
    assert_eq!(report.coverage.stopped_by(), [Limit::Time(Duration::ZERO)]);

    let report = sampler().progress(|_| ControlFlow::Break(())).run(|_| ());
    assert_eq!(report.coverage.stopped_by(), [Limit::Cancelled]);
    assert_eq!(report.progress.executions, 0);
}
