//! How long clients waited, all of them together.

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;

use crate::round::Kind;

/// What clients have seen.
#[derive(Default)]
pub(crate) struct Latencies {
    ns: Vec<u64>,
    errors: u64,
    kinds: BTreeMap<Kind, u64>,
    sent: u64,
    seconds: f64,
    digest: u64,
}

/// The same, to be printed. Times are in microseconds.
#[derive(Serialize)]
pub(crate) struct Summary {
    count: usize,
    /// Those at the beginning included, which are not counted.
    sent: u64,
    errors: u64,
    per_second: f64,
    p50_us: f64,
    p90_us: f64,
    p99_us: f64,
    p999_us: f64,
    max_us: f64,
    /// How many of each kind.
    kinds: BTreeMap<&'static str, u64>,
    /// A number for all responses, whichever client they came to first.
    digest: String,
}

impl Latencies {
    /// A request was answered.
    pub(crate) fn one(&mut self, kind: Kind, took: Duration, is_fine: bool) {
        self.ns
            .push(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        self.errors += u64::from(!is_fine);
        *self.kinds.entry(kind).or_default() += 1;
    }

    /// It took so long, with so many requests, and this is the digest of what came back.
    pub(crate) fn over(&mut self, seconds: f64, sent: u64, digest: u64) {
        self.sent = sent;
        self.seconds = seconds;
        self.digest = digest;
    }

    /// Another client's.
    pub(crate) fn add(&mut self, other: Latencies) {
        self.ns.extend(other.ns);
        self.errors += other.errors;
        for (kind, count) in other.kinds {
            *self.kinds.entry(kind).or_default() += count;
        }
        self.sent += other.sent;
        self.seconds = other.seconds;
        self.digest ^= other.digest;
    }

    pub(crate) fn summary(mut self) -> Summary {
        self.ns.sort_unstable();
        let at = |share: f64| {
            let last = self.ns.len().saturating_sub(1);
            let at = (self.ns.len() as f64 * share) as usize;
            self.ns.get(at.min(last)).map_or(0.0, |&ns| ns as f64 / 1e3)
        };
        Summary {
            count: self.ns.len(),
            sent: self.sent,
            errors: self.errors,
            per_second: self.ns.len() as f64 / self.seconds,
            p50_us: at(0.5),
            p90_us: at(0.9),
            p99_us: at(0.99),
            p999_us: at(0.999),
            max_us: at(1.0),
            kinds: self
                .kinds
                .iter()
                .map(|(kind, &count)| (kind.name(), count))
                .collect(),
            digest: format!("{:016x}", self.digest),
        }
    }
}
