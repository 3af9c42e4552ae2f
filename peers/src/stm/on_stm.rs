//! The programs on the crate `stm`.

use std::thread;

use ::stm::{StmResult, TVar, Transaction, atomically};

#[path = "../../../crates/reenact-bench/src/stm/programs/table.rs"]
mod table;

pub(crate) use table::run;
