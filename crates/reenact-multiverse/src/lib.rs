//! Explores and debugs every universe that a program can reach.
//!
//! A nondeterministic program can continue in more than one way. A *universe* is a state it can be in, the *multiverse*
//! the graph of all of them. This crate searches that graph and debugs in it, and knows no language: a base language
//! defines its states and steps by implementing [`Semantics`], and gets
//!
//! - the [search](Search) and the resulting [graph](Graph): ends, deadlocks, livelocks, shortest paths;
//! - a [debugger](Debugger), whose breakpoints and steps apply in all universes at once;
//! - a [session](Session), which a terminal or a web page needs to drive it.
//!
//! It runs nothing: no thread of the program, no recording. It debugs a semantics.

#![forbid(unsafe_code)]

mod breakpoint;
mod catalogue;
mod debugger;
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
    breakpoint::{Breakpoint, Pattern, PatternKind, What},
    catalogue::{
        ActivityKind, BreakpointKind, Freeing, Goal, StepKind, Whose, all_breakpoints, all_steps,
        breakpoint, breakpoints, step, steps,
    },
    debugger::{
        ActivityRecord, ActivityState, Breakpoints, CommandError, Configuration, Debugger,
        DebuggerCommand, DebuggerMode, PauseCause, Point, RequestedStep, Rule, StepSize,
    },
    expression::Expression,
    graph::{
        Edge, Graph, Livelock, NodeId, NodeKind, Outcome, Outcomes, Path, Story, StoryLine,
        SummaryEdge, SummaryNode, SummaryOutcome, Ways,
    },
    non_interference::{Checked, check_non_interference},
    observation::{Difference, Observation},
    operation::{Operation, Site},
    search::{Bound, Bounds, Coverage, Keep, Order, Reduction, Search, SearchProgress},
    semantics::{Ending, Marked, Semantics, Wait},
    session::{
        Choices, FoundStates, Group, Limits, Nearest, Numbers, Overview, PathEvent, Session,
        SessionError, StoppedActivity, UniverseStatus, Universes, Who,
    },
    syntax::SyntaxError,
    temporal::Temporal,
};
pub use reenact_explore::{Activity, OperationKind};
