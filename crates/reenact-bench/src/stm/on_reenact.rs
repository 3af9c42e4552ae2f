//! The programs, compiled against Reenact.

use reenact::{
    stm::{StmResult, TVar, Transaction, atomically},
    thread,
};

#[path = "programs/table.rs"]
mod table;

pub(crate) use table::run;
