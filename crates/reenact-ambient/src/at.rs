//! Featherweight AmbientTalk.

pub mod ast;
mod lexer;
mod parser;

pub use self::parser::parse;
