//! The command `reenact`: records a program, replays the recording, shows what is in it; explores and debugs programs in
//! all their universes.
//!
//! The engine records, replays and explores inside the program. The command starts the program with the environment
//! variables that configure the engine, manages the files, and reports the result to the user. There is one module per
//! command; the modules that several commands share are listed after them.
//!
//! | module | responsible for |
//! |---|---|
//! | `args` | the command line and its help |
//! | `record`, `replay`, `refine`, `trace`, `explore`, `debug`, `demo` | the commands |
//! | `files` | the files of a recording: where they are, how they are completed, whether a process still writes them |
//! | `language` | turns a file into a program to explore or debug; the only module that knows the languages |
//! | `rust_program` | a Rust program as such a language |
//! | `findings`, `universe` | printing what a search has found and where the universes have stopped |
//! | `process` | starting a program, waiting for it, exiting the way it did |
//! | `signals` | receiving signals, dying by one (the only `unsafe` code) |
//! | `trust` | whether the program of a recording may be started |
//! | `screen` | what the command prints: nothing in it controls a terminal |
//! | `lanes` | draws which activity did what in which order |
//! | `error`, `report`, `suggest` | errors, how errors and progress are printed, suggestions for misspelled names |

#![deny(unsafe_code)]

mod args;
mod debug;
mod demo;
mod error;
mod explore;
mod files;
mod findings;
mod lanes;
mod language;
mod process;
mod record;
mod recorded_path;
mod refine;
mod replay;
mod report;
mod rust_program;
mod screen;
mod signals;
mod suggest;
mod trace;
mod trust;
mod universe;
mod unrecorded;

use std::{io::ErrorKind, process::ExitCode};

use clap::Parser;
use reenact_trace::Exit;

use crate::{
    args::{Args, Subcommand},
    error::Error,
};

/// Runs the command that the process was started with. Does not return if it ends by a signal.
pub fn main() -> ExitCode {
    let args = Args::parse();
    let result = match &args.command {
        Subcommand::Record(args) => record::run(args),
        Subcommand::Replay(args) => replay::run(args),
        Subcommand::Refine(args) => refine::run(args),
        Subcommand::Trace(args) => trace::run(args),
        Subcommand::Explore(args) => explore::run(args),
        Subcommand::Debug(args) => debug::run(args),
        Subcommand::Demo(args) => demo::run(args.name),
        Subcommand::DemoProgram(args) => demo::run_program(args),
    };
    let exit = result.unwrap_or_else(|error| match error {
        // The reader of our output has closed the pipe, as in `reenact trace show FILE | head`.
        Error::Output(error) if error.kind() == ErrorKind::BrokenPipe => Exit::Status(0),
        error => {
            let status = error.status(&args.command);
            report::error(error);
            Exit::Status(status)
        }
    });
    process::follow(exit)
}
