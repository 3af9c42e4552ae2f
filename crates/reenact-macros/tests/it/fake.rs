//! A runtime in one file, for `#[actor(crate = crate::fake)]`.

pub mod actor;
