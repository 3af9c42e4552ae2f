//! Programs of more than one process.

use std::process::{self, Command};

use reenact::{
    sync::{Arc, Mutex},
    thread,
};

use super::{fold, say, sleep_for_good};
use crate::support::{join_all, start_workers};

pub(super) fn run(name: &str, arguments: &[String]) -> bool {
    match (name, arguments.first().map(String::as_str)) {
        ("family", None) => family(),
        ("family", Some(generation)) => {
            println!("child {generation}: {}", race(generation.len() as u64));
        }
        ("fork", Some("exit")) => fork(|| process::exit(race(5) as i32 & 1)),
        ("fork", Some("leave")) => fork(|| {
            let _ = race(5);
            // SAFETY: Ends this process at once.
            unsafe { libc::_exit(1) }
        }),
        ("fork", Some("abort")) => fork(|| {
            let _ = race(5);
            process::abort()
        }),
        ("fork", Some("killed")) => {
            fork(|| process::exit(0));
            sleep_for_good();
        }
        ("become-another", None) => become_another(),
        ("become-another", Some(_)) => println!("{}", race(8).min(race(9)).min(1)),
        ("fork-in-thread", _) => {
            thread::spawn(|| fork(|| process::exit(0))).join().unwrap();
            println!("{}", race(6));
        }
        _ => return false,
    }
    true
}

/// Who came when, of four threads and one lock.
fn race(salt: u64) -> u64 {
    let hash = Arc::new(Mutex::new(salt));
    let threads = start_workers(4, &hash, |hash, me| {
        for _ in 0..100 {
            let mut hash = hash.lock().unwrap();
            *hash = fold(*hash, me as u64);
        }
    });
    join_all!(threads);
    let hash = hash.lock().unwrap();
    *hash
}

/// Starts itself twice, with races of its own around that.
fn family() {
    println!("{}", race(1));
    for generation in ["one", "seven"] {
        let itself = std::env::current_exe().unwrap();
        let status = Command::new(itself)
            .args(["family", generation])
            .status()
            .unwrap();
        println!("{status} {}", race(2));
    }
}

/// Replaces the program in this process by the same one with other arguments.
fn become_another() {
    use std::os::unix::process::CommandExt;
    say(&race(7).to_string());
    let itself = std::env::current_exe().unwrap();
    let error = Command::new(itself).args(["become-another", "now"]).exec();
    panic!("{error}");
}

/// A copy of this process does `childs_part`; this one waits for it, with silent operations before and after, which only
/// the counter knows of.
fn fork(childs_part: fn() -> !) {
    let lock = Mutex::new(0);
    println!("{}", race(3));
    for _ in 0..1000 {
        *lock.lock().unwrap() += 1;
    }
    // SAFETY: The child uses what a child of a process with several threads may not use for sure, an allocator and
    // threads; here no other thread is in them.
    let child = unsafe { libc::fork() };
    if child == 0 {
        for _ in 0..500 {
            *lock.lock().unwrap() += 1;
        }
        childs_part();
    }
    let mut status = 0;
    // SAFETY: Our own child, and a place for its status.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    for _ in 0..1000 {
        *lock.lock().unwrap() += 1;
    }
    say(&format!("{}", lock.lock().unwrap()));
}
