//! Featherweight AmbientTalk: actors with objects, messages and futures.
//!
//! [`Program::new`] compiles a text to a program, which is a [`Semantics`](reenact_multiverse::Semantics).
//!
//! ```
//! use reenact_ambient::{Source, at::Program};
//! use reenact_multiverse::Semantics;
//!
//! let program = Program::new(Source::new("answer.at", "def answer := 6 * 7")).unwrap();
//! let [start] = &program.initial()[..] else { panic!("a program starts in one way") };
//! let [step] = &program.steps(start)[..] else { panic!("only main runs") };
//! let end = program.take(start, step);
//! assert_eq!(program.ending(&end).outcome, ["main.answer = 42"]);
//! ```

mod actor;
pub mod ast;
mod canonical;
mod code;
mod compile;
mod exchange;
mod lexer;
mod machine;
mod parser;
mod program;
mod show;
mod state;
mod tables;
mod value;

pub use self::{
    machine::Rule,
    parser::parse,
    program::{Program, Step},
    state::State,
};
