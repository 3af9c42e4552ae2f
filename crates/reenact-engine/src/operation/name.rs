//! What people call objects: by what they are and where they were made.

use std::{fmt, panic::Location};

use crate::site::is_inside;

/// The name of an object, such as `mutex@src/main.rs:12`, or `mutex@src/main.rs:12#2` for the second of those that a line makes.
///
/// It does not depend on who uses the object first, so it is the same in all runs of a program, as far as the program makes the same
/// objects. Objects of a kind that are made at the same line are numbered in the order of their least users: the smallest
/// activity, in the order of the family tree, that uses the object, and in which of its operations.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectName {
    /// What it is: `mutex`.
    pub noun: String,
    /// The file that made it; empty for what Reenact has made for the program, which has no line of its own.
    pub file: String,
    /// The line.
    pub line: u32,
    /// Which of those of its kind that the line makes, from 1.
    pub ordinal: u32,
}

impl ObjectName {
    /// The only one that a line makes, as far as is known.
    pub(crate) fn only(noun: &str, made_at: &Location<'_>) -> ObjectName {
        ObjectName {
            noun: noun.to_owned(),
            file: match is_inside(made_at.file()) {
                true => String::new(),
                false => made_at.file().to_owned(),
            },
            line: made_at.line(),
            ordinal: 1,
        }
    }

    /// Whether both are of a kind and made at the same line.
    pub(crate) fn is_like(&self, other: &ObjectName) -> bool {
        (&self.noun, &self.file, self.line) == (&other.noun, &other.file, other.line)
    }

    /// The name without the file, if that is this one: `mutex@12`.
    pub fn within(&self, file: &str) -> String {
        self.text(self.file == file)
    }

    fn text(&self, is_within: bool) -> String {
        let ObjectName {
            noun,
            file,
            line,
            ordinal,
        } = self;
        let place = match is_within {
            _ if file.is_empty() => String::new(),
            true => format!("@{line}"),
            false => format!("@{file}:{line}"),
        };
        match ordinal {
            1 => format!("{noun}{place}"),
            ordinal => format!("{noun}{place}#{ordinal}"),
        }
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(false))
    }
}
