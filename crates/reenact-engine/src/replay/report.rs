//! The end of a replay that cannot or need not go on: a report, and the end of the process.

use std::{
    backtrace::Backtrace,
    io::Write,
    path::Path,
    sync::{
        OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use reenact_trace::{create_private, printable_lines};

use super::{Replay, Runner, cursor::Cursor, ending};
use crate::{captured::write_all, raw, site, unrecorded};

/// First line of a report: the replay has diverged from the recording.
pub(super) const DIVERGED: &str = "diverged";
/// First line of a report: the replay has reached the end of the trace.
pub(super) const ENDED: &str = "ended";

/// First line of a report: the replay prints something else than the recorded program, and has not diverged.
pub(super) const PRINTED: &str = "printed";

/// How many activities a report names at most.
const MOST_NAMED: usize = 40;

/// How many activities that have not come are considered.
const MOST_SORTED: usize = 10_000;

/// Exit status of a process whose replay diverged.
const STATUS_DIVERGED: i32 = 86;

/// Writes the report and ends the process. Only the first caller reports; others wait for the end.
pub(super) fn finish(file: Option<&Path>, outcome: &str, text: &str) -> ! {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    if REPORTED.swap(true, SeqCst) {
        raw::sleep_for_good();
    }
    ending::settle_printed();
    say(text);
    let printed = PRINTED_DIFFERENCE.get();
    let outcome = match printed {
        Some(_) if outcome == ENDED => PRINTED,
        _ => outcome,
    };
    write_report(
        file,
        outcome,
        &match printed {
            None => text.to_owned(),
            Some(printed) if outcome == PRINTED => format!("{printed}{text}"),
            Some(printed) => format!("{text}Before that, {printed}"),
        },
    );
    let status = if outcome == ENDED { 0 } else { STATUS_DIVERGED };
    // SAFETY: `_exit` ends the process without running any more of its code, so the state of other threads does not
    // matter.
    unsafe { libc::_exit(status) }
}

/// The report on the first difference in what is printed.
static PRINTED_DIFFERENCE: OnceLock<String> = OnceLock::new();

/// Writes the report on a difference in what is printed. The replay goes on.
pub(super) fn note_printed(file: Option<&Path>, text: &str) {
    let text = PRINTED_DIFFERENCE.get_or_init(|| text.to_owned());
    say(text);
    write_report(file, PRINTED, text);
}

/// Says that what was printed differed in its order only: that is no difference, if there has been no other.
pub(super) fn note_reordered(file: Option<&Path>) {
    if let Some(file) = file {
        let _ = std::fs::remove_file(file);
    }
    say(
        "the replay prints the same lines in another order than the recorded program, which started threads without \
         Reenact: their order is not recorded\n",
    );
}

/// Writes a report to its file, if it has one.
pub(super) fn write_report(file: Option<&Path>, outcome: &str, text: &str) {
    if let Some(mut file) = file.and_then(|file| create_private(file).ok()) {
        let _ = write!(file, "{outcome}\n{}", printable_lines(text));
    }
}

/// Prints a report, whose names may be a stranger's. Not with the standard library, whose locks a thread may hold that
/// never goes on.
fn say(text: &str) {
    let text = format!("reenact: {}", printable_lines(text));
    write_all(libc::STDERR_FILENO, text.as_bytes());
}

/// Something that the program does and that the trace does not say.
pub(super) struct Difference {
    position: u64,
    expected: String,
    did: String,
    backtrace: Backtrace,
}

impl Difference {
    /// The program does something else here than the trace says.
    pub(super) fn here(cursor: &Cursor, expected: &str, did: &str) -> Difference {
        Difference {
            position: cursor.position() + 1,
            expected: expected.to_owned(),
            did: did.to_owned(),
            backtrace: site::stack(),
        }
    }
}

impl Replay {
    /// Reports that the program does something else than the trace says.
    pub(super) fn diverge(&self, runner: &Runner, cursor: &Cursor, expected: &str, did: &str) -> ! {
        self.differs(runner, &Difference::here(cursor, expected, did))
    }

    /// Reports that the program has done something else than the trace says.
    pub(super) fn differs(&self, runner: &Runner, difference: &Difference) -> ! {
        let text = format!(
            "the replay differs from the recording\n\
             \x20 activity:  {}\n\
             \x20 operation: number {} of this activity\n\
             \x20 trace:     {}\n\
             \x20 program:   {}\n\
             The program is not the recorded one, or something that it depends on is not recorded.\n\
             {}{}",
            self.family_of(runner),
            difference.position,
            difference.expected,
            difference.did,
            self.unrecorded(),
            site::shown_stack(&difference.backtrace),
        );
        finish(self.report.as_deref(), DIVERGED, &text)
    }

    /// Returns what the recording says that it does not contain, as lines.
    fn unrecorded(&self) -> String {
        let unrecorded = unrecorded::unrecorded(&self.trace);
        let lines = unrecorded
            .iter()
            .map(|what| format!("Not recorded: {what}\n"));
        lines.collect()
    }

    /// Ends the replay when no activity can go on. At the end of the recording that is expected; before it, the replay
    /// has diverged.
    pub(super) fn nobody_awake(&self) {
        let all_at_end = self.everybody_is_through();
        let runners = self.runners.lock().unwrap_or_else(PoisonError::into_inner);
        let mut waiting: Vec<_> = runners
            .values()
            .filter(|runner| !runner.ended.load(SeqCst))
            .map(|runner| {
                let family = self.family_of(runner);
                match &*runner.lock_waiting() {
                    Some(waiting) => format!("  {family} waits for {}\n", waiting.what()),
                    None if runner.receives.load(SeqCst) => {
                        format!("  {family} {}\n", self.awaited(runner))
                    }
                    None => format!("  {family} is not at an operation\n"),
                }
            })
            .collect();
        drop(runners);
        let not_started = self
            .not_started
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // There may be more than anybody wants to know of.
        waiting.extend(not_started.iter().take(MOST_SORTED).map(|number| {
            let family = self.trace.family_name(number);
            format!("  {family} has not come\n")
        }));
        let unnamed = not_started.len().saturating_sub(MOST_SORTED as u64);
        drop(not_started);
        waiting.sort();
        let more = waiting.len().saturating_sub(MOST_NAMED) as u64 + unnamed;
        waiting.truncate(MOST_NAMED);
        if more > 0 {
            waiting.push(format!("  and {more} more\n"));
        }
        let waiting = waiting.concat();
        let because = match (self.trace.stop(), self.trace.is_complete()) {
            (Some(stop), _) => Some(format!("Recording had ended early: {stop}.\n")),
            (None, false) => Some("The trace is not complete: its end is missing.\n".to_owned()),
            (None, true) if all_at_end => Some(String::new()),
            (None, true) => None,
        };
        let path = self.report.as_deref();
        match because {
            Some(because) => finish(
                path,
                ENDED,
                &format!("the replay is where the recording ends\n{because}{waiting}"),
            ),
            None if ending::is_exiting() => finish(
                path,
                DIVERGED,
                &format!(
                    "the replay differs from the recording: the program exits before everybody is where the trace ends\n\
                     {waiting}{}",
                    self.unrecorded()
                ),
            ),
            None => finish(
                path,
                DIVERGED,
                &format!(
                    "the replay differs from the recording: everybody waits\n{waiting}{}",
                    self.unrecorded()
                ),
            ),
        }
    }
}
