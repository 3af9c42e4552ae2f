//! `reenact demo`: shows what Reenact does, on programs that are part of this binary.
//!
//! The demo has several stories. Each is an act: a program with a bug, and a function that uses the [`Stage`] to record
//! the program until it fails, replay the failure and explain it. To add an act, write a module, add a name to
//! [`Story`] and a line to [`Act::of`], and add its program to [`run_program`].

mod interleaving;
mod lanes;
mod listing;
mod overdraft;
mod stage;

use std::io::Write;

use anstyle::Style;
use reenact_trace::Exit;

use self::stage::Stage;
use crate::{
    args::{DemoProgramArgs, Story},
    error::Failure,
    signals,
};

/// How a story is played.
struct Act {
    title: &'static str,
    play: fn(&Stage) -> Result<(), Failure>,
    /// Printed at the end: what the user can do next.
    ending: &'static str,
}

impl Act {
    fn of(story: Story) -> Act {
        match story {
            Story::Threads => Act {
                title: "A bug that comes and goes",
                play: overdraft::play,
                ending: "\
On your own program: use reenact::{sync, thread} where it says std::{sync, thread}, and then

    reenact record -- ./your-program
    reenact replay your-program.reenact

If it is made of actors, or should be: reenact demo actors",
            },
            Story::Actors => Act {
                title: "A message that comes in between",
                play: interleaving::play,
                ending: "\
On your own program: write actors with #[reenact::actor] (docs/actors.md has them in ten minutes), and then

    reenact record -- ./your-program
    reenact replay your-program.reenact",
            },
        }
    }
}

pub(crate) fn run(story: Story) -> Result<Exit, Failure> {
    signals::take_over();
    let stage = Stage::set()?;
    match play(&Act::of(story), &stage) {
        // If the user has interrupted the demo, that is the reason for whatever error the act returned.
        _ if signals::received().is_some() => {
            let signal = signals::received().unwrap_or(libc::SIGINT);
            Ok(Exit::Signal(signal))
        }
        Ok(()) => Ok(Exit::Status(0)),
        Err(failure) => Err(failure),
    }
}

fn play(act: &Act, stage: &Stage) -> Result<(), Failure> {
    let bold = Style::new().bold();
    stage.say(format_args!("{bold}{}{bold:#}\n", act.title))?;
    (act.play)(stage)?;
    stage.say(act.ending)
}

/// Runs one of the programs of the acts. The demo starts this process, with recording or replay enabled.
pub(crate) fn run_program(args: &DemoProgramArgs) -> Result<Exit, Failure> {
    match args.name.as_str() {
        overdraft::PROGRAM => overdraft::program::main(args.work),
        interleaving::PROGRAM => interleaving::program::main(args.work),
        name => {
            return Err(Failure::DemoBroken {
                what: format!("there is no program called {name}"),
            });
        }
    }
    // The demo quotes this output.
    let _ = std::io::stdout().flush();
    Ok(Exit::Status(0))
}
