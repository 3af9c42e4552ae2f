//! Every interleaving and every choice, one after the other, and which of them are the same.
//!
//! Two executions are the same if they have the same events, with the same choices, in the same happens-before order.
//! Each class has one schedule that stands for it: of all that keep the order, the one that prefers lower threads.

use std::collections::{BTreeMap, BTreeSet};

use reenact_explore::{Activity, Step};

use crate::language::{Event, Machine, Program, capacity};

/// The threads that take the steps, and their choices.
pub(crate) type Schedule = Vec<(usize, u32)>;

/// A step that was taken.
struct Taken {
    thread: usize,
    choice: u32,
    event: Event,
    woken: Vec<usize>,
}

impl Taken {
    fn of(machine: &Machine<'_>, thread: usize, choice: u32) -> Self {
        Taken {
            thread,
            choice,
            event: machine.performed(thread).expect("it has a next step"),
            woken: machine.woken(thread, choice),
        }
    }
}

/// The classes of a program, each with its outcome. `None`: there are too many interleavings to try.
pub(crate) fn classes(program: &Program, mut most: usize) -> Option<BTreeMap<Schedule, String>> {
    let mut classes = BTreeMap::new();
    let mut steps = Vec::new();
    walk(&program.machine(), &mut steps, &mut classes, &mut most)?;
    Some(classes)
}

fn walk(
    machine: &Machine<'_>,
    steps: &mut Vec<Taken>,
    classes: &mut BTreeMap<Schedule, String>,
    left: &mut usize,
) -> Option<()> {
    let mut is_over = true;
    for thread in (0..machine.threads()).filter(|&thread| machine.is_enabled(thread)) {
        is_over = false;
        for choice in 0..machine.choices(thread) {
            let mut next = machine.clone();
            steps.push(Taken::of(machine, thread, choice));
            next.step(thread, choice);
            walk(&next, steps, classes, left)?;
            steps.pop();
        }
    }
    if is_over {
        *left = left.checked_sub(1)?;
        let outcome = machine.outcome();
        let known = classes.entry(canonical(steps)).or_insert(outcome.clone());
        assert_eq!(*known, outcome, "one class, one outcome");
    }
    Some(())
}

/// The class of a schedule, with its outcome.
pub(crate) fn class(program: &Program, schedule: &[Step]) -> (Schedule, String) {
    let mut machine = program.machine();
    let mut steps = Vec::new();
    for &Step { activity, choice } in schedule {
        let Activity(thread) = activity;
        steps.push(Taken::of(&machine, thread as usize, choice));
        machine.step(thread as usize, choice);
    }
    (canonical(&steps), machine.outcome())
}

fn canonical(steps: &[Taken]) -> Schedule {
    let mut left: Vec<BTreeSet<usize>> = (0..steps.len())
        .map(|b| (0..b).filter(|&a| is_ordered(steps, a, b)).collect())
        .collect();
    let mut is_done = vec![false; steps.len()];
    let mut schedule = Vec::new();
    while schedule.len() < steps.len() {
        let next = (0..steps.len())
            .filter(|&step| !is_done[step] && left[step].is_empty())
            .min_by_key(|&step| steps[step].thread)
            .expect("the order has no cycle");
        is_done[next] = true;
        schedule.push((steps[next].thread, steps[next].choice));
        for before in &mut left {
            before.remove(&next);
        }
    }
    schedule
}

/// Whether the step at `a` comes before the later one at `b` by itself, not because of others in between.
fn is_ordered(steps: &[Taken], a: usize, b: usize) -> bool {
    use Event::*;
    let count = |end: usize, event: Event| {
        let before = steps[..end].iter();
        before.filter(|other| other.event == event).count()
    };
    let (first, second) = (&steps[a], &steps[b]);
    if first.thread == second.thread {
        return true;
    }
    match (first.event, second.event) {
        (Spawn(thread), _) if thread == second.thread => true,
        (_, Join(thread)) if thread == first.thread => true,
        // Who spawns the one that is waited for comes before the wait, even if that one does nothing.
        (Spawn(spawned), Join(joined)) => spawned == joined,
        (FindLocked(_), FindLocked(_)) => false,
        (Lock(x) | Unlock(x) | FindLocked(x), Lock(y) | Unlock(y) | FindLocked(y)) => x == y,
        (Notify(_), Wake(_)) => {
            let other_wakes = steps[a + 1..b]
                .iter()
                .any(|step| step.woken.contains(&second.thread));
            first.woken.contains(&second.thread) && !other_wakes
        }
        (Wait(x) | Notify(x), Notify(y)) | (Notify(x), Wait(y)) => x == y,
        (Set(x), Ask(y) | Await(y)) | (Ask(x), Set(y)) => x == y,
        (Send(x), Send(y)) => {
            let is_received = count(a, first.event) < count(steps.len(), Receive(x));
            x == y && (is_received || capacity(x).is_some())
        }
        (Receive(x), Receive(y)) => x == y,
        (Send(x), Receive(y)) => x == y && count(a, first.event) == count(b, second.event),
        (Receive(x), Send(y)) => {
            let later = capacity(x).map(|capacity| count(a, first.event) + capacity);
            x == y && later == Some(count(b, second.event))
        }
        (FindEmpty(x) | FindFull(x), Send(y) | Receive(y) | Close(y))
        | (Send(x) | Receive(x) | Close(x), FindEmpty(y) | FindFull(y))
        | (Close(x), Send(y) | FindClosed(y) | GiveUp(y) | FindEnd(y))
        | (Send(x), Close(y))
        | (Receive(x), FindEnd(y)) => x == y,
        (a, b) => is_sharing_ordered(a, b) || is_access_ordered(a, b),
    }
}

fn is_sharing_ordered(a: Event, b: Event) -> bool {
    use Event::*;
    let lock = |event| match event {
        Look(lock) | Leave(lock) | Take(lock) | Downgrade(lock) | Release(lock) => Some(lock),
        _ => None,
    };
    let looks = |event| matches!(event, Look(_) | Leave(_));
    lock(a).is_some() && lock(a) == lock(b) && !(looks(a) && looks(b))
}

fn is_access_ordered(a: Event, b: Event) -> bool {
    let footprint = |event| match event {
        Event::Read(variable) => (1 << variable, 0),
        Event::Write(variable) => (0, 1 << variable),
        Event::Transaction { reads, writes } => (reads, writes),
        _ => (0, 0),
    };
    let ((reads, writes), (others_reads, others_writes)) = (footprint(a), footprint(b));
    writes & (others_reads | others_writes) != 0 || reads & others_writes != 0
}
