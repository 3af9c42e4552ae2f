//! `programs csp selfcheck [NAME…]`: processes and channels behave as they should where they are recorded or replayed.

#[path = "behaviour/all.rs"]
mod behaviour;

use crate::workers::panic_quietly;

/// Runs all behaviours, or those of these names.
pub(super) fn run(name: &str, arguments: &[String]) -> bool {
    if name != "selfcheck" {
        return false;
    }
    panic_quietly();
    let mut failed = false;
    let behaviours = behaviour::ALL
        .iter()
        .flat_map(|(module, behaviours)| behaviours.iter().map(move |of_it| (module, of_it)));
    for (module, (name, behaviour)) in behaviours {
        if !arguments.is_empty() && !arguments.iter().any(|wanted| wanted == name) {
            continue;
        }
        if std::env::var_os("TELL").is_some() {
            eprintln!("{module}::{name}");
        }
        match std::panic::catch_unwind(behaviour) {
            Ok(()) => println!("{module}::{name}"),
            Err(panic) => {
                println!("{module}::{name} FAILED: {}", behaviour::message_of(panic));
                failed = true;
            }
        }
    }
    if failed {
        std::process::exit(1);
    }
    true
}
