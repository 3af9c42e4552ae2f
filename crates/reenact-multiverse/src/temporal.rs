//! Breakpoints on the history so far: a regular language over steps.
//!
//! `temporal (message-sender ok) after (before-turn fail) without (before-turn reset)` stops when `ok` was sent
//! although `fail` was processed before and no `reset` since. In general, the pattern has to match *all* steps since
//! the start (or since it was set), so most patterns begin with `any*`:
//!
//! | pattern | matches |
//! |---|---|
//! | `message-sender ok by math` | a step that performs this operation |
//! | `any`, `not A`, `A \| B` | any step, a step that is not `A`, a step that is either |
//! | `A B` or `A, B` | one after the other |
//! | `A*`, `A+`, `A?` | any number of times, at least once, at most once |
//! | `A after B` | `any* B (not A)* A` |
//! | `A after B without C` | `any* B (not (A \| C))* A` |
//!
//! A pattern is compiled to its position automaton (Glushkov), which has one state per operation in the pattern plus a
//! start state. So the set of its current states is one 64-bit word in every universe.

#[cfg(test)]
mod tests;

use std::fmt;

use crate::{Activity, Operation, OperationKind, breakpoint::Pattern};

/// A compiled language over steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Temporal {
    text: String,
    /// The letter that leads to each position. Position 0 is the start.
    letters: Vec<Letter>,
    /// The positions that can follow each position.
    follow: Vec<u64>,
    last: u64,
}

/// A set of steps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Letter {
    Any,
    Pattern(Pattern),
    Not(Box<Letter>),
    Or(Box<Letter>, Box<Letter>),
}

/// A language over steps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Letter(Letter),
    Sequence(Box<Shape>, Box<Shape>),
    Or(Box<Shape>, Box<Shape>),
    Star(Box<Shape>),
    Plus(Box<Shape>),
    Maybe(Box<Shape>),
}

/// A step: its pending operation, and what it has done.
pub(crate) struct PerformedStep<'a> {
    pub(crate) operation: &'a Operation<'a>,
    pub(crate) done: &'a [Operation<'static>],
    /// See [`Semantics::at_lines`](crate::Semantics::at_lines).
    pub(crate) at_lines: &'a [OperationKind],
    pub(crate) name: &'a dyn Fn(Activity) -> String,
}

/// The positions before any step.
pub(crate) const START: u64 = 1;
/// One of the 64 positions is the start.
const POSITIONS: usize = 63;

impl Shape {
    /// `any* earlier (not (wanted | without))* wanted`
    pub(crate) fn after(wanted: Letter, earlier: Shape, without: Option<Letter>) -> Shape {
        let ends = match without {
            Some(without) => Letter::Or(Box::new(wanted.clone()), Box::new(without)),
            None => wanted.clone(),
        };
        let between = Shape::Letter(Letter::Not(Box::new(ends)));
        let parts = [
            Shape::Star(Box::new(Shape::Letter(Letter::Any))),
            earlier,
            Shape::Star(Box::new(between)),
        ];
        let wanted = Shape::Letter(wanted);
        parts.into_iter().rfold(wanted, |rest, part| {
            Shape::Sequence(Box::new(part), Box::new(rest))
        })
    }
}

impl Letter {
    fn fits(&self, step: &PerformedStep<'_>) -> bool {
        match self {
            Letter::Any => true,
            Letter::Pattern(pattern) if pattern.is_before() => {
                pattern.fits(step.operation, step.at_lines, step.name)
            }
            Letter::Pattern(pattern) => step
                .done
                .iter()
                .any(|done| pattern.fits(done, step.at_lines, step.name)),
            Letter::Not(inner) => !inner.fits(step),
            Letter::Or(a, b) => a.fits(step) || b.fits(step),
        }
    }

    fn patterns(&self) -> Vec<&Pattern> {
        match self {
            Letter::Any => Vec::new(),
            Letter::Pattern(pattern) => vec![pattern],
            Letter::Not(inner) => inner.patterns(),
            Letter::Or(a, b) => [a.patterns(), b.patterns()].concat(),
        }
    }
}

impl Temporal {
    /// Compiles the shape that was written as `text`.
    pub(crate) fn new(text: &str, shape: &Shape) -> Result<Self, String> {
        let mut automaton = Self {
            text: text.to_owned(),
            letters: vec![Letter::Any],
            follow: vec![0],
            last: 0,
        };
        let part = automaton.add(shape)?;
        automaton.follow[0] = part.first;
        automaton.last = part.last | if part.is_nullable { START } else { 0 };
        Ok(automaton)
    }

    /// The possible positions after one more step.
    pub(crate) fn advance(&self, places: u64, step: &PerformedStep<'_>) -> u64 {
        let reachable = bits(places).fold(0, |all, place| all | self.follow[place]);
        bits(reachable)
            .filter(|place| self.letters[*place].fits(step))
            .fold(0, |all, place| all | 1 << place)
    }

    /// Returns whether the history so far is in the language.
    pub(crate) fn accepts(&self, places: u64) -> bool {
        places & self.last != 0
    }

    /// The patterns of the operations that it mentions.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.letters.iter().flat_map(Letter::patterns)
    }

    fn add(&mut self, shape: &Shape) -> Result<Part, String> {
        Ok(match shape {
            Shape::Letter(letter) => {
                let place = self.letters.len();
                if place > POSITIONS {
                    return Err(format!(
                        "a temporal breakpoint can have {POSITIONS} operations at most"
                    ));
                }
                self.letters.push(letter.clone());
                self.follow.push(0);
                Part {
                    first: 1 << place,
                    last: 1 << place,
                    is_nullable: false,
                }
            }
            Shape::Sequence(a, b) => {
                let (a, b) = (self.add(a)?, self.add(b)?);
                self.connect(a.last, b.first);
                Part {
                    first: a.first | if a.is_nullable { b.first } else { 0 },
                    last: b.last | if b.is_nullable { a.last } else { 0 },
                    is_nullable: a.is_nullable && b.is_nullable,
                }
            }
            Shape::Or(a, b) => {
                let (a, b) = (self.add(a)?, self.add(b)?);
                Part {
                    first: a.first | b.first,
                    last: a.last | b.last,
                    is_nullable: a.is_nullable || b.is_nullable,
                }
            }
            Shape::Star(inner) | Shape::Plus(inner) => {
                let part = self.add(inner)?;
                self.connect(part.last, part.first);
                Part {
                    is_nullable: part.is_nullable || matches!(shape, Shape::Star(_)),
                    ..part
                }
            }
            Shape::Maybe(inner) => Part {
                is_nullable: true,
                ..self.add(inner)?
            },
        })
    }

    fn connect(&mut self, from: u64, to: u64) {
        for place in bits(from) {
            self.follow[place] |= to;
        }
    }
}

struct Part {
    first: u64,
    last: u64,
    is_nullable: bool,
}

fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            place
        })
    })
}

impl fmt::Display for Temporal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}
