//! Two threads add one to a counter, and sometimes the counter is one afterwards.
//!
//! ```text
//! $ cargo build --example lost_update
//! $ reenact explore -- target/debug/examples/lost_update
//! ```
//!
//! Each load and each store is atomic; the two of them together are not. On a machine at rest it takes millions of
//! runs until both threads load before either stores. Explored, it takes a handful.

use reenact::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};

fn main() {
    let counter = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let counter = Arc::clone(&counter);
            thread::spawn(move || {
                let value = counter.load(SeqCst);
                counter.store(value + 1, SeqCst);
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("it only counts");
    }
    let counter = counter.load(SeqCst);
    println!("counted to {counter}");
    assert_eq!(counter, 2, "an update was lost");
}
