//! Prints universes, the paths to them and their endings.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use indicatif::HumanCount;
use reenact_multiverse::{
    Ending, FoundStates, Group, Numbers, Overview, PathEvent, Site, StoppedActivity, Story,
    UniverseStatus,
};

use crate::report::counted;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
/// For errors, deadlocks and livelocks.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// For what waits for the user.
pub(crate) const PAUSED: Style = AnsiColor::Magenta.on_default();
/// For what the user must know to interpret the rest, such as incomplete coverage.
pub(crate) const NOTE: Style = AnsiColor::Yellow.on_default();

/// A step on the path to a universe.
pub(crate) struct PathLine<'a> {
    /// The activity that took the step; `None` for a command of the user.
    pub(crate) who: Option<&'a str>,
    pub(crate) what: &'a str,
    pub(crate) site: Option<Site>,
}

impl<'a> PathLine<'a> {
    pub(crate) fn of_story(story: &'a Story) -> impl ExactSizeIterator<Item = PathLine<'a>> {
        story.0.iter().map(|line| PathLine {
            who: Some(&line.who),
            what: &line.what,
            site: line.site,
        })
    }

    pub(crate) fn of_events(
        events: &'a [PathEvent],
    ) -> impl ExactSizeIterator<Item = PathLine<'a>> {
        events.iter().map(|event| PathLine {
            who: event.who.as_deref(),
            what: &event.what,
            site: event.site,
        })
    }
}

/// Prints a path, one numbered line per step. Commands of the user have no number.
pub(crate) fn write_story<'a>(
    out: &mut dyn Write,
    indent: &str,
    lines: impl ExactSizeIterator<Item = PathLine<'a>>,
) -> io::Result<()> {
    let width = lines.len().to_string().len();
    let mut number = 0;
    for line in lines {
        let Some(who) = line.who else {
            writeln!(
                out,
                "{indent}{:width$}  {PAUSED}> {}{PAUSED:#}",
                "", line.what
            )?;
            continue;
        };
        number += 1;
        write!(
            out,
            "{indent}{number:width$}. {BOLD}{who}{BOLD:#} {}",
            line.what
        )?;
        match line.site {
            Some(site) => writeln!(out, " {DIM}(line {}){DIM:#}", site.line)?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

/// Describes how a program ended, as lines.
pub(crate) fn ending_lines(ending: &Ending) -> Vec<String> {
    let lines = ending.lines();
    match lines.is_empty() {
        true => vec!["nothing visible".to_owned()],
        false => lines,
    }
}

/// Prints the state of all universes: why they have stopped, and what is about to happen in which of them.
pub(crate) fn write_overview(out: &mut dyn Write, overview: &Overview) -> io::Result<()> {
    if overview.groups.is_empty() {
        return writeln!(out, "There are no universes.");
    }
    let mut groups: Vec<&Group> = overview.groups.iter().collect();
    let mut reasons: Vec<String> = Vec::new();
    for group in &groups {
        let reason = group.how.reason();
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    for heading in reasons {
        let alike: Vec<&Group>;
        (alike, groups) = groups
            .into_iter()
            .partition(|group| group.how.reason() == heading);
        let count: usize = alike.iter().map(|group| group.universes.len()).sum();
        let style = match alike[0].how {
            UniverseStatus::Paused { .. } => PAUSED,
            UniverseStatus::Running => NOTE,
            UniverseStatus::Ended(_) | UniverseStatus::Stopped => BOLD,
        };
        let count = counted(count as u64, "universe", "universes");
        writeln!(out, "{style}{count} {heading}{style:#}")?;
        let is_alone = alike.len() == 1;
        for group in alike {
            write_group(out, group, is_alone)?;
        }
    }
    Ok(())
}

fn write_group(out: &mut dyn Write, group: &Group, is_alone: bool) -> io::Result<()> {
    let numbers = Numbers(&group.universes);
    let numbers = match group.universes.len() {
        count if count > 1 && !is_alone => {
            format!("{} of them [{numbers}]", HumanCount(count as u64))
        }
        _ => format!("[{numbers}]"),
    };
    match &group.how {
        UniverseStatus::Paused { stopped, .. } if stopped.is_empty() => {
            writeln!(out, "  {numbers}")
        }
        UniverseStatus::Paused { stopped, .. } => {
            let stopped: Vec<String> = stopped.iter().map(about_to).collect();
            writeln!(out, "  {numbers} {}", stopped.join("; "))
        }
        UniverseStatus::Ended(ending) => {
            let style = if ending.is_bad() { BAD } else { Style::new() };
            let lines = ending_lines(ending).join("; ");
            writeln!(out, "  {numbers} {style}{lines}{style:#}")
        }
        UniverseStatus::Stopped | UniverseStatus::Running => writeln!(out, "  {numbers}"),
    }
}

/// Describes a stopped activity and what it is about to do.
pub(crate) fn about_to(stop: &StoppedActivity) -> String {
    match stop.next.is_empty() {
        true => format!("{} has nothing to do", stop.who),
        false => format!("next, {} {}", stop.who, stop.next.join(" or ")),
    }
}

/// Prints where a condition holds, and the path to the nearest universe.
pub(crate) fn write_found(
    out: &mut dyn Write,
    indent: &str,
    found: &FoundStates,
) -> io::Result<()> {
    let Some(nearest) = &found.nearest else {
        let of = HumanCount(found.of as u64);
        return match found.is_complete {
            true => writeln!(
                out,
                "{indent}none of the {of} that can be reached from here"
            ),
            false => writeln!(
                out,
                "{indent}none of the {of} that were seen from here; there are more"
            ),
        };
    };
    let count = counted(found.states as u64, "universe", "universes");
    let of = HumanCount(found.of as u64);
    let steps = counted(nearest.story.len() as u64, "step", "steps");
    let nearest_is = match nearest.story.is_empty() {
        true => format!("universe {} is one", nearest.universe),
        false => format!(
            "the nearest after {steps} from universe {}:",
            nearest.universe
        ),
    };
    writeln!(
        out,
        "{indent}{count} of the {of} that {}; {nearest_is}",
        match found.is_complete {
            true => "can be reached from here",
            false => "were seen from here",
        }
    )?;
    write_story(
        out,
        &format!("{indent}  "),
        PathLine::of_events(&nearest.story),
    )
}
