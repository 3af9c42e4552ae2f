//! Programs that do not do the same again.

use std::cell::Cell;

use reenact_explore::{Explorer, Limit, Runs};

use crate::language::{Event, Op::*, Program, Value::Just};

/// Its first run is of one program, all others are of another.
struct Fickle<'a> {
    first: &'a Program,
    then: &'a Program,
    has_run: Cell<bool>,
}

impl<'a> Runs for Fickle<'a> {
    type Event = Event;
    type Run = <&'a Program as Runs>::Run;

    fn start(&self) -> Self::Run {
        match self.has_run.replace(true) {
            false => self.first.start(),
            true => self.then.start(),
        }
    }

    fn dependent(&self, a: &Event, b: &Event) -> bool {
        self.first.dependent(a, b)
    }
}

/// Explores `first`, which turns out to be `then` in the second run.
fn check(
    first: [Vec<crate::language::Op>; 2],
    then: [Vec<crate::language::Op>; 2],
    expected: &str,
) {
    let fickle = Fickle {
        first: &Program::new(first),
        then: &Program::new(then),
        has_run: Cell::new(false),
    };
    let report = Explorer::of(&fickle).run(|_| ());
    assert_eq!(report.progress.executions, 1);
    assert_eq!(report.coverage.stopped_by(), [Limit::Divergence]);
    assert_eq!(
        report.divergence.expect("it is reported").to_string(),
        expected
    );
}

#[test]
fn a_step_that_does_something_else_is_reported() {
    let other = vec![Store(0, Just(1))];
    check(
        [vec![Load(1), Load(0)], other.clone()],
        [vec![Load(2), Load(0)], other],
        "step 1 of the schedule, Read(1) of activity 0, does not fit: Read(2)",
    );
}

#[test]
fn a_step_that_has_to_wait_is_reported() {
    let other = vec![Store(0, Just(1))];
    check(
        [vec![Lock(0), Load(0)], other.clone()],
        [vec![Receive(0), Load(0)], other],
        "step 1 of the schedule, Lock(0) of activity 0, does not fit: it waits for Receive(0)",
    );
}

#[test]
fn a_planned_step_that_is_not_there_is_reported() {
    check(
        [vec![Load(0)], vec![Store(0, Just(1))]],
        [vec![Load(0)], vec![]],
        "step 1 of the schedule, Write(0) of activity 1, does not fit: it has nothing to do",
    );
}

#[test]
fn a_choice_that_is_not_there_is_reported() {
    check(
        [vec![Pick(2)], vec![]],
        [vec![Pick(1)], vec![]],
        "step 1 of the schedule, Pick of activity 0, does not fit: there is no choice 1",
    );
}
