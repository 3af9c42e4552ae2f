//! A bit of everything: what each part says, and that it is true.

use std::collections::BTreeMap;

use reenact_multiverse::explore::{Budget, Part, Portfolio, Verdict};

use crate::cells::*;

/// The executions of each part.
fn explore(portfolio: Portfolio<'_, &Cells>) -> (BTreeMap<Part, u64>, String, bool) {
    let mut parts = BTreeMap::new();
    let mut number = 0;
    let report = portfolio.run(|execution, part| {
        assert_eq!(execution.number, number);
        number += 1;
        *parts.entry(part).or_default() += 1;
    });
    (parts, report.to_string(), report.is_complete())
}

#[test]
fn each_part_says_what_it_has_seen() {
    let program = Cells::new([vec![Touch(0); 4], vec![Touch(0); 4]]);
    let (parts, text, is_complete) = explore(Portfolio::of(&&program));
    assert_eq!(parts[&Part::Exhaustive], 70);
    assert!(is_complete);
    let simple = parts[&Part::Simple];
    assert_eq!(
        text,
        format!(
            "random: 1000 executions, 0 deadlocks, 0 failures; stopped after 1000 executions\n\
             simple: {simple} executions, 0 deadlocks, 0 failures; all schedules with at most 2 preemptions\n\
             exhaustive: 70 executions, 0 deadlocks, 0 failures; complete"
        )
    );

    let budget = Budget {
        executions: Some(100),
        ..Budget::default()
    };
    let (parts, text, is_complete) = explore(Portfolio::of(&&program).budget(budget));
    assert!(!is_complete);
    assert_eq!(parts[&Part::Random], 25);
    assert!(parts.values().sum::<u64>() <= 100);
    assert!(text.ends_with("stopped after 50 executions"), "{text}");
}

#[test]
fn what_is_complete_is_not_done_again() {
    let program = Cells::new([vec![Touch(0)], vec![Touch(0)]]);
    let (parts, _, is_complete) = explore(Portfolio::of(&&program));
    assert!(is_complete);
    assert_eq!(parts.get(&Part::Exhaustive), None);
}

/// ```text
/// 0: touch × 40        1: touch × 40
/// ```
#[test]
fn what_chance_does_not_find_a_simple_schedule_does() {
    let program = Cells::new([vec![Touch(0); 40], vec![Touch(0); 40]])
        .failing(|outcome| outcome.touches(0)[..40].iter().all(|who| *who == 1));
    let mut found = None;
    let report = Portfolio::of(&&program)
        .seed(5)
        .stop_at_failure()
        .run(|execution, part| {
            if execution.verdict == Verdict::Failed {
                found = Some(part);
            }
        });
    assert_eq!(found, Some(Part::Simple));
    assert!(report.has_failures() && report.exhaustive.is_none());
}
