//! `reenact demo`: shows what Reenact does, on programs that live in this binary.
//!
//! The demo is a sequence of acts. An act has a program with a bug, and uses the [`Stage`] to record it until it
//! fails, to replay the failure, and to show something about it. A new act is a module and a line in [`ACTS`]; its
//! program is a line in [`run_program`].

mod lanes;
mod overdraft;
mod stage;

use std::io::Write;

use anstyle::Style;
use reenact_trace::Exit;

use self::stage::Stage;
use crate::{args::DemoProgramArgs, error::Failure, signals};

/// A part of the demo.
struct Act {
    title: &'static str,
    play: fn(&Stage) -> Result<(), Failure>,
}

/// In the order in which they are played.
const ACTS: &[Act] = &[Act {
    title: "A bug that comes and goes",
    play: overdraft::play,
}];

const ENDING: &str = "\
On your own program: use reenact::{sync, thread} where it says std::{sync, thread}, and then

    reenact record -- ./your-program
    reenact replay your-program.reenact
";

pub(crate) fn run() -> Result<Exit, Failure> {
    signals::take_over();
    let stage = Stage::set()?;
    match play(&stage) {
        // Whatever an act ran into, the user ending the demo is the reason.
        _ if signals::received().is_some() => {
            let signal = signals::received().unwrap_or(libc::SIGINT);
            Ok(Exit::Signal(signal))
        }
        Ok(()) => Ok(Exit::Status(0)),
        Err(failure) => Err(failure),
    }
}

fn play(stage: &Stage) -> Result<(), Failure> {
    let bold = Style::new().bold();
    for act in ACTS {
        stage.say(format_args!("{bold}{}{bold:#}\n", act.title))?;
        (act.play)(stage)?;
    }
    stage.say(ENDING.trim_end())
}

/// Is one of the programs of the acts. Started by the demo, with recording or replay on.
pub(crate) fn run_program(args: &DemoProgramArgs) -> Result<Exit, Failure> {
    match args.name.as_str() {
        overdraft::PROGRAM => overdraft::program::main(args.work),
        name => {
            return Err(Failure::DemoBroken {
                what: format!("there is no program called {name}"),
            });
        }
    }
    // Its output is what the demo quotes.
    let _ = std::io::stdout().flush();
    Ok(Exit::Status(0))
}
