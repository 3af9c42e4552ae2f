//! `reenact debug`: a session in a terminal, over all universes of a program at once.
//!
//! The session and its catalogue of breakpoints and steps do the work; this module reads commands and prints the
//! answers. It does not depend on any language.
//!
//! | module | responsible for |
//! |---|---|
//! | `command` | the commands and their help |
//! | `line` | splitting a line into words |
//! | `input` | reading lines from a terminal or a script |
//! | `completion` | completion with the Tab key |
//! | `console` | executing a line |
//! | `listing` | the source of the program, marked with breakpoints and activities |

mod command;
mod completion;
mod console;
mod input;
mod line;
mod listing;

use std::{
    io::{IsTerminal, Write},
    ops::ControlFlow,
};

use reenact_ambient::Source;
use reenact_multiverse::{Semantics, Session};
use reenact_trace::Exit;

use self::{
    console::Console,
    input::{Input, InputLine},
};
use crate::{
    args::DebugArgs,
    error::Error,
    language::{self, LanguageTask},
    recorded_path::{RecordedPath, Replayed},
    report::{self, counted},
    rust_program::Start,
    screen, signals,
    universe::BAD,
};

pub(crate) fn run(args: &DebugArgs) -> Result<Exit, Error> {
    let Some(file) = &args.file else {
        let start = Start {
            command: &args.command,
            unlocks: args.unlocks,
            spurious_wakeups: args.spurious_wakeups.unwrap_or(0),
            recording: None,
        };
        return language::start(&start, Debug { args })?;
    };
    if file.extension().is_some_and(|end| end == "reenact") {
        let recording = match RecordedPath::replay(file, false, &[], args.trust)? {
            Replayed::RecordedPath(recording) => recording,
            Replayed::Interrupted(exit) => return Ok(exit),
        };
        let start = Start {
            command: &[],
            unlocks: args.unlocks,
            spurious_wakeups: args.spurious_wakeups.unwrap_or(0),
            recording: Some(&*recording),
        };
        return language::start(&start, Debug { args })?;
    }
    language::open(file, args.single_step, Debug { args })?
}

struct Debug<'a> {
    args: &'a DebugArgs,
}

impl LanguageTask for Debug<'_> {
    type Output = Result<Exit, Error>;

    fn run<S: Semantics>(self, language: S, source: &Source) -> Self::Output {
        let mut session = Session::new(language, self.args.bounds.limits());
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
        console.begin(&mut screen::stdout())?;
        run_commands(&mut console, input)
    }
}

/// Reads and executes commands until the input ends or a command quits.
fn run_commands<S: Semantics>(console: &mut Console<S>, mut input: Input) -> Result<Exit, Error> {
    let mut out = screen::stdout();
    let is_script = input.is_script();
    if !is_script {
        let name = console.source().name();
        writeln!(
            out,
            "{name} is loaded. To run it, type: run. For help, type: help"
        )
        .map_err(Error::Output)?;
    }
    let mut failed: Vec<usize> = Vec::new();
    while let Some(InputLine { number, text }) = input.next(console)? {
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if is_script {
            writeln!(out, "> {text}").map_err(Error::Output)?;
        }
        signals::forget_interrupt();
        // The output of a command is buffered, so that it is never printed in part.
        let mut output = Vec::new();
        let next = console.execute(&text, &mut output);
        out.write_all(&output).map_err(Error::Output)?;
        let next = next.unwrap_or_else(|refusal| {
            failed.push(number);
            let place = match is_script {
                true => format!(" in line {number}"),
                false => String::new(),
            };
            let refusal = refusal.to_string();
            let mut lines = refusal.lines();
            let first = lines.next().unwrap_or_default();
            let _ = writeln!(out, "{BAD}error{place}:{BAD:#} {first}");
            for line in lines {
                let _ = writeln!(out, "{line}");
            }
            ControlFlow::Continue(())
        });
        if signals::is_interrupted() {
            writeln!(out, "interrupted").map_err(Error::Output)?;
        }
        if is_script {
            writeln!(out).map_err(Error::Output)?;
        }
        out.flush().map_err(Error::Output)?;
        if next.is_break() {
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
