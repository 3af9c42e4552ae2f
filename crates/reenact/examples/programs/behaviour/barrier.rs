//! `Barrier`.

use super::{
    Behaviours, behaviours,
    subject::{
        sync::{Arc, Barrier, BarrierWaitResult, mpsc},
        thread,
    },
};

pub(super) const ALL: Behaviours = behaviours![
    one_of_those_who_meet_is_the_leader,
    nobody_goes_on_before_all_are_there,
    a_barrier_for_nobody_is_one_for_one,
    it_can_be_shown,
];

#[cfg_attr(test, test)]
fn one_of_those_who_meet_is_the_leader() {
    static BARRIER: Barrier = Barrier::new(4);
    let threads: Vec<_> = (0..4)
        .map(|_| thread::spawn(|| (0..20).filter(|_| BARRIER.wait().is_leader()).count()))
        .collect();
    let led: usize = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .sum();
    assert_eq!(led, 20);
}

#[cfg_attr(test, test)]
fn nobody_goes_on_before_all_are_there() {
    let barrier = Arc::new(Barrier::new(3));
    let (passed, has_passed) = mpsc::channel();
    for _ in 0..2 {
        let (barrier, passed) = (Arc::clone(&barrier), passed.clone());
        thread::spawn(move || {
            barrier.wait();
            passed.send(()).unwrap();
        });
    }
    thread::yield_now();
    assert_eq!(has_passed.try_recv(), Err(mpsc::TryRecvError::Empty));
    barrier.wait();
    assert_eq!((has_passed.recv(), has_passed.recv()), (Ok(()), Ok(())));
}

#[cfg_attr(test, test)]
fn a_barrier_for_nobody_is_one_for_one() {
    for threads in [0, 1] {
        let barrier = Barrier::new(threads);
        assert!(barrier.wait().is_leader());
        assert!(barrier.wait().is_leader());
    }
}

#[cfg_attr(test, test)]
fn it_can_be_shown() {
    let barrier = Barrier::new(1);
    assert_eq!(format!("{barrier:?}"), "Barrier { .. }");
    let result: BarrierWaitResult = barrier.wait();
    assert_eq!(
        format!("{result:?}"),
        "BarrierWaitResult { is_leader: true }"
    );
}
