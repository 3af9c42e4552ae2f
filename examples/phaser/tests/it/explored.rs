//! What exploration makes of a model that it does not know: each class of executions once, in the model's own words.

use phaser::Phaser;
use reenact::{
    explore::{Explorer, Way},
    thread,
};

/// ```text
/// main.0  arrive ──┐ wait, leave
/// main.1  arrive ──┘ wait, leave
/// ```
///
/// Either may arrive first, and either may leave first: four classes.
#[test]
fn every_order_of_arrivals_and_departures_is_explored_once() {
    let finding = Explorer::new().way(Way::Exhaustive).run(|| {
        let phaser = Phaser::new();
        let parties = [phaser.register(), phaser.register()];
        let threads = parties.map(|mut party| thread::spawn(move || party.arrive_and_wait()));
        let last = threads.map(|thread| thread.join().unwrap());
        assert_ne!(last[0], last[1], "one of them was the last");
    });
    assert!(finding.is_complete);
    assert_eq!(finding.executions, 4);
}

/// ```text
/// main.0  arrive, wait, leave
/// main.1  arrive, wait, leave
/// ```
#[test]
fn a_failing_schedule_names_the_operations_of_the_model() {
    let finding = Explorer::new().way(Way::Exhaustive).run(|| {
        let phaser = Phaser::new();
        let parties = [phaser.register(), phaser.register()];
        let threads = parties.map(|mut party| thread::spawn(move || party.arrive_and_wait()));
        let last = threads.map(|thread| thread.join().unwrap());
        assert!(last[1], "the second is the last");
    });
    let failed = finding.failure.expect("the first may be the last, too");
    let lines = failed.schedule.lines.iter();
    let arrivals: Vec<_> = lines
        .filter(|line| line.what == "arrive at a phaser")
        .map(|line| &*line.who)
        .collect();
    assert_eq!(arrivals, ["main.1", "main.0"]);
}
