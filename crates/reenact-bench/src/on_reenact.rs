//! The workloads, compiled against Reenact. What differs from [`crate::on_std`] is the import.

use reenact::{sync, thread};

#[allow(
    clippy::duplicate_mod,
    reason = "compiling the same source twice is the comparison"
)]
#[path = "workloads/table.rs"]
mod table;

pub use table::{WORKLOADS, warm_up};
