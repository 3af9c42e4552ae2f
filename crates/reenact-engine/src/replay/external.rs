//! What came from outside, from the trace.

use std::borrow::Cow;

use reenact_trace::{Event, Kind};

use super::{Replay, Runner, cursor::Next, describe, report};
use crate::{Asked, Operation, Reply, entity::tag};

impl Replay {
    /// An activity asks what is outside: it is told what it was told then, if it asks the same.
    pub(super) fn play(
        &self,
        runner: &Runner,
        operation: &Operation<'_>,
        what: &str,
        asked: Asked,
        hear: &mut dyn FnMut(Reply<'_>) -> bool,
    ) {
        let doing = || format!("{what} ({})", describe(operation));
        let mut cursor = runner.cursor();
        let event = match self.expect(runner, &mut cursor, &doing) {
            Some(event) if is_external(event) => event,
            _ => self.diverge(runner, &cursor, &cursor.describe(), &doing()),
        };
        let recorded = match event.kind {
            Kind::ANSWER | Kind::DATA => Asked::from_code(event.second),
            _ => Asked::NOTHING,
        };
        if event.kind != Kind::WITHHELD && recorded != asked {
            let expected = format!("an answer to {recorded}");
            let did = format!("{}: {asked}", doing());
            self.diverge(runner, &cursor, &expected, &did);
        }
        let reply = match event.kind {
            Kind::DATA => match self.trace.data(event.number) {
                Ok(bytes) => Reply::Bytes(Cow::Owned(bytes.to_vec())),
                Err(error) => report::finish(
                    self.report.as_deref(),
                    report::DIVERGED,
                    &format!(
                        "the trace does not have what came from outside: {error}\n  activity:  {}\n  program:   {}\n",
                        self.family_of(runner),
                        doing()
                    ),
                ),
            },
            Kind::WITHHELD => self.withheld(runner, &doing()),
            Kind::CLOCK => Reply::Elapsed(event.number),
            _ => Reply::Number(event.number),
        };
        drop(cursor);
        let heard = hear(reply);
        let mut cursor = runner.cursor();
        if !heard {
            self.diverge(runner, &cursor, "an answer of another kind", &doing());
        }
        cursor.count(tag(0, operation.op));
        self.load(runner, &mut cursor);
    }

    /// The program needs what was kept out of the trace.
    pub(super) fn withheld(&self, runner: &Runner, doing: &str) -> ! {
        let text = format!(
            "the replay cannot go on: what the program asks for was kept out of the trace\n\
             \x20 activity:  {}\n\
             \x20 program:   {doing}\n\
             Withheld when this was recorded: {}.\n",
            self.family_of(runner),
            self.trace.program().withheld.join(", "),
        );
        report::finish(self.report.as_deref(), report::DIVERGED, &text)
    }

    /// Whether a source has nothing more to bring. Where the recording ends before it does, it stays where it is.
    pub(super) fn source_is_over(&self, runner: &Runner) -> bool {
        let mut cursor = runner.cursor();
        loop {
            match cursor.next {
                Next::Event(_) => return false,
                Next::Tick { .. } if cursor.silent_left() == 0 => self.load(runner, &mut cursor),
                Next::End { .. } => return true,
                Next::Cut { .. } if cursor.silent_left() == 0 => {
                    drop(cursor);
                    self.at_end(runner, "the end of the recording");
                }
                _ => return false,
            }
        }
    }
}

/// Whether an event is an answer from outside.
pub(super) fn is_external(event: Event) -> bool {
    matches!(
        event.kind,
        Kind::OUTSIDE | Kind::CLOCK | Kind::ANSWER | Kind::DATA | Kind::WITHHELD
    )
}
