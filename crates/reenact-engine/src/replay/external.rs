//! External data, from the trace.

use std::{borrow::Cow, sync::Arc};

use reenact_trace::{Event, Item, Kind, Trace};

use super::{Replay, Runner, cursor::Next, describe, report};
use crate::{Announcement, Asked, Reply, captured::is_of_library, object::tag, printed::is_print};

impl Replay {
    /// Gives an activity the recorded answer to a request for external data, if the request is the recorded one.
    pub(super) fn play(
        &self,
        runner: &Runner,
        operation: &Announcement<'_>,
        what: &str,
        asked: Asked,
        hear: &mut dyn FnMut(Reply<'_>) -> bool,
    ) {
        let doing = || format!("{what} ({})", describe(operation));
        let mut cursor = runner.cursor();
        let event = match self.expect(runner, &mut cursor, &doing) {
            Some(event) if is_external(event) && !is_of_library(event.kind) => event,
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
            Kind::DATA => Reply::Bytes(Cow::Owned(
                self.data(runner, event.number, &doing()).to_vec(),
            )),
            Kind::WITHHELD => self.withheld(runner, &doing()),
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

    /// Reads data of the trace.
    pub(super) fn data(&self, runner: &Runner, id: u64, doing: &str) -> Arc<[u8]> {
        self.trace.data(id).unwrap_or_else(|error| {
            let text = format!(
                "the trace cannot be read any further: {error}\n\
                 \x20 activity:  {}\n\
                 \x20 program:   {doing}\n",
                self.family_of(runner),
            );
            report::finish(self.report.as_deref(), report::DIVERGED, &text)
        })
    }

    /// Ends the replay because the program needs data that was kept out of the trace.
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

    /// Whether a source has nothing more to deliver. If the recording ends before the source does, the source parks
    /// permanently.
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

/// Whether a foreign thread does nothing in the trace except call the C library.
pub(crate) fn is_stranger(trace: &Arc<Trace>, number: u32) -> bool {
    trace.events(number).all(|item| match item {
        Ok(Item::Event(event)) => event.silent == 0 && is_of_library(event.kind),
        Ok(Item::Tick { silent, .. } | Item::End { silent, .. } | Item::Cut { silent, .. }) => {
            silent == 0
        }
        Err(_) => false,
    })
}

/// Whether an event is external data.
pub(super) fn is_external(event: Event) -> bool {
    is_of_library(event.kind)
        || is_print(event.kind)
        || matches!(
            event.kind,
            Kind::OUTSIDE | Kind::ANSWER | Kind::DATA | Kind::WITHHELD
        )
}
