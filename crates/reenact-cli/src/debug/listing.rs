//! Prints the source of the program, marked with breakpoints and with the activities that are at a line.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use reenact_ambient::Source;
use reenact_multiverse::{Semantics, Session, What};

use crate::universe::{BOLD, DIM, PAUSED};

/// Writes the lines from `first` to `last`, as far as they exist.
pub(super) fn list<S: Semantics>(
    out: &mut dyn Write,
    source: &Source,
    session: &Session<S>,
    first: u32,
    last: u32,
) -> io::Result<()> {
    let standing = standing(session);
    let lines = source.text().lines().count() as u32;
    let width = last.min(lines).to_string().len();
    for number in first..=last.min(lines) {
        let text = source.line(number).unwrap_or_default();
        let is_stopped_at = session.breakpoints().iter().any(|(_, breakpoint)| {
            matches!(&breakpoint.what, What::Operation(pattern) if pattern.line == Some(number))
        });
        let dot = if is_stopped_at { '*' } else { ' ' };
        match standing.get(&number) {
            Some(names) => {
                let names = names.join(", ");
                writeln!(
                    out,
                    "{dot}{PAUSED}>{PAUSED:#}{number:width$}  {BOLD}{text}{BOLD:#}   {PAUSED}<- {names}{PAUSED:#}"
                )?;
            }
            None => {
                let line = format!("{dot} {DIM}{number:width$}{DIM:#}  {text}");
                writeln!(out, "{}", line.trim_end())?;
            }
        }
    }
    Ok(())
}

/// Returns the lines at which the activities of the selected universe are about to do something, with their names.
fn standing<S: Semantics>(session: &Session<S>) -> BTreeMap<u32, Vec<String>> {
    let mut standing: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let Ok(universe) = session.state(session.selected()) else {
        return standing;
    };
    let (language, state) = (session.language(), &universe.base);
    for step in language.steps(state) {
        let Some(site) = language.operation(state, &step).site else {
            continue;
        };
        let name = language.name(state, language.activity(&step));
        let names = standing.entry(site.line).or_default();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    standing
}
