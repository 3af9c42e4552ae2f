//! Programs whose number of inequivalent executions is known, or found by brute force, by those who distinguish classes by
//! their fingerprints.

use std::{
    collections::BTreeMap,
    hash::{Hash, Hasher},
};

use proptest::{collection::vec, prelude::*, sample::select};
use reenact_explore::{
    Activity, Around, Bounded, Bounding, Links, Moment, Run, Runs, Step, Verdict,
};

use crate::{
    brute_force::{class, classes},
    cells::config,
    language::{
        Op::{self, *},
        Program,
        Value::{Just, Register},
    },
};

/// The language, with events that have a hash.
struct Named<'a>(&'a Program);

#[derive(Clone, Debug, PartialEq)]
struct Event(<&'static Program as Runs>::Event);

impl Hash for Event {
    fn hash<H: Hasher>(&self, state: &mut H) {
        format!("{:?}", self.0).hash(state);
    }
}

struct NamedRun<'a>(<&'a Program as Runs>::Run);

impl<'a> Runs for Named<'a> {
    type Event = Event;
    type Run = NamedRun<'a>;

    fn start(&self) -> NamedRun<'a> {
        NamedRun(self.0.start())
    }

    fn dependent(&self, a: &Event, b: &Event) -> bool {
        self.0.dependent(&a.0, &b.0)
    }
}

impl Run for NamedRun<'_> {
    type Event = Event;

    fn activities(&self) -> u32 {
        self.0.activities()
    }

    fn pending(&self, activity: Activity) -> Option<Event> {
        self.0.pending(activity).map(Event)
    }

    fn is_enabled(&self, activity: Activity) -> bool {
        self.0.is_enabled(activity)
    }

    fn choices(&self, activity: Activity) -> u32 {
        self.0.choices(activity)
    }

    fn step(&mut self, step: Step) {
        self.0.step(step);
    }

    fn step_at(&mut self, step: Step, moment: Moment, links: &mut Links) -> Event {
        Event(self.0.step_at(step, moment, links))
    }

    fn links(&self, activity: Activity, links: &mut Links) {
        self.0.links(activity, links);
    }

    fn verdict(&self) -> Verdict {
        self.0.verdict()
    }
}

fn check(threads: impl IntoIterator<Item = Vec<Op>>, expected: u64) {
    let program = Program::new(threads);
    let runs = Named(&program);
    for bounding in [Bounding::Preemptions, Bounding::Delays] {
        let report = Bounded::of(&runs, bounding).run(|_, _| ());
        assert!(report.is_everything);
        assert_eq!(report.progress.executions, expected, "{bounding:?}");
    }
    let report = Around::of(&runs, &[]).run(|_, _| ()).expect("it fits");
    assert!(report.is_everything);
    assert_eq!(report.progress.executions, expected);
}

#[test]
fn a_scan_finds_the_last_zero() {
    for (n, expected) in (1..).zip([2, 5, 12, 28]) {
        let scan = (0..=n).rev().flat_map(|i| [Load(i), EndIf(0)]).collect();
        let writers = (1..=n).map(|j| vec![Load(j - 1), Store(j, Register(1))]);
        check(std::iter::once(scan).chain(writers), expected);
    }
}

#[test]
fn two_threads_load_and_store() {
    for (n, expected) in [(1, 4), (2, 34), (3, 328)] {
        let thread = [Load(0), Store(0, Register(1))].repeat(n);
        check([thread.clone(), thread], expected);
    }
}

#[test]
fn two_threads_take_turns_with_a_mutex() {
    for (n, expected) in [(1, 2), (3, 20)] {
        let thread = [Lock(0), Unlock(0)].repeat(n);
        check([thread.clone(), thread], expected);
    }
}

#[test]
fn philosophers_can_starve_in_one_way() {
    for (n, expected) in [(2, 3), (3, 7)] {
        let philosophers = (0..n).map(|i| {
            let (left, right) = (i, (i + 1) % n);
            vec![Lock(left), Lock(right), Unlock(right), Unlock(left)]
        });
        check(philosophers, expected);
    }
}

#[test]
fn a_receiver_sees_every_order_of_the_sends() {
    for (n, expected) in [(1, 6), (2, 90)] {
        let senders = (0..3).map(|i| vec![Send(0, Just(i)); n]);
        check(senders.chain([vec![Receive(0); 3 * n]]), expected);
    }
}

/// Operations that have to do with each other.
fn families() -> Vec<Vec<Op>> {
    let both = |op: fn(usize) -> Op| [op(0), op(1)];
    let access = || [Load(0), Load(1), Store(0, Just(1)), Store(1, Register(1))];
    let local = || [SkipIf(0, 1), SkipIf(1, 2)];
    let family = |ops: &[[Op; 2]]| [ops.concat(), access().to_vec(), local().to_vec()].concat();
    vec![
        family(&[both(Lock), both(Unlock), both(TryLock), both(Join)]),
        family(&[
            both(Op::Look),
            both(Take),
            both(Downgrade),
            both(Leave),
            both(Leave),
        ]),
        family(&[
            [Send(0, Just(1)), Send(1, Register(1))],
            [TrySend(0, Just(2)), TrySend(1, Just(3))],
            both(Receive),
            both(TryReceive),
            both(Close),
        ]),
        family(&[
            both(Wait),
            both(NotifyOne),
            both(NotifyAll),
            both(Lock),
            both(Unlock),
        ]),
        family(&[[Transact(0, 1), Transact(1, 0)], [Pick(2), Pick(3)]]),
        family(&[both(Set), both(Ask), both(Await)]),
    ]
}

fn program() -> impl Strategy<Value = Program> {
    let threads = select(families()).prop_flat_map(|ops| vec(vec(select(ops), 0..6), 2..=3));
    threads.prop_map(Program::new)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn each_class_is_visited_once_whatever_the_objects(program in program()) {
        let Some(expected) = classes(&program, 2000) else {
            return Err(TestCaseError::reject("too many interleavings"));
        };
        // A send that is given up and one that finds the queue closed are distinguished here, and not there; and so is the order
        // of sends that nobody receives.
        let ops = || program.threads.iter().flatten();
        let is_exact = !ops().any(|op| matches!(op, Close(_) | Send(..) | TrySend(..)));
        let check = |visited: BTreeMap<_, _>, executions: u64| -> Result<(), TestCaseError> {
            prop_assert!(!is_exact || executions == visited.len() as u64);
            prop_assert_eq!(&visited, &expected);
            Ok(())
        };
        let runs = Named(&program);
        for bounding in [Bounding::Preemptions, Bounding::Delays] {
            let mut visited = BTreeMap::new();
            let report = Bounded::of(&runs, bounding).run(|seen, _| {
                visited.extend([class(&program, seen.schedule)]);
            });
            prop_assert!(report.is_everything);
            check(visited, report.progress.executions)?;
        }
        let mut visited = BTreeMap::new();
        let report = Around::of(&runs, &[]).run(|seen, _| {
            visited.extend([class(&program, seen.schedule)]);
        });
        let report = report.expect("it fits");
        prop_assert!(report.is_everything);
        check(visited, report.progress.executions)?;
    }
}
