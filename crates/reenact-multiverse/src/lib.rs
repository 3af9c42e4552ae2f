//! Every universe that a program can reach.
//!
//! A program that is not deterministic has more than one way to go. A *universe* is a state it can be in, the
//! *multiverse* the graph of all of them. This crate knows how to walk that graph and how to debug in it, and nothing of
//! any language: a base language says what its states and steps are by implementing [`Semantics`], and gets
//!
//! - the [search](Search) and the [graph](Graph) it makes: ends, deadlocks, livelocks, shortest paths;
//! - a [debugger](Debugger), whose breakpoints and steps hold in all universes at once;
//! - a [session](Session), which is what a terminal or a page needs to drive it.
//!
//! It runs nothing: no thread of the program, no recording. What is debugged here is a semantics.

#![forbid(unsafe_code)]

mod breakpoint;
mod catalogue;
mod debugger;
pub mod explore;
mod expression;
mod graph;
mod non_interference;
mod observation;
mod operation;
mod picture;
mod search;
mod semantics;
mod session;
mod syntax;
mod temporal;

pub use self::{
    breakpoint::{Breakpoint, Pattern, Place, What},
    catalogue::{
        ActivityKind, BreakpointKind, Freeing, Goal, OperationKind, StepKind, Whose,
        all_breakpoints, all_steps, breakpoint, breakpoints, step, steps,
    },
    debugger::{
        ActivityState, Breakpoints, Cause, Command, CommandError, Configuration, Debugger,
        Granularity, Mode, Point, Rule, Standing, Target,
    },
    expression::Expression,
    graph::{
        Edge, Graph, Kind, Livelock, NodeId, Outcome, Outcomes, Path, Story, StoryLine, Summary,
        SummaryEdge, SummaryNode, SummaryOutcome, Ways,
    },
    non_interference::{Checked, check_non_interference},
    observation::{Difference, Observation},
    operation::{Operation, Site},
    search::{Bound, Bounds, Coverage, Keep, Order, Progress, Reduction, Search},
    semantics::{Activity, Ending, Marked, Semantics, Wait},
    session::{
        Choices, Event, Found, Group, How, Limits, Nearest, Numbers, Session, SessionError,
        Standings, Stop, Universes, Who,
    },
    syntax::SyntaxError,
    temporal::Temporal,
};
