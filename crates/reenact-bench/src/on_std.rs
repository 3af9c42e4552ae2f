//! The workloads, compiled against the standard library.

use std::{sync, thread};

#[path = "workloads/table.rs"]
mod table;

pub use table::{WORKLOADS, warm_up};
