//! Terms, which are the states of a program: `e ::= n | (+ e …) | (amb e …)`.
//!
//! Terms are compared by structure and contain no source positions: `(amb (+ 1 2) (+ 1 2))` has one universe after the
//! choice, whichever alternative was chosen. Subterms are shared between terms: a step only rebuilds the terms around
//! the subterm that it replaces.

use std::{fmt, sync::Arc};

/// A term. A clone shares its subterms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// A number, the only kind of value.
    Number(i64),
    /// `(+ e …)`
    Add(Arc<[Term]>),
    /// `(amb e …)`
    Amb(Arc<[Term]>),
}

/// What can be reduced in a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Redex<'a> {
    /// A sum of numbers with its result, or `None` if it overflows.
    Add(Option<i64>),
    /// A choice. Its alternatives are not evaluated: one is chosen, and then evaluated.
    Amb(&'a [Term]),
}

impl Term {
    /// Returns the number if the term is one.
    pub fn value(&self) -> Option<i64> {
        match self {
            Term::Number(number) => Some(*number),
            Term::Add(_) | Term::Amb(_) => None,
        }
    }

    /// Returns the subterm at the hole of the evaluation context, `E ::= [] | (+ v … E e …)`, or `None` for a value.
    pub fn focus(&self) -> Option<&Term> {
        match self {
            Term::Number(_) => None,
            Term::Amb(_) => Some(self),
            Term::Add(parts) => Some(parts.iter().find_map(Term::focus).unwrap_or(self)),
        }
    }

    /// Returns what can be reduced at the focus.
    pub(super) fn redex(&self) -> Option<Redex<'_>> {
        match self.focus()? {
            Term::Number(_) => None,
            Term::Amb(alternatives) => Some(Redex::Amb(alternatives)),
            Term::Add(parts) => {
                let numbers = parts.iter().filter_map(Term::value).map(i128::from);
                Some(Redex::Add(i64::try_from(numbers.sum::<i128>()).ok()))
            }
        }
    }

    /// Returns the same term with its focus replaced.
    pub(super) fn with_focus(&self, new: Term) -> Term {
        let Term::Add(parts) = self else {
            return new;
        };
        let Some(at) = parts.iter().position(|part| part.value().is_none()) else {
            return new;
        };
        let mut parts = parts.to_vec();
        parts[at] = parts[at].with_focus(new);
        Term::Add(parts.into())
    }
}

impl fmt::Display for Term {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (operator, parts) = match self {
            Term::Number(number) => return write!(out, "{number}"),
            Term::Add(parts) => ("+", parts),
            Term::Amb(parts) => ("amb", parts),
        };
        write!(out, "({operator}")?;
        for part in parts.iter() {
            write!(out, " {part}")?;
        }
        write!(out, ")")
    }
}
