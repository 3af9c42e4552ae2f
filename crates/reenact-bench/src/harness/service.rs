//! The bench `acme-air`: what recording costs a web service, as its clients see it.
//!
//! There is a service for each variant, as a child process with a database of its own, and clients are another process. In a
//! round, each service in turn is put under load twice: at a fixed rate, far below what it can do, for how long clients wait;
//! then with as many requests as it answers, for how many these are. How long a request takes at the fixed rate counts from
//! when it was due. The processor time of a service is the kernel's account of its threads, over the requests of both.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
};

use serde::Deserialize;

use super::child::{present, remove_trace};
use super::{Effort, Measured, Progress, Row, Suite, Variant};
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

/// A service and its clients, and where they keep what they write.
pub(super) struct Service {
    server: PathBuf,
    clients: PathBuf,
    directory: PathBuf,
}

/// How often, and for how many seconds each time, a service is under load.
struct Plan {
    rounds: usize,
    warm_up: f64,
    at_rate: f64,
    at_most: f64,
}

impl Plan {
    /// Rounds are short and many: what else the machine does changes within seconds.
    fn of(effort: Effort) -> Plan {
        match effort {
            Effort::Quick => Plan {
                rounds: 13,
                warm_up: 0.3,
                at_rate: 0.35,
                at_most: 0.2,
            },
            Effort::Full => Plan {
                rounds: 41,
                warm_up: 1.0,
                at_rate: 1.0,
                at_most: 0.5,
            },
        }
    }
}

/// How much clients ask for.
#[derive(Clone, Copy)]
enum Load {
    AtRate,
    AtMost,
    /// As much as they like, and then the end.
    Last,
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
    p50_us: f64,
    p99_us: f64,
    throughput: f64,
    /// Processor time of a request.
    cpu_us: f64,
}

type Round = BTreeMap<Variant, Sample>;

/// A service that runs.
struct Running {
    variant: Variant,
    child: Child,
    /// It says at its end how it went, and somebody has to hear it.
    output: BufReader<ChildStdout>,
    address: String,
    requests: u64,
}

impl Drop for Running {
    fn drop(&mut self) {
        // Most have ended by themselves.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Service {
    pub(super) fn new(server: &Path, clients: &Path, directory: &Path) -> io::Result<Service> {
        for executable in [server, clients] {
            present(executable, "`cargo xtask bench` builds it for this suite")?;
        }
        Ok(Service {
            server: server.to_owned(),
            clients: clients.to_owned(),
            directory: directory.to_owned(),
        })
    }

    /// Runs the bench.
    pub(super) fn run(&self, effort: Effort, progress: &mut Progress) -> Measured {
        let mut rounds = Vec::new();
        let bytes = self.try_run(&Plan::of(effort), &mut rounds, progress);
        Measured {
            rows: rows(&rounds, bytes.as_ref().ok().copied()),
            rounds: rounds.len(),
            remarks: remark(&rounds).into_iter().collect(),
            failures: bytes.err().into_iter().collect(),
        }
    }

    /// Adds to the rounds until there are enough. How many bytes the trace has for a request.
    fn try_run(
        &self,
        plan: &Plan,
        rounds: &mut Vec<Round>,
        progress: &mut Progress,
    ) -> Result<f64, String> {
        let mut running = Vec::new();
        for variant in VARIANTS {
            progress.show(&format!("{NAME} {variant} starts"));
            let mut service = self.start(variant)?;
            self.load(&mut service, 0, plan.warm_up, Load::AtRate)?;
            running.push(service);
        }
        for number in 0..plan.rounds {
            let mut round = Round::new();
            for variant in Variant::order(&VARIANTS, number) {
                let place = format!("round {}/{}", number + 1, plan.rounds);
                progress.show(&format!("{place}: {NAME} {variant}"));
                let service = running.iter_mut().find(|one| one.variant == variant);
                let service = service.expect("all variants were started");
                round.insert(variant, self.sample(service, number + 1, plan)?);
            }
            rounds.push(round);
        }
        self.stop(running)
    }

    fn sample(&self, service: &mut Running, seed: usize, plan: &Plan) -> Result<Sample, String> {
        let before = cpu_ns(service.child.id());
        let at_rate = self.load(service, seed, plan.at_rate, Load::AtRate)?;
        let at_most = self.load(service, seed, plan.at_most, Load::AtMost)?;
        let cpu_ns = cpu_ns(service.child.id()).saturating_sub(before);
        Ok(Sample {
            p50_us: at_rate.p50_us,
            p99_us: at_rate.p99_us,
            throughput: at_most.per_second,
            cpu_us: cpu_ns as f64 / 1e3 / (at_rate.sent + at_most.sent) as f64,
        })
    }

    fn start(&self, variant: Variant) -> Result<Running, String> {
        let database = self.directory.join(format!("{NAME}-{variant}.redb"));
        let trace = self.trace(variant);
        let _ = fs::remove_file(&database);
        remove_trace(&trace);
        let mut command = Command::new(&self.server);
        command
            .arg("--database")
            .arg(database)
            .env_remove("REENACT")
            .env_remove("REENACT_TRACE")
            .env_remove("REENACT_DISCARD")
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        if let Some(mode) = variant.mode() {
            command.env("REENACT", mode).env("REENACT_TRACE", trace);
        }
        if variant == Variant::Discard {
            command.env("REENACT_DISCARD", "1");
        }
        let failed = |error| format!("cannot start {}: {error}", self.server.display());
        let mut child = command.spawn().map_err(failed)?;
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = String::new();
        output.read_line(&mut line).map_err(failed)?;
        let address = line.trim().rsplit(' ').next().unwrap_or_default();
        Ok(Running {
            variant,
            child,
            output,
            address: address.to_owned(),
            requests: 0,
        })
    }

    fn trace(&self, variant: Variant) -> PathBuf {
        self.directory.join(format!("{NAME}-{variant}.reenact"))
    }

    /// Puts a service under load for so many seconds.
    fn load(
        &self,
        service: &mut Running,
        seed: usize,
        seconds: f64,
        load: Load,
    ) -> Result<Seen, String> {
        let mut command = Command::new(&self.clients);
        command
            .arg(&service.address)
            .args(["--clients", &CLIENTS.to_string()])
            .args(["--seconds", &seconds.to_string()])
            .args(["--seed", &seed.to_string()])
            .stderr(Stdio::inherit());
        match load {
            Load::AtRate => command.args(["--rate", &RATE.to_string()]),
            Load::AtMost => &mut command,
            Load::Last => command.arg("--stop"),
        };
        let variant = service.variant;
        let output = command
            .output()
            .map_err(|error| format!("cannot start {}: {error}", self.clients.display()))?;
        let seen: Seen = serde_json::from_slice(&output.stdout).map_err(|error| {
            let status = output.status;
            format!("{NAME} {variant}: its clients say nothing ({error}): {status}")
        })?;
        service.requests += seen.sent;
        match seen.errors {
            0 => Ok(seen),
            errors => Err(format!("{NAME} {variant}: {errors} requests went wrong")),
        }
    }

    /// Stops all services. How many bytes the trace of the one that was recorded has for a request.
    fn stop(&self, running: Vec<Running>) -> Result<f64, String> {
        let mut bytes = Err(format!("{NAME} was not recorded"));
        for mut service in running {
            self.load(&mut service, 0, 0.01, Load::Last)?;
            let _ = io::copy(&mut service.output, &mut io::sink());
            let status = service.child.wait().map_err(|error| error.to_string())?;
            if !status.success() {
                return Err(format!("{NAME} {}: {status}", service.variant));
            }
            if service.variant == Variant::Record {
                bytes = Ok(self.size_of_trace()? as f64 / service.requests as f64);
            }
        }
        bytes
    }

    /// Makes one file of the trace, as replaying it does, and returns its size.
    fn size_of_trace(&self) -> Result<u64, String> {
        let trace = self.trace(Variant::Record);
        reenact_trace::recover(&trace).map_err(|error| error.to_string())?;
        let metadata = fs::metadata(&trace).map_err(|error| error.to_string())?;
        Ok(metadata.len())
    }
}

/// For how long the threads of a process have run.
fn cpu_ns(process: u32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{process}/task"));
    let times = threads
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|thread| {
            let times = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            times.split(' ').next()?.parse::<u64>().ok()
        });
    times.sum()
}

/// One measure of a sample, and its name over that of a service that is off: recorded, with the trace discarded,
/// and off again.
struct Compared {
    of: fn(&Sample) -> f64,
    metrics: [(Variant, &'static str); 3],
}

macro_rules! compared {
    ($name:literal, $of:expr) => {
        Compared {
            of: $of,
            metrics: [
                (Variant::Record, concat!($name, " record/off")),
                (Variant::Discard, concat!($name, " discard/off")),
                (Variant::OffAgain, concat!($name, " control")),
            ],
        }
    };
}

/// More of the throughput is better, and less of everything else.
const COMPARED: [Compared; 4] = [
    compared!("p50", |sample| sample.p50_us),
    compared!("p99", |sample| sample.p99_us),
    compared!("throughput", |sample| sample.throughput),
    compared!("cpu", |sample| sample.cpu_us),
];

impl Compared {
    /// A variant over off, in one round. Where there are two that are off, their mean is better than either.
    fn ratio(&self, round: &Round, variant: Variant) -> Option<f64> {
        let value = |variant| round.get(&variant).map(self.of);
        let (off, again) = (value(Variant::Off)?, value(Variant::OffAgain)?);
        Some(match variant {
            Variant::OffAgain => again / off,
            _ => value(variant)? / ((off + again) / 2.0),
        })
    }
}

fn rows(rounds: &[Round], bytes: Option<f64>) -> Vec<Row> {
    let row = |bench: &str, metric, unit, summary| {
        Row::new(Suite::Http.name(), bench, metric, unit, summary)
    };
    let mut ratios = Vec::new();
    for compared in &COMPARED {
        for (variant, metric) in compared.metrics {
            let values = rounds
                .iter()
                .filter_map(|round| compared.ratio(round, variant));
            let summary = Summary::of(&values.collect::<Vec<_>>());
            ratios.extend(summary.map(|summary| (metric, summary)));
        }
    }
    let mut rows: Vec<_> = ratios
        .iter()
        .map(|&(metric, summary)| row(NAME, metric, "ratio", summary))
        .collect();
    if let Some(bytes) = bytes {
        let per_second = Summary::exactly(bytes * RATE / 1e6);
        rows.push(row(NAME, "bytes/request", "bytes", Summary::exactly(bytes)));
        rows.push(row(NAME, "trace MB/s", "MB/s", per_second));
    }
    // There is one service, so these are its own; they are here because every suite ends with them.
    for &(metric, summary) in &ratios {
        let mean = Summary::across(&[summary], geomean);
        rows.extend(mean.map(|mean| row("geomean", metric, "ratio", mean)));
    }
    for (metric, summary) in ratios {
        rows.push(row("worst", metric, "ratio", summary));
    }
    rows
}

/// What the ratios are of.
fn remark(rounds: &[Round]) -> Option<String> {
    let median = |of: fn(&Sample) -> f64| {
        let off = rounds.iter().filter_map(|round| round.get(&Variant::Off));
        Some(Summary::of(&off.map(of).collect::<Vec<_>>())?.median)
    };
    Some(format!(
        "{NAME}: off, at {RATE} requests/s, half wait for less than {:.0} µs and 99 % for less than {:.0} µs; \
         at most there are {:.0} requests/s, of {CLIENTS} clients on the same cores; \
         a request takes {:.0} µs of a core",
        median(|sample| sample.p50_us)?,
        median(|sample| sample.p99_us)?,
        median(|sample| sample.throughput)?,
        median(|sample| sample.cpu_us)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(us: f64) -> Sample {
        Sample {
            p50_us: us,
            p99_us: 10.0 * us,
            throughput: 1e6 / us,
            cpu_us: us / 2.0,
        }
    }

    #[test]
    fn ratios_are_taken_within_a_round_and_the_suite_ends_with_a_mean() {
        let round = |slow: f64| {
            Round::from([
                (Variant::Off, sample(100.0 * slow)),
                (Variant::OffAgain, sample(100.0 * slow)),
                (Variant::Record, sample(125.0 * slow)),
            ])
        };
        let rows = rows(&[round(1.0), round(3.0), round(2.0)], Some(200.0));
        let value = |bench: &str, metric: &str| {
            let row = rows
                .iter()
                .find(|row| row.bench == bench && row.metric == metric);
            row.map(|row| row.value)
        };
        assert_eq!(value(NAME, "p50 record/off"), Some(1.25));
        assert_eq!(value(NAME, "p99 record/off"), Some(1.25));
        assert_eq!(value(NAME, "throughput record/off"), Some(0.8));
        assert_eq!(value(NAME, "cpu record/off"), Some(1.25));
        assert_eq!(value(NAME, "p99 control"), Some(1.0));
        assert_eq!(value(NAME, "bytes/request"), Some(200.0));
        assert_eq!(value(NAME, "trace MB/s"), Some(0.4));
        assert_eq!(value("geomean", "p50 record/off"), Some(1.25));
        assert_eq!(value("worst", "throughput record/off"), Some(0.8));
        assert_eq!(value(NAME, "p50 discard/off"), None);
    }

    #[test]
    fn the_time_that_this_process_has_run_is_known() {
        assert!(cpu_ns(std::process::id()) > 0);
    }
}
