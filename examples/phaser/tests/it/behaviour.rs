//! What a phaser does, whether it is recorded or not.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use phaser::Phaser;
use reenact::csp;

const PARTIES: usize = 4;
const PHASES: usize = 200;

/// ```text
/// each: arrived += 1 ── arrive and wait ── all have arrived ── …
/// ```
#[test]
fn nobody_goes_on_before_all_have_arrived() {
    let phaser = Phaser::new();
    let arrived = AtomicUsize::new(0);
    let parties = [(); PARTIES].map(|()| phaser.register());
    thread::scope(|scope| {
        for mut party in parties {
            let arrived = &arrived;
            scope.spawn(move || {
                for phase in 1..=PHASES {
                    arrived.fetch_add(1, SeqCst);
                    party.arrive_and_wait();
                    assert!(arrived.load(SeqCst) >= phase * PARTIES);
                }
            });
        }
    });
}

#[test]
fn one_of_them_is_the_last_and_runs_the_action() {
    let actions = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&actions);
    let phaser = Phaser::with_action(move |phase, parties| {
        noted.lock().unwrap().push((phase, parties));
    });
    let parties = [(); PARTIES].map(|()| phaser.register());
    let processes = parties.map(|mut party| {
        csp::spawn(move || (0..PHASES).filter(|_| party.arrive_and_wait()).count())
    });
    let last = processes.map(|process| process.join().unwrap());
    // Who is done leaves; so towards the end there are fewer, and the last one to leave may end a phase.
    assert!(last.iter().sum::<usize>() <= PHASES);
    let actions = actions.lock().unwrap();
    assert!(actions.len() >= PHASES);
    let phases = actions.iter().map(|action| action.0);
    assert!(phases.eq(0..actions.len() as u64));
    let all = actions[..PHASES].iter().map(|action| action.1);
    assert!(all.rev().skip(1).all(|parties| parties == PARTIES));
}

#[test]
fn who_registers_begins_with_the_current_phase() {
    let phaser = Phaser::new();
    let mut first = phaser.register();
    assert!(first.arrive_and_wait(), "it is the last of one");
    let mut second = phaser.register();
    assert_eq!((first.phase(), second.phase()), (1, 1));
    assert!(!first.arrive());
    assert!(!first.wait_timeout(Duration::ZERO), "the second is missing");
    assert!(second.arrive());
    first.wait();
    assert_eq!((first.phase(), second.phase()), (2, 2));
}

#[test]
fn nobody_waits_for_who_has_left() {
    let phaser = Phaser::new();
    let (mut stays, leaves) = (phaser.register(), phaser.register());
    stays.arrive();
    drop(leaves);
    stays.wait();
    assert!(stays.arrive_and_wait(), "it is alone");
}

#[test]
fn who_leaves_after_arriving_has_arrived_once() {
    let phaser = Phaser::new();
    let [mut one, mut two, mut leaves] = [(); 3].map(|()| phaser.register());
    leaves.arrive();
    drop(leaves);
    assert!(!one.arrive());
    assert!(!one.wait_timeout(Duration::ZERO));
    assert!(two.arrive());
    one.wait();
    // The phase at which it arrived is over: it is missing in the next one, until it leaves.
    let mut leaves = phaser.register();
    for party in [&mut one, &mut two, &mut leaves] {
        party.arrive();
    }
    one.arrive();
    two.arrive();
    assert!(!one.wait_timeout(Duration::ZERO));
    drop(leaves);
    one.wait();
}

#[test]
fn a_party_is_at_most_one_phase_ahead() {
    let phaser = Phaser::new();
    let (mut slow, mut fast) = (phaser.register(), phaser.register());
    fast.arrive();
    let fast = thread::spawn(move || {
        fast.arrive();
        fast.phase()
    });
    slow.arrive();
    slow.arrive();
    assert_eq!(fast.join().unwrap(), 2);
}

#[test]
fn an_action_that_panics_holds_nobody_up() {
    let phaser = Phaser::with_action(|phase, _| assert_ne!(phase, 0, "as it should"));
    let (mut one, mut two) = (phaser.register(), phaser.register());
    one.arrive();
    let panic = catch_unwind(AssertUnwindSafe(|| two.arrive()));
    assert!(panic.is_err());
    one.wait();
    drop(two);
    assert!(one.arrive_and_wait());
}
