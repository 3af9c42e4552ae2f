//! Promises: settled once, delivered to all, chained, broken.

use std::{fmt, time::Duration};

use reenact::actor::{FarRef, Promise, System, Target};

#[derive(Default)]
struct Log(Vec<u64>);

#[derive(Debug, PartialEq)]
struct Refused(u32);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused: {}", self.0)
    }
}

impl std::error::Error for Refused {}

#[test]
fn what_is_sent_to_a_promise_is_forwarded_in_order_before_any_continuation_runs() {
    let system = System::new(2);
    for _ in 0..200 {
        let log = system.spawn(Log::default());
        let (promise, resolver) = Promise::<FarRef<Log>>::pair();
        // Subscribed first, run last.
        let continuation = log.ask({
            let promise = promise.clone();
            move |_, ctx| {
                promise.when(ctx, |this, _, log| {
                    this.0.push(1000);
                    log
                })
            }
        });
        let continuation = continuation.wait().unwrap();
        for number in 0..50 {
            promise.send(move |this, _| this.0.push(number));
        }
        assert!(resolver.resolve(log.clone()));
        for number in 50..60 {
            promise.send(move |this, _| this.0.push(number));
        }
        continuation.wait().unwrap();
        system.wait_until_idle();
        let log = log.ask(|this, _| this.0.clone()).wait().unwrap();
        let before: Vec<_> = log.iter().take_while(|&&number| number != 1000).collect();
        assert!(before.len() >= 50, "{log:?}");
        assert!(
            log.iter().filter(|&&number| number != 1000).is_sorted(),
            "{log:?}"
        );
        assert_eq!(log.len(), 61);
    }
}

#[test]
fn messages_sent_while_a_promise_is_resolved_keep_their_order() {
    let system = System::new(2);
    for _ in 0..300 {
        let log = system.spawn(Log::default());
        let (promise, resolver) = Promise::<FarRef<Log>>::pair();
        std::thread::scope(|scope| {
            scope.spawn(|| resolver.resolve(log.clone()));
            for number in 0..100 {
                promise.send(move |this, _| this.0.push(number));
            }
        });
        let log = promise.ask(|this, _| this.0.clone()).wait().unwrap();
        assert!(log.is_sorted() && log.len() == 100, "{log:?}");
    }
}

#[test]
fn only_the_first_resolution_counts() {
    let (promise, resolver) = Promise::pair();
    let other = resolver.clone();
    assert!(resolver.resolve(1));
    assert!(!resolver.resolve(2));
    assert!(!other.break_with(Refused(3)));
    assert!(!other.resolve_with(Promise::resolved(4)));
    assert_eq!(promise.wait().unwrap(), 1);

    let (promise, resolver) = Promise::<u32>::pair();
    let (open, opens) = Promise::pair();
    // To be resolved with another that is not settled yet counts too.
    assert!(resolver.resolve_with(open));
    assert!(!resolver.resolve(5));
    opens.resolve(6);
    assert_eq!(promise.wait().unwrap(), 6);
}

#[test]
fn exactly_one_of_many_resolves() {
    for _ in 0..500 {
        let (promise, resolver) = Promise::pair();
        let winners: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3)
                .map(|me| {
                    let resolver = resolver.clone();
                    scope.spawn(move || resolver.resolve(me).then_some(me))
                })
                .collect();
            threads
                .into_iter()
                .filter_map(|thread| thread.join().unwrap())
                .collect()
        });
        assert_eq!(winners, [promise.wait().unwrap()]);
    }
}

#[test]
fn a_promise_resolved_with_itself_is_broken() {
    let (promise, resolver) = Promise::<u32>::pair();
    assert!(resolver.resolve_with(promise.clone()));
    let broken = promise.wait().unwrap_err();
    assert!(broken.is_circular());
    let named = broken.to_string();
    assert!(
        named.contains("a promise of u32 made at") && named.contains("promises.rs:"),
        "{named}"
    );
}

#[test]
fn a_circle_of_promises_is_broken_and_names_them_all() {
    let pairs: Vec<_> = (0..4).map(|_| Promise::<u64>::pair()).collect();
    for (at, (_, resolver)) in pairs.iter().enumerate() {
        assert!(resolver.resolve_with(pairs[(at + 1) % 4].0.clone()));
    }
    for (promise, _) in pairs {
        let broken = promise.wait().unwrap_err();
        assert!(broken.is_circular());
        let named = broken.to_string();
        assert_eq!(
            named.matches("a promise of u64 made at").count(),
            4,
            "{named}"
        );
    }
}

#[test]
fn a_circle_through_continuations_and_flattening_is_broken() {
    let system = System::new(1);
    let actor = system.spawn(());
    let (promise, resolver) = Promise::<u64>::pair();
    let end = promise.clone();
    let last = actor
        .ask(move |(), ctx| {
            let when = promise.when(ctx, |(), _, number| number);
            let settled = when.when_broken(ctx, |(), _, _| 7);
            resolver.resolve_with(settled);
        })
        .wait();
    last.unwrap();
    // The circle is broken at the promise; what stands in for a broken one then does.
    assert!(end.wait().unwrap_err().is_circular());
}

#[test]
fn a_circle_closed_from_two_sides_at_once_is_broken() {
    for _ in 0..500 {
        let (one, ones) = Promise::<u64>::pair();
        let (two, twos) = Promise::<u64>::pair();
        let (to_one, to_two) = (one.clone(), two.clone());
        std::thread::scope(|scope| {
            scope.spawn(|| ones.resolve_with(to_two));
            twos.resolve_with(to_one);
        });
        assert!(one.wait().unwrap_err().is_circular());
        assert!(two.wait().unwrap_err().is_circular());
    }
}

#[test]
fn a_chain_of_promises_is_settled_from_its_end() {
    let (first, resolver) = Promise::<u64>::pair();
    let mut end = resolver;
    for _ in 0..100 {
        let (next, resolver) = Promise::pair();
        assert!(end.resolve_with(next));
        end = resolver;
    }
    assert!(end.resolve(42));
    assert_eq!(first.wait().unwrap(), 42);
}

#[test]
fn a_promise_of_a_promise_can_be_flattened() {
    let system = System::new(2);
    let (one, two) = (system.spawn(1u64), system.spawn(2u64));
    let sum = one.ask(move |this, _| {
        let this = *this;
        two.ask(move |other, _| this + *other)
    });
    assert_eq!(sum.flatten().wait().unwrap(), 3);
    let broken = Promise::<Promise<u64>>::broken(reenact::actor::Broken::by(Refused(1)));
    assert_eq!(
        broken.flatten().wait().unwrap_err().downcast_ref(),
        Some(&Refused(1))
    );
}

#[test]
fn a_broken_promise_breaks_what_follows_it_until_somebody_stands_in() {
    let system = System::new(1);
    let actor = system.spawn(Log::default());
    let (promise, resolver) = Promise::<u64>::pair();
    let outcome = actor.ask(move |_, ctx| {
        promise
            .when(ctx, |this, _, number| {
                this.0.push(number);
                number
            })
            .when(ctx, |this, _, number| {
                this.0.push(number);
                number
            })
            .when_broken(ctx, |this, _, broken| {
                this.0.push(1);
                u64::from(broken.downcast_ref::<Refused>().unwrap().0)
            })
            .when_settled(ctx, |this, _, outcome| {
                this.0.push(2);
                outcome.unwrap()
            })
    });
    assert!(resolver.break_with(Refused(7)));
    assert_eq!(outcome.flatten().wait().unwrap(), 7);
    assert_eq!(actor.ask(|this, _| this.0.clone()).wait().unwrap(), [1, 2]);
}

#[test]
fn a_promise_whose_resolvers_are_gone_is_broken() {
    let (promise, resolver) = Promise::<u64>::pair();
    let other = resolver.clone();
    drop(resolver);
    let promise = promise.wait_timeout(Duration::ZERO).unwrap_err();
    drop(other);
    let broken = promise.wait().unwrap_err();
    assert_eq!(
        broken.to_string(),
        "nobody can resolve the promise any more: its resolver is gone"
    );
}

#[test]
fn a_continuation_runs_when_the_resolver_is_gone_even_if_nobody_has_the_promise() {
    let system = System::new(1);
    let actor = system.spawn(());
    let (promise, resolver) = Promise::<u64>::pair();
    let continuation = actor.ask(move |(), ctx| {
        promise.when_settled(ctx, |(), _, outcome| outcome.unwrap_err().to_string())
    });
    let continuation = continuation.wait().unwrap();
    drop(resolver);
    assert!(
        continuation
            .wait()
            .unwrap()
            .contains("its resolver is gone")
    );
}

#[test]
fn all_clones_of_a_promise_get_its_value() {
    let system = System::new(2);
    let (promise, resolver) = Promise::<Vec<u64>>::pair();
    let answers: Vec<_> = (0..10)
        .map(|_| {
            let (actor, promise) = (system.spawn(Log::default()), promise.clone());
            actor
                .ask(move |_, ctx| promise.when(ctx, |_, _, value| value))
                .flatten()
        })
        .collect();
    resolver.resolve(vec![1, 2, 3]);
    for answer in answers {
        assert_eq!(answer.wait().unwrap(), [1, 2, 3]);
    }
    assert_eq!(promise.wait().unwrap(), [1, 2, 3]);
}

#[test]
fn a_value_that_cannot_be_cloned_is_handed_over() {
    struct Only(u64);
    let system = System::new(1);
    let actor = system.spawn(());
    for resolved_first in [true, false] {
        let (promise, resolver) = Promise::<Only>::pair();
        if resolved_first {
            resolver.resolve(Only(1));
        }
        let answer = actor
            .ask(move |(), ctx| promise.when(ctx, |(), _, only| only.0))
            .wait()
            .unwrap();
        resolver.resolve(Only(1));
        assert_eq!(answer.wait().unwrap(), 1);
    }
}

#[test]
fn waiting_for_a_while_gives_the_promise_back() {
    let (promise, resolver) = Promise::pair();
    let promise = promise.wait_timeout(Duration::from_millis(1)).unwrap_err();
    resolver.resolve(1);
    assert_eq!(promise.wait_timeout(Duration::ZERO).unwrap().unwrap(), 1);
}

#[test]
fn a_turn_cannot_wait() {
    let system = System::new(1);
    let actor = system.spawn(());
    let waits = actor.ask(|(), _| Promise::resolved(1).wait().unwrap());
    let broken = waits.wait().unwrap_err();
    let message = broken.panic_message().unwrap();
    assert!(
        message.contains("a turn cannot wait for a promise"),
        "{message}"
    );
}

#[test]
fn long_chains_do_not_overflow_the_stack() {
    const LENGTH: usize = 200_000;
    // Promises resolved with promises, settled from the end.
    for breaks in [false, true] {
        let (first, mut end) = Promise::<usize>::pair();
        for _ in 0..LENGTH {
            let (next, resolver) = Promise::pair();
            end.resolve_with(next);
            end = resolver;
        }
        if breaks {
            drop(end);
            first.wait().unwrap_err();
        } else {
            end.resolve(1);
            assert_eq!(first.wait().unwrap(), 1);
        }
    }
}

#[test]
fn long_chains_of_continuations_do_not_overflow_the_stack() {
    const LENGTH: usize = 100_000;
    let system = System::new(1);
    let actor = system.spawn(());
    for breaks in [false, true] {
        let (mut promise, resolver) = Promise::<usize>::pair();
        let end = actor
            .ask(move |(), ctx| {
                for _ in 0..LENGTH {
                    promise = promise.when(ctx, |(), _, number| number + 1);
                }
                promise
            })
            .wait()
            .unwrap();
        if breaks {
            resolver.break_with(Refused(1));
            end.wait().unwrap_err();
        } else {
            resolver.resolve(0);
            assert_eq!(end.wait().unwrap(), LENGTH);
        }
    }
}

#[test]
fn a_long_chain_that_nobody_settles_is_dropped_without_overflowing_the_stack() {
    const LENGTH: usize = 200_000;
    let system = System::new(1);
    let actor = system.spawn(());
    let (mut promise, resolver) = Promise::<usize>::pair();
    actor
        .ask(move |(), ctx| {
            for _ in 0..LENGTH {
                promise = promise.when(ctx, |(), _, number| number + 1);
            }
        })
        .wait()
        .unwrap();
    drop(resolver);
    system.wait_until_idle();
}
