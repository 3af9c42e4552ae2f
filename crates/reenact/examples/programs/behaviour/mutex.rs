//! `Mutex`.

use super::{
    Behaviours, behaviours, panic_of,
    subject::{
        sync::{Arc, LockResult, Mutex, MutexGuard, PoisonError, TryLockError, TryLockResult},
        thread,
    },
};

pub(super) const ALL: Behaviours = behaviours![
    a_mutex_can_be_made_in_a_constant,
    it_keeps_others_out,
    a_try_of_what_is_held_would_block,
    data_is_reached_without_locking_by_who_owns_it,
    a_panic_with_the_lock_poisons_it,
    a_poisoned_lock_still_gives_access,
    poison_can_be_cleared,
    a_panic_without_the_lock_poisons_nothing,
    a_lock_taken_while_panicking_is_not_poisoned,
    what_is_inside_may_be_unsized,
    it_can_be_shown,
    errors_can_be_shown,
    signatures_are_as_they_should_be,
];

#[cfg_attr(test, test)]
fn a_mutex_can_be_made_in_a_constant() {
    static COUNT: Mutex<usize> = Mutex::new(3);
    #[allow(clippy::declare_interior_mutable_const)]
    const EMPTY: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    *COUNT.lock().unwrap() += 1;
    assert!(*COUNT.lock().unwrap() > 3);
    assert!(EMPTY.into_inner().unwrap().is_empty());
}

#[cfg_attr(test, test)]
fn it_keeps_others_out() {
    let pair = Arc::new(Mutex::new((0, 0)));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let pair = Arc::clone(&pair);
            thread::spawn(move || {
                for _ in 0..200 {
                    let mut pair = pair.lock().unwrap();
                    pair.0 += 1;
                    thread::yield_now();
                    pair.1 += 1;
                    assert_eq!(pair.0, pair.1);
                }
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    assert_eq!(*pair.lock().unwrap(), (600, 600));
}

#[cfg_attr(test, test)]
fn a_try_of_what_is_held_would_block() {
    let mutex = Mutex::new(1);
    let guard = mutex.lock().unwrap();
    assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock)));
    thread::scope(|scope| {
        scope.spawn(|| assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock))));
    });
    drop(guard);
    *mutex.try_lock().unwrap() = 2;
    assert_eq!(*mutex.lock().unwrap(), 2);
}

#[cfg_attr(test, test)]
fn data_is_reached_without_locking_by_who_owns_it() {
    let mut mutex = Mutex::from(5);
    *mutex.get_mut().unwrap() += 1;
    assert_eq!(mutex.into_inner().unwrap(), 6);
    assert_eq!(Mutex::<String>::default().into_inner().unwrap(), "");
    let dropped = std::sync::atomic::AtomicUsize::new(0);
    drop(Mutex::new(super::Counted(&dropped)));
    assert_eq!(dropped.into_inner(), 1);
}

fn poisoned() -> Mutex<i32> {
    let mutex = Mutex::new(7);
    let message = panic_of(|| {
        let mut guard = mutex.lock().unwrap();
        *guard += 1;
        panic!("with the lock");
    });
    assert_eq!(message, "with the lock");
    mutex
}

#[cfg_attr(test, test)]
fn a_panic_with_the_lock_poisons_it() {
    let mut mutex = poisoned();
    assert!(mutex.is_poisoned());
    assert!(mutex.lock().is_err());
    assert!(matches!(mutex.try_lock(), Err(TryLockError::Poisoned(_))));
    assert!(mutex.get_mut().is_err());
    assert!(mutex.into_inner().is_err());
    let mutex = Arc::new(Mutex::new(1));
    let theirs = Arc::clone(&mutex);
    let thread = thread::spawn(move || {
        let _guard = theirs.lock();
        panic!("in a thread");
    });
    assert!(thread.join().is_err());
    assert!(mutex.lock().is_err());
}

#[cfg_attr(test, test)]
fn a_poisoned_lock_still_gives_access() {
    let mut mutex = poisoned();
    assert_eq!(*mutex.lock().unwrap_err().into_inner(), 8);
    assert_eq!(**mutex.lock().unwrap_err().get_ref(), 8);
    **mutex.lock().unwrap_err().get_mut() = 9;
    match mutex.try_lock() {
        Err(TryLockError::Poisoned(error)) => assert_eq!(*error.into_inner(), 9),
        _ => panic!("it is poisoned"),
    }
    assert_eq!(*mutex.get_mut().unwrap_err().into_inner(), 9);
    assert_eq!(mutex.into_inner().unwrap_err().into_inner(), 9);
}

#[cfg_attr(test, test)]
fn poison_can_be_cleared() {
    let mutex = poisoned();
    let guard = mutex.lock().unwrap_or_else(|error| {
        mutex.clear_poison();
        error.into_inner()
    });
    assert!(!mutex.is_poisoned());
    drop(guard);
    assert_eq!(*mutex.lock().unwrap(), 8);
}

#[cfg_attr(test, test)]
fn a_panic_without_the_lock_poisons_nothing() {
    let mutex = Mutex::new(1);
    panic_of(|| {
        drop(mutex.lock());
        panic!("without the lock");
    });
    panic_of(|| {
        let _guard = mutex.lock().unwrap();
        let _ = std::panic::catch_unwind(|| panic!("caught with the lock"));
        drop(_guard);
        panic!("without the lock");
    });
    assert!(!mutex.is_poisoned());
}

#[cfg_attr(test, test)]
fn a_lock_taken_while_panicking_is_not_poisoned() {
    struct LocksWhenDropped<'a>(&'a Mutex<i32>);
    impl Drop for LocksWhenDropped<'_> {
        fn drop(&mut self) {
            assert!(thread::panicking());
            *self.0.lock().unwrap() += 1;
        }
    }
    let mutex = Mutex::new(1);
    panic_of(|| {
        let _locks = LocksWhenDropped(&mutex);
        panic!("on the way");
    });
    assert_eq!(*mutex.lock().unwrap(), 2);
}

#[cfg_attr(test, test)]
fn what_is_inside_may_be_unsized() {
    let list: &Mutex<[i32]> = &Mutex::new([1, 2, 3]);
    list.lock().unwrap()[1] = 5;
    assert_eq!(*list.lock().unwrap(), [1, 5, 3]);
    let shown: Arc<Mutex<dyn std::fmt::Display + Send>> = Arc::new(Mutex::new(4));
    assert_eq!(shown.lock().unwrap().to_string(), "4");
}

#[cfg_attr(test, test)]
fn it_can_be_shown() {
    let mutex = Mutex::new(5);
    assert_eq!(
        format!("{mutex:?}"),
        "Mutex { data: 5, poisoned: false, .. }"
    );
    let guard = mutex.lock().unwrap();
    assert_eq!(
        format!("{mutex:?}"),
        r#"Mutex { data: "<locked>", poisoned: false, .. }"#
    );
    assert_eq!(format!("{guard} {guard:?}"), "5 5");
    assert_eq!(
        format!("{:?}", poisoned()),
        "Mutex { data: 8, poisoned: true, .. }"
    );
}

#[cfg_attr(test, test)]
fn errors_can_be_shown() {
    let mutex = poisoned();
    let error = mutex.lock().unwrap_err();
    assert_eq!(
        error.to_string(),
        "poisoned lock: another task failed inside"
    );
    drop(error);
    let error = mutex.try_lock().unwrap_err();
    assert_eq!(
        error.to_string(),
        "poisoned lock: another task failed inside"
    );
    drop(error);
    let _guard = mutex.lock();
    let error = mutex.try_lock().unwrap_err();
    assert_eq!(
        error.to_string(),
        "try_lock failed because the operation would block"
    );
}

#[cfg_attr(test, test)]
fn signatures_are_as_they_should_be() {
    const _: fn(u8) -> Mutex<u8> = Mutex::new;
    let _: fn(&Mutex<u8>) -> LockResult<MutexGuard<'_, u8>> = Mutex::lock;
    let _: fn(&Mutex<u8>) -> TryLockResult<MutexGuard<'_, u8>> = Mutex::try_lock;
    let _: fn(Mutex<u8>) -> LockResult<u8> = Mutex::into_inner;
    let _: fn(&mut Mutex<u8>) -> LockResult<&mut u8> = Mutex::get_mut;
    fn through_the_question_mark(mutex: &Mutex<u8>) -> Result<u8, PoisonError<MutexGuard<'_, u8>>> {
        let guard = mutex.lock()?;
        Ok(*guard)
    }
    assert_eq!(through_the_question_mark(&Mutex::new(3)).unwrap(), 3);
}
