//! The bench `replay-memory`: does a replay need more memory for a longer trace?
//!
//! The workload hands locks over at a steady rate, so that a tenth of its operations are in the
//! trace. It is recorded and replayed at 10 million and at 100 million operations; the peak memory
//! of both replays should be the same. A single run each is enough, since memory is not noisy.

use std::time::Duration;

use super::{
    bench::Strategy,
    child::{Job, Runner},
    effort::Effort,
    progress::Progress,
    rows::Row,
    variant::Variant,
};
use crate::{cores::Cores, stats::Summary};

pub(super) const NAME: &str = "replay-memory";
const WORKLOAD: &str = "hand-off";
const LIMIT: Duration = Duration::from_secs(60);

/// What the bench gave.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) rows: Vec<Row>,
    pub(super) failures: Vec<String>,
    pub(super) remark: Option<String>,
}

/// Runs the bench.
pub(super) fn run(
    suite: &'static str,
    effort: Effort,
    runner: &Runner,
    progress: &mut Progress,
) -> Memory {
    let mut memory = Memory::default();
    // The workload does 10 million operations at scale 1.
    let mut sizes = vec![("10M", 1.0)];
    match effort {
        Effort::Quick => {
            memory.remark = Some(format!(
                "{NAME}@100M is left out by --quick: run without it to compare"
            ));
        }
        Effort::Full => sizes.push(("100M", 10.0)),
    }
    for (size, scale) in sizes {
        let bench = format!("{NAME}@{size}");
        for variant in [Variant::Record, Variant::Replay] {
            progress.show(&format!("{bench} {variant}"));
            let job = Job {
                workload: WORKLOAD,
                program: WORKLOAD,
                variant,
                cores: Cores::All,
                strategy: Strategy::Receiver,
                scale,
                limit: LIMIT,
            };
            let run = match runner.run(&job) {
                Ok(run) => run,
                Err(message) => {
                    memory
                        .failures
                        .push(format!("{bench} {variant}: {message}"));
                    break;
                }
            };
            let (metric, value) = match run.bytes_per_op {
                Some(bytes) => ("bytes/op", bytes),
                None => ("rss_bytes", run.peak_memory as f64),
            };
            let value = Summary::exactly(value);
            memory
                .rows
                .push(Row::new(suite, &bench, metric, "bytes", value));
        }
    }
    memory
}
