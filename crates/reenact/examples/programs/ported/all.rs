//! Programs that were written for std. The module around this one imports `sync` and `thread`, from std or from reenact, and
//! nothing else changes.

use super::{sync, thread};

pub(crate) mod quicksort;
pub(crate) mod sieve;
pub(crate) mod thread_pool;
pub(crate) mod word_count;
