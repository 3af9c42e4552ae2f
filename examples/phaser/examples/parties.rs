//! Two parties that go through a phase, for the debugger: `reenact debug -- target/debug/examples/parties`.

use phaser::Phaser;
use reenact::{explore::watch, sync::Arc, sync::Mutex, thread};

fn main() {
    let last = Arc::new(Mutex::new(None));
    watch("last", Arc::clone(&last));
    let phaser = Phaser::new();
    let parties = [phaser.register(), phaser.register()];
    let mut number = 0;
    let threads = parties.map(|mut party| {
        let (me, last) = (number, Arc::clone(&last));
        number += 1;
        thread::spawn(move || {
            if party.arrive_and_wait() {
                *last.lock().unwrap() = Some(me);
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}
