//! `reenact demo`: shows what Reenact does, on programs that live in this binary.
//!
//! The demo tells one of several stories. Each is an act that has a program with a bug, and uses the [`Stage`] to record
//! it until it fails, to replay the failure, and to show something about it. A new act is a module, a name in
//! [`Story`] and a line in [`Act::of`]; its program is a line in [`run_program`].

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

/// What a story is told by.
struct Act {
    title: &'static str,
    play: fn(&Stage) -> Result<(), Failure>,
    /// What to do next.
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
        // Whatever an act ran into, the user ending the demo is the reason.
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

/// Is one of the programs of the acts. Started by the demo, with recording or replay on.
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
    // Its output is what the demo quotes.
    let _ = std::io::stdout().flush();
    Ok(Exit::Status(0))
}
