//! `reenact trace show`: prints the events, activity by activity.

use std::{
    io::{self, Write},
    sync::Arc,
};

use anstyle::Style;
use indicatif::HumanCount;
use reenact_trace::{ActivityInfo, Exit, Item, Trace};

use super::event_text::EventText;
use crate::{args::ShowArgs, error::Error, report};

/// Maximum number of activities to show in which everything went as predicted. There may be thousands of them, all
/// alike.
const PREDICTED_SHOWN: u64 = 20;

pub(super) fn run(args: &ShowArgs) -> Result<Exit, Error> {
    let trace = super::open(&args.file)?;
    let mut out = io::BufWriter::new(anstream::stdout());
    let chosen: Vec<ActivityInfo> = trace
        .activities()
        .filter(|info| is_chosen(&trace, info, args.activity.as_deref()))
        .collect();
    if let Some(name) = &args.activity
        && chosen.is_empty()
    {
        return Err(Error::NoSuchActivity {
            trace: args.file.clone(),
            name: name.clone(),
            known: some_names(&trace),
        });
    }
    header(&trace, &mut out).map_err(Error::Output)?;
    let mut predicted = AsPredicted::default();
    for info in &chosen {
        if args.activity.is_some() || !predicted.omits(&trace, info) {
            activity(&trace, info, args.limit, &mut out)?;
        }
    }
    predicted.summary(&mut out).map_err(Error::Output)?;
    out.flush().map_err(Error::Output)?;
    Ok(Exit::Status(0))
}

fn is_chosen(trace: &Trace, info: &ActivityInfo, name: Option<&str>) -> bool {
    name.is_none_or(|name| info.name == name || trace.family_name(info.number) == name)
}

/// Activities of which only the number of operations can be shown, because they have no events.
#[derive(Default)]
struct AsPredicted {
    activities: u64,
    operations: u64,
}

impl AsPredicted {
    /// Counts an activity that has no events. Returns whether to leave it out.
    fn omits(&mut self, trace: &Arc<Trace>, info: &ActivityInfo) -> bool {
        let mut events = trace.events(info.number);
        let is_predicted = events.by_ref().all(|item| {
            matches!(
                item,
                Ok(Item::End { .. } | Item::Cut { .. } | Item::Tick { .. })
            )
        });
        if !is_predicted {
            return false;
        }
        self.activities += 1;
        let omitted = self.activities > PREDICTED_SHOWN;
        if omitted {
            self.operations += events.position();
        }
        omitted
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
    if info.name.is_empty() || family.contains(&info.name) {
        family
    } else {
        format!("{family} ({})", info.name)
    }
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
