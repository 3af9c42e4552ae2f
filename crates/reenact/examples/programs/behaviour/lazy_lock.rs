//! `LazyLock`.

use super::{
    Behaviours, behaviours, panic_of,
    subject::{
        sync::{
            Arc, LazyLock,
            atomic::{AtomicUsize, Ordering::SeqCst},
        },
        thread,
    },
};

pub(super) const ALL: Behaviours = behaviours![
    the_value_is_made_when_it_is_needed,
    the_value_is_made_once,
    a_panic_poisons_it,
    it_may_borrow,
    it_can_be_shown,
];

#[cfg_attr(test, test)]
fn the_value_is_made_when_it_is_needed() {
    static LIST: LazyLock<Vec<u8>> = LazyLock::new(|| vec![1, 2]);
    assert_eq!(LIST.len(), 2);
    let runs = std::cell::Cell::new(0);
    let lazy = LazyLock::new(|| {
        runs.set(runs.get() + 1);
        7
    });
    assert_eq!(runs.get(), 0);
    assert_eq!((*lazy, *LazyLock::force(&lazy)), (7, 7));
    assert_eq!(runs.get(), 1);
    assert_eq!(*LazyLock::<u8>::default(), 0);
}

#[cfg_attr(test, test)]
fn the_value_is_made_once() {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let lazy: Arc<LazyLock<usize>> = Arc::new(LazyLock::new(|| RUNS.fetch_add(1, SeqCst)));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let lazy = Arc::clone(&lazy);
            thread::spawn(move || **lazy)
        })
        .collect();
    let seen: Vec<usize> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    assert!(seen.iter().all(|seen| *seen == **lazy));
}

#[cfg_attr(test, test)]
fn a_panic_poisons_it() {
    let lazy = LazyLock::<u8, _>::new(|| panic!("cannot be made"));
    assert_eq!(panic_of(|| *lazy), "cannot be made");
    for _ in 0..2 {
        assert_eq!(
            panic_of(|| *LazyLock::force(&lazy)),
            "LazyLock instance has previously been poisoned"
        );
    }
}

#[cfg_attr(test, test)]
fn it_may_borrow() {
    let text = String::from("abc");
    let lazy = LazyLock::new(|| text.len());
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(*lazy, 3));
    });
}

#[cfg_attr(test, test)]
fn it_can_be_shown() {
    let lazy = LazyLock::new(|| 7);
    assert_eq!(format!("{lazy:?}"), "LazyLock(<uninit>)");
    let _ = *lazy;
    assert_eq!(format!("{lazy:?}"), "LazyLock(7)");
}
