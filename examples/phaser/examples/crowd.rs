//! A crowd that goes through phases: `crowd PARTY…`, and with `crowd` alone one that never stops.
//!
//! Each argument is a party. Its first letter says what it is, `t` a thread or `p` a process; the others are what it does,
//! one after the other:
//!
//! | letter | |
//! |---|---|
//! | `a` | arrives, without waiting |
//! | `w` | waits for the phase to be over |
//! | `b` | both |
//! | `l` | waits for the phase to be over, but not for long |
//! | `x` | leaves, and registers again |
//! | `c` | has a child, a process, which does what its parent still has to do, but for having children |
//!
//! ```text
//! $ cargo run --package phaser --example crowd tababl pbxbb tcbb
//! ```
//!
//! Whoever waits has arrived, so everybody gets to the end of every phase. In the end it prints what each party saw: the
//! phases at which it arrived, with a star where it was the last.

use std::{
    fmt::Write,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use phaser::{Party, Phaser};
use reenact::{csp, thread};

struct Guest {
    phaser: Phaser,
    party: Party,
    seen: String,
    children: Vec<csp::JoinHandle<String>>,
}

impl Guest {
    fn new(phaser: &Phaser) -> Guest {
        Guest {
            phaser: phaser.clone(),
            party: phaser.register(),
            seen: String::new(),
            children: Vec::new(),
        }
    }

    /// Does what the letters say. Returns what it saw, and what its children saw.
    fn act(mut self, script: &str) -> String {
        for (done, letter) in script.char_indices() {
            match letter {
                'a' => self.arrive(),
                'w' => self.party.wait(),
                'b' => {
                    self.arrive();
                    self.party.wait();
                }
                'l' => {
                    let is_over = self.party.wait_timeout(Duration::from_micros(30));
                    self.seen.push_str(if is_over { "" } else { "late " });
                }
                'x' => {
                    drop(self.party);
                    self.party = self.phaser.register();
                    self.note("again");
                }
                'c' => {
                    let child = Guest::new(&self.phaser);
                    let script = script[done..].replace('c', "");
                    self.children.push(csp::spawn(move || child.act(&script)));
                }
                _ => panic!("there is no {letter}"),
            }
        }
        self.note("left");
        // Children are not waited for by one for whom they wait.
        drop(self.party);
        for child in self.children {
            let seen = child.join().expect("nobody panics");
            write!(self.seen, "({seen})").expect("a string");
        }
        self.seen
    }

    fn arrive(&mut self) {
        let is_last = self.party.arrive();
        let phase = self.party.phase() - 1;
        let star = if is_last { "*" } else { "" };
        self.note(&format!("{phase}{star}"));
    }

    fn note(&mut self, what: &str) {
        self.seen.push_str(what);
        self.seen.push(' ');
    }
}

fn main() {
    let parties: Vec<String> = std::env::args().skip(1).collect();
    if parties.is_empty() {
        never_stop();
    }
    // Not recorded, as it need not be: actions of a phaser are run one after the other.
    let together = Arc::new(AtomicUsize::new(0));
    let sum = Arc::clone(&together);
    let phaser = Phaser::with_action(move |phase, parties| {
        sum.fetch_add(phase as usize * parties, Relaxed);
    });
    // All are there before the first begins.
    let guests: Vec<_> = parties.iter().map(|_| Guest::new(&phaser)).collect();
    let (mut threads, mut processes) = (Vec::new(), Vec::new());
    for (guest, script) in guests.into_iter().zip(parties) {
        match script.split_at(1) {
            ("t", script) => {
                let script = script.to_owned();
                threads.push(thread::spawn(move || guest.act(&script)));
            }
            (_, script) => {
                let script = script.to_owned();
                processes.push(csp::spawn(move || guest.act(&script)));
            }
        }
    }
    for thread in threads {
        println!("thread: {}", thread.join().expect("nobody panics"));
    }
    for process in processes {
        println!("process: {}", process.join().expect("nobody panics"));
    }
    println!("{} in all phases together", together.load(Relaxed));
}

/// Four parties that leave and come again. Who arrives last says so, and nobody arrives at the next phase before that.
fn never_stop() -> ! {
    let phaser = Phaser::with_action(|phase, parties| println!("phase {phase} of {parties}"));
    let guests: Vec<_> = (0..4).map(|me| (me, Guest::new(&phaser))).collect();
    let go_on = |(me, mut guest): (u64, Guest)| {
        loop {
            if guest.party.arrive() {
                println!("{me} was the last");
            }
            guest.party.wait();
            if guest.party.phase() % 3 == me % 3 {
                drop(guest.party);
                guest.party = guest.phaser.register();
            }
        }
    };
    for guest in guests {
        if guest.0 % 2 == 0 {
            thread::spawn(move || go_on(guest));
        } else {
            csp::spawn(move || go_on(guest));
        }
    }
    loop {
        thread::park();
    }
}
