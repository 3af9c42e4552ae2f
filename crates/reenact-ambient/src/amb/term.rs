//! Terms, which are the states of a program: `e ::= n | (+ e …) | (amb e …)`.
//!
//! A term is compared by what it says, not by where it comes from: `(amb (+ 1 2) (+ 1 2))` has one universe after the
//! choice, however it was made. So terms know no places in the source. Parts are shared between terms: a step makes new
//! only what is around the part that it replaces.

use std::{fmt, sync::Arc};

/// A term. A clone shares its parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// The only values there are.
    Number(i64),
    /// `(+ e …)`
    Add(Arc<[Term]>),
    /// `(amb e …)`
    Amb(Arc<[Term]>),
}

/// What can be reduced in a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Redex<'a> {
    /// A sum of numbers, and what it is if that is not too large.
    Add(Option<i64>),
    /// A choice, whose alternatives are as they are written: one is chosen, then it is evaluated.
    Amb(&'a [Term]),
}

impl Term {
    /// The number that it is, if it is one.
    pub fn value(&self) -> Option<i64> {
        match self {
            Term::Number(number) => Some(*number),
            Term::Add(_) | Term::Amb(_) => None,
        }
    }

    /// Where evaluation is: the part of the term at the hole of its evaluation context,
    /// `E ::= [] | (+ v … E e …)`. None in a value.
    pub fn focus(&self) -> Option<&Term> {
        match self {
            Term::Number(_) => None,
            Term::Amb(_) => Some(self),
            Term::Add(parts) => Some(parts.iter().find_map(Term::focus).unwrap_or(self)),
        }
    }

    /// What there is to reduce at the focus.
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

    /// The same term with something else at its focus.
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
