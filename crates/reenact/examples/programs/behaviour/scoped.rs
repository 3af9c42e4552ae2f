//! Scoped threads.

use super::{
    Behaviours, behaviours, panic_of,
    subject::{
        sync::{
            Mutex,
            atomic::{AtomicUsize, Ordering::SeqCst},
            mpsc,
        },
        thread::{self, Scope, ScopedJoinHandle},
    },
};

pub(super) const ALL: Behaviours = behaviours![
    threads_may_borrow,
    a_scope_waits_for_its_threads,
    a_scope_returns_what_its_function_returns,
    a_thread_that_is_joined_returns_what_it_returned,
    threads_may_start_others_in_the_scope,
    a_panic_that_nobody_asked_for_is_one_of_the_scope,
    a_panic_that_somebody_asked_for_is_theirs,
    a_panic_of_the_scope_itself_waits_for_its_threads,
    threads_of_a_scope_have_names_and_finish,
    what_a_thread_returns_is_dropped_before_the_scope_ends,
    handles_can_be_shown,
    signatures_are_as_they_should_be,
];

#[cfg_attr(test, test)]
fn threads_may_borrow() {
    let mut list = vec![1, 2, 3, 4];
    let text = String::from("abc");
    thread::scope(|scope| {
        let (left, right) = list.split_at_mut(2);
        scope.spawn(|| left.iter_mut().for_each(|number| *number += text.len()));
        scope.spawn(|| right.iter_mut().for_each(|number| *number *= text.len()));
    });
    assert_eq!(list, [4, 5, 9, 12]);
}

#[cfg_attr(test, test)]
fn a_scope_waits_for_its_threads() {
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                thread::yield_now();
                count.fetch_add(1, SeqCst);
            });
        }
    });
    assert_eq!(count.into_inner(), 4);
}

#[cfg_attr(test, test)]
fn a_scope_returns_what_its_function_returns() {
    assert_eq!(thread::scope(|_| 3), 3);
}

#[cfg_attr(test, test)]
fn a_thread_that_is_joined_returns_what_it_returned() {
    let text = String::from("abc");
    let borrowed: &str = thread::scope(|scope| scope.spawn(|| &text[1..]).join().unwrap());
    assert_eq!(borrowed, "bc");
}

#[cfg_attr(test, test)]
fn threads_may_start_others_in_the_scope() {
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            scope.spawn(|| {
                scope.spawn(|| count.fetch_add(1, SeqCst));
                count.fetch_add(1, SeqCst);
            });
            count.fetch_add(1, SeqCst);
        });
    });
    assert_eq!(count.into_inner(), 3);
}

#[cfg_attr(test, test)]
fn a_panic_that_nobody_asked_for_is_one_of_the_scope() {
    let message = panic_of(|| {
        thread::scope(|scope| {
            scope.spawn(|| panic!("in the scope"));
        })
    });
    assert_eq!(message, "a scoped thread panicked");
}

#[cfg_attr(test, test)]
fn a_panic_that_somebody_asked_for_is_theirs() {
    thread::scope(|scope| {
        let thread = scope.spawn(|| panic!("in the scope"));
        assert!(thread.join().is_err());
    });
}

#[cfg_attr(test, test)]
fn a_panic_of_the_scope_itself_waits_for_its_threads() {
    let count = AtomicUsize::new(0);
    let message = panic_of(|| {
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::yield_now();
                count.fetch_add(1, SeqCst);
            });
            panic!("the scope itself");
        })
    });
    assert_eq!(message, "the scope itself");
    assert_eq!(count.into_inner(), 1);
}

#[cfg_attr(test, test)]
fn threads_of_a_scope_have_names_and_finish() {
    thread::scope(|scope| {
        let (go, may_go) = mpsc::channel::<()>();
        let thread = thread::Builder::new()
            .name("ada".to_owned())
            .spawn_scoped(scope, move || may_go.recv().is_err())
            .unwrap();
        assert_eq!(thread.thread().name(), Some("ada"));
        assert!(!thread.is_finished());
        drop(go);
        while !thread.is_finished() {
            thread::yield_now();
        }
        assert!(thread.join().unwrap());
    });
}

#[cfg_attr(test, test)]
fn what_a_thread_returns_is_dropped_before_the_scope_ends() {
    let dropped = std::sync::atomic::AtomicUsize::new(0);
    let kept = Mutex::new(Vec::new());
    thread::scope(|scope| {
        scope.spawn(|| super::Counted(&dropped));
        scope.spawn(|| super::Counted(&dropped)).join().unwrap();
        kept.lock()
            .unwrap()
            .push(scope.spawn(|| super::Counted(&dropped)).join().ok());
    });
    assert_eq!(dropped.load(std::sync::atomic::Ordering::SeqCst), 2);
    drop(kept);
    assert_eq!(dropped.into_inner(), 3);
}

#[cfg_attr(test, test)]
fn handles_can_be_shown() {
    thread::scope(|scope| {
        let thread = scope.spawn(|| ());
        assert_eq!(format!("{thread:?}"), "ScopedJoinHandle { .. }");
    });
}

#[cfg_attr(test, test)]
fn signatures_are_as_they_should_be() {
    fn start<'scope>(scope: &'scope Scope<'scope, '_>) -> ScopedJoinHandle<'scope, u8> {
        scope.spawn(|| 3)
    }
    assert_eq!(thread::scope(|scope| start(scope).join().unwrap()), 3);
    let _: fn(&ScopedJoinHandle<'static, u8>) -> bool = ScopedJoinHandle::is_finished;
    type Handle = ScopedJoinHandle<'static, u8>;
    let _: fn(&Handle) -> &thread::Thread = Handle::thread;
}
