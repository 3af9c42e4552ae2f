//! What several test suites share: running programs of `examples`, and checks that the programs of every model have to pass.

#![allow(dead_code, reason = "no suite uses all of it")]

pub(crate) mod acknowledged;
pub(crate) mod checks;
pub(crate) mod machine;
pub(crate) mod recording;
pub(crate) mod stage;
