//! λ_amb: numbers, sums and choices.
//!
//! This is the smallest nondeterministic language. `(amb 1 2)` evaluates to 1 or 2; everything else is evaluated from
//! left to right. It is an example of a [`Semantics`], and the universes of its programs can be counted by hand:
//! `(+ (amb 1 2) (amb 3 4))` has 10, of which three are ends: 4, 5 and 6.
//!
//! [`debugger`] is the debugger that the paper defines for this language.
//!
//! # Rules
//!
//! ```text
//! E ::= [] | (+ v … E e …)
//!
//! E[(+ v …)]    →  E[the sum of v …]        ADD
//! E[(amb e …)]  →  E[e]  for each e         AMB
//! ```
//!
//! A sum that does not fit into 64 bits is an error: the program is stuck there.
//!
//! # Nondeterminism
//!
//! AMB has one step for each alternative. There is only one activity, so nothing else is nondeterministic, and all
//! steps are dependent.

pub mod debugger;
mod parser;
mod term;

use reenact_multiverse::{
    Activity, Ending, Marked, Observation, Operation, OperationKind, Semantics,
};

use self::term::Redex;
pub use self::{parser::parse, term::Term};
use crate::{Source, SyntaxError};

/// The only activity.
const MAIN: Activity = Activity(0);

/// A program of λ_amb.
///
/// ```
/// use reenact_ambient::{Source, amb::Program};
/// use reenact_multiverse::Semantics;
///
/// let program = Program::new(&Source::new("choice", "(amb 1 2)"))?;
/// let start = &program.initial()[0];
/// let ends: Vec<_> = program
///     .steps(start)
///     .iter()
///     .map(|step| program.take(start, step).to_string())
///     .collect();
/// assert_eq!(ends, ["1", "2"]);
/// # Ok::<(), reenact_ambient::SyntaxError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    start: Term,
}

/// The rule that a step applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Adds numbers up.
    Add,
    /// Chooses an alternative by its number, from 0.
    Amb(u32),
}

impl Program {
    /// Parses a program.
    ///
    /// # Errors
    ///
    /// Returns the first syntax error.
    pub fn new(source: &Source) -> Result<Program, SyntaxError> {
        Ok(Program {
            start: parse(source)?,
        })
    }
}

impl From<Term> for Program {
    fn from(start: Term) -> Program {
        Program { start }
    }
}

impl Semantics for Program {
    type State = Term;
    type Step = Rule;

    fn initial(&self) -> Vec<Term> {
        vec![self.start.clone()]
    }

    fn steps(&self, state: &Term) -> Vec<Rule> {
        match state.redex() {
            // A value, or a sum that is too large.
            None | Some(Redex::Add(None)) => Vec::new(),
            Some(Redex::Add(Some(_))) => vec![Rule::Add],
            Some(Redex::Amb(alternatives)) => {
                (0..alternatives.len() as u32).map(Rule::Amb).collect()
            }
        }
    }

    fn take(&self, state: &Term, step: &Rule) -> Term {
        match (step, state.redex()) {
            // ADD
            (Rule::Add, Some(Redex::Add(Some(sum)))) => state.with_focus(Term::Number(sum)),
            // AMB
            (Rule::Amb(which), Some(Redex::Amb(alternatives))) => {
                state.with_focus(alternatives[*which as usize].clone())
            }
            _ => panic!("{step:?} is not a step of {state}"),
        }
    }

    fn activity(&self, _step: &Rule) -> Activity {
        MAIN
    }

    fn dependent(&self, _a: &Rule, _b: &Rule) -> bool {
        true
    }

    fn kinds(&self) -> &'static [OperationKind] {
        &[OperationKind::Choice, OperationKind::Local]
    }

    fn operation<'a>(&'a self, _state: &'a Term, step: &Rule) -> Operation<'a> {
        let (kind, subject) = match step {
            Rule::Add => (OperationKind::Local, "+"),
            Rule::Amb(_) => (OperationKind::Choice, "amb"),
        };
        Operation {
            kind,
            activity: MAIN,
            subject: subject.into(),
            with: None,
            site: None,
            sent_at: None,
            depth: 0,
            marked: false,
        }
    }

    fn activities(&self, _state: &Term) -> Vec<Activity> {
        vec![MAIN]
    }

    fn mark(&self, state: &Term, _activity: Activity, _what: Marked) -> Term {
        state.clone()
    }

    fn unmark(&self, state: &Term) -> Term {
        state.clone()
    }

    fn name(&self, _state: &Term, _activity: Activity) -> String {
        "main".to_owned()
    }

    fn describe(&self, state: &Term, step: &Rule, _name: &dyn Fn(Activity) -> String) -> String {
        let focus = state.focus().unwrap_or(state);
        match (step, state.redex()) {
            (Rule::Add, Some(Redex::Add(Some(sum)))) => format!("reduces {focus} to {sum}"),
            (Rule::Amb(which), Some(Redex::Amb(alternatives))) => {
                format!("chooses {} of {focus}", alternatives[*which as usize])
            }
            _ => panic!("{step:?} is not a step of {state}"),
        }
    }

    fn observe(&self, state: &Term) -> Observation {
        let value = state.value().map_or(Observation::Null, Observation::Int);
        let main = Observation::Record(vec![
            ("term".to_owned(), Observation::Text(state.to_string())),
            ("value".to_owned(), value),
        ]);
        Observation::Record(vec![(self.name(state, MAIN), main)])
    }

    fn ending(&self, state: &Term) -> Ending {
        let mut ending = Ending::default();
        ending
            .outcome
            .extend(state.value().map(|value| value.to_string()));
        if let (Some(Redex::Add(None)), Some(sum)) = (state.redex(), state.focus()) {
            ending.errors.push(format!("{sum} is too large"));
        }
        ending
    }
}
