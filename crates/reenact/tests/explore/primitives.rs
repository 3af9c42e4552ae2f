//! The other primitives, each by itself: tried in every way, and explored.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use reenact::{
    actor::{self, Promise, System, Target},
    csp,
    source::Source,
    stm::{TVar, atomically},
    sync::{
        Barrier, Condvar, LazyLock, Mutex, Once, OnceLock,
        atomic::{AtomicBool, AtomicI32, Ordering::SeqCst},
        mpsc,
    },
    thread,
};
use reenact_explore::Verdict;

use crate::oracle::{EXPLORER_CHOOSES, Log, Outcome, Program, brute_force, explore};

#[derive(Clone)]
struct Closure<F>(F);

impl<F> fmt::Debug for Closure<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a closure")
    }
}

impl<F: Fn(&Log) + Clone + 'static> Program for Closure<F> {
    fn run(&self, log: &Log) {
        (self.0)(log);
    }
}

/// All that can come of it.
fn all(program: impl Fn(&Log) + Clone + 'static) -> BTreeSet<Outcome> {
    let program = Closure(program);
    let all = brute_force(&program, true).expect("it is small");
    let has_choices = brute_force(&program, false).is_none();
    if EXPLORER_CHOOSES || !has_choices {
        assert_eq!(explore(&program).outcomes, all.outcomes);
    }
    all.outcomes
}

/// What the activity with this number has seen, in all of them.
fn seen_by(activity: usize, outcomes: &BTreeSet<Outcome>) -> BTreeSet<Vec<i32>> {
    let seen = outcomes.iter().map(|(_, logs)| logs.get(activity).cloned());
    seen.map(Option::unwrap_or_default).collect()
}

fn verdicts(outcomes: &BTreeSet<Outcome>) -> BTreeSet<Verdict> {
    outcomes.iter().map(|(verdict, _)| *verdict).collect()
}

#[test]
fn a_notification_may_wake_any_of_those_who_wait() {
    let outcomes = all(|log| {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let waiters: Vec<_> = (1..=2)
            .map(|me| {
                let (shared, log) = (Arc::clone(&shared), log.clone());
                thread::spawn(move || {
                    let (mutex, condition) = &*shared;
                    let mut guard = mutex.lock().unwrap();
                    *guard += 1;
                    guard = condition.wait(guard).unwrap();
                    log.note(0, me);
                    drop(guard);
                    condition.notify_one();
                })
            })
            .collect();
        let waiting = |waiting: &mut i32| *waiting < 2;
        while waiting(&mut shared.0.lock().unwrap()) {
            // Whoever explores lets the others run.
            if shared.0.lock().is_ok_and(|mut guard| waiting(&mut guard)) {
                return;
            }
        }
        shared.1.notify_one();
        for waiter in waiters {
            waiter.join().unwrap();
        }
    });
    let seen = seen_by(0, &outcomes);
    assert!(
        seen.contains(&vec![1, 2]) && seen.contains(&vec![2, 1]),
        "{seen:?}"
    );
}

/// ```text
/// waiter ── looks ────────────── waits
/// other ─────────── notifies ─────────
/// ```
#[test]
fn a_lost_wakeup_is_found() {
    let outcomes = all(|log| {
        let shared = Arc::new((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
        let other = Arc::clone(&shared);
        let log = log.clone();
        let thread = thread::spawn(move || {
            other.0.store(true, SeqCst);
            other.2.notify_one();
        });
        if !shared.0.load(SeqCst) {
            let guard = shared.1.lock().unwrap();
            drop(shared.2.wait(guard).unwrap());
            log.note(0, 1);
        }
        thread.join().unwrap();
    });
    let both = BTreeSet::from([Verdict::Finished, Verdict::Deadlock]);
    assert_eq!(verdicts(&outcomes), both);
}

#[test]
fn a_timed_wait_may_be_too_short_or_not() {
    let outcomes = all(|log| {
        let shared = Arc::new((Mutex::new(()), Condvar::new()));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || other.1.notify_one());
        let guard = shared.0.lock().unwrap();
        let waited = shared.1.wait_timeout(guard, Duration::from_secs(1));
        log.note(0, waited.unwrap().1.timed_out().into());
        thread.join().unwrap();
    });
    assert_eq!(seen_by(0, &outcomes).len(), 2);
}

/// Those that the clock can represent expire; the others do not, in no wait.
#[test]
fn a_time_limit_that_the_clock_cannot_represent_does_not_expire() {
    for (limit, may_expire) in [(Duration::from_secs(1), true), (Duration::MAX, false)] {
        let received = all(move |log| {
            let (sender, receiver) = mpsc::channel();
            let thread = thread::spawn(move || sender.send(1));
            log.note(0, receiver.recv_timeout(limit).unwrap_or(0));
            drop(receiver);
            let _ = thread.join().unwrap();
        });
        let met = all(move |log| {
            let (sender, receiver) = csp::channel();
            let thread = thread::spawn(move || sender.send(1));
            log.note(0, receiver.recv_timeout(limit).unwrap_or(0));
            drop(receiver);
            let _ = thread.join().unwrap();
        });
        let selected = all(move |log| {
            let (sender, receiver) = csp::unbounded();
            let thread = thread::spawn(move || sender.send(1));
            let got = csp::select! { recv(receiver) -> got => got.unwrap(), default(limit) => 0 };
            log.note(0, got);
            drop(receiver);
            let _ = thread.join().unwrap();
        });
        let woken = all(move |log| {
            let shared = Arc::new((Mutex::new(0), Condvar::new()));
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || {
                *other.0.lock().unwrap() = 1;
                other.1.notify_one();
            });
            let guard = shared.0.lock().unwrap();
            let waited = shared.1.wait_timeout_while(guard, limit, |set| *set == 0);
            log.note(0, *waited.unwrap().0);
            thread.join().unwrap();
        });
        for outcomes in [received, met, selected, woken] {
            assert_eq!(verdicts(&outcomes), BTreeSet::from([Verdict::Finished]));
            let mut expected = BTreeSet::from([vec![1]]);
            expected.extend(may_expire.then(|| vec![0]));
            assert_eq!(seen_by(0, &outcomes), expected, "{limit:?}");
        }
    }
    let kept = all(|_| {
        let (promise, _resolver) = Promise::<i32>::pair();
        let _ = promise.wait_timeout(Duration::MAX);
    });
    assert_eq!(verdicts(&kept), BTreeSet::from([Verdict::Deadlock]));
}

#[test]
fn any_of_those_at_a_barrier_leads() {
    let outcomes = all(|log| {
        let barrier = Arc::new(Barrier::new(2));
        let (its, its_log) = (Arc::clone(&barrier), log.clone());
        let thread = thread::spawn(move || its_log.note(1, its.wait().is_leader().into()));
        log.note(0, barrier.wait().is_leader().into());
        thread.join().unwrap();
    });
    assert_eq!(verdicts(&outcomes), BTreeSet::from([Verdict::Finished]));
    assert_eq!(seen_by(0, &outcomes).len(), 2);
}

#[test]
fn what_is_done_once_is_done_by_any() {
    let outcomes = all(|log| {
        let once = Arc::new(Once::new());
        let (its, its_log) = (Arc::clone(&once), log.clone());
        let thread = thread::spawn(move || its.call_once(|| its_log.note(0, 1)));
        once.call_once(|| log.note(0, 2));
        thread.join().unwrap();
    });
    assert_eq!(verdicts(&outcomes), BTreeSet::from([Verdict::Finished]));
    assert_eq!(outcomes.len(), 2);
    let outcomes = all(|log| {
        let cell = Arc::new(OnceLock::new());
        let (its, its_log) = (Arc::clone(&cell), log.clone());
        let thread = thread::spawn(move || its_log.note(1, *its.get_or_init(|| 1)));
        log.note(2, *cell.get_or_init(|| 2));
        thread.join().unwrap();
    });
    assert_eq!(outcomes.len(), 2);
    let outcomes = all(|log| {
        let lazy = Arc::new(LazyLock::new(|| 5));
        let (its, its_log) = (Arc::clone(&lazy), log.clone());
        let thread = thread::spawn(move || its_log.note(1, **its));
        log.note(2, **lazy);
        thread.join().unwrap();
    });
    assert_eq!(outcomes.len(), 1);
}

#[test]
fn threads_of_a_scope_borrow_and_are_waited_for() {
    let outcomes = all(|log| {
        let list = Mutex::new(Vec::new());
        thread::scope(|scope| {
            scope.spawn(|| list.lock().unwrap().push(1));
            scope.spawn(|| list.lock().unwrap().push(2));
        });
        let list = list.into_inner().unwrap();
        list.into_iter().for_each(|one| log.note(0, one));
    });
    let expected = BTreeSet::from([vec![1, 2], vec![2, 1]]);
    assert_eq!(seen_by(0, &outcomes), expected);
}

#[test]
fn a_parked_thread_is_unparked_before_or_after() {
    let outcomes = all(|log| {
        let flag = Arc::new(AtomicBool::new(false));
        let (its, its_log) = (Arc::clone(&flag), log.clone());
        let parked = thread::Builder::new().name("parked".to_owned());
        let parked = parked.spawn(move || {
            its_log.note(0, (thread::current().name() == Some("parked")).into());
            thread::park();
            its_log.note(0, its.load(SeqCst).into());
            thread::park_timeout(Duration::from_secs(1));
        });
        let parked = parked.unwrap();
        flag.store(true, SeqCst);
        parked.thread().unpark();
        parked.join().unwrap();
    });
    assert_eq!(verdicts(&outcomes), BTreeSet::from([Verdict::Finished]));
    assert_eq!(seen_by(0, &outcomes), BTreeSet::from([vec![1, 1]]));
}

#[test]
fn a_thread_has_finished_or_not() {
    let outcomes = all(|log| {
        let x = Arc::new(AtomicI32::new(0));
        let its = Arc::clone(&x);
        let thread = thread::spawn(move || its.store(1, SeqCst));
        thread::yield_now();
        thread::sleep(Duration::from_secs(1));
        let (finished, x) = (thread.is_finished(), x.load(SeqCst));
        log.note(0, i32::from(finished) * 2 + x);
        thread.join().unwrap();
    });
    let expected = BTreeSet::from([vec![0], vec![1], vec![3]]);
    assert_eq!(seen_by(0, &outcomes), expected);
}

#[test]
fn maps_and_clocks_are_the_same_in_every_execution() {
    let outcomes = all(|log| {
        let x = Arc::new(AtomicI32::new(0));
        let threads = [1, 2].map(|me| {
            let (x, log) = (Arc::clone(&x), log.clone());
            thread::spawn(move || {
                x.fetch_add(1, SeqCst);
                let map: HashMap<i32, ()> = (0..5).map(|n| (n, ())).collect();
                map.keys().for_each(|key| log.note(me, *key));
                let began = Instant::now();
                thread::sleep(Duration::from_secs(5));
                log.note(me, (began.elapsed().as_secs() >= 5).into());
                let day = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                log.note(me, day.unwrap().as_secs() as i32);
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
    });
    assert_eq!(outcomes.len(), 1, "{outcomes:?}");
}

#[test]
fn the_world_outside_is_asked() {
    let outcomes = all(|log| {
        let length = reenact::fs::read("Cargo.toml").unwrap().len();
        let again: usize = reenact::external("length", || length);
        log.note(0, (length == again && length > 0).into());
    });
    assert_eq!(seen_by(0, &outcomes), BTreeSet::from([vec![1]]));
}

#[test]
fn a_source_brings_items_at_any_time() {
    let outcomes = all(|log| {
        let (sender, receiver) = mpsc::channel();
        let more = sender.clone();
        let deliver = move |item: i32| sender.send(item).unwrap();
        Source::thread("source", deliver, |source| source.emit(1)).unwrap();
        more.send(2).unwrap();
        drop(more);
        receiver.iter().for_each(|item| log.note(0, item));
    });
    let expected = BTreeSet::from([vec![1, 2], vec![2, 1]]);
    assert_eq!(seen_by(0, &outcomes), expected);
}

#[test]
fn a_promise_that_nobody_resolves_is_a_deadlock_or_broken() {
    let outcomes = all(|log| {
        let (promise, resolver) = Promise::<i32>::pair();
        let actor = actor::spawn(Some(resolver));
        actor.send(|resolver, _| drop(resolver.take()));
        log.note(0, promise.wait().is_err().into());
    });
    assert_eq!(seen_by(0, &outcomes), BTreeSet::from([vec![1]]));
    let outcomes = all(|_| {
        let (promise, _resolver) = Promise::<i32>::pair();
        let _ = promise.wait();
    });
    assert_eq!(verdicts(&outcomes), BTreeSet::from([Verdict::Deadlock]));
}

#[test]
fn a_panic_that_nobody_observes_is_a_failure() {
    let observed = all(|log| {
        let actor = actor::spawn(0);
        let answer = actor.ask(|_, _| -> i32 { panic!("observed") });
        log.note(0, answer.wait().is_err().into());
    });
    assert_eq!(verdicts(&observed), BTreeSet::from([Verdict::Finished]));
    let missed = all(|_| actor::spawn(0).send(|_, _| panic!("missed")));
    assert_eq!(verdicts(&missed), BTreeSet::from([Verdict::Failed]));
    let missed = all(|_| drop(csp::spawn(|| panic!("missed"))));
    assert_eq!(verdicts(&missed), BTreeSet::from([Verdict::Failed]));
}

#[test]
fn a_system_is_idle_when_all_turns_are_over() {
    let outcomes = all(|log| {
        let system = System::new(3);
        let last = Arc::new(Mutex::new(0));
        let actor = system.spawn(Arc::clone(&last));
        actor.send(|last, ctx| {
            let later = ctx.after(Duration::from_secs(1));
            later.when(ctx, |last, _, ()| *last.lock().unwrap() += 1);
            *last.lock().unwrap() += 1;
        });
        system.wait_until_idle();
        log.note(0, *last.lock().unwrap());
        system.shut_down();
        let refused = actor.ask(|_, _| 0).wait();
        log.note(0, refused.is_err().into());
    });
    assert_eq!(seen_by(0, &outcomes), BTreeSet::from([vec![2, 1]]));
}

/// ```text
/// actor ──── commits ────┐
/// process ── commits ────┼── the sum
/// thread ─── locks ──────┘
/// ```
#[test]
fn all_models_can_be_mixed() {
    let outcomes = all(|log| {
        let (variable, mutex) = (TVar::new(0), Arc::new(Mutex::new(0)));
        let (sender, receiver) = csp::channel();
        let actor = actor::spawn(variable.clone());
        let done = actor.ask(|variable, _| {
            let variable = variable.clone();
            atomically(|tx| variable.modify(tx, |value| value * 2 + 1))
        });
        let (its, mine) = (variable.clone(), Arc::clone(&mutex));
        let process = csp::spawn(move || {
            atomically(|tx| its.modify(tx, |value| value * 2 + 2));
            *mine.lock().unwrap() += 1;
            sender.send(1).unwrap();
        });
        *mutex.lock().unwrap() *= 2;
        done.wait().unwrap();
        log.note(0, receiver.recv().unwrap());
        process.join().unwrap();
        log.note(0, variable.read_atomic() * 10 + *mutex.lock().unwrap());
    });
    assert_eq!(seen_by(0, &outcomes).len(), 4, "{outcomes:?}");
}
