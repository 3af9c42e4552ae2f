//! `reenact trace show`: prints the events, activity by activity.

use std::{
    io::{self, Write},
    sync::Arc,
};

use anstyle::Style;
use indicatif::HumanCount;
use reenact_trace::{ActivityInfo, Crowd, Exit, Item, Origin, Trace, printable};

use super::event_text::EventText;
use crate::{args::ShowArgs, error::Error, report, screen};

/// Maximum number of activities to show in which everything went as predicted. There may be thousands of them, all
/// alike.
const PREDICTED_SHOWN: u64 = 20;

pub(super) fn run(args: &ShowArgs) -> Result<Exit, Error> {
    let trace = super::open(&args.file)?;
    let mut out = io::BufWriter::new(screen::stdout());
    if let Some(name) = &args.activity {
        let chosen = called(&trace, name);
        if chosen.is_empty() {
            return Err(Error::NoSuchActivity {
                trace: args.file.clone(),
                name: printable(name).into_owned(),
                known: some_names(&trace),
            });
        }
        header(&trace, &mut out).map_err(Error::Output)?;
        for info in &chosen {
            activity(&trace, info, args.limit, &mut out)?;
        }
        out.flush().map_err(Error::Output)?;
        return Ok(Exit::Status(0));
    }
    header(&trace, &mut out).map_err(Error::Output)?;
    let mut predicted = AsPredicted::default();
    for crowd in trace.crowds() {
        for info in predicted.shown(&trace, &crowd) {
            activity(&trace, &info, args.limit, &mut out)?;
        }
    }
    predicted.summary(&mut out).map_err(Error::Output)?;
    out.flush().map_err(Error::Output)?;
    Ok(Exit::Status(0))
}

/// Returns the activities with this place in the family tree, or whose thread has this name.
fn called(trace: &Trace, name: &str) -> Vec<ActivityInfo> {
    let is_called = |info: &ActivityInfo| {
        let (thread, family) = (&info.name, trace.family_name(info.number));
        [thread, &family]
            .into_iter()
            .any(|known| known == name || printable(known) == name)
    };
    // Only the first of a crowd has a name that cannot be computed.
    let mut found: Vec<_> = (trace.crowds().map(|crowd| crowd.first))
        .filter(is_called)
        .collect();
    let in_crowd = || {
        let (parent, index) = name.rsplit_once(".a")?;
        let [parent] = &called(trace, parent)[..] else {
            return None;
        };
        let number = trace.child_in_block(parent.number, index.parse().ok()?)?;
        trace.activity(number).filter(|info| info.in_block)
    };
    let of_unknown_origin = || {
        let info = trace.activity(name.strip_prefix('?')?.parse().ok()?)?;
        (info.origin == Origin::Unknown).then_some(info)
    };
    if found.is_empty() {
        found.extend(in_crowd().or_else(of_unknown_origin));
    }
    found
}

/// Activities of which only the number of operations can be shown, because they have no events.
#[derive(Default)]
struct AsPredicted {
    activities: u64,
    operations: u64,
}

impl AsPredicted {
    /// Counts activities that have no events. Returns those to show.
    fn shown(&mut self, trace: &Arc<Trace>, crowd: &Crowd) -> Vec<ActivityInfo> {
        let first = crowd.first.number;
        let some = |count| {
            let numbers = u64::from(first)..u64::from(first) + count;
            numbers
                .filter_map(|number| trace.activity(number as u32))
                .collect()
        };
        let count = u64::from(crowd.count);
        let mut events = trace.events(first);
        let is_predicted = events.by_ref().all(|item| {
            matches!(
                item,
                Ok(Item::End { .. } | Item::Cut { .. } | Item::Tick { .. })
            )
        });
        if !is_predicted {
            return some(count);
        }
        let shown = count.min(PREDICTED_SHOWN.saturating_sub(self.activities));
        self.activities += count;
        let omitted = events.position().saturating_mul(count - shown);
        self.operations = self.operations.saturating_add(omitted);
        some(shown)
    }

    fn summary(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(more @ 1..) = self.activities.checked_sub(PREDICTED_SHOWN) else {
            return Ok(());
        };
        let activities = report::counted(more, "activity", "activities");
        let operations = HumanCount(self.operations);
        writeln!(
            out,
            "\nand {activities} more in which everything went as predicted, {operations} operations in all"
        )
    }
}

/// Lists enough names to choose from; a program may have many thousand threads.
fn some_names(trace: &Trace) -> String {
    const ENOUGH: usize = 12;
    let names: Vec<String> = trace
        .activities()
        .take(ENOUGH)
        .map(|info| heading(trace, &info))
        .collect();
    let more = trace.activities().len().saturating_sub(ENOUGH);
    match more {
        0 => names.join(", "),
        _ => format!("{}, and {more} more", names.join(", ")),
    }
}

fn heading(trace: &Trace, info: &ActivityInfo) -> String {
    let family = trace.family_name(info.number);
    let text = if info.name.is_empty() || family.contains(&info.name) {
        family
    } else {
        format!("{family} ({})", info.name)
    };
    printable(&text).into_owned()
}

fn header(trace: &Trace, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{}", super::command_line(trace.program()))?;
    match trace.exit() {
        Some(exit) => writeln!(out, ": {exit}"),
        None => writeln!(out, ": how it ended is not known"),
    }
}

fn activity(
    trace: &Arc<Trace>,
    info: &ActivityInfo,
    limit: Option<u64>,
    out: &mut impl Write,
) -> Result<(), Error> {
    let bold = Style::new().bold();
    let dim = Style::new().dimmed();
    writeln!(out, "\n{bold}{}{bold:#}", heading(trace, info)).map_err(Error::Output)?;
    let mut events = trace.events(info.number);
    let mut text = EventText::new(trace, info);
    let mut shown = 0;
    let mut ended = false;
    while let Some(item) = events.next() {
        let item = match item {
            Ok(item) => item,
            Err(error) => {
                writeln!(out, "          {error}").map_err(Error::Output)?;
                break;
            }
        };
        // There is nothing to cut after the end of an activity.
        if ended && matches!(item, Item::Cut { .. }) {
            break;
        }
        if limit == Some(shown) {
            writeln!(out, "          {dim}…{dim:#}").map_err(Error::Output)?;
            break;
        }
        shown += 1;
        ended |= matches!(item, Item::End { .. });
        let (silent, what) = describe(&item, &mut text);
        let position = events.position();
        let predicted = match silent {
            0 => String::new(),
            1 => format!("  {dim}after 1 as predicted{dim:#}"),
            _ => format!("  {dim}after {silent} as predicted{dim:#}"),
        };
        writeln!(out, "{position:>8}  {what}{predicted}").map_err(Error::Output)?;
    }
    Ok(())
}

fn describe(item: &Item, text: &mut EventText<'_>) -> (u32, String) {
    match *item {
        Item::Event(event) => (event.silent, text.describe(event)),
        Item::Tick { silent, hash } => (silent, format!("check {hash:08x}")),
        Item::End { silent, .. } => (silent, "end".to_owned()),
        Item::Cut { silent, .. } => (silent, "the recording ends".to_owned()),
    }
}
