//! Two base languages for multiverse debugging.
//!
//! - [`amb`]: λ_amb, numbers and choices. It is the smallest nondeterministic language, and an example of a
//!   [`Semantics`](reenact_multiverse::Semantics).
//! - [`at`]: Featherweight AmbientTalk, actors that communicate by messages and futures.
//!
//! Neither has side effects outside the debugger: a program is text, and a run consists of steps of the semantics.

#![forbid(unsafe_code)]

pub mod amb;
pub mod at;
mod source;

pub use self::source::{Source, Span, SyntaxError};
