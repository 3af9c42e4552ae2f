//! Completion with the Tab key: commands, kinds of breakpoints, steps, activities, universes, and paths of
//! observations.

use reenact_multiverse::{Observation, Semantics, Session, breakpoints, steps};
use rustyline::{
    Context, Helper, completion::Completer, highlight::Highlighter, hint::Hinter,
    validate::Validator,
};

use super::command::{self, Verb};

/// Maximum number of universes to offer.
const MANY: usize = 200;

/// The candidates in the current state of the session.
#[derive(Default)]
pub(super) struct Completion {
    first: Vec<String>,
    kinds: Vec<String>,
    steps: Vec<String>,
    activities: Vec<String>,
    universes: Vec<String>,
    paths: Vec<String>,
    breakpoints: Vec<String>,
}

impl Completion {
    pub(super) fn of<S: Semantics>(session: &Session<S>) -> Completion {
        let language = session.language();
        let owned = |names: Vec<&str>| names.into_iter().map(ToOwned::to_owned).collect();
        let selected = session.selected();
        let mut kinds: Vec<String> = breakpoints(language)
            .map(|kind| kind.name.to_owned())
            .collect();
        kinds.extend(["line", "temporal"].map(ToOwned::to_owned));
        let mut paths = Vec::new();
        if let Ok(seen) = session.observe(selected) {
            collect_paths(&seen, "", 3, &mut paths);
        }
        let numbers = session.breakpoints().iter();
        Completion {
            first: owned(command::first_words(language)),
            kinds,
            steps: owned(steps(language).map(|step| step.name).collect()),
            activities: session.names(selected).unwrap_or_default(),
            universes: (0..session.universes().len().min(MANY))
                .map(|universe| universe.to_string())
                .collect(),
            paths,
            breakpoints: numbers.map(|(number, _)| number.to_string()).collect(),
        }
    }

    /// Returns the candidates for the word that follows these words.
    fn choices(&self, before: &[&str]) -> Vec<&String> {
        let Some((first, rest)) = before.split_first() else {
            return self.first.iter().collect();
        };
        match rest.last() {
            Some(&"in") => return self.universes.iter().collect(),
            Some(&("by" | "to")) => return self.activities.iter().collect(),
            Some(&"if") => return self.paths.iter().collect(),
            _ => {}
        }
        let step = command::step_called(first);
        if self.steps.iter().any(|one| one == step) {
            return self.activities.iter().collect();
        }
        let Some(command) = command::find(first) else {
            return Vec::new();
        };
        match command.verb {
            Verb::Break if rest.is_empty() => self.kinds.iter().collect(),
            Verb::Step if rest.is_empty() => self.steps.iter().collect(),
            Verb::Step => self.activities.iter().collect(),
            Verb::Help => self.first.iter().collect(),
            Verb::Universe | Verb::Story | Verb::Diff => self.universes.iter().collect(),
            Verb::Show | Verb::Where => self.paths.iter().collect(),
            Verb::Delete => self.breakpoints.iter().collect(),
            _ => Vec::new(),
        }
    }
}

/// Collects the paths of the named fields of an observation, down to `depth` levels.
fn collect_paths(seen: &Observation, prefix: &str, depth: usize, into: &mut Vec<String>) {
    let Observation::Record(fields) = seen else {
        return;
    };
    for (name, value) in fields {
        let path = format!("{prefix}{name}");
        if depth > 1 {
            collect_paths(value, &format!("{path}."), depth - 1, into);
        }
        into.push(path);
    }
}

impl Completer for Completion {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let before = &line[..at];
        let start = before
            .rfind(|letter: char| letter.is_whitespace() || "()!=<>&|".contains(letter))
            .map_or(0, |blank| blank + 1);
        let words: Vec<&str> = before[..start].split_whitespace().collect();
        let choices = self.choices(&words).into_iter();
        let mut fitting: Vec<String> = choices
            .filter(|one| one.starts_with(&before[start..]))
            .cloned()
            .collect();
        fitting.sort();
        // Another word follows a complete word, but a path may go on.
        let is_path = |one: &String| self.paths.contains(one);
        if let [one] = fitting.as_mut_slice()
            && !is_path(one)
        {
            one.push(' ');
        }
        Ok((start, fitting))
    }
}

impl Helper for Completion {}
impl Highlighter for Completion {}
impl Validator for Completion {}
impl Hinter for Completion {
    type Hint = String;
}
