//! The seam for exploration: a controller that knows no model runs programs one operation at a time, through the same
//! API by which replay does.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, Condvar, Mutex, MutexGuard},
};

use reenact::{
    stm::{TVar, atomically, guard},
    sync::{Mutex as RecordedMutex, atomic::AtomicU32, atomic::Ordering},
    thread,
};
use reenact_engine::{
    Access, Announcement, ControlledActivity, Controller, Decision, Ending, Newborn, Outcome, Spot,
    controlled,
};

/// Lets the activities go in the order of a schedule; after its end, in the order of their families. Unlocking is not a
/// step of its own: it belongs to what went before.
struct Scheduler {
    schedule: Vec<&'static str>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    steps: usize,
    /// Activities that were born and have not ended.
    alive: HashSet<u32>,
    /// Where an activity is that cannot go on by itself: its family and what it needs.
    waiting: BTreeMap<String, Need>,
    held: HashSet<usize>,
    established: HashSet<usize>,
    next_number: u32,
    story: Vec<String>,
    deadlock: bool,
}

#[derive(Clone, Copy)]
enum Need {
    /// A turn, at an object that nobody may hold.
    Free(usize),
    /// A turn.
    Turn,
    /// A fact; not a step.
    Latch(usize),
}

impl Scheduler {
    fn new(schedule: &[&'static str]) -> Arc<Scheduler> {
        Arc::new(Scheduler {
            schedule: schedule.to_vec(),
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|error| error.into_inner())
    }

    fn story(&self) -> Vec<String> {
        self.state().story.clone()
    }

    /// Who may do a step now: nobody as long as someone runs.
    fn next(&self, state: &State) -> Option<String> {
        if state.waiting.len() < state.alive.len() {
            return None;
        }
        let enabled = |need: &Need| match need {
            Need::Free(object) => !state.held.contains(object),
            Need::Turn => true,
            Need::Latch(_) => false,
        };
        match self.schedule.get(state.steps) {
            Some(&family) => state
                .waiting
                .get(family)
                .filter(|need| enabled(need))
                .map(|_| family.to_owned()),
            None => state
                .waiting
                .iter()
                .find(|(_, need)| enabled(need))
                .map(|(family, _)| family.clone()),
        }
    }

    fn wait(&self, activity: &ControlledActivity, need: Need, then: impl FnOnce(&mut State)) {
        let mut state = self.state();
        state.waiting.insert(activity.family.clone(), need);
        self.changed.notify_all();
        loop {
            let go = match need {
                Need::Latch(latch) => state.established.contains(&latch),
                _ => self.next(&state).as_ref() == Some(&activity.family),
            };
            if go {
                break;
            }
            let everybody_waits = state.waiting.len() == state.alive.len()
                && self.next(&state).is_none()
                && !state.waiting.values().any(
                    |need| matches!(need, Need::Latch(latch) if state.established.contains(latch)),
                );
            if everybody_waits || state.deadlock {
                state.deadlock = true;
                self.changed.notify_all();
                drop(state);
                panic!("deadlock");
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(|error| error.into_inner());
        }
        state.waiting.remove(&activity.family);
        then(&mut state);
        self.changed.notify_all();
    }
}

fn address(operation: &Announcement<'_>) -> usize {
    operation
        .object
        .map_or(0, |object| std::ptr::from_ref(object).addr())
}

impl Controller for Scheduler {
    fn born(&self, _newborn: Newborn<'_>) -> u32 {
        let mut state = self.state();
        let number = state.next_number;
        state.next_number += 1;
        state.alive.insert(number);
        number
    }

    fn end(&self, who: &ControlledActivity, how: Ending) {
        if how != Ending::ThreadGone {
            let mut state = self.state();
            state.alive.remove(&who.number);
            // Known here first, so that nobody who waits for it seems to wait in vain.
            state.established.insert(Spot::Latch(&who.ended).address());
            self.changed.notify_all();
        }
    }

    fn operate(&self, who: &ControlledActivity, operation: &Announcement<'_>) -> Decision {
        let object = address(operation);
        let need = match operation.access {
            Access::Take => Need::Free(object),
            _ => Need::Turn,
        };
        self.wait(who, need, |state| {
            state.steps += 1;
            let step = format!("{} {}", who.family, operation.op.name());
            state.story.push(step);
            if operation.access == Access::Take {
                state.held.insert(object);
            }
        });
        Decision::Go
    }

    fn done(&self, _who: &ControlledActivity, operation: &Announcement<'_>, outcome: Outcome<'_>) {
        if let Outcome::Left(_) = outcome {
            self.state().held.remove(&address(operation));
            self.changed.notify_all();
        }
    }

    fn park(&self, who: &ControlledActivity, at: Spot<'_>, _what: &(dyn Fn() -> String + Sync)) {
        if at.is_over() {
            self.state().established.insert(at.address());
        }
        self.wait(who, Need::Latch(at.address()), |_| ());
    }

    fn unpark(&self, at: Spot<'_>) {
        self.state().established.insert(at.address());
        self.changed.notify_all();
    }
}

/// Two threads lock one mutex `times` times each and note who did:
///
/// ```text
/// main.0: lock push   lock push   …
/// main.1: lock push   lock push   …
/// ```
fn who_when(times: usize) -> Vec<u32> {
    let list = Arc::new(RecordedMutex::new(Vec::new()));
    let threads: Vec<_> = (0..2)
        .map(|me| {
            let list = Arc::clone(&list);
            thread::spawn(move || {
                for _ in 0..times {
                    list.lock().unwrap().push(me);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    Arc::into_inner(list).unwrap().into_inner().unwrap()
}

/// All orders of `times` zeroes and `times` ones.
fn orders(times: usize) -> Vec<Vec<u32>> {
    (0u32..1 << (2 * times))
        .filter(|bits| bits.count_ones() as usize == times)
        .map(|bits| (0..2 * times).map(|i| bits >> i & 1).collect())
        .collect()
}

#[test]
fn every_schedule_of_two_threads_at_a_lock_can_be_forced() {
    let orders = orders(3);
    assert_eq!(orders.len(), 20, "C(6, 3)");
    for order in orders {
        let schedule: Vec<_> = order
            .iter()
            .map(|&me| ["main.0", "main.1"][me as usize])
            .collect();
        let controller = Scheduler::new(&schedule);
        assert_eq!(controlled(controller, || who_when(3)), order);
    }
}

#[test]
fn the_same_schedule_gives_the_same_story() {
    let schedule = ["main.1", "main.0", "main.0", "main.1"];
    let story = || {
        let controller = Scheduler::new(&schedule);
        controlled(controller.clone(), || who_when(2));
        controller.story()
    };
    let first = story();
    assert_eq!(
        first,
        ["main.1 lock", "main.0 lock", "main.0 lock", "main.1 lock"]
    );
    for _ in 0..20 {
        assert_eq!(story(), first);
    }
}

/// Check, then act:
///
/// ```text
/// main.0: load  store(load + 1)
/// main.1: load  store(load + 1)
/// ```
fn lost_update() -> u32 {
    let counter = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let seen = counter.load(Ordering::SeqCst);
                counter.store(seen + 1, Ordering::SeqCst);
            });
        }
    });
    counter.into_inner()
}

#[test]
fn the_schedule_decides_whether_an_update_is_lost() {
    let outcome = |schedule: &[&'static str]| controlled(Scheduler::new(schedule), lost_update);
    assert_eq!(outcome(&["main.0", "main.0", "main.1", "main.1"]), 2);
    assert_eq!(outcome(&["main.0", "main.1", "main.0", "main.1"]), 1);
    assert_eq!(outcome(&["main.0", "main.1", "main.1", "main.0"]), 1);
    assert_eq!(outcome(&["main.1", "main.1", "main.0", "main.0"]), 2);
}

/// ```text
/// main.0: lock a  lock b
/// main.1: lock b  lock a
/// ```
fn abba() -> [bool; 2] {
    let (a, b) = (RecordedMutex::new(()), RecordedMutex::new(()));
    thread::scope(|scope| {
        let first = scope.spawn(|| {
            let _a = a.lock();
            let _b = b.lock();
        });
        let second = scope.spawn(|| {
            let _b = b.lock();
            let _a = a.lock();
        });
        [first.join().is_ok(), second.join().is_ok()]
    })
}

#[test]
fn a_controller_sees_the_deadlock_that_a_schedule_leads_to() {
    let fine = Scheduler::new(&["main.0", "main.0", "main.1", "main.1"]);
    assert_eq!(controlled(fine.clone(), abba), [true, true]);
    assert!(!fine.state().deadlock);

    let stuck = Scheduler::new(&["main.0", "main.1"]);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        controlled(stuck.clone(), abba)
    }));
    assert!(result.is_err());
    assert!(stuck.state().deadlock);
}

/// Two threads take what there is, in a transaction each; a third one puts something there:
///
/// ```text
/// main.0: take, or retry      main.1: put      main.2: look
/// ```
fn take_put_look() -> (u32, u32) {
    let place = TVar::new(0);
    thread::scope(|scope| {
        let taker = scope.spawn(|| {
            atomically(|tx| {
                let found = place.read(tx)?;
                guard(found > 0)?;
                place.write(tx, 0)?;
                Ok(found)
            })
        });
        scope.spawn(|| atomically(|tx| place.write(tx, 5)));
        let looker = scope.spawn(|| place.read_atomic());
        (taker.join().unwrap(), looker.join().unwrap())
    })
}

#[test]
fn a_transaction_is_one_step_and_the_schedule_decides_what_it_sees() {
    let outcome = |schedule: &[&'static str]| {
        let controller = Scheduler::new(schedule);
        let outcome = controlled(controller.clone(), take_put_look);
        (outcome, controller.story())
    };
    let (seen, story) = outcome(&["main.1", "main.2", "main.0"]);
    assert_eq!(seen, (5, 5));
    assert_eq!(
        story,
        [
            "main.1 run a transaction",
            "main.2 run a transaction",
            "main.0 run a transaction"
        ]
    );
    assert_eq!(outcome(&["main.2", "main.1", "main.0"]).0, (5, 0));
    assert_eq!(outcome(&["main.1", "main.0", "main.2"]).0, (5, 0));
    // Who comes too early gives its turn back, and has another.
    let (seen, story) = outcome(&["main.0", "main.1", "main.2", "main.0"]);
    assert_eq!(seen, (5, 5));
    assert_eq!(story.len(), 4);
    assert_eq!(
        story.iter().filter(|step| step.ends_with("retry")).count(),
        1
    );
}
