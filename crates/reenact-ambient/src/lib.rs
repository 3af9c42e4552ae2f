//! Two base languages for multiverse debugging.
//!
//! - [`amb`]: λ_amb, numbers and choices. It is as small as a language can be that has more than one way to go, and it
//!   shows what a [`Semantics`](reenact_multiverse::Semantics) is.
//! - [`at`]: Featherweight AmbientTalk, actors that communicate by messages and futures.
//!
//! Neither executes anything outside: a program is text, and a run is steps of the semantics.

#![forbid(unsafe_code)]

pub mod amb;
pub mod at;
mod source;

pub use self::source::{Source, Span, SyntaxError};
