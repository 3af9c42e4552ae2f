//! The visible part of a state: a tree of values, the same for every language.
//!
//! Conditions are evaluated on it, front ends show it, and two universes are compared by it.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::syntax::{is_identifier, quote};

/// A value to show to users.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// No value.
    Null,
    /// A Boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A string, or the name of something opaque, such as a reference.
    Text(String),
    /// A list of values.
    List(Vec<Observation>),
    /// Named values, in order.
    Record(Vec<(String, Observation)>),
}

/// A difference between two observations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The path of the differing value, such as `math.inbox[1].name`.
    pub path: String,
    /// The value in the first observation. `None` if it does not exist there.
    pub before: Option<Observation>,
    /// The value in the second observation. `None` if it does not exist there.
    pub after: Option<Observation>,
}

/// A segment of a path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Segment {
    Name(String),
    Index(usize),
}

impl Observation {
    /// The value at a path such as `math.inbox[1].name`; lists begin at 0. Lists, texts and records have a `length`.
    pub fn get(&self, path: &str) -> Option<Observation> {
        self.at(&crate::expression::path(path)?)
    }

    pub(crate) fn at(&self, path: &[Segment]) -> Option<Observation> {
        let mut here = self;
        for (done, segment) in path.iter().enumerate() {
            here = match (here, segment) {
                (Observation::List(items), Segment::Index(index)) => items.get(*index)?,
                (Observation::Record(fields), Segment::Name(name))
                    if let Some((_, value)) = fields.iter().find(|(field, _)| field == name) =>
                {
                    value
                }
                (_, Segment::Name(name)) if name == "length" && done + 1 == path.len() => {
                    return here.length().map(Observation::Int);
                }
                _ => return None,
            };
        }
        Some(here.clone())
    }

    /// The number of items, characters or fields.
    pub fn length(&self) -> Option<i64> {
        let length = match self {
            Observation::List(items) => items.len(),
            Observation::Record(fields) => fields.len(),
            Observation::Text(text) => text.chars().count(),
            _ => return None,
        };
        i64::try_from(length).ok()
    }

    /// The differences between this observation and `after`, in reading order.
    pub fn diff(&self, after: &Observation) -> Vec<Difference> {
        let mut differences = Vec::new();
        differ(
            Some(self),
            Some(after),
            &mut String::new(),
            &mut differences,
        );
        differences
    }

    fn indent(&self, out: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let newline = |out: &mut fmt::Formatter<'_>| write!(out, "\n{:1$}", "", depth * 2);
        match self {
            Observation::Record(fields) if !fields.is_empty() => {
                for (at, (name, value)) in fields.iter().enumerate() {
                    if at > 0 || depth > 0 {
                        newline(out)?;
                    }
                    write!(out, "{name}:")?;
                    if !value.is_long() {
                        out.write_str(" ")?;
                    }
                    value.indent(out, depth + 1)?;
                }
                Ok(())
            }
            Observation::List(items) if self.is_long() => {
                for (at, item) in items.iter().enumerate() {
                    if at > 0 || depth > 0 {
                        newline(out)?;
                    }
                    write!(out, "- {item}")?;
                }
                Ok(())
            }
            short => write!(out, "{short}"),
        }
    }

    /// Returns whether it is displayed on separate lines.
    fn is_long(&self) -> bool {
        match self {
            Observation::Record(fields) => !fields.is_empty(),
            Observation::List(items) => items
                .iter()
                .any(|item| matches!(item, Observation::List(_) | Observation::Record(_))),
            _ => false,
        }
    }
}

fn differ(
    before: Option<&Observation>,
    after: Option<&Observation>,
    path: &mut String,
    into: &mut Vec<Difference>,
) {
    let mut within = |part: &str, before: Option<&Observation>, after: Option<&Observation>| {
        let length = path.len();
        path.push_str(part);
        differ(before, after, path, into);
        path.truncate(length);
    };
    match (before, after) {
        (Some(before), Some(after)) if before == after => {}
        (Some(Observation::Record(before)), Some(Observation::Record(after))) => {
            let find = |fields: &'_ [(String, Observation)], name: &str| {
                fields.iter().position(|(field, _)| field == name)
            };
            for (name, value) in before {
                let other = find(after, name).map(|at| &after[at].1);
                within(&part(name), Some(value), other);
            }
            for (name, value) in after {
                if find(before, name).is_none() {
                    within(&part(name), None, Some(value));
                }
            }
        }
        (Some(Observation::List(before)), Some(Observation::List(after))) => {
            for at in 0..before.len().max(after.len()) {
                within(&format!("[{at}]"), before.get(at), after.get(at));
            }
        }
        _ => into.push(Difference {
            path: path.trim_start_matches('.').to_owned(),
            before: before.cloned(),
            after: after.cloned(),
        }),
    }
}

fn part(name: &str) -> String {
    match is_identifier(name) {
        true => format!(".{name}"),
        false => format!(".{}", quote(name, '`')),
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |side: &Option<Observation>| match side {
            Some(value) => value.to_string(),
            None => "nothing".to_owned(),
        };
        let path = match self.path.as_str() {
            "" => "all",
            path => path,
        };
        write!(
            out,
            "{path}: {} → {}",
            show(&self.before),
            show(&self.after)
        )
    }
}

/// On one line; with `{:#}`, indented over several lines.
impl fmt::Display for Observation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            _ if out.alternate() => self.indent(out, 0),
            Observation::Null => out.write_str("null"),
            Observation::Bool(value) => write!(out, "{value}"),
            Observation::Int(value) => write!(out, "{value}"),
            Observation::Float(value) => write!(out, "{value:?}"),
            Observation::Text(text) => out.write_str(&quote(text, '"')),
            Observation::List(items) => {
                out.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.write_str(", ")?;
                    }
                    write!(out, "{item}")?;
                }
                out.write_str("]")
            }
            Observation::Record(fields) => {
                out.write_str("{")?;
                for (at, (name, value)) in fields.iter().enumerate() {
                    if at > 0 {
                        out.write_str(", ")?;
                    }
                    write!(out, "{name}: {value}")?;
                }
                out.write_str("}")
            }
        }
    }
}

/// As in JSON: a record is a map.
impl Serialize for Observation {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Observation::Null => out.serialize_unit(),
            Observation::Bool(value) => out.serialize_bool(*value),
            Observation::Int(value) => out.serialize_i64(*value),
            Observation::Float(value) => out.serialize_f64(*value),
            Observation::Text(text) => out.serialize_str(text),
            Observation::List(items) => out.collect_seq(items),
            Observation::Record(fields) => {
                out.collect_map(fields.iter().map(|(name, value)| (name, value)))
            }
        }
    }
}
