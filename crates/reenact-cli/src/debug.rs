//! `reenact debug`: a session in a terminal, over all universes of a program at once.
//!
//! The session and its catalogue of breakpoints and steps do the work; this module reads commands and prints the
//! answers. It does not depend on any language.
//!
//! | module | responsible for |
//! |---|---|
//! | `command` | the commands and their help |
//! | `words` | splitting a line into words |
//! | `input` | reading lines from a terminal or a script |
//! | `completion` | completion with the Tab key |
//! | `console` | executing a line |
//! | `listing` | the source of the program, marked with breakpoints and activities |

mod command;
mod completion;
mod console;
mod input;
mod listing;
mod words;

use std::{
    io::{IsTerminal, Write},
    num::NonZeroUsize,
};

use reenact_ambient::Source;
use reenact_multiverse::{Limits, Semantics, Session};
use reenact_trace::Exit;

use self::{
    console::{Console, Next},
    input::{Input, Line},
};
use crate::{
    args::DebugArgs,
    error::Failure,
    explore::MAX_STATES_IN_DEBUGGER,
    language::{self, Steps, Task},
    recording::{Recording, Replayed},
    report::{self, counted},
    rust_program::Start,
    signals,
    universe::BAD,
};

pub(crate) fn run(args: &DebugArgs) -> Result<Exit, Failure> {
    let steps = match args.single_step {
        true => Steps::Single,
        false => Steps::Large,
    };
    let Some(file) = &args.file else {
        let start = Start {
            command: &args.command,
            unlocks: args.unlocks,
            recording: None,
        };
        return language::start(&start, Debug { args })?;
    };
    if file.extension().is_some_and(|end| end == "reenact") {
        let recording = match Recording::replay(file, false, &[])? {
            Replayed::Recording(recording) => recording,
            Replayed::Interrupted(exit) => return Ok(exit),
        };
        let start = Start {
            command: &[],
            unlocks: args.unlocks,
            recording: Some(&recording),
        };
        return language::start(&start, Debug { args })?;
    }
    language::open(file, steps, Debug { args })?
}

struct Debug<'a> {
    args: &'a DebugArgs,
}

impl Task for Debug<'_> {
    type Output = Result<Exit, Failure>;

    fn run<S: Semantics>(self, language: S, source: &Source) -> Self::Output {
        let limits = Limits {
            states: self
                .args
                .bounds
                .max_states
                .map_or(MAX_STATES_IN_DEBUGGER, NonZeroUsize::get),
            time: self.args.bounds.max_time,
        };
        let mut session = Session::new(language, limits);
        let is_terminal = std::io::stdin().is_terminal();
        if is_terminal {
            // An interrupt ends a script, but gives a person at a terminal the prompt back.
            signals::make_interruptible();
            session.interrupt_when(signals::is_interrupted);
        }
        let mut console = Console::new(session, source.clone(), self.args.bounds);
        let input = match is_terminal {
            true => Input::terminal()?,
            false => Input::script(),
        };
        console.begin(&mut anstream::stdout())?;
        converse(&mut console, input)
    }
}

/// Reads and executes commands until the input ends or a command quits.
fn converse<S: Semantics>(console: &mut Console<S>, mut input: Input) -> Result<Exit, Failure> {
    let mut out = anstream::stdout();
    let is_script = input.is_script();
    if !is_script {
        let name = console.source().name();
        writeln!(
            out,
            "{name} is loaded. To run it, type: run. For help, type: help"
        )
        .map_err(Failure::Output)?;
    }
    let mut failed: Vec<usize> = Vec::new();
    while let Some(Line { number, text }) = input.next(console)? {
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if is_script {
            writeln!(out, "> {text}").map_err(Failure::Output)?;
        }
        signals::forget_interrupt();
        // The output of a command is buffered, so that it is never printed in part.
        let mut said = Vec::new();
        let next = console.obey(&text, &mut said);
        out.write_all(&said).map_err(Failure::Output)?;
        let next = next.unwrap_or_else(|refusal| {
            failed.push(number);
            let place = match is_script {
                true => format!(" in line {number}"),
                false => String::new(),
            };
            let mut lines = refusal.lines();
            let first = lines.next().unwrap_or_default();
            let _ = writeln!(out, "{BAD}error{place}:{BAD:#} {first}");
            for line in lines {
                let _ = writeln!(out, "{line}");
            }
            Next::GoOn
        });
        if signals::is_interrupted() {
            writeln!(out, "interrupted").map_err(Failure::Output)?;
        }
        if is_script {
            writeln!(out).map_err(Failure::Output)?;
        }
        out.flush().map_err(Failure::Output)?;
        if next == Next::Quit {
            break;
        }
    }
    match failed.first() {
        Some(first) if is_script => {
            let count = counted(failed.len() as u64, "command", "commands");
            let verb = if failed.len() == 1 {
                "in"
            } else {
                "the first in"
            };
            report::note(format_args!("{count} failed, {verb} line {first}"));
            Ok(Exit::Status(1))
        }
        _ => Ok(Exit::Status(0)),
    }
}
