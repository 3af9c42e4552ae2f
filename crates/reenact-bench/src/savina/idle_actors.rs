//! A million actors that have had a message each and have nothing more to do: what an actor takes in memory.
//!
//! What is measured is how much more memory is resident with them than without, a far reference for each included. They
//! are made a thousand at a time, so that what is there in the end is actors and not messages.

use std::{fs, io};

use reenact::actor::{FarRef, System};

use crate::{Measured, Setting};

const ACTORS: u64 = 1_000_000;
const AT_A_TIME: u64 = 1_000;

pub(super) fn run(system: System, setting: &Setting) -> Measured {
    let batches = setting.times(ACTORS / AT_A_TIME);
    let before = resident_bytes().expect("the system says how much memory a process has");
    let mut actors: Vec<FarRef<Idle>> = Vec::new();
    let measured = Measured::around(|| {
        for _ in 0..batches {
            for _ in 0..AT_A_TIME {
                let actor = system.spawn(Idle { messages: 0 });
                actor.message();
                actors.push(actor);
            }
            system.wait_until_idle();
        }
        batches * AT_A_TIME
    });
    let after = resident_bytes().expect("it did before");
    for actor in [&actors[0], &actors[actors.len() - 1]] {
        assert_eq!(actor.messages().wait().unwrap(), 1);
    }
    Measured {
        rss_bytes: Some(after.saturating_sub(before)),
        ..measured
    }
}

/// How much memory of this process is resident.
fn resident_bytes() -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes
        .map(|kibibytes| kibibytes * 1024)
        .ok_or_else(|| io::Error::other("/proc/self/status does not say VmRSS"))
}

struct Idle {
    messages: u64,
}

#[reenact::actor]
impl Idle {
    pub(super) fn message(&mut self) {
        self.messages += 1;
    }

    pub(super) fn messages(&self) -> u64 {
        self.messages
    }
}
