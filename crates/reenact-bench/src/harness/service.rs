//! The bench `acme-air`: what recording costs a web service, as its clients see it.
//!
//! The service is a child process and its clients are another. In a round, each variant is started anew, with a new database, and
//! put under load twice: at a fixed rate, far below what it can do, for how long clients wait; then with as many requests as
//! it answers, for how many these are. How long a request takes at the fixed rate counts from when it was due.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde::Deserialize;

use super::{
    child::{present, remove_trace},
    effort::Effort,
    progress::Progress,
    rows::Row,
    suite::Suite,
    variant::Variant,
};
use crate::stats::{Summary, geomean};

pub(super) const NAME: &str = "acme-air";
const VARIANTS: [Variant; 4] = [
    Variant::Off,
    Variant::Record,
    Variant::OffAgain,
    Variant::Discard,
];
/// Clients at a time.
const CLIENTS: u32 = 16;
/// Requests per second of all clients together, at the fixed rate: a tenth of what two cores can do, on which the clients
/// run as well.
const RATE: f64 = 2000.0;
/// Clients that do not send as many as they should have say nothing about the service.
const SENT_AT_LEAST: f64 = 0.97;

/// A service and its clients, and where they keep what they write.
pub(super) struct Service {
    server: PathBuf,
    clients: PathBuf,
    database: PathBuf,
    trace: PathBuf,
}

/// What the bench gave.
#[derive(Default)]
pub(super) struct Measured {
    pub(super) rows: Vec<Row>,
    pub(super) rounds: usize,
    pub(super) failures: Vec<String>,
    pub(super) remarks: Vec<String>,
}

/// For how many seconds a variant is under load.
struct Phases {
    warm_up: f64,
    at_rate: f64,
    at_most: f64,
}

impl Phases {
    fn of(effort: Effort) -> Phases {
        match effort {
            Effort::Quick => Phases {
                warm_up: 0.3,
                at_rate: 1.2,
                at_most: 0.6,
            },
            Effort::Full => Phases {
                warm_up: 1.0,
                at_rate: 5.0,
                at_most: 2.0,
            },
        }
    }
}

/// What clients say, as far as it is used here.
#[derive(Deserialize)]
struct Seen {
    sent: u64,
    errors: u64,
    per_second: f64,
    p50_us: f64,
    p99_us: f64,
}

/// What one variant gave in one round.
struct Sample {
    p50: f64,
    p99: f64,
    throughput: f64,
    /// The size of its trace over the number of requests.
    bytes: Option<f64>,
}

type Round = BTreeMap<Variant, Sample>;

impl Service {
    pub(super) fn new(server: &Path, clients: &Path, directory: &Path) -> io::Result<Service> {
        for executable in [server, clients] {
            present(executable, "`cargo xtask bench` builds it for this suite")?;
        }
        Ok(Service {
            server: server.to_owned(),
            clients: clients.to_owned(),
            database: directory.join("acme-air.redb"),
            trace: directory.join("acme-air.reenact"),
        })
    }

    /// Runs the bench.
    pub(super) fn run(&self, effort: Effort, progress: &mut Progress) -> Measured {
        let (planned, phases) = (planned_rounds(effort), Phases::of(effort));
        let mut failures = Vec::new();
        let mut rounds: Vec<Round> = Vec::new();
        for number in 0..planned {
            let mut round = Round::new();
            for variant in Variant::order(&VARIANTS, number) {
                progress.show(&format!("round {}/{planned}: {NAME} {variant}", number + 1));
                match self.sample(variant, &phases) {
                    Ok(sample) => {
                        round.insert(variant, sample);
                    }
                    Err(message) => failures.push(format!("{NAME} {variant}: {message}")),
                }
            }
            rounds.push(round);
            if !failures.is_empty() {
                break;
            }
        }
        Measured {
            rows: rows(&rounds),
            rounds: rounds.len(),
            remarks: remark(&rounds).into_iter().collect(),
            failures,
        }
    }

    /// Puts one variant under load.
    fn sample(&self, variant: Variant, phases: &Phases) -> Result<Sample, String> {
        let _ = fs::remove_file(&self.database);
        remove_trace(&self.trace);
        let mut server = self
            .start(variant)
            .map_err(|error| format!("cannot start {}: {error}", self.server.display()))?;
        let loaded = self.load(&mut server, phases);
        if loaded.is_err() {
            let _ = server.kill();
        }
        let status = server.wait().map_err(|error| error.to_string())?;
        let (at_rate, at_most) = loaded?;
        if !status.success() {
            return Err(status.to_string());
        }
        let requests = (at_rate.sent + at_most.sent) as f64;
        let bytes = match variant {
            Variant::Record => Some(self.size_of_trace()? as f64 / requests),
            _ => None,
        };
        Ok(Sample {
            p50: at_rate.p50_us,
            p99: at_rate.p99_us,
            throughput: at_most.per_second,
            bytes,
        })
    }

    fn start(&self, variant: Variant) -> io::Result<Child> {
        let mut command = Command::new(&self.server);
        command
            .arg("--database")
            .arg(&self.database)
            .env_remove("REENACT")
            .env_remove("REENACT_TRACE")
            .env_remove("REENACT_DISCARD")
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        if let Some(mode) = variant.mode() {
            command
                .env("REENACT", mode)
                .env("REENACT_TRACE", &self.trace);
        }
        if variant == Variant::Discard {
            command.env("REENACT_DISCARD", "1");
        }
        command.spawn()
    }

    fn load(&self, server: &mut Child, phases: &Phases) -> Result<(Seen, Seen), String> {
        // Kept until its end: it says how it went, and somebody has to hear it.
        let mut output = BufReader::new(server.stdout.take().ok_or("it has no output")?);
        let mut line = String::new();
        let read = output.read_line(&mut line);
        read.map_err(|error| error.to_string())?;
        let address = line.trim().rsplit(' ').next().unwrap_or_default();
        let rate = RATE.to_string();
        let warm_up = phases.warm_up.to_string();
        let fixed = ["--rate", &rate, "--warm-up", &warm_up];
        let at_rate = self.clients(address, phases.at_rate, &fixed)?;
        if at_rate.per_second < RATE * SENT_AT_LEAST {
            return Err(format!(
                "only {:.0} requests per second",
                at_rate.per_second
            ));
        }
        let at_most = self.clients(address, phases.at_most, &["--stop"])?;
        io::copy(&mut output, &mut io::sink()).map_err(|error| error.to_string())?;
        Ok((at_rate, at_most))
    }

    fn clients(&self, address: &str, seconds: f64, more: &[&str]) -> Result<Seen, String> {
        let output = Command::new(&self.clients)
            .arg(address)
            .args(["--clients", &CLIENTS.to_string()])
            .args(["--seconds", &seconds.to_string()])
            .args(more)
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("cannot start {}: {error}", self.clients.display()))?;
        let seen: Seen = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("its clients say nothing ({error}): {}", output.status))?;
        match seen.errors {
            0 => Ok(seen),
            errors => Err(format!("{errors} requests went wrong")),
        }
    }

    /// Makes one file of the trace, as replaying it does, and returns its size.
    fn size_of_trace(&self) -> Result<u64, String> {
        reenact_trace::recover(&self.trace).map_err(|error| error.to_string())?;
        let metadata = fs::metadata(&self.trace).map_err(|error| error.to_string())?;
        Ok(metadata.len())
    }
}

fn planned_rounds(effort: Effort) -> usize {
    match effort {
        Effort::Quick => 4,
        Effort::Full => 15,
    }
}

/// One thing about a sample.
type Part = fn(&Sample) -> f64;

/// What is compared. Less of the first two is better, and more of the third.
const COMPARED: [(&str, Part); 3] = [
    ("p50", |sample| sample.p50),
    ("p99", |sample| sample.p99),
    ("throughput", |sample| sample.throughput),
];

/// The names of metrics have to be there for as long as the program, and there are few.
fn metric(part: &str, variant: Variant) -> &'static str {
    match (part, variant) {
        ("p50", Variant::Record) => "p50 record/off",
        ("p99", Variant::Record) => "p99 record/off",
        ("throughput", Variant::Record) => "throughput record/off",
        ("p50", Variant::Discard) => "p50 discard/off",
        ("p99", Variant::Discard) => "p99 discard/off",
        ("throughput", Variant::Discard) => "throughput discard/off",
        ("p50", _) => "p50 control",
        ("p99", _) => "p99 control",
        _ => "throughput control",
    }
}

fn rows(rounds: &[Round]) -> Vec<Row> {
    let row = |bench: &str, metric, unit, summary| {
        Row::new(Suite::Http.name(), bench, metric, unit, summary)
    };
    let mut ratios = Vec::new();
    for variant in [Variant::Record, Variant::Discard, Variant::OffAgain] {
        for (part, of) in COMPARED {
            let values: Vec<_> = rounds
                .iter()
                .filter_map(|round| ratio(round, variant, of))
                .collect();
            let Some(summary) = Summary::of(&values) else {
                continue;
            };
            ratios.push((metric(part, variant), summary));
        }
    }
    let mut rows: Vec<_> = ratios
        .iter()
        .map(|&(metric, summary)| row(NAME, metric, "ratio", summary))
        .collect();
    let bytes = rounds
        .iter()
        .filter_map(|round| round.get(&Variant::Record)?.bytes);
    let bytes: Vec<_> = bytes.collect();
    if let Some(summary) = Summary::of(&bytes) {
        rows.push(row(NAME, "bytes/request", "bytes", summary));
        let per_second: Vec<_> = bytes.iter().map(|bytes| bytes * RATE / 1e6).collect();
        let per_second = Summary::of(&per_second).unwrap_or(summary);
        rows.push(row(NAME, "trace MB/s", "MB/s", per_second));
    }
    // There is one service, so these are its own; they are here because every suite ends with them.
    for &(metric, summary) in &ratios {
        if let Some(mean) = Summary::across(&[summary], geomean) {
            rows.push(row("geomean", metric, "ratio", mean));
        }
    }
    for (metric, summary) in ratios {
        rows.push(row("worst", metric, "ratio", summary));
    }
    rows
}

/// A variant over off, in one round. Where there are two that are off, their mean is better than either.
fn ratio(round: &Round, variant: Variant, of: Part) -> Option<f64> {
    let off = of(round.get(&Variant::Off)?);
    let again = of(round.get(&Variant::OffAgain)?);
    let this = of(round.get(&variant)?);
    Some(match variant {
        Variant::OffAgain => again / off,
        _ => this / ((off + again) / 2.0),
    })
}

/// What the ratios are of.
fn remark(rounds: &[Round]) -> Option<String> {
    let median = |of: Part| {
        let off = rounds.iter().filter_map(|round| round.get(&Variant::Off));
        Some(Summary::of(&off.map(of).collect::<Vec<_>>())?.median)
    };
    Some(format!(
        "{NAME}: off, at {RATE} requests/s, half wait for less than {:.0} µs and 99 % for less than {:.0} µs; \
         at most there are {:.0} requests/s, of {CLIENTS} clients on the same cores",
        median(|sample| sample.p50)?,
        median(|sample| sample.p99)?,
        median(|sample| sample.throughput)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(us: f64, bytes: Option<f64>) -> Sample {
        Sample {
            p50: us,
            p99: 10.0 * us,
            throughput: 1e6 / us,
            bytes,
        }
    }

    #[test]
    fn ratios_are_taken_within_a_round_and_the_suite_ends_with_a_mean() {
        let round = |slow: f64| {
            Round::from([
                (Variant::Off, sample(100.0 * slow, None)),
                (Variant::OffAgain, sample(100.0 * slow, None)),
                (Variant::Record, sample(125.0 * slow, Some(200.0))),
            ])
        };
        let rows = rows(&[round(1.0), round(3.0), round(2.0)]);
        let value = |bench: &str, metric: &str| {
            let row = rows
                .iter()
                .find(|row| row.bench == bench && row.metric == metric);
            row.map(|row| row.value)
        };
        assert_eq!(value(NAME, "p50 record/off"), Some(1.25));
        assert_eq!(value(NAME, "p99 record/off"), Some(1.25));
        assert_eq!(value(NAME, "throughput record/off"), Some(0.8));
        assert_eq!(value(NAME, "p99 control"), Some(1.0));
        assert_eq!(value(NAME, "bytes/request"), Some(200.0));
        assert_eq!(value(NAME, "trace MB/s"), Some(0.4));
        assert_eq!(value("geomean", "p50 record/off"), Some(1.25));
        assert_eq!(value("worst", "throughput record/off"), Some(0.8));
        assert_eq!(value(NAME, "p50 discard/off"), None);
    }
}
