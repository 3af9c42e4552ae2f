//! `RwLock`.

use super::{
    Behaviours, behaviours, panic_of,
    subject::{
        sync::{
            Arc, LockResult, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
            TryLockResult, mpsc,
        },
        thread,
    },
};

pub(super) const ALL: Behaviours = behaviours![
    it_can_be_made_in_a_constant,
    many_can_read_at_once,
    a_writer_keeps_everybody_out,
    readers_keep_writers_out,
    data_is_reached_without_locking_by_who_owns_it,
    a_panic_while_writing_poisons_it,
    a_panic_while_reading_does_not_poison_it,
    poison_can_be_cleared,
    a_downgraded_writer_reads_with_others,
    a_panic_after_a_downgrade_does_not_poison_it,
    what_is_inside_may_be_unsized,
    it_can_be_shown,
    signatures_are_as_they_should_be,
];

#[cfg_attr(test, test)]
fn it_can_be_made_in_a_constant() {
    static NUMBER: RwLock<u8> = RwLock::new(3);
    assert_eq!(*NUMBER.read().unwrap(), 3);
}

#[cfg_attr(test, test)]
fn many_can_read_at_once() {
    let lock = RwLock::new(1);
    let first = lock.read().unwrap();
    let second = lock.try_read().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(*lock.read().unwrap(), 1));
    });
    assert_eq!(*first + *second, 2);
}

#[cfg_attr(test, test)]
fn a_writer_keeps_everybody_out() {
    let lock = RwLock::new(1);
    let guard = lock.write().unwrap();
    assert!(matches!(lock.try_read(), Err(TryLockError::WouldBlock)));
    assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
    drop(guard);
    *lock.try_write().unwrap() += 1;
    assert_eq!(*lock.read().unwrap(), 2);
}

#[cfg_attr(test, test)]
fn readers_keep_writers_out() {
    let lock = Arc::new(RwLock::new(0));
    let (ready, is_ready) = mpsc::channel();
    let guard = lock.read().unwrap();
    assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
    let theirs = Arc::clone(&lock);
    let writer = thread::spawn(move || {
        ready.send(()).unwrap();
        *theirs.write().unwrap() = 1;
    });
    is_ready.recv().unwrap();
    thread::yield_now();
    assert_eq!(*guard, 0);
    drop(guard);
    writer.join().unwrap();
    assert_eq!(*lock.read().unwrap(), 1);
}

#[cfg_attr(test, test)]
fn data_is_reached_without_locking_by_who_owns_it() {
    let mut lock = RwLock::from(5);
    *lock.get_mut().unwrap() += 1;
    assert_eq!(lock.into_inner().unwrap(), 6);
    assert_eq!(RwLock::<String>::default().into_inner().unwrap(), "");
}

fn poisoned() -> RwLock<i32> {
    let lock = RwLock::new(7);
    panic_of(|| {
        *lock.write().unwrap() += 1;
        let _guard = lock.write();
        panic!("while writing");
    });
    lock
}

#[cfg_attr(test, test)]
fn a_panic_while_writing_poisons_it() {
    let mut lock = poisoned();
    assert!(lock.is_poisoned());
    assert_eq!(*lock.read().unwrap_err().into_inner(), 8);
    assert_eq!(*lock.write().unwrap_err().into_inner(), 8);
    assert!(matches!(lock.try_read(), Err(TryLockError::Poisoned(_))));
    assert!(matches!(lock.try_write(), Err(TryLockError::Poisoned(_))));
    assert_eq!(*lock.get_mut().unwrap_err().into_inner(), 8);
    assert_eq!(lock.into_inner().unwrap_err().into_inner(), 8);
}

#[cfg_attr(test, test)]
fn a_panic_while_reading_does_not_poison_it() {
    let lock = RwLock::new(1);
    panic_of(|| {
        let _guard = lock.read();
        panic!("while reading");
    });
    assert!(!lock.is_poisoned());
    assert_eq!(*lock.write().unwrap(), 1);
}

#[cfg_attr(test, test)]
fn poison_can_be_cleared() {
    let lock = poisoned();
    let guard = lock.write().unwrap_or_else(|error| {
        lock.clear_poison();
        error.into_inner()
    });
    drop(guard);
    assert!(!lock.is_poisoned());
    assert!(lock.read().is_ok());
}

#[cfg_attr(test, test)]
fn a_downgraded_writer_reads_with_others() {
    let lock = RwLock::new(1);
    let mut guard = lock.write().unwrap();
    *guard = 2;
    let guard = RwLockWriteGuard::downgrade(guard);
    assert_eq!(*lock.try_read().unwrap(), 2);
    assert!(lock.try_write().is_err());
    assert_eq!(*guard, 2);
    drop(guard);
    assert!(lock.try_write().is_ok());
}

#[cfg_attr(test, test)]
fn a_panic_after_a_downgrade_does_not_poison_it() {
    let lock = RwLock::new(1);
    panic_of(|| {
        let _guard = RwLockWriteGuard::downgrade(lock.write().unwrap());
        panic!("while reading");
    });
    assert!(!lock.is_poisoned());
}

#[cfg_attr(test, test)]
fn what_is_inside_may_be_unsized() {
    let list: &RwLock<[i32]> = &RwLock::new([1, 2, 3]);
    list.write().unwrap()[1] = 5;
    assert_eq!(*list.read().unwrap(), [1, 5, 3]);
}

#[cfg_attr(test, test)]
fn it_can_be_shown() {
    let lock = RwLock::new(5);
    assert_eq!(
        format!("{lock:?}"),
        "RwLock { data: 5, poisoned: false, .. }"
    );
    let guard = lock.read().unwrap();
    assert_eq!(
        format!("{guard} {guard:?} {lock:?}"),
        "5 5 RwLock { data: 5, poisoned: false, .. }"
    );
    drop(guard);
    #[allow(clippy::readonly_write_lock)]
    let guard = lock.write().unwrap();
    assert_eq!(format!("{guard} {guard:?}"), "5 5");
    assert_eq!(
        format!("{lock:?}"),
        "RwLock { data: <locked>, poisoned: false, .. }"
    );
}

#[cfg_attr(test, test)]
fn signatures_are_as_they_should_be() {
    const _: fn(u8) -> RwLock<u8> = RwLock::new;
    let _: fn(&RwLock<u8>) -> LockResult<RwLockReadGuard<'_, u8>> = RwLock::read;
    let _: fn(&RwLock<u8>) -> LockResult<RwLockWriteGuard<'_, u8>> = RwLock::write;
    let _: fn(&RwLock<u8>) -> TryLockResult<RwLockReadGuard<'_, u8>> = RwLock::try_read;
    let _: fn(&RwLock<u8>) -> TryLockResult<RwLockWriteGuard<'_, u8>> = RwLock::try_write;
    let _: fn(RwLock<u8>) -> LockResult<u8> = RwLock::into_inner;
    let _: fn(&mut RwLock<u8>) -> LockResult<&mut u8> = RwLock::get_mut;
}
