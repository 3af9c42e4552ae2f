//! Featherweight AmbientTalk.

pub mod ast;
