//! `reenact demo`: shows what Reenact does, on programs that are part of this binary.
//!
//! There are several demos. Each has a program with a bug, and a function that uses the [`DemoRunner`] to record
//! the program until it fails, replay the failure and explain it. To add a demo, write a module, add a name to
//! [`DemoName`] and a line to [`Demo::of`], and add its program to [`run_program`].

mod interleaving;
mod listing;
mod overdraft;
mod runner;

use std::io::Write;

use anstyle::Style;
use reenact_trace::Exit;

use self::runner::DemoRunner;
use crate::{
    args::{DemoName, DemoProgramArgs},
    error::Error,
    signals,
};

/// A program with an ordering bug, and what is shown of it.
struct Demo {
    title: &'static str,
    run: fn(&DemoRunner) -> Result<(), Error>,
    /// Printed at the end: what the user can do next.
    ending: &'static str,
}

impl Demo {
    fn of(name: DemoName) -> Demo {
        match name {
            DemoName::Threads => Demo {
                title: "A bug that comes and goes",
                run: overdraft::run,
                ending: "\
On your own program: use reenact::{sync, thread} where it says std::{sync, thread}, and then

    reenact record -- ./your-program
    reenact replay your-program.reenact

If it is made of actors, or should be: reenact demo actors",
            },
            DemoName::Actors => Demo {
                title: "A message that comes in between",
                run: interleaving::run,
                ending: "\
On your own program: write actors with #[reenact::actor] (docs/actors.md has them in ten minutes), and then

    reenact record -- ./your-program
    reenact replay your-program.reenact",
            },
        }
    }
}

pub(crate) fn run(name: DemoName) -> Result<Exit, Error> {
    signals::take_over();
    let runner = DemoRunner::new()?;
    match show(&Demo::of(name), &runner) {
        // If the user has interrupted the demo, that is the reason for whatever error the demo returned.
        _ if signals::received().is_some() => {
            let signal = signals::received().unwrap_or(libc::SIGINT);
            Ok(Exit::Signal(signal))
        }
        Ok(()) => Ok(Exit::Status(0)),
        Err(error) => Err(error),
    }
}

fn show(demo: &Demo, runner: &DemoRunner) -> Result<(), Error> {
    let bold = Style::new().bold();
    runner.print(format_args!("{bold}{}{bold:#}\n", demo.title))?;
    (demo.run)(runner)?;
    runner.print(demo.ending)
}

/// Runs one of the programs of the demos. The demo starts this process, with recording or replay enabled.
pub(crate) fn run_program(args: &DemoProgramArgs) -> Result<Exit, Error> {
    match args.name.as_str() {
        overdraft::PROGRAM => overdraft::program::main(args.work),
        interleaving::PROGRAM => interleaving::program::main(args.work),
        name => {
            return Err(Error::DemoBroken {
                what: format!("there is no program called {name}"),
            });
        }
    }
    // The demo quotes this output.
    let _ = std::io::stdout().flush();
    Ok(Exit::Status(0))
}
