#[path = "../../../examples/programs/ported/all.rs"]
#[allow(unreachable_pub, reason = "written for std, not for us")]
#[allow(clippy::duplicate_mod, reason = "with other imports")]
pub(super) mod programs;

use std::{sync, thread};
