//! `programs selfcheck`: reenact behaves as std does, where it is recorded or replayed too.

#[path = "behaviour/all.rs"]
mod behaviour;

/// Whom the behaviours are of.
use reenact as subject;

use crate::workers::panic_quietly;

/// Runs the program of this name, if it is one of these.
pub(crate) fn run(name: &str, _arguments: &[String]) -> bool {
    if name != "selfcheck" {
        return false;
    }
    panic_quietly();
    let mut failed = false;
    for (module, behaviours) in behaviour::ALL {
        for (name, behaviour) in *behaviours {
            match std::panic::catch_unwind(behaviour) {
                Ok(()) => println!("{module}::{name}"),
                Err(panic) => {
                    println!("{module}::{name} FAILED: {}", behaviour::message_of(panic));
                    failed = true;
                }
            }
        }
    }
    if failed {
        std::process::exit(1);
    }
    true
}
