//! `reenact trace check`: verifies a recording and, if it is damaged, reports how much of it can still be used.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use reenact_trace::{Exit, Trace, TraceError, live_path};
use serde::Serialize;

use super::DamageJson;
use crate::{args::CheckArgs, error::Error, report};

#[derive(Debug, Serialize)]
struct CheckResult {
    file: PathBuf,
    /// Whether the recording is undamaged and complete.
    sound: bool,
    damage: Option<DamageJson>,
    /// Whether the end of the recording is missing.
    cut: bool,
    /// Whether part of the recording is still in its live file.
    live: bool,
    /// How much can be replayed before the damage.
    activities: u64,
    operations: u64,
}

pub(super) fn run(args: &CheckArgs) -> Result<Exit, Error> {
    let result = check(&args.file)?;
    super::print(args.json, &result, || result.to_text())?;
    Ok(Exit::Status(i32::from(!result.sound)))
}

fn check(file: &Path) -> Result<CheckResult, Error> {
    let trace = match Trace::open(file) {
        Ok(trace) => Arc::new(trace),
        // Damaged so badly that nothing can be replayed.
        Err(TraceError::Damaged { damage, .. }) => {
            return Ok(CheckResult {
                file: file.to_owned(),
                sound: false,
                damage: Some((&damage).into()),
                cut: false,
                live: live_path(file).exists(),
                activities: 0,
                operations: 0,
            });
        }
        Err(error) => return Err(error.into()),
    };
    let progress = report::spinner("checking", "events");
    let damage = match trace.check(|events| progress.inc(events)) {
        Ok(()) => None,
        Err(TraceError::Damaged { damage, .. }) => Some(damage),
        Err(error) => return Err(error.into()),
    };
    progress.finish_and_clear();
    Ok(CheckResult {
        file: file.to_owned(),
        sound: damage.is_none() && trace.is_complete(),
        cut: damage.is_none() && !trace.is_complete(),
        damage: damage.as_ref().map(DamageJson::from),
        live: live_path(file).exists(),
        activities: trace.activities().len() as u64,
        operations: readable_operations(&trace),
    })
}

/// Counts the operations of all activities, each up to its first unreadable event.
fn readable_operations(trace: &Arc<Trace>) -> u64 {
    let progress = report::spinner("counting what is whole", "operations");
    let mut operations = 0;
    for crowd in trace.crowds() {
        let mut events = trace.events(crowd.first.number);
        while let Some(Ok(_)) = events.next() {}
        let of_all = events.position().saturating_mul(crowd.count.into());
        operations = of_all.saturating_add(operations);
        progress.set_position(operations);
    }
    progress.finish_and_clear();
    operations
}

impl CheckResult {
    fn to_text(&self) -> String {
        let file = report::shown(&self.file);
        let what = format!(
            "{} of {}",
            report::counted(self.operations, "operation", "operations"),
            report::counted(self.activities, "activity", "activities"),
        );
        let live = if self.live {
            ", some of them in the live file beside it; reenact replay merges the two files"
        } else {
            ""
        };
        match &self.damage {
            None if self.cut => format!(
                "{file}: the end of the recording is missing; {what} can be replayed{live}\n"
            ),
            None => format!("{file}: intact, {what}{live}\n"),
            Some(damage) if self.operations == 0 => format!(
                "{file}: damaged, {} at byte {}; nothing can be replayed\n",
                damage.what, damage.offset
            ),
            Some(damage) => format!(
                "{file}: damaged, {} at byte {}; at most {what} can still be replayed{live}\n",
                damage.what, damage.offset
            ),
        }
    }
}
