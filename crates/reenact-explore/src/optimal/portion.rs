//! Portions of all executions, which can be explored independently.
//!
//! At the first points of a program, each possible step is taken in its own portion, with the steps before it asleep: a
//! class of executions is in the portion of the first of the steps it can begin with, and in no other. So workers need
//! not communicate, and no class is run twice. The cost is that everything in a portion may turn out to be asleep,
//! which is detected by executions that are then abandoned. Their races count nevertheless: they may lead to classes
//! that are in no other portion.

use std::collections::VecDeque;

use crate::{Activity, Links, Moment, Run, Runs, Step};

/// Maximum number of steps that distinguish portions.
const MOST_LEVELS: usize = 12;

/// The common prefix of the executions of a portion.
pub(crate) struct Portion<E> {
    pub(super) levels: Vec<Level<E>>,
}

/// A step that all of them take, and the steps that are asleep there because of other portions.
#[derive(Clone)]
pub(super) struct Level<E> {
    pub(super) step: Step,
    pub(super) asleep: Vec<(Step, E)>,
}

impl<E> Portion<E> {
    /// All executions.
    pub(crate) fn whole() -> Self {
        Portion { levels: Vec::new() }
    }
}

/// Divides all executions into at least `wanted` portions, if possible. Deterministic for the same program.
pub(crate) fn portions<R: Runs>(runs: &R, wanted: usize) -> Vec<Portion<R::Event>> {
    let mut open = VecDeque::from([Portion::whole()]);
    let mut done = Vec::new();
    while let Some(portion) = open.pop_front() {
        let is_small = done.len() + open.len() + 1 >= wanted;
        match divided(runs, &portion) {
            // The program ends here.
            None => done.push(portion),
            // All that can follow is in other portions.
            Some(parts) if parts.is_empty() => {}
            Some(_) if is_small || portion.levels.len() >= MOST_LEVELS => done.push(portion),
            Some(parts) => open.extend(parts),
        }
    }
    done
}

/// Divides a portion by its next step, omitting steps that belong to other portions. `None` if no step can follow.
fn divided<R: Runs>(runs: &R, portion: &Portion<R::Event>) -> Option<Vec<Portion<R::Event>>> {
    let mut run = runs.start();
    let mut links = Links::default();
    let mut asleep: Vec<(Step, R::Event)> = Vec::new();
    for (index, level) in (0..).zip(&portion.levels) {
        asleep.extend(level.asleep.iter().cloned());
        links.clear();
        let event = run.step_at(level.step, Moment(index), &mut links);
        asleep.retain(|(step, sleeper)| {
            step.activity != level.step.activity && !runs.dependent(sleeper, &event)
        });
    }
    let enabled = (0..run.activities())
        .map(Activity)
        .filter(|&activity| run.is_enabled(activity));
    let enabled: Vec<_> = enabled
        .filter_map(|activity| Some((activity, run.pending(activity)?)))
        .collect();
    if enabled.is_empty() {
        return None;
    }
    // Steps that depend on many others come first: what follows the rest is then mostly asleep, and known to be.
    let others = |event: &R::Event| {
        let others = enabled.iter().map(|(_, other)| other);
        others.filter(|other| runs.dependent(event, other)).count()
    };
    let mut order: Vec<_> = enabled.iter().collect();
    order.sort_by_cached_key(|(_, event)| std::cmp::Reverse(others(event)));
    let steps = order.into_iter().flat_map(|(activity, event)| {
        let steps = (0..run.choices(*activity)).map(|choice| Step {
            activity: *activity,
            choice,
        });
        steps.map(move |step| (step, event))
    });
    let mut parts = Vec::new();
    let mut before = Vec::new();
    for (step, event) in steps {
        if asleep.iter().any(|(sleeper, _)| *sleeper == step) {
            continue;
        }
        let mut levels = portion.levels.clone();
        levels.push(Level {
            step,
            asleep: before.clone(),
        });
        parts.push(Portion { levels });
        before.push((step, event.clone()));
    }
    Some(parts)
}
