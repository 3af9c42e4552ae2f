//! Executes the lines that a user types.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    num::NonZeroUsize,
};

use reenact_ambient::Source;
use reenact_multiverse::{
    Bounds, Expression, Graph, How, Observation, Search, Semantics, Session, SessionError,
    Standings, StepKind, SyntaxError, Universes, Who, breakpoints, steps,
};

use super::{
    command::{self, Verb},
    listing, words,
};
use crate::{
    args::BoundsArgs,
    error::Failure,
    explore::{MAX_MEMORY_MB, MAX_STATES, run_search},
    findings::{Findings, Stories},
    report::{counted, quoted},
    suggest::did_you_mean,
    universe::{
        BOLD, Deed, PAUSED, about_to, ending_lines, write_found, write_standings, write_story,
    },
};

/// Whether to read another line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    GoOn,
    Quit,
}

/// Why a command was refused, as shown to the user.
type Refusal = String;

pub(super) struct Console<S: Semantics> {
    session: Session<S>,
    source: Source,
    bounds: BoundsArgs,
    has_run: bool,
}

impl<S: Semantics> Console<S> {
    pub(super) fn new(session: Session<S>, source: Source, bounds: BoundsArgs) -> Self {
        Console {
            session,
            source,
            bounds,
            has_run: false,
        }
    }

    /// Follows the recorded run to its end, if the session was opened with a recording.
    pub(super) fn begin(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        let steps = self.session.language().path().len();
        if steps == 0 {
            return Ok(());
        }
        self.has_run = true;
        let standings = self.session.follow_path();
        writeln!(
            out,
            "at the end of what was recorded, {}; back goes back along it",
            counted(steps as u64, "step", "steps")
        )
        .and_then(|()| write_standings(out, &standings))
        .map_err(Failure::Output)
    }

    pub(super) fn session(&self) -> &Session<S> {
        &self.session
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    pub(super) fn prompt(&self) -> String {
        match self.session.universes().len() {
            0 | 1 => "> ".to_owned(),
            count => format!("{} of {count}> ", self.session.selected()),
        }
    }

    /// Executes a line and writes its result.
    pub(super) fn obey(&mut self, line: &str, out: &mut dyn Write) -> Result<Next, Refusal> {
        let (name, rest) = words::first(line);
        let step = command::step_called(name);
        // The session refuses steps that are about calls, and its error says why.
        let is_step = steps(self.session.language()).any(|one| one.name == step)
            || reenact_multiverse::step(step).is_some_and(StepKind::is_about_calls);
        if is_step {
            self.step(out, step, rest)?;
            return Ok(Next::GoOn);
        }
        let Some(command) = command::find(name) else {
            let known = command::first_words(self.session.language());
            return Err(match did_you_mean(name, known) {
                Some(question) => format!("there is no command {name}; {question}"),
                None => format!("there is no command {name}; help says what there is"),
            });
        };
        if command.arguments.is_empty() && !rest.is_empty() {
            return Err(format!("{} takes no argument", command.names[0]));
        }
        match command.verb {
            Verb::Break if rest.is_empty() => self.breakpoints(out),
            Verb::Break => self.add_breakpoint(out, rest),
            Verb::Breakpoints => self.breakpoints(out),
            Verb::Delete => self.delete(out, rest),
            Verb::Run => {
                self.has_run = true;
                let standings = self.session.start();
                self.standings(out, &standings)
            }
            Verb::Step => {
                let (step, rest) = words::first(rest);
                self.step(out, command::step_called(step), rest)
            }
            Verb::Steps => self.steps(out),
            Verb::Universes => {
                let standings = self.session.standings();
                self.standings(out, &standings)
            }
            Verb::Universe => self.universe(out, rest),
            Verb::Show => self.show(out, rest),
            Verb::Diff => self.diff(out, rest),
            Verb::Story => self.story(out, rest),
            Verb::Where => self.find(out, rest),
            Verb::Ends => self.ends(out, rest, Stories::None),
            Verb::Ways => self.ends(out, rest, Stories::All),
            Verb::List => self.list(out, rest),
            Verb::Dot => self.dot(out, rest),
            Verb::Schedule => self.schedule(out, rest),
            Verb::Back => {
                let standings = self.session.back().map_err(|error| error.to_string())?;
                self.standings(out, &standings)
            }
            Verb::Help => self.help(out, rest),
            Verb::Quit => return Ok(Next::Quit),
        }?;
        Ok(Next::GoOn)
    }

    fn standings(&self, out: &mut dyn Write, standings: &Standings) -> Result<(), Refusal> {
        let is_new = matches!(&standings.groups[..], [group] if group.how == How::Running);
        said(match !self.has_run && is_new {
            true => writeln!(out, "The program has not run. To let it: run"),
            false => write_standings(out, standings),
        })
    }

    fn breakpoints(&self, out: &mut dyn Write) -> Result<(), Refusal> {
        let all = self.session.breakpoints();
        if all.iter().next().is_none() {
            return said(writeln!(out, "There are none. To set one: help break"));
        }
        for (number, breakpoint) in all.iter() {
            said(writeln!(out, "{number}: {breakpoint}"))?;
        }
        Ok(())
    }

    fn add_breakpoint(&mut self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        let added = self.session.add_breakpoint(text);
        let number = added.map_err(|error| {
            let known = breakpoints(self.session.language()).map(|kind| kind.name);
            let (kind, _) = words::first(text);
            match &error {
                SessionError::Syntax(error) if error.span.start == 0 => {
                    match did_you_mean(kind, known) {
                        Some(question) => {
                            let message = format!("there is no breakpoint {kind}; {question}");
                            pointed(text, error, &message)
                        }
                        None => {
                            let message = format!("there is no breakpoint {kind}; see: help break");
                            pointed(text, error, &message)
                        }
                    }
                }
                _ => explained(text, &error),
            }
        })?;
        let added = self.session.breakpoints().get(number);
        let text = added.map_or_else(|| text.to_owned(), ToString::to_string);
        said(writeln!(out, "Breakpoint {number}: {text}"))
    }

    fn delete(&mut self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        let numbers: Vec<u32> = match text {
            "all" => {
                let all = self.session.breakpoints().iter();
                all.map(|(number, _)| number).collect()
            }
            text => vec![number(text, "the number of a breakpoint, or all")?],
        };
        for number in numbers {
            let removed = self.session.remove_breakpoint(number);
            let removed = removed.map_err(|error| error.to_string())?;
            said(writeln!(out, "Removed {number}: {removed}"))?;
        }
        Ok(())
    }

    /// `STEP [ACTIVITY] [TIMES] [in UNIVERSE|here]`
    fn step(&mut self, out: &mut dyn Write, step: &str, text: &str) -> Result<(), Refusal> {
        let mut words = words::split(text);
        let universes = self.universes_of(&mut words)?;
        let times = match words.last().map(|word| word.parse::<u32>()) {
            Some(Ok(times)) => {
                words.pop();
                times
            }
            _ => 1,
        };
        let who = match words.as_slice() {
            [] => Who::Stopped,
            [name] => Who::Name(name),
            [_, extra, ..] => {
                return Err(format!(
                    "what is {extra}? It is: {step} [ACTIVITY] [TIMES] [in UNIVERSE|here]"
                ));
            }
        };
        if !self.has_run && step != "pause" && step != "resume" {
            return Err(
                "the program has not run; to let it: run; to stop at its start: pause".to_owned(),
            );
        }
        self.has_run = true;
        let taken = self.session.command(step, who, times, universes);
        let standings = taken.map_err(|error| match &error {
            SessionError::NoStep { name, steps } => {
                match did_you_mean(name, steps.iter().copied()) {
                    Some(question) => format!("there is no step {name}; {question}"),
                    None => error.to_string(),
                }
            }
            SessionError::NothingPaused => format!("{error}; to start over: run"),
            SessionError::NoActivity { name, activities } if activities.contains(name) => {
                "no universe is paused; to start over: run".to_owned()
            }
            _ => error.to_string(),
        })?;
        self.standings(out, &standings)
    }

    /// Takes `in UNIVERSE` or `here` off the end of a command.
    fn universes_of(&self, words: &mut Vec<String>) -> Result<Universes, Refusal> {
        if words.last().is_some_and(|word| word == "here") {
            words.pop();
            return Ok(Universes::One(self.session.selected()));
        }
        let [.., word, universe] = words.as_slice() else {
            return match words.first().is_some_and(|word| word == "in") {
                true => Err("in which universe? Say its number".to_owned()),
                false => Ok(Universes::All),
            };
        };
        if word != "in" {
            return Ok(Universes::All);
        }
        let universe = self.number(universe)?;
        words.truncate(words.len() - 2);
        Ok(Universes::One(universe))
    }

    /// Returns the universe with this number.
    fn number(&self, text: &str) -> Result<usize, Refusal> {
        let universe = number(text, "the number of a universe")?;
        let state = self.session.state(universe);
        state.map_err(|error| error.to_string())?;
        Ok(universe)
    }

    /// Returns the universe with this number, or the selected one if `text` is empty.
    fn number_or_selected(&self, text: &str) -> Result<usize, Refusal> {
        match text.is_empty() {
            true => Ok(self.session.selected()),
            false => self.number(text),
        }
    }

    fn steps(&self, out: &mut dyn Write) -> Result<(), Refusal> {
        let selected = self.session.selected();
        let choices = self.session.applicable(selected);
        for choices in choices.map_err(|error| error.to_string())? {
            let names: Vec<_> = choices.steps.iter().map(|step| step.name).collect();
            let paused = match choices.is_paused {
                true => format!(" {PAUSED}(stopped){PAUSED:#}"),
                false => String::new(),
            };
            let next = match choices.next.is_empty() {
                true => "has nothing to do".to_owned(),
                false => choices.next.join(" or "),
            };
            said(writeln!(
                out,
                "{BOLD}{}{BOLD:#}{paused} {next}\n  {}",
                choices.who,
                names.join(", ")
            ))?;
        }
        Ok(())
    }

    fn universe(&mut self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        let universe = self.number_or_selected(text)?;
        let selected = self.session.select(universe);
        selected.map_err(|error| error.to_string())?;
        let standings = self.session.standings();
        let group = standings
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
        said(writeln!(out, "{BOLD}Universe {universe}{BOLD:#} {reason}"))?;
        let lines = match how {
            How::Paused { stopped, .. } => stopped.iter().map(about_to).collect(),
            How::Ended(ending) => ending_lines(ending),
            How::Stopped | How::Running => Vec::new(),
        };
        for line in lines {
            said(writeln!(out, "  {line}"))?;
        }
        Ok(())
    }

    fn show(&self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        let (text, universe) = match text
            .rsplit_once(" in ")
            .or(text.strip_prefix("in ").map(|universe| ("", universe)))
        {
            Some((text, universe)) => (text.trim(), self.number(universe.trim())?),
            None => (text, self.session.selected()),
        };
        let seen = self.session.observe(universe);
        let seen = seen.map_err(|error| error.to_string())?;
        if text.is_empty() {
            return said(writeln!(out, "{seen:#}"));
        }
        if let Some(part) = seen.get(text) {
            return said(writeln!(out, "{part:#}"));
        }
        let expression =
            Expression::parse(text).map_err(|error| pointed(text, &error, &error.message))?;
        let is_path = |letter: char| letter.is_alphanumeric() || "_.[]`".contains(letter);
        if text.chars().all(is_path) && !matches!(text, "null" | "true" | "false") {
            return Err(self.missing(text, &seen));
        }
        said(writeln!(out, "{:#}", expression.evaluate(&seen)))
    }

    /// Returns the error for a path that does not exist: its longest prefix that does, and the fields there.
    fn missing(&self, path: &str, seen: &Observation) -> Refusal {
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

    fn diff(&self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        let words = words::split(text);
        let (a, b) = match words.as_slice() {
            [b] => (self.session.selected(), self.number(b)?),
            [a, b] => (self.number(a)?, self.number(b)?),
            _ => return Err("which universes? It is: diff [N] M".to_owned()),
        };
        let differences = self.session.diff(a, b);
        let differences = differences.map_err(|error| error.to_string())?;
        if differences.is_empty() {
            return said(writeln!(
                out,
                "Nothing that can be seen differs between {a} and {b}"
            ));
        }
        said(writeln!(out, "{BOLD}From universe {a} to {b}{BOLD:#}"))?;
        for difference in differences {
            said(writeln!(out, "  {difference}"))?;
        }
        Ok(())
    }

    fn story(&self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        let universe = self.number_or_selected(text)?;
        let events = self.session.story(universe);
        let events = events.map_err(|error| error.to_string())?;
        if events.is_empty() {
            return said(writeln!(out, "Nothing has happened in universe {universe}"));
        }
        said(writeln!(
            out,
            "{BOLD}How universe {universe} came about{BOLD:#}"
        ))?;
        said(write_story(out, "  ", Deed::of_events(&events)))
    }

    fn find(&self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        if text.is_empty() {
            return Err("where what is true? See: help where".to_owned());
        }
        let condition =
            Expression::parse(text).map_err(|error| pointed(text, &error, &error.message))?;
        let found = self.session.find(&condition, Universes::All);
        said(write_found(
            out,
            "",
            &found.map_err(|error| error.to_string())?,
        ))
    }

    fn ends(&self, out: &mut dyn Write, text: &str, stories: Stories) -> Result<(), Refusal> {
        let mut words = words::split(text);
        let is_from_start = words == ["start"];
        if is_from_start {
            words.clear();
        }
        let universes = self.universes_of(&mut words)?;
        if let Some(extra) = words.first() {
            return Err(format!(
                "what is {extra}? Say in UNIVERSE, here, start, or nothing"
            ));
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
        said(findings.write(out, &from, stories))
    }

    /// Searches everything that can happen from these universes on, ignoring breakpoints.
    fn ahead(&self, universes: Universes) -> Result<Graph<S>, Refusal> {
        let language = self.session.language();
        let states = match universes {
            Universes::All => self.session.universes().collect(),
            Universes::One(universe) => {
                let state = self.session.state(universe);
                vec![state.map_err(|error| error.to_string())?]
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

    fn list(&self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        const AROUND: u32 = 5;
        let what = "the number of a line";
        let words = words::split(text);
        let lines = self.source.text().lines().count() as u32;
        let (first, last) = match words.as_slice() {
            [] => (1, lines),
            [line] => {
                let line = number::<u32>(line, what)?;
                (line.saturating_sub(AROUND), line.saturating_add(AROUND))
            }
            [first, last] => (number(first, what)?, number(last, what)?),
            _ => return Err("it is: list [LINE [LAST]]".to_owned()),
        };
        if first > lines || first > last {
            return Err(format!("there are lines 1 to {lines} only"));
        }
        said(listing::list(
            out,
            &self.source,
            &self.session,
            first.max(1),
            last,
        ))
    }

    fn dot(&self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        let words = words::split(text);
        let (file, is_ahead) = match words.as_slice() {
            [file] => (file, false),
            [file, ahead] if ahead == "ahead" => (file, true),
            _ => return Err("to which file? It is: dot FILE [ahead]".to_owned()),
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
        said(writeln!(
            out,
            "Written to {file}. To see it, in a shell: dot -Tsvg {shown} > session.svg"
        ))
    }

    fn schedule(&self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        let words = words::split(text);
        let (file, universe) = match words.as_slice() {
            [file] => (file, self.session.selected()),
            [file, universe] => (file, self.number(universe)?),
            _ => return Err("to which file? It is: schedule FILE [UNIVERSE]".to_owned()),
        };
        let state = self.session.state(universe);
        let state = state.map_err(|error| error.to_string())?;
        let schedule = self.session.language().schedule(&state.base);
        let schedule = schedule.ok_or("only Rust programs have schedules; see: story")?;
        fs::write(file, schedule).map_err(|error| format!("cannot write {file}: {error}"))?;
        let shown = quoted(file.as_ref());
        said(writeln!(
            out,
            "Written to {file}. To go there, in a shell: reenact explore --schedule {shown} -- CMD"
        ))
    }

    fn help(&self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        let language = self.session.language();
        if text.is_empty() {
            return said(command::help(out, language));
        }
        let is_known = command::help_on(out, language, text);
        match is_known.map_err(|error| error.to_string())? {
            true => Ok(()),
            false => Err(match did_you_mean(text, command::first_words(language)) {
                Some(question) => format!("there is no help on {text}; {question}"),
                None => format!("there is no help on {text}; help alone says what there is"),
            }),
        }
    }
}

/// Turns the result of a write into the result of a command. Writing to memory does not fail.
fn said(result: io::Result<()>) -> Result<(), Refusal> {
    result.map_err(|error| error.to_string())
}

fn number<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, Refusal> {
    match text.is_empty() {
        true => Err(format!("which one? Say {what}")),
        false => text.parse().map_err(|_| format!("{text} is not {what}")),
    }
}

fn names(fields: &[(String, Observation)]) -> String {
    let names: Vec<_> = fields.iter().map(|(name, _)| name.as_str()).collect();
    names.join(", ")
}

/// Returns the error as text, with its position if it has one.
fn explained(text: &str, error: &SessionError) -> Refusal {
    match error {
        SessionError::Syntax(error) => pointed(text, error, &error.message),
        error => error.to_string(),
    }
}

/// Formats a message with the text that it is about and a mark under the position of the error.
fn pointed(text: &str, error: &SyntaxError, message: &str) -> Refusal {
    let marked = text.get(error.span.clone()).unwrap_or_default();
    let carets = "^".repeat(marked.chars().count().max(1));
    let before = " ".repeat(error.column.saturating_sub(1));
    format!("{message}\n  {text}\n  {before}{carets}")
}
