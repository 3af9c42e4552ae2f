//! The built command, run as a user runs it.

mod demo;
mod errors;
mod help;
mod outside;
mod program;
mod record;
mod replay;
mod run;
mod trace;
