//! The built command, run as a user runs it.

mod debug;
mod debug_program;
mod demo;
mod environment;
mod errors;
mod explore;
mod explore_program;
mod help;
mod outside;
mod program;
mod record;
mod recordings;
mod refine;
mod replay;
mod run;
mod sites;
mod strangers;
mod terminal;
mod trace;
mod trust;
mod uncontrolled;
mod unrecorded;
mod without_explore;
