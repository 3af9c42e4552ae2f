//! `reenact trace stats`: prints the size of a recording and counts what is in it.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use indicatif::{DecimalBytes, HumanCount};
use reenact_engine::Unrecorded;
use reenact_trace::{Crowd, Exit, Item, Kind, Origin, Trace, TraceError, printable};
use serde::Serialize;

use super::DamageJson;
use crate::{args::StatsArgs, error::Error, report, unrecorded};

#[derive(Debug, Serialize)]
struct Stats {
    file: PathBuf,
    size_bytes: u64,
    complete: bool,
    damage: Option<DamageJson>,
    program: ProgramJson,
    #[serde(serialize_with = "report::optional_exit")]
    exit: Option<Exit>,
    /// Why recording ended before the program did.
    stop: Option<String>,
    activities: u64,
    foreign_activities: u64,
    /// Activities that are not threads.
    actors: u64,
    operations: u64,
    /// The operations of actors: handling messages, and any others.
    actor_operations: u64,
    /// Which side of a message recorded it.
    strategy: &'static str,
    events: u64,
    events_by_kind: BTreeMap<String, u64>,
    checks: u64,
    /// Number of distinct pieces of external data. `data_bytes` is their total size.
    data: u64,
    data_bytes: u64,
    /// Number of environment variables that the program read, besides those that are always recorded.
    variables: u64,
    /// What was redacted from the recording.
    withheld: Vec<String>,
    /// What the recording does not contain.
    not_recorded: Vec<Unrecorded>,
    /// The share of operations that went as predicted and are therefore not written to the trace.
    silent_share: Option<f64>,
    bytes_per_operation: Option<f64>,
}

#[derive(Debug, Serialize)]
struct ProgramJson {
    executable: PathBuf,
    command_line: String,
    directory: PathBuf,
    build_id: String,
}

pub(super) fn run(args: &StatsArgs) -> Result<Exit, Error> {
    let trace = super::open(&args.file)?;
    let stats = Stats::of(&trace)?;
    super::print(args.json, &stats, || stats.to_text(&trace))?;
    Ok(Exit::Status(0))
}

/// The totals over the events of all activities.
#[derive(Default)]
struct Totals {
    operations: u64,
    foreign: u64,
    actors: u64,
    actor_operations: u64,
    by_kind: BTreeMap<Kind, u64>,
    checks: u64,
    damage: Option<reenact_trace::Damage>,
}

impl Totals {
    fn of(trace: &Arc<Trace>) -> Result<Totals, Error> {
        let progress = report::spinner("counting", "events");
        let mut totals = Totals::default();
        for Crowd { first: info, count } in trace.crowds() {
            let count = u64::from(count);
            let mut events = trace.events(info.number);
            for item in events.by_ref() {
                match item {
                    Ok(Item::Event(event)) => {
                        *totals.by_kind.entry(event.kind).or_default() += count
                    }
                    Ok(Item::Tick { .. }) => totals.checks += count,
                    Ok(_) => {}
                    Err(TraceError::Damaged { damage, .. }) => {
                        totals.damage.get_or_insert(damage);
                    }
                    Err(error) => return Err(error.into()),
                }
                progress.inc(count);
            }
            let operations = events.position().saturating_mul(count);
            totals.operations = totals.operations.saturating_add(operations);
            if info.origin == Origin::Foreign {
                totals.foreign += count;
            }
            if info.in_block {
                totals.actors += count;
                totals.actor_operations = totals.actor_operations.saturating_add(operations);
            }
        }
        progress.finish_and_clear();
        Ok(totals)
    }
}

impl Stats {
    fn of(trace: &Arc<Trace>) -> Result<Stats, Error> {
        let totals = Totals::of(trace)?;
        let program = trace.program();
        let data = trace.data_summary();
        // These are not what the program read from files and peers.
        let variables = trace.variables().len() as u64;
        let events: u64 = totals.by_kind.values().sum();
        let operations = totals.operations;
        let per_operation =
            |number: u64| (operations > 0).then(|| number as f64 / operations as f64);
        Ok(Stats {
            file: trace.path().to_owned(),
            size_bytes: trace.size(),
            complete: trace.is_complete() && totals.damage.is_none(),
            damage: trace
                .damage()
                .or(totals.damage.as_ref())
                .map(DamageJson::from),
            program: ProgramJson {
                executable: program.executable.clone(),
                command_line: super::command_line(program),
                directory: program.directory.clone(),
                build_id: format!("{:016x}", program.build_id),
            },
            exit: trace.exit(),
            stop: trace.stop().map(|stop| stop.to_string()),
            activities: trace.activities().len() as u64,
            foreign_activities: totals.foreign,
            actors: totals.actors,
            operations,
            actor_operations: totals.actor_operations,
            strategy: match super::with_sender(program) {
                true => "sender",
                false => "receiver",
            },
            events,
            events_by_kind: totals
                .by_kind
                .iter()
                .map(|(kind, count)| (kind.to_string(), *count))
                .collect(),
            checks: totals.checks,
            data: data.count,
            variables,
            data_bytes: data.bytes,
            withheld: program.withheld.clone(),
            not_recorded: unrecorded::of_recorded(trace),
            silent_share: per_operation(operations.saturating_sub(events)),
            bytes_per_operation: per_operation(trace.size()),
        })
    }

    fn activities_in_words(&self) -> String {
        let mut parts = Vec::new();
        if self.actors > 0 {
            let threads = self.activities - self.actors;
            parts.push(report::counted(threads, "thread", "threads"));
            parts.push(report::counted(
                self.actors,
                "actor or process",
                "actors or processes",
            ));
        }
        if self.foreign_activities > 0 {
            parts.push(format!("{} foreign", HumanCount(self.foreign_activities)));
        }
        with_parts(self.activities, &parts)
    }

    fn operations_in_words(&self) -> String {
        match self.actors {
            0 => with_parts(self.operations, &[]),
            _ => {
                let of_actors = HumanCount(self.actor_operations);
                let part = format!("{of_actors} of actors and processes");
                with_parts(self.operations, &[part])
            }
        }
    }

    fn to_text(&self, trace: &Trace) -> String {
        let mut rows = vec![
            ("program", report::shown(&self.program.executable)),
            ("command line", self.program.command_line.clone()),
            ("directory", report::shown(&self.program.directory)),
            ("build id", self.program.build_id.clone()),
            (
                "end",
                trace
                    .exit()
                    .map_or("not known".to_owned(), |exit| exit.to_string()),
            ),
        ];
        if let Some(stop) = &self.stop {
            rows.push(("ended early", stop.clone()));
        }
        if let Some(damage) = &self.damage {
            rows.push((
                "damage",
                format!("{} at byte {}", damage.what, damage.offset),
            ));
        } else if !self.complete {
            rows.push(("damage", "the end of the recording is missing".to_owned()));
        }
        rows.push(("size", DecimalBytes(self.size_bytes).to_string()));
        rows.push(("activities", self.activities_in_words()));
        rows.push(("operations", self.operations_in_words()));
        if self.actors > 0 {
            rows.push(("recorded by", format!("the {} of a message", self.strategy)));
        }
        if let Some(share) = self.silent_share {
            rows.push(("as predicted", format!("{:.2} %", share * 100.0)));
        }
        if let Some(bytes) = self.bytes_per_operation {
            rows.push(("bytes per op", format!("{bytes:.3}")));
        }
        rows.push(("events", HumanCount(self.events).to_string()));
        for (kind, count) in &self.events_by_kind {
            rows.push(("", format!("{kind:<18} {}", HumanCount(*count))));
        }
        rows.push(("checks", HumanCount(self.checks).to_string()));
        if self.data > 0 {
            let bytes = DecimalBytes(self.data_bytes);
            rows.push(("from outside", with_parts(self.data, &[bytes.to_string()])));
        }
        if self.variables > 0 {
            rows.push(("variables", HumanCount(self.variables).to_string()));
        }
        if !self.withheld.is_empty() {
            rows.push((
                "withheld",
                printable(&self.withheld.join(", ")).into_owned(),
            ));
        }
        for (index, what) in self.not_recorded.iter().enumerate() {
            let name = if index == 0 { "not recorded" } else { "" };
            rows.push((name, what.to_string()));
        }
        rows.iter()
            .map(|(name, value)| format!("{name:<14}{value}\n"))
            .collect()
    }
}

fn with_parts(number: u64, parts: &[String]) -> String {
    match parts {
        [] => HumanCount(number).to_string(),
        parts => format!("{} ({})", HumanCount(number), parts.join(", ")),
    }
}
