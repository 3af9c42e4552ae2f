//! Executes the lines that a user types.

mod inspect;

use std::{io::Write, ops::ControlFlow};

use reenact_ambient::Source;
use reenact_multiverse::{
    Overview, Semantics, Session, SessionError, StepKind, SyntaxError, UniverseStatus, Universes,
    Who, breakpoints, steps,
};

use super::{
    command::{self, Verb},
    line,
};
use crate::{
    args::BoundsArgs, error::Error, findings::Stories, report::counted, suggest::did_you_mean,
    universe::write_overview,
};

/// Why a command was refused, as shown to the user.
type Refusal = Box<dyn std::error::Error + Send + Sync>;

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
    pub(super) fn begin(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        let steps = self.session.language().path().len();
        if steps == 0 {
            return Ok(());
        }
        self.has_run = true;
        let overview = self.session.follow_path();
        writeln!(
            out,
            "at the end of the recording, {}; to go back a step, type: back",
            counted(steps as u64, "step", "steps")
        )
        .and_then(|()| write_overview(out, &overview))
        .map_err(Error::Output)
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

    /// Executes a line and writes its result. Breaks if the user quits.
    pub(super) fn execute(
        &mut self,
        line: &str,
        out: &mut dyn Write,
    ) -> Result<ControlFlow<()>, Refusal> {
        let (name, rest) = line::first_word(line);
        let step = command::step_called(name);
        // The session refuses steps that are about calls, and its error says why.
        let is_step = steps(self.session.language()).any(|one| one.name == step)
            || reenact_multiverse::step(step).is_some_and(StepKind::is_about_calls);
        if is_step {
            self.step(out, step, rest)?;
            return Ok(ControlFlow::Continue(()));
        }
        let Some(command) = command::find(name) else {
            let known = command::first_words(self.session.language());
            let message = format!("there is no command {name}");
            return Err(with_hint(&message, did_you_mean(name, known), HELP).into());
        };
        if command.arguments.is_empty() && !rest.is_empty() {
            return Err(format!("{} takes no argument", command.names[0]).into());
        }
        match command.verb {
            Verb::Break if rest.is_empty() => self.breakpoints(out),
            Verb::Break => self.add_breakpoint(out, rest),
            Verb::Breakpoints => self.breakpoints(out),
            Verb::Delete => self.delete(out, rest),
            Verb::Run => {
                self.has_run = true;
                let overview = self.session.start();
                self.overview(out, &overview)
            }
            Verb::Step => {
                let (step, rest) = line::first_word(rest);
                self.step(out, command::step_called(step), rest)
            }
            Verb::Steps => self.steps(out),
            Verb::Universes => {
                let overview = self.session.overview();
                self.overview(out, &overview)
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
                let overview = self.session.back()?;
                self.overview(out, &overview)
            }
            Verb::Help => self.help(out, rest),
            Verb::Quit => return Ok(ControlFlow::Break(())),
        }?;
        Ok(ControlFlow::Continue(()))
    }

    fn overview(&self, out: &mut dyn Write, overview: &Overview) -> Result<(), Refusal> {
        let is_new =
            matches!(&overview.groups[..], [group] if group.how == UniverseStatus::Running);
        Ok(match !self.has_run && is_new {
            true => writeln!(out, "The program has not run yet. To run it, type: run"),
            false => write_overview(out, overview),
        }?)
    }

    fn breakpoints(&self, out: &mut dyn Write) -> Result<(), Refusal> {
        let all = self.session.breakpoints();
        if all.iter().next().is_none() {
            return Ok(writeln!(
                out,
                "There are no breakpoints. To set one, see: help break"
            )?);
        }
        for (number, breakpoint) in all.iter() {
            writeln!(out, "{number}: {breakpoint}")?;
        }
        Ok(())
    }

    fn add_breakpoint(&mut self, out: &mut dyn Write, text: &str) -> Result<(), Refusal> {
        let added = self.session.add_breakpoint(text);
        let number = added.map_err(|error| {
            let known = breakpoints(self.session.language()).map(|kind| kind.name);
            let (kind, _) = line::first_word(text);
            match &error {
                SessionError::Syntax(error) if error.span.start == 0 => {
                    let message = format!("there is no breakpoint {kind}");
                    let hint = did_you_mean(kind, known);
                    pointed(text, error, &with_hint(&message, hint, "see: help break"))
                }
                _ => explained(text, &error),
            }
        })?;
        let added = self.session.breakpoints().get(number);
        let text = added.map_or_else(|| text.to_owned(), ToString::to_string);
        Ok(writeln!(out, "Breakpoint {number}: {text}")?)
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
            let removed = self.session.remove_breakpoint(number)?;
            writeln!(out, "Removed {number}: {removed}")?;
        }
        Ok(())
    }

    /// `STEP [ACTIVITY] [TIMES] [in UNIVERSE|here]`
    fn step(&mut self, out: &mut dyn Write, step: &str, text: &str) -> Result<(), Refusal> {
        let mut words = line::words(text);
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
                    "unexpected {extra}; usage: {step} [ACTIVITY] [TIMES] [in UNIVERSE|here]"
                )
                .into());
            }
        };
        if !self.has_run && step != "pause" && step != "resume" {
            return Err(
                "the program has not run yet; to run it, type: run; to stop at its start, type: pause".into(),
            );
        }
        self.has_run = true;
        let taken = self.session.command(step, who, times, universes);
        let overview = taken.map_err(|error| match &error {
            SessionError::NoStep { name, steps } => {
                match did_you_mean(name, steps.iter().copied()) {
                    Some(question) => format!("there is no step {name}; {question}"),
                    None => error.to_string(),
                }
            }
            SessionError::NothingPaused => format!("{error}; to start over, type: run"),
            SessionError::NoActivity { name, activities } if activities.contains(name) => {
                "no universe is paused; to start over, type: run".to_owned()
            }
            _ => error.to_string(),
        })?;
        self.overview(out, &overview)
    }

    /// Takes `in UNIVERSE` or `here` off the end of a command.
    fn universes_of(&self, words: &mut Vec<String>) -> Result<Universes, Refusal> {
        if words.last().is_some_and(|word| word == "here") {
            words.pop();
            return Ok(Universes::One(self.session.selected()));
        }
        let [.., word, universe] = words.as_slice() else {
            return match words.first().is_some_and(|word| word == "in") {
                true => Err("which universe? Give its number after in".into()),
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
        self.session.state(universe)?;
        Ok(universe)
    }

    /// Returns the universe with this number, or the selected one if `text` is empty.
    fn number_or_selected(&self, text: &str) -> Result<usize, Refusal> {
        match text.is_empty() {
            true => Ok(self.session.selected()),
            false => self.number(text),
        }
    }
}

/// What to do for a list of commands.
const HELP: &str = "for a list, type: help";

/// Adds a hint to a message, or `otherwise` if there is none.
fn with_hint(message: &str, hint: Option<String>, otherwise: &str) -> String {
    format!("{message}; {}", hint.as_deref().unwrap_or(otherwise))
}

fn number<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, Refusal> {
    match text.is_empty() {
        true => Err(format!("which one? Give {what}").into()),
        false => Ok(text.parse().map_err(|_| format!("{text} is not {what}"))?),
    }
}

/// Returns the error as text, with its position if it has one.
fn explained(text: &str, error: &SessionError) -> String {
    match error {
        SessionError::Syntax(error) => pointed(text, error, &error.message),
        error => error.to_string(),
    }
}

/// Formats a message with the text that it is about and a mark under the position of the error.
fn pointed(text: &str, error: &SyntaxError, message: &str) -> String {
    let marked = text.get(error.span.clone()).unwrap_or_default();
    let carets = "^".repeat(marked.chars().count().max(1));
    let before = " ".repeat(error.column.saturating_sub(1));
    format!("{message}\n  {text}\n  {before}{carets}")
}
