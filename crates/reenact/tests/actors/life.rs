//! How actors end: nobody refers to them, they stop, they panic, the system is shut down.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    time::Duration,
};

use reenact::actor::{FarRef, OnPanic, Promise, SendError, System, Target};

/// Counts those that are there.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Counted {
        count.fetch_add(1, SeqCst);
        Counted(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

#[test]
fn an_actor_ends_with_the_last_reference_to_it() {
    let system = System::new(2);
    let count = Arc::default();
    let actor = system.spawn(Counted::new(&count));
    let other = actor.clone();
    drop(actor);
    system.wait_until_idle();
    assert_eq!(count.load(SeqCst), 1);
    drop(other);
    system.wait_until_idle();
    assert_eq!(count.load(SeqCst), 0);
}

#[test]
fn an_actor_that_nobody_refers_to_handles_what_it_was_sent() {
    let system = System::new(2);
    let (sender, receiver) = mpsc::channel();
    for round in 0..1000 {
        let sender = sender.clone();
        let actor = system.spawn(());
        actor.send(move |(), ctx| {
            // From the last turn it lives on in a reference of its own.
            ctx.me().send(move |(), _| sender.send(round).unwrap());
        });
    }
    drop(sender);
    let mut rounds: Vec<_> = receiver.iter().collect();
    rounds.sort_unstable();
    assert!(rounds.into_iter().eq(0..1000));
}

#[test]
fn actors_that_refer_to_each_other_go_when_one_lets_go() {
    struct Peer(Option<FarRef<Peer>>, #[expect(dead_code)] Counted);
    let system = System::new(2);
    let count = Arc::default();
    let one = system.spawn(Peer(None, Counted::new(&count)));
    let two = system.spawn(Peer(Some(one.clone()), Counted::new(&count)));
    one.send(move |this, _| this.0 = Some(two));
    system.wait_until_idle();
    assert_eq!(count.load(SeqCst), 2);
    one.send(|this, _| this.0 = None);
    drop(one);
    system.wait_until_idle();
    assert_eq!(count.load(SeqCst), 0);
}

#[test]
fn a_chain_of_actors_that_end_each_other_does_not_overflow_the_stack() {
    struct Link(
        #[expect(dead_code)] Option<FarRef<Link>>,
        #[expect(dead_code)] Counted,
    );
    let system = System::new(1);
    let count = Arc::default();
    let mut last = None;
    for _ in 0..100_000 {
        last = Some(system.spawn(Link(last, Counted::new(&count))));
    }
    drop(last);
    system.wait_until_idle();
    assert_eq!(count.load(SeqCst), 0);
}

#[test]
fn a_panic_breaks_the_promise_with_its_message_and_stops_the_actor() {
    let system = System::new(1);
    let count = Arc::default();
    let actor = system.spawn(Counted::new(&count));
    let waits_behind = actor.ask({
        let actor = actor.clone();
        move |_, _| {
            let panics = actor.ask(|_, _| -> u64 { panic!("number {}", 7) });
            (panics, actor.ask(|_, _| 1))
        }
    });
    let (panics, behind) = waits_behind.wait().unwrap();
    let broken = panics.wait().unwrap_err();
    assert_eq!(broken.panic_message(), Some("number 7"));
    assert_eq!(
        broken.to_string(),
        "the turn that was to give the value panicked: number 7"
    );
    assert!(behind.wait().unwrap_err().is_stopped());
    system.wait_until_idle();
    assert_eq!(
        count.load(SeqCst),
        0,
        "its state goes although it is referred to"
    );
    assert_eq!(actor.try_send(|_, _| {}), Err(SendError::Stopped));
    assert!(actor.ask(|_, _| 1).wait().unwrap_err().is_stopped());
}

#[test]
fn an_actor_that_keeps_on_handles_the_next_message() {
    let system = System::new(1);
    let actor = system.build().on_panic(OnPanic::Keep).spawn(0u64);
    for round in 1..100 {
        actor.send(|this, _| {
            *this += 1;
            panic!("as it should");
        });
        assert_eq!(actor.ask(|this, _| *this).wait().unwrap(), round);
        let broken = actor
            .ask(|_, _| -> u64 { std::panic::panic_any(5u8) })
            .wait();
        assert_eq!(broken.unwrap_err().panic_message(), Some(""));
    }
}

#[test]
fn a_continuation_that_panics_breaks_its_promise() {
    let system = System::new(1);
    let actor = system.build().on_panic(OnPanic::Keep).spawn(());
    let outcome = actor.ask(|(), ctx| {
        Promise::resolved(1).when(ctx, |(), _, _| -> u64 { panic!("in a continuation") })
    });
    let broken = outcome.flatten().wait().unwrap_err();
    assert_eq!(broken.panic_message(), Some("in a continuation"));
}

#[test]
fn a_stopped_actor_breaks_what_it_was_asked() {
    let system = System::new(2);
    for _ in 0..300 {
        let actor = system.spawn(());
        let asked: Vec<_> = (0..20)
            .map(|number| {
                actor.ask(move |(), ctx| {
                    if number == 10 {
                        ctx.stop();
                    }
                    number
                })
            })
            .collect();
        for (number, asked) in asked.into_iter().enumerate() {
            match asked.wait() {
                Ok(answer) => assert!(answer == number && number <= 10),
                Err(broken) => assert!(broken.is_stopped() && number > 10, "{broken}"),
            }
        }
    }
}

#[test]
fn a_destructor_that_panics_harms_nobody() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("in a destructor");
        }
    }
    let system = System::new(1);
    for _ in 0..10 {
        let actor = system.spawn(Panics);
        let captured = Panics;
        actor.send(|_, ctx| ctx.stop());
        system.wait_until_idle();
        let sent = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            actor.send(move |_, _| std::mem::forget(captured));
        }));
        // Refused, and so dropped where it was sent from.
        assert!(sent.is_err());
    }
    system.wait_until_idle();
    assert_eq!(system.spawn(1).ask(|this, _| *this).wait().unwrap(), 1);
}

#[test]
fn idle_is_when_no_timer_runs() {
    let system = System::new(2);
    let (sender, receiver) = mpsc::channel();
    let actor = system.spawn(());
    actor.send(move |(), ctx| {
        let inner = sender.clone();
        ctx.after(Duration::from_millis(2))
            .when(ctx, move |(), ctx, ()| {
                inner.send(1).unwrap();
                ctx.after(Duration::from_millis(1))
                    .when(ctx, move |(), _, ()| inner.send(2).unwrap());
            });
        sender.send(0).unwrap();
    });
    system.wait_until_idle();
    assert!(receiver.try_iter().eq([0, 1, 2]));
}

#[test]
fn timers_fire_in_their_order() {
    let system = System::new(1);
    let actor = system.spawn(Vec::new());
    actor.send(|_, ctx| {
        for delay in [3, 1, 2, 0] {
            ctx.after(Duration::from_millis(delay * 5))
                .when(ctx, move |this: &mut Vec<u64>, _, ()| this.push(delay));
        }
    });
    system.wait_until_idle();
    assert_eq!(
        actor.ask(|this, _| this.clone()).wait().unwrap(),
        [0, 1, 2, 3]
    );
}

#[test]
fn after_it_is_shut_down_a_system_answers_that_actors_have_stopped() {
    let system = System::new(2);
    let count = Arc::default();
    let actors: Vec<_> = (0..10)
        .map(|_| system.spawn(Counted::new(&count)))
        .collect();
    let idle = system.spawn(());
    for actor in &actors {
        actor.send(|_, _| {});
    }
    system.shut_down();
    for actor in &actors {
        assert!(actor.ask(|_, _| ()).wait().unwrap_err().is_stopped());
        assert_eq!(actor.try_send(|_, _| {}), Err(SendError::Stopped));
    }
    let (promise, resolver) = Promise::<FarRef<()>>::pair();
    let piped = promise.ask(|(), _| 1);
    resolver.resolve(idle);
    assert!(piped.wait().unwrap_err().is_stopped());
    drop(actors);
    assert_eq!(count.load(SeqCst), 0);
}

#[test]
fn threads_that_send_while_a_system_is_shut_down_are_answered() {
    for _ in 0..100 {
        let system = System::new(2);
        let actor = system.spawn(());
        std::thread::scope(|scope| {
            for _ in 0..2 {
                let actor = actor.clone();
                scope.spawn(move || {
                    // Each is answered, one way or the other.
                    while actor.ask(|(), _| ()).wait().is_ok() {}
                });
            }
            system.shut_down();
        });
    }
}
