//! The measurement that a run prints, in the form that the harness of Reenact's benchmarks reads.

use std::time::Instant;

use serde::Serialize;

use crate::sizes::Size;

/// What one run gives.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Measured {
    /// Wall time of the program, including the creation of its actors, without the start of the
    /// runtime.
    pub ns: u64,
    /// [`Size::ops`].
    pub ops: u64,
}

impl Measured {
    /// Times `program`, which is one run of this size.
    pub(crate) async fn around(size: Size, program: impl Future<Output = ()>) -> Self {
        let start = Instant::now();
        program.await;
        Self {
            ns: u64::try_from(start.elapsed().as_nanos()).expect("no run takes 584 years"),
            ops: size.ops(),
        }
    }
}
