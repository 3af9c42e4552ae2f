//! The text of a program, places in it, and what is wrong with it.

use reenact_multiverse::Site;

/// A part of the text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Where it begins.
    pub start: u32,
    /// Where it ends, not included.
    pub end: u32,
}

impl Span {
    /// From the beginning of this one to the end of the other.
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start,
            end: other.end,
        }
    }
}

/// The text of a program with its name.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    /// Where each line begins.
    lines: Vec<u32>,
}

impl Source {
    /// A text that people know by `name`.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        let text = text.into();
        let begins = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let lines = std::iter::once(0)
            .chain(begins.map(|(at, _)| at as u32 + 1))
            .collect();
        Source {
            name: name.into(),
            text,
            lines,
        }
    }

    /// How people know it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All of it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The line and the column of a byte.
    pub fn site(&self, at: u32) -> Site {
        let line = self.lines.partition_point(|&begin| begin <= at) - 1;
        let begin = self.lines[line] as usize;
        let column = self
            .text
            .get(begin..at as usize)
            .map_or(0, |before| before.chars().count());
        Site {
            line: line as u32 + 1,
            column: column as u32 + 1,
        }
    }

    /// A line by its number, without its end.
    pub fn line(&self, line: u32) -> Option<&str> {
        self.text.lines().nth((line as usize).checked_sub(1)?)
    }
}

/// A text that is not a program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What to do about it.
    pub help: Option<String>,
}
