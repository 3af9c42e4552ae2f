//! The names of objects for people: what they are and where they were created.

use std::{fmt, panic::Location};

use serde::{Deserialize, Serialize};

use crate::site::is_inside;

/// The name of an object, such as `mutex@src/main.rs:12`, or `mutex@src/main.rs:12#2` for the second one that this line
/// creates.
///
/// It does not depend on which activity uses the object first, so it is the same in all runs of a program that create
/// the same objects. Objects of one kind that are created at the same line are numbered in the order of their least
/// users: the smallest activity, in the order of the family tree, that uses the object, and then the index of its
/// operation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ObjectName {
    /// The noun, such as `mutex`.
    pub noun: String,
    /// The file that creates it. Empty for what Reenact creates on behalf of the program, which has no line of its own.
    pub file: String,
    /// The line.
    pub line: u32,
    /// Its index among the objects of this kind that the line creates, from 1.
    pub ordinal: u32,
}

impl ObjectName {
    /// The name of an object that is the only one of its kind that its line creates, as far as is known.
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

    /// Returns whether both have the same noun and were created at the same line.
    pub(crate) fn is_like(&self, other: &ObjectName) -> bool {
        (&self.noun, &self.file, self.line) == (&other.noun, &other.file, other.line)
    }

    /// Returns the name without the file if it is in this file: `mutex@12`.
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
