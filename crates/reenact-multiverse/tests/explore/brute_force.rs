//! Every interleaving, one after the other, and which of them are the same.
//!
//! Two executions are the same if they have the same events in the same happens-before order. Each class has one schedule
//! that stands for it: of all that keep the order, the one that prefers lower threads.

use std::collections::{BTreeMap, BTreeSet};

use crate::language::{Event, Machine, Program};

/// The classes of a program, each with its outcome. `None`: there are too many interleavings to try.
pub(crate) fn classes(program: &Program, mut most: usize) -> Option<BTreeMap<Vec<usize>, String>> {
    let mut classes = BTreeMap::new();
    let mut events = Vec::new();
    walk(program.machine(), &mut events, &mut classes, &mut most)?;
    Some(classes)
}

fn walk(
    machine: Machine<'_>,
    events: &mut Vec<(usize, Event)>,
    classes: &mut BTreeMap<Vec<usize>, String>,
    left: &mut usize,
) -> Option<()> {
    let mut is_over = true;
    for thread in 0..machine.threads() {
        if machine.is_enabled(thread) {
            is_over = false;
            let mut next = machine.clone();
            events.push((thread, machine.pending(thread)?));
            next.step(thread);
            walk(next, events, classes, left)?;
            events.pop();
        }
    }
    if is_over {
        *left = left.checked_sub(1)?;
        let outcome = machine.outcome();
        let known = classes.entry(canonical(events)).or_insert(outcome.clone());
        assert_eq!(*known, outcome, "one class, one outcome");
    }
    Some(())
}

/// The class of a schedule, with its outcome.
pub(crate) fn class(
    program: &Program,
    schedule: impl Iterator<Item = usize>,
) -> (Vec<usize>, String) {
    let mut machine = program.machine();
    let mut events = Vec::new();
    for thread in schedule {
        events.push((thread, machine.pending(thread).expect("it has a next step")));
        machine.step(thread);
    }
    (canonical(&events), machine.outcome())
}

fn canonical(events: &[(usize, Event)]) -> Vec<usize> {
    let mut left: Vec<BTreeSet<usize>> = (0..events.len())
        .map(|b| (0..b).filter(|&a| is_ordered(events, a, b)).collect())
        .collect();
    let mut is_done = vec![false; events.len()];
    let mut schedule = Vec::new();
    while schedule.len() < events.len() {
        let next = (0..events.len())
            .filter(|&event| !is_done[event] && left[event].is_empty())
            .min_by_key(|&event| events[event].0)
            .expect("the order has no cycle");
        is_done[next] = true;
        schedule.push(events[next].0);
        for before in &mut left {
            before.remove(&next);
        }
    }
    schedule
}

/// Whether the event at `a` comes before the later one at `b` by itself, not because of others in between.
fn is_ordered(events: &[(usize, Event)], a: usize, b: usize) -> bool {
    use Event::*;
    let count = |end: usize, event: Event| {
        let before = events[..end].iter();
        before.filter(|(_, other)| *other == event).count()
    };
    let ((thread_a, event_a), (thread_b, event_b)) = (events[a], events[b]);
    thread_a == thread_b
        || match (event_a, event_b) {
            (Spawn(thread), _) if thread == thread_b => true,
            (_, Join(thread)) if thread == thread_a => true,
            // Who spawns the one that is waited for comes before the wait, even if that one does nothing.
            (Spawn(spawned), Join(joined)) => spawned == joined,
            (Read(x) | Write(x), Write(y)) | (Write(x), Read(y)) => x == y,
            (Lock(x) | Unlock(x), Lock(y) | Unlock(y)) => x == y,
            (Send(x), Send(y)) | (Receive(x), Receive(y)) => x == y,
            (Send(x), Receive(y)) => x == y && count(a, event_a) == count(b, event_b),
            _ => false,
        }
}
