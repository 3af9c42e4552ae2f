//! The programs on the crate `fast-stm`.

use std::thread;

use fast_stm::{StmClosureResult as StmResult, TVar, Transaction, atomically};

#[allow(
    clippy::duplicate_mod,
    reason = "compiling the same source against every library is the comparison"
)]
#[path = "../../../crates/reenact-bench/src/stm/programs/table.rs"]
mod table;

pub(crate) use table::run;
