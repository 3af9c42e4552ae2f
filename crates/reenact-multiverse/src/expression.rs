//! Conditions over a state, such as `math.result == 24 && client1.inbox.length > 0`.
//!
//! They are evaluated on an [`Observation`]. A missing value is `null`, and an order comparison of incompatible values
//! is `false`: a condition holds in some universes and not in others, and an actor that does not exist yet is not an
//! error.

mod parse;

use std::fmt;

use crate::{Observation, observation::Segment, syntax::SyntaxError};

/// A parsed condition.
///
/// # Grammar
///
/// From the weakest: `||`, `&&`, `== != < <= > >=`, `+ -`, `* / %`, `! -`, then a path (`math.inbox[0].name`, lists
/// begin at 0, `.length` counts, a name in backquotes may contain anything), a number, a text in quotes, `true`,
/// `false`, `null`, `contains(list or text, value)`, `length(value)`, or an expression in parentheses.
///
/// ```
/// use reenact_multiverse::{Expression, Observation};
///
/// let math = Observation::Record(vec![("result".into(), Observation::Int(24))]);
/// let seen = Observation::Record(vec![("math".into(), math)]);
/// assert!(Expression::parse("math.result / 2 == 12").unwrap().holds(&seen));
/// assert!(!Expression::parse("client1.result < 12").unwrap().holds(&seen));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    tree: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Value(Observation),
    Path(Vec<Segment>),
    Not(Box<Node>),
    Minus(Box<Node>),
    Binary(Binary, Box<Node>, Box<Node>),
    Length(Box<Node>),
    Contains(Box<Node>, Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Binary {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Expression {
    /// Parses a condition.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        Self::parse_rest(text, 0)
    }

    /// Parses a condition that begins at byte `at`, so that errors refer to the whole text.
    pub(crate) fn parse_rest(text: &str, at: usize) -> Result<Self, SyntaxError> {
        Ok(Self {
            tree: parse::expression(text, at)?,
            text: text[at..].trim().to_owned(),
        })
    }

    /// Returns whether the condition is true of this observation.
    pub fn holds(&self, of: &Observation) -> bool {
        is_true(&self.tree.evaluate(of))
    }

    /// The value of the expression.
    pub fn evaluate(&self, of: &Observation) -> Observation {
        self.tree.evaluate(of)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

/// Parses a path.
pub(crate) fn path(text: &str) -> Option<Vec<Segment>> {
    match parse::expression(text, 0) {
        Ok(Node::Path(path)) => Some(path),
        _ => None,
    }
}

fn is_true(value: &Observation) -> bool {
    *value == Observation::Bool(true)
}

impl Node {
    fn evaluate(&self, of: &Observation) -> Observation {
        match self {
            Node::Value(value) => value.clone(),
            Node::Path(path) => of.at(path).unwrap_or(Observation::Null),
            Node::Not(inner) => Observation::Bool(!is_true(&inner.evaluate(of))),
            Node::Minus(inner) => match inner.evaluate(of) {
                Observation::Int(value) => value
                    .checked_neg()
                    .map_or(Observation::Null, Observation::Int),
                Observation::Float(value) => Observation::Float(-value),
                _ => Observation::Null,
            },
            Node::Length(inner) => inner
                .evaluate(of)
                .length()
                .map_or(Observation::Null, Observation::Int),
            Node::Contains(list, value) => {
                let value = value.evaluate(of);
                Observation::Bool(match (list.evaluate(of), &value) {
                    (Observation::List(items), value) => {
                        items.iter().any(|item| is_equal(item, value))
                    }
                    (Observation::Text(text), Observation::Text(part)) => text.contains(part),
                    (Observation::Record(fields), Observation::Text(name)) => {
                        fields.iter().any(|(field, _)| field == name)
                    }
                    _ => false,
                })
            }
            Node::Binary(Binary::Or, a, b) => {
                Observation::Bool(is_true(&a.evaluate(of)) || is_true(&b.evaluate(of)))
            }
            Node::Binary(Binary::And, a, b) => {
                Observation::Bool(is_true(&a.evaluate(of)) && is_true(&b.evaluate(of)))
            }
            Node::Binary(operator, a, b) => operator.apply(&a.evaluate(of), &b.evaluate(of)),
        }
    }
}

impl Binary {
    fn apply(self, a: &Observation, b: &Observation) -> Observation {
        use std::cmp::Ordering::{Greater, Less};
        let order = |fits: fn(std::cmp::Ordering) -> bool| {
            Observation::Bool(compare(a, b).is_some_and(fits))
        };
        match self {
            Binary::Equal => Observation::Bool(is_equal(a, b)),
            Binary::Unequal => Observation::Bool(!is_equal(a, b)),
            Binary::Less => order(|order| order == Less),
            Binary::LessOrEqual => order(|order| order != Greater),
            Binary::Greater => order(|order| order == Greater),
            Binary::GreaterOrEqual => order(|order| order != Less),
            _ => self.compute(a, b).unwrap_or(Observation::Null),
        }
    }

    /// The result of integers is an integer if exact. `None` if there is no result.
    fn compute(self, a: &Observation, b: &Observation) -> Option<Observation> {
        if let (Binary::Add, Observation::Text(a), Observation::Text(b)) = (self, a, b) {
            return Some(Observation::Text(format!("{a}{b}")));
        }
        if let (Observation::Int(a), Observation::Int(b)) = (a, b) {
            let (a, b) = (*a, *b);
            let whole = match self {
                Binary::Add => a.checked_add(b),
                Binary::Subtract => a.checked_sub(b),
                Binary::Multiply => a.checked_mul(b),
                Binary::Divide if a.checked_rem(b) == Some(0) => a.checked_div(b),
                Binary::Remainder => return a.checked_rem(b).map(Observation::Int),
                _ => None,
            };
            if let Some(whole) = whole {
                return Some(Observation::Int(whole));
            }
        }
        let (a, b) = (number(a)?, number(b)?);
        let value = match self {
            Binary::Add => a + b,
            Binary::Subtract => a - b,
            Binary::Multiply => a * b,
            Binary::Divide => a / b,
            Binary::Remainder => a % b,
            _ => return None,
        };
        value.is_finite().then_some(Observation::Float(value))
    }
}

fn number(value: &Observation) -> Option<f64> {
    match value {
        Observation::Int(value) => Some(*value as f64),
        Observation::Float(value) => Some(*value),
        _ => None,
    }
}

fn is_equal(a: &Observation, b: &Observation) -> bool {
    a == b || compare(a, b).is_some_and(std::cmp::Ordering::is_eq)
}

fn compare(a: &Observation, b: &Observation) -> Option<std::cmp::Ordering> {
    match (a, b) {
        (Observation::Int(a), Observation::Int(b)) => Some(a.cmp(b)),
        (Observation::Text(a), Observation::Text(b)) => Some(a.cmp(b)),
        _ => number(a)?.partial_cmp(&number(b)?),
    }
}
