//! The command `reenact`: records a program, replays the recording, shows what is in it; explores and debugs programs in
//! all their universes.
//!
//! What happens inside of the recorded program is the engine's business; the command starts that program with
//! the environment that tells the engine what to do, looks after the files, and says to the user how it went.
//! One module per command; what several of them need is in the modules below them.
//!
//! | module | responsible for |
//! |---|---|
//! | `args` | the command line and its help |
//! | `record`, `replay`, `trace`, `explore`, `debug`, `demo` | the commands |
//! | `files` | the files of a recording: places, completion, who still writes |
//! | `language` | from a file to a program that is explored or debugged; the only module that knows the languages |
//! | `rust_program` | a Rust program as such a language |
//! | `findings`, `universe` | what a search has found, how universes stand |
//! | `process` | starting a program, waiting for it, ending as it did |
//! | `signals` | being sent a signal, dying by one (the only `unsafe` code) |
//! | `error`, `report`, `suggest` | what can go wrong, how that and progress are shown, what somebody may have meant |

#![deny(unsafe_code)]

mod args;
mod debug;
mod demo;
mod error;
mod explore;
mod files;
mod findings;
mod language;
mod process;
mod record;
mod recording;
mod replay;
mod report;
mod rust_program;
mod signals;
mod suggest;
mod trace;
mod universe;

use std::{io::ErrorKind, process::ExitCode};

use clap::Parser;
use reenact_trace::Exit;

use crate::{
    args::{Args, Command},
    error::Failure,
};

/// Runs the command that the process was started with. Does not return if it ends by a signal.
pub fn main() -> ExitCode {
    report::install();
    let args = Args::parse();
    let result = match &args.command {
        Command::Record(args) => record::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Trace(args) => trace::run(args),
        Command::Explore(args) => explore::run(args),
        Command::Debug(args) => debug::run(args),
        Command::Demo(args) => demo::run(args.story),
        Command::DemoProgram(args) => demo::run_program(args),
    };
    let exit = result.unwrap_or_else(|failure| match failure {
        // Whoever reads our output has seen enough, as in `reenact trace show FILE | head`.
        Failure::Output(error) if error.kind() == ErrorKind::BrokenPipe => Exit::Status(0),
        failure => {
            let status = failure.status(&args.command);
            report::failure(failure);
            Exit::Status(status)
        }
    });
    process::follow(exit)
}
