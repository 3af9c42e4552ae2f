//! What a workload is: a name, and a function from a setting to a measurement.

use std::{panic, process};

use reenact::actor::System;

use crate::{Measured, Setting, cores::Cores};

/// A program to be measured.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// The name on the command line and, without its core count, in the results.
    pub name: &'static str,
    program: Program,
}

/// What a program runs on.
#[derive(Clone, Copy, Debug)]
enum Program {
    /// Threads that it starts itself.
    Threads(fn(&Setting) -> Measured),
    /// The workers of a system of actors, which it is given.
    Actors(fn(System, &Setting) -> Measured),
}

impl Workload {
    /// A program that starts its own threads.
    pub const fn threads(name: &'static str, run: fn(&Setting) -> Measured) -> Self {
        let program = Program::Threads(run);
        Self { name, program }
    }

    /// A program of actors.
    pub const fn actors(name: &'static str, run: fn(System, &Setting) -> Measured) -> Self {
        let program = Program::Actors(run);
        Self { name, program }
    }

    /// Runs the program once and checks its result.
    pub fn run(&self, setting: &Setting) -> Measured {
        match self.program {
            Program::Threads(run) => run(setting),
            Program::Actors(run) => {
                let system = System::new(setting.threads_or(Cores::All.count()));
                let measured = run(system, setting);
                system.shut_down();
                measured
            }
        }
    }
}

/// Ends the process when any thread panics. What a turn of an actor panics with is caught, and the others would wait
/// for that actor's messages for ever.
pub fn end_with_any_panic() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        report(panic);
        process::exit(101);
    }));
}
