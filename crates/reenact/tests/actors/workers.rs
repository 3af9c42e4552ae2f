//! Workers: they take from each other, none of them sleeps while there is something to do, and a turn that blocks does
//! not keep others from running.

use std::{
    sync::{Arc, Barrier, mpsc},
    thread,
};

use reenact::{
    actor::{Promise, System, Target},
    sync::Mutex,
};

#[test]
fn two_long_turns_run_at_the_same_time() {
    let system = System::new(2);
    // Both are sent by one actor, and so scheduled by one worker.
    for _ in 0..50 {
        let meet = Arc::new(Barrier::new(2));
        let [one, two] = [system.spawn(()), system.spawn(())];
        let (at_one, at_two) = (Arc::clone(&meet), meet);
        system
            .spawn(())
            .ask(move |(), _| {
                one.send(move |(), _| {
                    at_one.wait();
                });
                two.ask(move |(), _| {
                    at_two.wait();
                })
            })
            .flatten()
            .wait()
            .unwrap();
    }
}

#[test]
fn what_waits_behind_a_long_turn_is_taken_by_others() {
    let system = System::new(2);
    for _ in 0..50 {
        let (sender, receiver) = mpsc::channel();
        let other = system.spawn(());
        let long = system.spawn(()).ask(move |(), _| {
            other.send(move |(), _| sender.send(()).unwrap());
            // Ends only if the other has its turn meanwhile.
            receiver.recv().unwrap();
        });
        long.wait().unwrap();
    }
}

#[test]
fn no_wake_up_is_lost_between_threads_and_actors() {
    for workers in [1, 2, 4] {
        let system = System::new(workers);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(move || {
                    let [first, second] = [system.spawn(0u64), system.spawn(0u64)];
                    for round in 0..5_000 {
                        let second = second.clone();
                        let answer = first.ask(move |this, _| {
                            *this += 1;
                            let this = *this;
                            second.ask(move |other, _| {
                                *other += this;
                                (this, *other)
                            })
                        });
                        let (this, other) = answer.flatten().wait().unwrap();
                        assert_eq!(this, round + 1);
                        assert_eq!(other, (round + 1) * (round + 2) / 2);
                    }
                });
            }
        });
        system.shut_down();
    }
}

#[test]
fn no_wake_up_is_lost_where_a_thread_waits_until_there_is_nothing_to_do() {
    let system = System::new(3);
    let actors: Vec<_> = (0..8).map(|_| system.spawn(0u64)).collect();
    for round in 0..3_000 {
        for (at, actor) in actors.iter().enumerate() {
            let next = actors[(at + 1) % actors.len()].clone();
            actor.send(move |this, _| {
                *this += 1;
                next.send(|this, _| *this += 1);
            });
        }
        system.wait_until_idle();
        let sum: u64 = actors
            .iter()
            .map(|actor| actor.ask(|this, _| *this).wait().unwrap())
            .sum();
        assert_eq!(sum, (round + 1) * 2 * actors.len() as u64);
    }
}

#[test]
fn a_turn_that_waits_for_a_lock_does_not_keep_what_its_holder_waits_for_from_running() {
    for workers in [1, 2] {
        let system = System::new(workers);
        let lock = Arc::new(Mutex::new(0));
        for _ in 0..200 {
            let held = lock.lock().unwrap();
            let blocked: Vec<_> = (0..workers + 1)
                .map(|_| {
                    let lock = Arc::clone(&lock);
                    system
                        .spawn(())
                        .ask(move |(), _| *lock.lock().unwrap() += 1)
                })
                .collect();
            // All workers may be blocked by now, and this comes from a thread.
            assert_eq!(system.spawn(1).ask(|this, _| *this).wait().unwrap(), 1);
            drop(held);
            for blocked in blocked {
                blocked.wait().unwrap();
            }
        }
        assert_eq!(*lock.lock().unwrap(), 200 * (workers + 1));
    }
}

#[test]
fn a_million_actors() {
    const ACTORS: u64 = 1_000_000;
    struct Sum {
        left: u64,
        sum: u64,
        done: Option<reenact::actor::Resolver<u64>>,
    }
    let system = System::new(2);
    let (promise, resolver) = Promise::pair();
    let sum = system.spawn(Sum {
        left: ACTORS,
        sum: 0,
        done: Some(resolver),
    });
    let actors: Vec<_> = (0..ACTORS).map(|number| system.spawn(number)).collect();
    for actor in &actors {
        let sum = sum.clone();
        actor.send(move |number, _| {
            let number = *number;
            sum.send(move |this, _| {
                this.sum += number;
                this.left -= 1;
                if this.left == 0
                    && let Some(done) = this.done.take()
                {
                    done.resolve(this.sum);
                }
            });
        });
    }
    assert_eq!(promise.wait().unwrap(), ACTORS * (ACTORS - 1) / 2);
}
