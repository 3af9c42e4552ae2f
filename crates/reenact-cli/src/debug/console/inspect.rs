//! The commands that print what a universe is and what can come of it, and change nothing.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    num::NonZeroUsize,
};

use reenact_multiverse::{
    Bounds, Expression, Graph, Observation, Search, Semantics, UniverseStatus, Universes,
};

use super::{Console, HELP, Refusal, number, pointed, with_hint};
use crate::{
    debug::{command, line, listing},
    explore::{MAX_MEMORY_MB, MAX_STATES, run_search},
    findings::{Findings, Stories},
    report::quoted,
    suggest::did_you_mean,
    universe::{BOLD, PAUSED, PathLine, about_to, ending_lines, write_found, write_story},
};

impl<S: Semantics> Console<S> {
    pub(super) fn steps(&self, out: &mut dyn Write) -> Result<(), Refusal> {
        let selected = self.session.selected();
        let choices = self.session.applicable(selected);
        for choices in choices? {
            let names: Vec<_> = choices.steps.iter().map(|step| step.name).collect();
            let paused = match choices.is_paused {
                true => format!(" {PAUSED}(stopped){PAUSED:#}"),
                false => String::new(),
            };
            let next = match choices.next.is_empty() {
                true => "has nothing to do".to_owned(),
                false => choices.next.join(" or "),
            };
            writeln!(
                out,
                "{BOLD}{}{BOLD:#}{paused} {next}\n  {}",
                choices.who,
                names.join(", ")
            )?;
        }
        Ok(())
    }

    pub(super) fn universe(&mut self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        let universe = self.number_or_selected(text)?;
        self.session.select(universe)?;
        let overview = self.session.overview();
        let group = overview
            .groups
            .iter()
            .find(|group| group.universes.contains(&universe));
        let Some(how) = group.map(|group| &group.how) else {
            return Ok(());
        };
        let reason = match self.has_run {
            true => how.reason(),
            false => "not run yet".to_owned(),
        };
        writeln!(out, "{BOLD}Universe {universe}{BOLD:#} {reason}")?;
        let lines = match how {
            UniverseStatus::Paused { stopped, .. } => stopped.iter().map(about_to).collect(),
            UniverseStatus::Ended(ending) => ending_lines(ending),
            UniverseStatus::Stopped | UniverseStatus::Running => Vec::new(),
        };
        for line in lines {
            writeln!(out, "  {line}")?;
        }
        Ok(())
    }

    pub(super) fn show(&self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        let (text, universe) = match text
            .rsplit_once(" in ")
            .or(text.strip_prefix("in ").map(|universe| ("", universe)))
        {
            Some((text, universe)) => (text.trim(), self.number(universe.trim())?),
            None => (text, self.session.selected()),
        };
        let seen = self.session.observe(universe)?;
        if text.is_empty() {
            return Ok(writeln!(out, "{seen:#}")?);
        }
        if let Some(part) = seen.get(text) {
            return Ok(writeln!(out, "{part:#}")?);
        }
        let expression =
            Expression::parse(text).map_err(|error| pointed(text, &error, &error.message))?;
        let is_path = |letter: char| letter.is_alphanumeric() || "_.[]`".contains(letter);
        if text.chars().all(is_path) && !matches!(text, "null" | "true" | "false") {
            return Err(self.missing(text, &seen).into());
        }
        Ok(writeln!(out, "{:#}", expression.evaluate(&seen))?)
    }

    /// Returns the error for a path that does not exist: its longest prefix that does, and the fields there.
    fn missing(&self, path: &str, seen: &Observation) -> String {
        let mut known = path;
        while let Some((shorter, _)) = known.rsplit_once(['.', '[']) {
            known = shorter;
            if let Some(Observation::Record(fields)) = seen.get(known) {
                return format!(
                    "there is no {path}; in {known} there are {}",
                    names(&fields)
                );
            }
        }
        match seen {
            Observation::Record(fields) => {
                format!("there is no {path}; there are {}", names(fields))
            }
            _ => format!("there is no {path}"),
        }
    }

    pub(super) fn diff(&self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        let words = line::words(text);
        let (a, b) = match words.as_slice() {
            [b] => (self.session.selected(), self.number(b)?),
            [a, b] => (self.number(a)?, self.number(b)?),
            _ => return Err("which universes? Usage: diff [N] M".into()),
        };
        let differences = self.session.diff(a, b)?;
        if differences.is_empty() {
            return Ok(writeln!(
                out,
                "There is no visible difference between {a} and {b}"
            )?);
        }
        writeln!(out, "{BOLD}From universe {a} to {b}{BOLD:#}")?;
        for difference in differences {
            writeln!(out, "  {difference}")?;
        }
        Ok(())
    }

    pub(super) fn story(&self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        let universe = self.number_or_selected(text)?;
        let events = self.session.story(universe)?;
        if events.is_empty() {
            return Ok(writeln!(
                out,
                "Nothing has happened in universe {universe}"
            )?);
        }
        writeln!(out, "{BOLD}The steps to universe {universe}{BOLD:#}")?;
        Ok(write_story(out, "  ", PathLine::of_events(&events))?)
    }

    pub(super) fn find(&self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        if text.is_empty() {
            return Err("which condition? See: help where".into());
        }
        let condition =
            Expression::parse(text).map_err(|error| pointed(text, &error, &error.message))?;
        let found = self.session.find(&condition, Universes::All);
        Ok(write_found(out, "", &found?)?)
    }

    pub(super) fn ends(
        &self,
        out: &mut dyn Write,
        text: &str,
        stories: Stories,
    ) -> Result<(), Refusal> {
        let mut words = line::words(text);
        let is_from_start = words == ["start"];
        if is_from_start {
            words.clear();
        }
        let universes = self.universes_of(&mut words)?;
        if let Some(extra) = words.first() {
            return Err(format!("unexpected {extra}; expected in UNIVERSE, here or start").into());
        }
        let (from, graph) = match universes {
            _ if is_from_start || !self.has_run => {
                let starts = self.session.language().initial();
                ("From the start".to_owned(), self.search(starts))
            }
            Universes::All => ("From here".to_owned(), self.ahead(universes)?),
            Universes::One(universe) => {
                let from = format!("From universe {universe}");
                (from, self.ahead(universes)?)
            }
        };
        let findings = Findings::of(self.session.language(), &graph, &[]);
        Ok(findings.write(out, &from, stories)?)
    }

    /// Searches everything that can happen from these universes on, ignoring breakpoints.
    fn ahead(&self, universes: Universes) -> Result<Graph<S>, Refusal> {
        let language = self.session.language();
        let states = match universes {
            Universes::All => self.session.universes().collect(),
            Universes::One(universe) => {
                let state = self.session.state(universe);
                vec![state?]
            }
        };
        let starts = states.into_iter().map(|state| language.unmark(&state.base));
        Ok(self.search(starts.collect()))
    }

    fn search(&self, starts: Vec<S::State>) -> Graph<S> {
        let bounds = Bounds {
            states: Some(self.bounds.max_states.map_or(MAX_STATES, NonZeroUsize::get)),
            time: self.bounds.max_time,
            bytes: Some(MAX_MEMORY_MB << 20),
            depth: None,
        };
        let search = Search::of(self.session.language());
        run_search(search.from(starts).bounds(bounds), None)
    }

    pub(super) fn list(&self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        const AROUND: u32 = 5;
        let what = "the number of a line";
        let words = line::words(text);
        let lines = self.source.text().lines().count() as u32;
        let (first, last) = match words.as_slice() {
            [] => (1, lines),
            [line] => {
                let line = number::<u32>(line, what)?;
                (line.saturating_sub(AROUND), line.saturating_add(AROUND))
            }
            [first, last] => (number(first, what)?, number(last, what)?),
            _ => return Err("usage: list [LINE [LAST]]".into()),
        };
        if first > lines || first > last {
            return Err(format!("the program has lines 1 to {lines}").into());
        }
        Ok(listing::list(
            out,
            &self.source,
            &self.session,
            first.max(1),
            last,
        )?)
    }

    pub(super) fn dot(&self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        let words = line::words(text);
        let (file, is_ahead) = match words.as_slice() {
            [file] => (file, false),
            [file, ahead] if ahead == "ahead" => (file, true),
            _ => return Err("which file? Usage: dot FILE [ahead]".into()),
        };
        let write = || -> io::Result<()> {
            let mut out = BufWriter::new(File::create(file)?);
            match is_ahead {
                true => match self.ahead(Universes::All) {
                    Ok(graph) => {
                        out.write_all(graph.dot(self.session.language()).as_bytes())?;
                    }
                    Err(refusal) => return Err(io::Error::other(refusal)),
                },
                false => out.write_all(self.session.dot().as_bytes())?,
            }
            out.flush()
        };
        write().map_err(|error| format!("cannot write {file}: {error}"))?;
        let shown = quoted(file.as_ref());
        Ok(writeln!(
            out,
            "Written to {file}. To see it, in a shell: dot -Tsvg {shown} > session.svg"
        )?)
    }

    pub(super) fn schedule(&self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        let words = line::words(text);
        let (file, universe) = match words.as_slice() {
            [file] => (file, self.session.selected()),
            [file, universe] => (file, self.number(universe)?),
            _ => return Err("which file? Usage: schedule FILE [UNIVERSE]".into()),
        };
        let state = self.session.state(universe)?;
        let schedule = self.session.language().schedule(&state.base);
        let schedule = schedule.ok_or("only Rust programs have schedules; see: story")?;
        fs::write(file, schedule).map_err(|error| format!("cannot write {file}: {error}"))?;
        let shown = quoted(file.as_ref());
        Ok(writeln!(
            out,
            "Written to {file}. To follow it, in a shell: reenact explore --schedule {shown} -- CMD"
        )?)
    }

    pub(super) fn help(&self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        let language = self.session.language();
        if text.is_empty() {
            return Ok(command::help(out, language)?);
        }
        let is_known = command::help_on(out, language, text);
        match is_known? {
            true => Ok(()),
            false => {
                let hint = did_you_mean(text, command::first_words(language));
                let message = format!("there is no help on {text}");
                Err(with_hint(&message, hint, HELP).into())
            }
        }
    }
}

fn names(fields: &[(String, Observation)]) -> String {
    let names: Vec<_> = fields.iter().map(|(name, _)| name.as_str()).collect();
    names.join(", ")
}
