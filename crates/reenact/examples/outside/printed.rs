//! Programs whose output is what matters.

use std::io::{Write, stderr, stdout};

use reenact::{
    actor,
    sync::{Arc, Barrier, Mutex},
    thread,
};

use crate::{setting, wait_to_be_killed};

pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    match name {
        "print-race" => race(),
        "print-file" => file(&arguments[0]),
        "print-lines" => lines(&arguments[0]),
        "print-address" => println!("at {:p}", &raw const ADDRESS),
        "print-until-killed" => until_killed(),
        "print-much" => much(),
        "print-much-else" => much_else(),
        "print-panic" => panic(),
        "print-secret" => println!("the token is {}", setting("TOKEN", "")),
        "print-broken" => broken(),
        "print-unported" => unported(),
        "print-actors" => actors(),
        _ => return false,
    }
    true
}

static ADDRESS: u8 = 0;

/// Threads print lines in a race, to both streams, of which some are longer than what the standard library buffers.
fn race() {
    let start = Arc::new(Barrier::new(4));
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let start = Arc::clone(&start);
            thread::spawn(move || {
                start.wait();
                for line in 0..40 {
                    match line % 8 {
                        3 => println!("{thread} {}", "long ".repeat(line * 20)),
                        5 => eprintln!("{thread} failed at {line}"),
                        _ => println!("{thread} prints {line}"),
                    }
                }
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    print!("the end");
}

/// Prints the lines of a file that Reenact does not know of, among others.
fn file(path: &str) {
    println!("the first line");
    thread::spawn(|| eprintln!("a line of a thread"))
        .join()
        .unwrap();
    print!("{}", std::fs::read_to_string(path).unwrap());
    let lock = Mutex::new(0);
    *lock.lock().unwrap() += 1;
    println!("the last line");
}

/// Prints the lines of a file that Reenact does not know of, one by one. A thread of std could be why they come in the
/// order in which they do.
fn lines(path: &str) {
    std::thread::spawn(|| ()).join().unwrap();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        println!("{line}");
    }
    let lock = Mutex::new(0);
    *lock.lock().unwrap() += 1;
    println!("the last line");
}

/// Prints something, is killed, and would print more.
fn until_killed() {
    println!("so far");
    thread::spawn(|| eprintln!("so much")).join().unwrap();
    println!("ready");
    // Nothing of this is recorded.
    while setting("MORE", "no") == "no" {
        std::thread::yield_now();
    }
    println!("more than was recorded");
    wait_to_be_killed();
}

/// Two threads print more than a trace takes.
fn much() {
    let threads: Vec<_> = (0..2)
        .map(|thread| {
            thread::spawn(move || {
                for line in 0..40_000 {
                    println!("{thread} prints line {line:06} of a text that is much too long");
                }
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

/// Prints something after more than a trace takes.
fn much_else() {
    let line = "x".repeat(1023);
    (0..1100).for_each(|_| println!("{line}"));
    println!("{}", setting("TEXT", "first"));
}

/// Threads panic, one after the other.
fn panic() {
    for name in ["one", "two"] {
        let builder = thread::Builder::new().name(name.to_owned());
        let panics = builder.spawn(|| {
            let lock = Mutex::new(vec![1]);
            let index = lock.lock().unwrap().len();
            lock.lock().unwrap()[index]
        });
        panics.unwrap().join().unwrap_err();
    }
}

/// Prints where nobody reads.
fn broken() {
    if setting("BROKEN", "yes") == "yes" {
        // SAFETY: Plain calls of the C library, with an array of the right length.
        unsafe {
            let mut ends = [0; 2];
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            libc::close(ends[0]);
            libc::dup2(ends[1], 1);
        }
    }
    let result = writeln!(stdout(), "nobody reads this");
    let _ = writeln!(stderr(), "{result:?}");
}

/// Threads of the standard library print, each by its name.
fn unported() {
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            std::thread::Builder::new()
                .name(format!("unported-{thread}"))
                .spawn(move || (0..20).for_each(|line| println!("{thread} prints {line}")))
                .unwrap()
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

#[derive(Default)]
struct Printer;

#[actor]
impl Printer {
    pub(crate) fn say(&mut self, number: u32) {
        println!("{number}");
        if number.is_multiple_of(8) {
            eprintln!("eight more");
        }
    }

    pub(crate) fn end(&mut self) -> bool {
        true
    }
}

/// Actors print, whose messages are in no order.
fn actors() {
    let printers: Vec<_> = (0..4).map(|_| actor::spawn(Printer)).collect();
    for number in 0..100 {
        printers[number as usize % 4].say(number);
    }
    for printer in printers {
        assert!(printer.end().wait().unwrap());
    }
}
