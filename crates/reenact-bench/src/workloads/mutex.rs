//! A mutex and next to nothing else: what a lock costs when nobody wants it, and when two do.
//!
//! `uncontended` is the case that recording must not be felt in: the last holder is always this
//! thread, so nothing is ever written. `contended` is its opposite, two threads that do nothing
//! but take the lock from each other; on two cores its time is mostly the machine moving a cache
//! line, and it varies with who wins.

use super::{
    Measured, Setting,
    sync::{Arc, Mutex},
    thread,
};

/// One thread: lock, increment, unlock.
pub(super) fn uncontended(setting: &Setting) -> Measured {
    let count = setting.times(10_000_000);
    let counter = Mutex::new(0u64);
    let measured = Measured::around(|| {
        for _ in 0..count {
            *counter.lock().unwrap() += 1;
        }
        count
    });
    assert_eq!(counter.into_inner().unwrap(), count);
    measured
}

/// Two threads, one lock: lock, increment, unlock.
pub(super) fn contended(setting: &Setting) -> Measured {
    const THREADS: u64 = 2;
    let each = setting.times(1_500_000);
    let counter = Arc::new(Mutex::new(0u64));
    let measured = Measured::around(|| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let counter = Arc::clone(&counter);
                thread::spawn(move || {
                    for _ in 0..each {
                        *counter.lock().unwrap() += 1;
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        THREADS * each
    });
    assert_eq!(*counter.lock().unwrap(), THREADS * each);
    measured
}

#[cfg(test)]
mod tests {
    use super::{Setting, contended, uncontended};

    #[test]
    fn uncontended_keeps_every_increment() {
        assert_eq!(uncontended(&Setting::tiny()).ops, 20_000);
    }

    #[test]
    fn contended_keeps_every_increment() {
        assert_eq!(contended(&Setting::tiny()).ops, 6_000);
    }
}
