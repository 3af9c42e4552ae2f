//! What an exploration does besides counting: outcomes, budgets, stopping.

use std::ops::ControlFlow;

use reenact_explore::{Budget, Explorer, Limit, Step, Verdict};

use crate::language::{Op::*, Program, Value::*};

/// ```text
/// 0: x += 1; x += 1; fail if it was 2        1: y = 1; y = 1; x += 1
/// ```
fn fails_if_late() -> Program {
    let late = vec![FetchAdd(0, 1), FetchAdd(0, 1), FailIf(2)];
    let other = vec![Store(1, Just(1)), Store(1, Just(1)), FetchAdd(0, 1)];
    Program::new([late, other])
}

#[test]
fn a_failure_is_found_and_its_schedule_leads_to_it_again() {
    let program = fails_if_late();
    let mut schedules = Vec::new();
    let report = Explorer::of(&&program).run(|execution| {
        if execution.verdict == Verdict::Failed {
            schedules.push(execution.schedule().to_vec());
        }
    });
    assert_eq!(
        report.to_string(),
        "3 executions, 0 deadlocks, 2 failures; complete"
    );
    for schedule in schedules {
        let mut machine = program.machine();
        for Step { activity, choice } in schedule {
            machine.step(activity.0 as usize, choice);
        }
        assert!(machine.has_failed);
    }
}

#[test]
fn an_exploration_stops_at_the_first_failure_if_asked_to() {
    let program = fails_if_late();
    let mut last = None;
    let report = Explorer::of(&&program)
        .stop_at_failure()
        .run(|execution| last = Some(execution.verdict));
    assert_eq!(last, Some(Verdict::Failed));
    assert_eq!(report.progress.failures, 1);
    assert_eq!(report.coverage.stopped_by(), [Limit::Failure]);
}

#[test]
fn a_budget_of_executions_is_kept_and_reported() {
    let thread = [Lock(0), Unlock(0)].repeat(3);
    let program = Program::new([thread.clone(), thread]);
    for (executions, is_complete) in [(19, false), (20, true), (21, true)] {
        let budget = Budget {
            executions: Some(executions),
            ..Budget::default()
        };
        let report = Explorer::of(&&program).budget(budget).run(|_| ());
        assert_eq!(report.progress.executions, executions.min(20));
        assert_eq!(report.coverage.is_complete(), is_complete);
    }
}

#[test]
fn a_budget_of_steps_cuts_executions() {
    let program = Program::new([vec![FetchAdd(0, 1); 3], vec![FetchAdd(0, 1); 3]]);
    let budget = Budget {
        steps: Some(2),
        ..Budget::default()
    };
    let report = Explorer::of(&&program).budget(budget).run(|execution| {
        assert_eq!(execution.verdict, Verdict::Cut);
        assert_eq!(execution.schedule().len(), 2);
    });
    assert_eq!(report.progress.executions, 4);
    assert_eq!(
        report.coverage.to_string(),
        "stopped after 2 steps of an execution"
    );
}

#[test]
fn whoever_listens_can_give_up() {
    let program = fails_if_late();
    let report = Explorer::of(&&program)
        .progress(|_| ControlFlow::Break(()))
        .run(|_| ());
    assert_eq!(report.progress.executions, 0);
    assert_eq!(report.coverage.stopped_by(), [Limit::Cancelled]);
}

#[test]
fn a_program_without_steps_has_one_execution() {
    let program = Program::new([]);
    let report = Explorer::of(&&program).run(|execution| {
        assert_eq!(execution.verdict, Verdict::Finished);
    });
    assert_eq!(report.progress.executions, 1);
}

#[test]
fn a_long_execution_needs_no_deep_stack() {
    let long = vec![Store(1, Just(1)); 20_000];
    let program = Program::new([
        [vec![Store(0, Just(1))], long.clone()].concat(),
        [vec![Load(2); 20_000], vec![Load(0)]].concat(),
    ]);
    let report = Explorer::of(&&program).run(|_| ());
    assert_eq!(report.progress.executions, 2);
}
