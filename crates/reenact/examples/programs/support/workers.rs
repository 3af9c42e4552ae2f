//! Several threads that do the same.

use reenact::{
    sync::{Arc, Barrier},
    thread::{self, JoinHandle},
};

/// Runs `body` on this many threads, each with its number, and returns what they return. They begin together, or the
/// first would often have ended before the last began.
pub(crate) fn run_workers<T, F>(threads: usize, body: F) -> Vec<T>
where
    T: Send + 'static,
    F: Fn(usize) -> T + Send + Sync + 'static,
{
    let shared = Arc::new((body, Barrier::new(threads)));
    let threads: Vec<_> = (0..threads)
        .map(|me| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.1.wait();
                shared.0(me)
            })
        })
        .collect();
    threads
        .into_iter()
        .map(|thread| thread.join().expect("nobody panics"))
        .collect()
}

/// Starts this many threads, each with what they share and its number.
pub(crate) fn start_workers<S, T, F>(threads: usize, shared: &Arc<S>, body: F) -> Vec<JoinHandle<T>>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
    F: Fn(&S, usize) -> T + Copy + Send + 'static,
{
    let start = |me| {
        let shared = Arc::clone(shared);
        thread::spawn(move || body(&shared, me))
    };
    (0..threads).map(start).collect()
}

/// Waits for threads or processes of which none panics.
macro_rules! join_all {
    ($($handles:expr),+) => {$(
        for handle in $handles {
            handle.join().unwrap();
        }
    )+};
}
pub(crate) use join_all;

/// Keeps panics that are part of a program from filling standard error.
pub(crate) fn panic_quietly() {
    std::panic::set_hook(Box::new(|_| {}));
}
