//! Several threads that do the same.

use reenact::{
    sync::{Arc, Barrier},
    thread,
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

/// Keeps panics that are part of a program from filling standard error.
pub(crate) fn panic_quietly() {
    std::panic::set_hook(Box::new(|_| {}));
}
