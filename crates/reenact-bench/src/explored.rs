//! The small programs of the package `peers` whose executions are explored, here by Reenact.
//!
//! What a program is, when it has its bug, and the lines that a round prints are those of that package: its files are
//! included. A program counts its bugs like there, so that nobody pays more for one than others do; only where the first
//! one is to be found does it panic, for that is how an exploration ends.

mod on_reenact;
mod way;

#[expect(dead_code, reason = "others need to know when to give up")]
#[path = "../../../peers/src/explore/explored.rs"]
mod line;

#[path = "../../../peers/src/explore/hunt.rs"]
mod until_bug;

#[path = "../../../peers/src/explore/programs.rs"]
pub mod programs;

use self::line::{Patience, Stopwatch};
pub(crate) use self::way::is_endless;
pub use self::{
    line::Explored,
    on_reenact::{hunt, run},
    until_bug::Hunt,
    way::Way,
};
