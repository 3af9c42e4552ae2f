//! The suite `instructions`: how many instructions an operation takes.
//!
//! Valgrind counts them, so they are the same on a busy machine. A program does the operation so many times, and then
//! twice as many; the difference over the number is what one takes, without what the program does to start. Where two
//! threads have to do with each other it still depends on how they are scheduled; such a count is a median of three.
//!
//! Replays are not counted: what looks whether a replay has stalled asks the kernel for the time in a way that valgrind
//! does not allow.

use std::{
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use super::{Effort, Measured, Options, Progress, Row, Suite, Variant};
use super::{
    against::{Comparison, Side},
    child::{self, remove_trace},
};
use crate::{cores::Cores, stats::Summary};

/// What is counted.
#[derive(Clone, Copy, Debug)]
struct Operation {
    /// The name in the results, and on the command line of the program.
    bench: &'static str,
    /// The program, without what all of them begin with.
    program: &'static str,
    /// How often it is done in the shorter run.
    times: u64,
    /// Whether several threads take part.
    is_scheduled: bool,
}

const fn alone(program: &'static str, bench: &'static str, times: u64) -> Operation {
    Operation {
        bench,
        program,
        times,
        is_scheduled: false,
    }
}

const fn scheduled(program: &'static str, bench: &'static str, times: u64) -> Operation {
    Operation {
        is_scheduled: true,
        ..alone(program, bench, times)
    }
}

/// The operations of the models.
const OPERATIONS: [Operation; 17] = [
    alone("sync", "mutex", 20_000),
    scheduled("sync", "mutex-in-turn", 10_240),
    alone("sync", "rwlock-read", 20_000),
    alone("sync", "atomic-fetch-add", 20_000),
    alone("sync", "atomic-load", 20_000),
    scheduled("sync", "condvar", 10_000),
    alone("sync", "mpsc", 10_000),
    scheduled("sync", "mpsc-2-threads", 10_000),
    scheduled("sync", "spawn-join", 500),
    scheduled("csp", "csp-rendezvous", 5_000),
    scheduled("csp", "csp-bounded-16", 5_000),
    scheduled("csp", "csp-select-2", 5_000),
    scheduled("actor", "actor-tell", 10_000),
    scheduled("actor", "actor-tell-from-thread", 10_000),
    scheduled("actor", "actor-ask", 5_000),
    alone("stm", "stm-read-write", 10_000),
    alone("stm", "stm-read", 10_000),
];

/// How the operations are done.
const VARIANTS: [Variant; 2] = [Variant::Off, Variant::Record];

/// Small programs that are executed again and again.
const EXPLORATIONS: [Operation; 10] = [
    alone("explore", "mutex-2x3/walk", 1_000),
    alone("explore", "mpsc-3x3/walk", 1_000),
    alone("explore", "csp-3x2/walk", 1_000),
    alone("explore", "actor-3x2/walk", 1_000),
    alone("explore", "stm-2x2/walk", 1_000),
    alone("explore", "mutex-2x3/exhaustive", 1_000),
    alone("explore", "mpsc-3x3/exhaustive", 1_000),
    alone("explore", "csp-3x2/exhaustive", 1_000),
    alone("explore", "actor-3x2/exhaustive", 1_000),
    alone("explore", "stm-2x2/exhaustive", 1_000),
];

/// How often a count is taken that depends on the schedule.
const COUNTS: usize = 3;

/// When a program is given up.
const LIMIT: Duration = Duration::from_secs(120);

/// The programs, and for each what it is asked to do. One that does several operations is there several times.
pub fn counted() -> impl Iterator<Item = (String, &'static str)> {
    let operations = OPERATIONS.into_iter().chain(EXPLORATIONS);
    operations.map(|operation| (operation.program(), operation.bench))
}

/// Runs the suite.
pub(super) fn run(options: &Options, progress: &mut Progress) -> io::Result<Measured> {
    let directory = tempfile::tempdir()?;
    let counter = Counter::new(&options.programs, directory.path())?;
    let mut measured = Measured::default();
    let (counts, without) = counts(options, |one| counter.has(one));
    measured.failures = without;
    for one in counts {
        let mut values = Vec::new();
        measured.rounds = measured.rounds.max(one.operation.counts(options.effort));
        for _ in 0..one.operation.counts(options.effort) {
            progress.show(&one.name());
            match counter.per_operation(one) {
                Ok(value) => values.push(value),
                Err(message) => {
                    measured.failures.push(format!("{}: {message}", one.name()));
                    break;
                }
            }
        }
        let Some(summary) = Summary::of(&values) else {
            continue;
        };
        let (bench, suite) = (one.operation.bench, Suite::Instructions.name());
        let row = Row::new(suite, bench, one.metric(), "instructions", summary);
        measured.rows.push(row);
    }
    Ok(measured)
}

/// The same for two builds, and which of it one of them has no programs for.
pub(super) fn comparisons<'a>(
    options: &Options,
    sides: &'a [Counter; 3],
) -> (Vec<Comparison<'a>>, Vec<String>) {
    let (counts, without) = counts(options, |one| sides.iter().all(|side| side.has(one)));
    let comparisons = counts.into_iter().map(|one| Comparison {
        bench: one.name(),
        unit: "instructions",
        rounds: one.operation.counts(options.effort),
        measure: Box::new(move |side: Side| side.of(sides).per_operation(one)),
    });
    (comparisons.collect(), without)
}

/// What is wanted and can be counted; and a sentence for each program that is not there.
fn counts(options: &Options, has: impl Fn(Operation) -> bool) -> (Vec<Count>, Vec<String>) {
    let variants = OPERATIONS.into_iter().flat_map(|operation| {
        VARIANTS.map(|variant| Count {
            operation,
            variant,
            is_explored: false,
        })
    });
    let explored = EXPLORATIONS.map(|operation| Count {
        operation,
        variant: Variant::Off,
        is_explored: true,
    });
    let wanted = variants
        .chain(explored)
        .filter(|one| options.wants(one.operation.bench));
    let (counts, without): (Vec<_>, Vec<_>) = wanted.partition(|one| has(one.operation));
    let of_program = |one: &Count| one.operation.program();
    let sentence = |of_one: &[Count]| {
        let rows: Vec<_> = of_one.iter().map(|one| one.name()).collect();
        format!("no {}, so no {}", of_program(&of_one[0]), rows.join(", "))
    };
    let without = without.chunk_by(|a, b| of_program(a) == of_program(b));
    (counts, without.map(sentence).collect())
}

/// One number: what an operation takes when it is done in one way.
#[derive(Clone, Copy, Debug)]
struct Count {
    operation: Operation,
    variant: Variant,
    is_explored: bool,
}

impl Count {
    /// The column of the table.
    fn metric(self) -> &'static str {
        match self.variant {
            _ if self.is_explored => "execution",
            Variant::Record => "record",
            _ => "off",
        }
    }

    fn name(self) -> String {
        match self.is_explored {
            true => self.operation.bench.to_owned(),
            false => format!("{}/{}", self.operation.bench, self.metric()),
        }
    }
}

impl Operation {
    /// The binary that does it.
    fn program(self) -> String {
        format!("instructions-{}", self.program)
    }

    /// How often its count is taken.
    fn counts(self, effort: Effort) -> usize {
        match effort {
            Effort::Full if self.is_scheduled => COUNTS,
            Effort::Full | Effort::Quick => 1,
        }
    }
}

/// Counts the instructions of the programs of one build.
pub(super) struct Counter {
    programs: PathBuf,
    trace: PathBuf,
}

impl Counter {
    /// The error says what to install unless there is valgrind.
    pub(super) fn new(programs: &Path, traces: &Path) -> io::Result<Self> {
        let mut valgrind = Command::new("valgrind");
        let found = valgrind.arg("--version").stdout(Stdio::null()).status();
        if !found.is_ok_and(|status| status.success()) {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "valgrind is missing, which counts the instructions: install the package `valgrind` \
                 (`apt install valgrind`, `dnf install valgrind`)",
            ));
        }
        Ok(Self {
            programs: programs.to_owned(),
            trace: traces.join("counted.reenact"),
        })
    }

    /// Whether its program was built.
    fn has(&self, operation: Operation) -> bool {
        self.programs.join(operation.program()).is_file()
    }

    /// What one operation takes.
    fn per_operation(&self, one: Count) -> Result<f64, String> {
        let times = one.operation.times;
        let less = self.count(one, times)?;
        let more = self.count(one, 2 * times)?;
        Ok((more as f64 - less as f64) / times as f64)
    }

    /// What so many operations take, with the start of their program.
    fn count(&self, one: Count, times: u64) -> Result<u64, String> {
        let mut command = Command::new("valgrind");
        command
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            // Threads take turns in the order in which they asked for one.
            .args(["--fair-sched=try", "--log-fd=1"])
            .arg(self.programs.join(one.operation.program()))
            .args([one.operation.bench, &times.to_string()])
            .env_remove("REENACT")
            .env_remove("REENACT_TRACE")
            .env_remove("REENACT_DISCARD")
            .env_remove("REENACT_STRATEGY")
            .env("REENACT_WORKERS", "1");
        if let Some(mode) = one.variant.mode() {
            remove_trace(&self.trace);
            command.env("REENACT", mode);
            command.env("REENACT_TRACE", &self.trace);
        }
        let (log, _) = child::output(&mut command, Cores::All, LIMIT)?;
        instructions(&log).ok_or_else(|| format!("valgrind did not say how many: {log}"))
    }
}

/// The number in a line such as `==42== Collected : 1234`.
fn instructions(log: &str) -> Option<u64> {
    let (_, collected) = log.split_once("Collected : ")?;
    collected.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{EXPLORATIONS, OPERATIONS, instructions};

    #[test]
    fn the_count_is_found_in_what_callgrind_says() {
        let log = "==7== Events    : Ir\n==7== Collected : 1204387\n==7== \n";
        assert_eq!(instructions(log), Some(1_204_387));
        assert_eq!(instructions("==7== \n"), None);
    }

    #[test]
    fn no_two_have_the_same_name() {
        let mut names: Vec<_> = OPERATIONS.iter().chain(&EXPLORATIONS).collect();
        names.sort_by_key(|one| one.bench);
        names.dedup_by_key(|one| one.bench);
        assert_eq!(names.len(), OPERATIONS.len() + EXPLORATIONS.len());
    }
}
