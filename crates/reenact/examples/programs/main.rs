//! Small concurrent programs whose outcome depends on timing, for the tests: `programs NAME [ARG…]`.
//!
//! Each prints what it saw. Two runs of one of these rarely print the same; a run and its replays must.

use reenact::{
    sync::{Arc, Mutex},
    thread,
};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let name = arguments.first().map(String::as_str).unwrap_or_default();
    match name {
        "hands" => hands(),
        _ => {
            eprintln!("no such program: {name}");
            std::process::exit(2);
        }
    }
}

/// Four threads append their number to one list.
fn hands() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..4)
        .map(|me| {
            let list = Arc::clone(&list);
            thread::spawn(move || {
                for _ in 0..2000 {
                    list.lock().unwrap().push(me);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let list = list.lock().unwrap();
    let hash = list
        .iter()
        .fold(7u64, |hash, &me| hash.wrapping_mul(31).wrapping_add(me));
    println!("{} {hash}", list.len());
}
