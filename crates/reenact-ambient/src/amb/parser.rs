//! Parses a term: `(+ (amb 1 2) (amb 3 4))`, with comments from `;` to the end of the line.

use super::Term;
use crate::{Source, Span, SyntaxError, source::shown};

/// Maximum nesting depth of a term: terms are traversed recursively.
const MAX_DEPTH: u32 = 100;

/// Parses a term.
///
/// # Errors
///
/// Returns the first syntax error, with its position in `source`.
pub fn parse(source: &Source) -> Result<Term, SyntaxError> {
    let parsed = source.readable().and_then(|text| {
        let mut parser = Parser { text, at: 0 };
        let term = parser.term(0)?;
        match parser.token() {
            None => Ok(term),
            Some(span) => Err(SyntaxError::new(
                span,
                format!(
                    "expected the end of the program, found `{}`",
                    parser.shown(span)
                ),
            )
            .with_help("a program is one term, such as `(+ (amb 1 2) 3)`")),
        }
    });
    parsed.map_err(|error| error.with_source(source))
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    /// Returns the span of the next token: a parenthesis, or a word delimited by whitespace and parentheses.
    fn token(&mut self) -> Option<Span> {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            if !rest[blank..].starts_with(';') {
                break;
            }
            let comment = rest[blank..].find('\n');
            self.at += comment.unwrap_or(rest.len() - blank);
        }
        let rest = &self.text[self.at..];
        let ends = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ';');
        let length = match rest.chars().next()? {
            '(' | ')' => 1,
            _ => rest.find(ends).unwrap_or(rest.len()),
        };
        let start = self.at;
        self.at += length;
        Some(Span {
            start: start as u32,
            end: self.at as u32,
        })
    }

    fn slice(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    fn shown(&self, span: Span) -> String {
        shown(self.slice(span))
    }

    /// Returns the empty span after the last character that is not whitespace.
    fn end(&self) -> Span {
        let end = self.text[..self.at].trim_end().len() as u32;
        Span { start: end, end }
    }

    fn term(&mut self, depth: u32) -> Result<Term, SyntaxError> {
        let Some(span) = self.token() else {
            let message = "expected a term, found the end of the program";
            return Err(SyntaxError::new(self.end(), message));
        };
        match self.slice(span) {
            "(" => self.operation(span, depth),
            ")" => Err(SyntaxError::new(span, "expected a term, found `)`")),
            word => number(word, span),
        }
    }

    /// Parses `+ e …)`, after the parenthesis at `open`.
    fn operation(&mut self, open: Span, depth: u32) -> Result<Term, SyntaxError> {
        if depth == MAX_DEPTH {
            let message = format!("the program is nested more than {MAX_DEPTH} levels deep here");
            return Err(SyntaxError::new(open, message));
        }
        let Some(operator) = self.token() else {
            return Err(self.unclosed(open));
        };
        let make = match self.slice(operator) {
            "+" => Term::Add,
            "amb" => Term::Amb,
            _ => {
                let message = format!("expected an operation, found `{}`", self.shown(operator));
                let help = "there are `(+ e …)` and `(amb e …)`";
                return Err(SyntaxError::new(operator, message).with_help(help));
            }
        };
        let mut parts = Vec::new();
        loop {
            let before = self.at;
            let Some(next) = self.token() else {
                return Err(self.unclosed(open));
            };
            if self.slice(next) != ")" {
                self.at = before;
                parts.push(self.term(depth + 1)?);
            } else if parts.is_empty() {
                let message = format!("expected a term after `{}`", self.slice(operator));
                return Err(SyntaxError::new(next, message));
            } else {
                return Ok(make(parts.into()));
            }
        }
    }

    fn unclosed(&self, open: Span) -> SyntaxError {
        SyntaxError::new(self.end(), "expected `)`, found the end of the program")
            .with_related(open, "what is not closed begins here")
            .with_help("nothing closes this `(`")
    }
}

fn number(word: &str, span: Span) -> Result<Term, SyntaxError> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return match word.parse() {
            Ok(number) => Ok(Term::Number(number)),
            Err(_) => Err(SyntaxError::too_large(span, false)),
        };
    }
    let error = SyntaxError::new(span, format!("expected a term, found `{}`", shown(word)));
    Err(match word {
        "+" | "amb" => error.with_help(format!(
            "an operation is in parentheses, and its name comes first: `({word} 1 2)`"
        )),
        _ => error.with_help("a term is a number, `(+ e …)` or `(amb e …)`"),
    })
}
