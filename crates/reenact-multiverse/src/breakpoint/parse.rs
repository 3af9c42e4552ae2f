//! The parser for breakpoints.

use super::{Breakpoint, Pattern, PatternKind, What};
use crate::{
    Expression, Temporal, catalogue,
    syntax::{Scanner, SyntaxError, Token, WordLetters},
    temporal::{Letter, Shape},
};

/// Maximum nesting depth of temporal patterns.
const DEPTH: usize = 32;
/// Maximum number of operations in a temporal pattern, so that no input can exhaust the stack.
const OPERANDS: usize = 256;

const KEYWORDS: [&str; 10] = [
    "by", "to", "at", "if", "line", "temporal", "any", "not", "after", "without",
];

/// Returns whether a word is a keyword where the name of a method is allowed.
pub(super) fn is_reserved(word: &str) -> bool {
    KEYWORDS.contains(&word) || catalogue::breakpoint(word).is_some()
}

pub(super) fn breakpoint(text: &str) -> Result<Breakpoint, SyntaxError> {
    let mut parser = Parser {
        scanner: Scanner::new(text, 0, WordLetters::Names)?,
        operands: 0,
    };
    let what = if parser.scanner.word("temporal")? {
        let start = parser.scanner.start();
        let shape = parser.history()?;
        let written = text[start..parser.scanner.start()].trim_end();
        let history =
            Temporal::new(written, &shape).map_err(|message| parser.scanner.error(message))?;
        What::Temporal(history)
    } else {
        What::Operation(parser.pattern()?)
    };
    let condition = match parser.scanner.is_word("if") {
        true => Some(Expression::parse_rest(text, parser.scanner.rest())?),
        false if *parser.scanner.peek() == Token::End => None,
        false => {
            let expected = match what {
                What::Operation(_) => "by ACTIVITY, to ACTIVITY, at LINE, if CONDITION or the end",
                What::Temporal(_) => "another operation, | * + ? or if CONDITION or the end",
            };
            return Err(parser.scanner.expected(expected));
        }
    };
    Ok(Breakpoint { what, condition })
}

struct Parser<'a> {
    scanner: Scanner<'a>,
    operands: usize,
}

impl Parser<'_> {
    /// `KIND [METHOD] [by ACTIVITY] [to ACTIVITY] [at LINE]`
    fn pattern(&mut self) -> Result<Pattern, SyntaxError> {
        let kind = self.kind()?;
        let mut pattern = Pattern {
            kind,
            method: None,
            by: None,
            to: None,
            line: None,
        };
        self.scanner.next()?;
        if kind == PatternKind::Line {
            pattern.line = Some(self.line()?);
        } else if self.is_name() {
            pattern.method = Some(self.name("a method")?);
        }
        loop {
            if pattern.by.is_none() && self.scanner.word("by")? {
                pattern.by = Some(self.name("the name of an activity")?);
            } else if pattern.to.is_none() && self.scanner.word("to")? {
                pattern.to = Some(self.name("the name of an activity")?);
            } else if pattern.line.is_none() && self.scanner.word("at")? {
                pattern.line = Some(self.line()?);
            } else {
                return Ok(pattern);
            }
        }
    }

    fn kind(&self) -> Result<PatternKind, SyntaxError> {
        let kind = match self.scanner.peek() {
            Token::Word(word) if word == "line" => Some(PatternKind::Line),
            Token::Word(word) => catalogue::breakpoint(word).map(PatternKind::Kind),
            _ => None,
        };
        kind.ok_or_else(|| {
            let mut expected = String::from("a kind of breakpoint: line");
            for kind in catalogue::all_breakpoints() {
                expected.push_str(", ");
                expected.push_str(kind.name);
            }
            expected.push_str(match self.scanner.depth() {
                0 => ", temporal",
                _ => ", any, not or `(`",
            });
            self.scanner.expected(&expected)
        })
    }

    fn is_name(&self) -> bool {
        match self.scanner.peek() {
            Token::Word(word) => !is_reserved(word),
            Token::Name(_) | Token::Text(_) => true,
            _ => false,
        }
    }

    fn name(&mut self, what: &str) -> Result<String, SyntaxError> {
        if !self.is_name() {
            return Err(self.scanner.expected(what));
        }
        Ok(match self.scanner.next()? {
            Token::Word(name) | Token::Name(name) | Token::Text(name) => name,
            _ => String::new(), // Excluded above.
        })
    }

    fn line(&mut self) -> Result<u32, SyntaxError> {
        let line = match self.scanner.peek() {
            Token::Word(word) => word.parse().ok().filter(|line| *line > 0),
            _ => None,
        };
        let line = line.ok_or_else(|| self.scanner.expected("the number of a line"))?;
        self.scanner.next()?;
        Ok(line)
    }

    /// `SHAPE [after SHAPE [without SHAPE]]`
    fn history(&mut self) -> Result<Shape, SyntaxError> {
        self.scanner.descend(DEPTH, "a temporal breakpoint")?;
        let mut shape = self.alternatives()?;
        if self.scanner.is_word("after") {
            let wanted = self.letter(shape, "what comes before `after`")?;
            self.scanner.next()?;
            let earlier = self.alternatives()?;
            let without = match self.scanner.is_word("without") {
                true => {
                    self.scanner.next()?;
                    let excluded = self.alternatives()?;
                    Some(self.letter(excluded, "what comes after `without`")?)
                }
                false => None,
            };
            shape = Shape::after(wanted, earlier, without);
        }
        self.scanner.ascend();
        Ok(shape)
    }

    fn alternatives(&mut self) -> Result<Shape, SyntaxError> {
        let mut shape = self.sequence()?;
        while self.scanner.sign("|")? || self.scanner.sign("||")? {
            let other = self.sequence()?;
            shape = match (shape, other) {
                (Shape::Letter(a), Shape::Letter(b)) => {
                    Shape::Letter(Letter::Or(Box::new(a), Box::new(b)))
                }
                (a, b) => Shape::Or(Box::new(a), Box::new(b)),
            };
        }
        Ok(shape)
    }

    fn sequence(&mut self) -> Result<Shape, SyntaxError> {
        let mut shape = self.repeated()?;
        while self.scanner.sign(",")? || self.begins_operand() {
            shape = Shape::Sequence(Box::new(shape), Box::new(self.repeated()?));
        }
        Ok(shape)
    }

    fn begins_operand(&self) -> bool {
        match self.scanner.peek() {
            Token::Sign(sign) => *sign == "(",
            Token::Word(word) => {
                matches!(word.as_str(), "any" | "not" | "line")
                    || catalogue::breakpoint(word).is_some()
            }
            _ => false,
        }
    }

    fn repeated(&mut self) -> Result<Shape, SyntaxError> {
        let mut shape = self.operand()?;
        loop {
            // A repeated pattern stays as it is: `A**` is `A*`.
            shape = if self.scanner.sign("*")? {
                match shape {
                    Shape::Star(inner) | Shape::Plus(inner) | Shape::Maybe(inner) => {
                        Shape::Star(inner)
                    }
                    inner => Shape::Star(Box::new(inner)),
                }
            } else if self.scanner.sign("+")? {
                match shape {
                    Shape::Star(inner) | Shape::Maybe(inner) => Shape::Star(inner),
                    Shape::Plus(inner) => Shape::Plus(inner),
                    inner => Shape::Plus(Box::new(inner)),
                }
            } else if self.scanner.sign("?")? {
                match shape {
                    Shape::Star(inner) | Shape::Plus(inner) => Shape::Star(inner),
                    Shape::Maybe(inner) => Shape::Maybe(inner),
                    inner => Shape::Maybe(Box::new(inner)),
                }
            } else {
                return Ok(shape);
            };
        }
    }

    fn operand(&mut self) -> Result<Shape, SyntaxError> {
        self.operands += 1;
        if self.operands > OPERANDS {
            let message = format!("a temporal breakpoint can have {OPERANDS} parts at most");
            return Err(self.scanner.error(message));
        }
        if self.scanner.sign("(")? {
            let inner = self.history()?;
            self.scanner.expect(")")?;
            return Ok(inner);
        }
        if self.scanner.word("any")? {
            return Ok(Shape::Letter(Letter::Any));
        }
        if self.scanner.word("not")? {
            self.scanner.descend(DEPTH, "a temporal breakpoint")?;
            let inner = self.operand()?;
            self.scanner.ascend();
            let letter = self.letter(inner, "what comes after `not`")?;
            return Ok(Shape::Letter(Letter::Not(Box::new(letter))));
        }
        Ok(Shape::Letter(Letter::Pattern(self.pattern()?)))
    }

    fn letter(&self, shape: Shape, which: &str) -> Result<Letter, SyntaxError> {
        match shape {
            Shape::Letter(letter) => Ok(letter),
            _ => Err(self.scanner.error(format!(
                "{which} must be one operation, or several with `|` between them"
            ))),
        }
    }
}
