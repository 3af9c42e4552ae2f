//! Behaviours: functions that each check one property of a library. Tests run them under the test harness; a program runs
//! them by name, so that they can be recorded and replayed.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Functions and their names.
pub type Behaviours = &'static [(&'static str, fn())];

/// Lists functions with their names.
#[macro_export]
macro_rules! behaviours {
    ($($function:ident),* $(,)?) => { &[$((stringify!($function), $function as fn())),*] };
}

/// The program `selfcheck`: runs the behaviours, all or those that its arguments name. Returns whether it is asked for.
pub fn selfcheck(modules: &[(&str, Behaviours)], program: &str, arguments: &[String]) -> bool {
    let is_asked_for = program == "selfcheck";
    if is_asked_for {
        run(modules, arguments);
    }
    is_asked_for
}

/// Runs the behaviours of all modules, or those with one of the names `wanted`, and prints how each went. Ends the process
/// if one fails.
fn run(modules: &[(&str, Behaviours)], wanted: &[String]) {
    std::panic::set_hook(Box::new(|_| {}));
    let mut failed = false;
    for (module, behaviours) in modules {
        for (name, behaviour) in *behaviours {
            if !wanted.is_empty() && !wanted.iter().any(|wanted| wanted == name) {
                continue;
            }
            match catch_unwind(behaviour) {
                Ok(()) => println!("{module}::{name}"),
                Err(panic) => {
                    println!("{module}::{name} FAILED: {}", message_of(&*panic));
                    failed = true;
                }
            }
        }
    }
    if failed {
        std::process::exit(1);
    }
}

/// Returns the message of a panic.
pub fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()))
        .expect("a panic with a message")
}

/// Returns the message of the panic with which `body` ends.
pub fn panic_of<T>(body: impl FnOnce() -> T) -> String {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(_) => panic!("it did not panic"),
        Err(panic) => message_of(&*panic),
    }
}
