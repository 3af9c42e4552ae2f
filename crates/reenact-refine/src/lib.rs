//! Refinement: plans what a replay looks at from the debug information of the recorded executable, and decodes what it
//! saw.
//!
//! The replayed process places breakpoints in its own code and copies registers and memory there
//! ([`reenact_engine::probes`]). It knows nothing of functions, types or variables. This crate does: it finds functions
//! in the executable, decides where to stop and what to copy, and turns the copies into values as `{:?}` shows them. So
//! any recorded executable can be looked at as it is.

#![forbid(unsafe_op_in_unsafe_fn)]

mod calls;
mod capture;
mod code;
mod executable;
mod functions;
mod location;
mod result;
mod show;
mod types;

pub use calls::{Call, CallPlan, Outcome, PlanError};
pub use executable::{Executable, ExecutableError, ExecutableFile};
