//! A user breakpoint: a kind of the catalogue, with restrictions.
//!
//! | text | stops |
//! |---|---|
//! | `message-sender` | an activity about to send |
//! | `before-turn double by math` | math, about to process `double` |
//! | `message-receiver at 11` | an activity about to process what line 11 has sent |
//! | `after-turn if math.result == 24` | after any turn that leaves 24 there |
//! | `line 12` | an activity that arrives at line 12 |
//! | `temporal (message-sender ok) after (before-turn fail)` | when the steps so far match the pattern, see [`Temporal`] |
//!
//! In general: `KIND [METHOD] [by ACTIVITY] [to ACTIVITY] [at LINE] [if CONDITION]`. A name that contains other
//! characters than letters, digits and `_-:.#@$`, or that is a keyword, has to be quoted.

mod parse;

use std::fmt;

use crate::{
    Activity, BreakpointKind, Expression, Operation, OperationKind, Temporal,
    syntax::{SyntaxError, is_plain_name, quote},
};

/// A place where activities stop.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakpoint {
    /// What has to happen.
    pub what: What,
    /// A condition that has to hold then.
    pub condition: Option<Expression>,
}

/// What a breakpoint waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// One operation.
    Operation(Pattern),
    /// A history.
    Temporal(Temporal),
}

/// A pattern that matches operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The kind of operations.
    pub kind: PatternKind,
    /// The name of the message, the lock or the channel.
    pub method: Option<String>,
    /// The name of the activity that performs it.
    pub by: Option<String>,
    /// The name of the other party.
    pub to: Option<String>,
    /// The line of the operation, or of the send if the kind is by sender.
    pub line: Option<u32>,
}

/// A kind of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternKind {
    /// A kind of the catalogue.
    Kind(&'static BreakpointKind),
    /// The arrival at a line.
    Line,
}

impl Breakpoint {
    /// Parses a breakpoint.
    ///
    /// ```
    /// use reenact_multiverse::Breakpoint;
    ///
    /// let text = "message-receiver double by math if math.result == 24";
    /// assert_eq!(Breakpoint::parse(text).unwrap().to_string(), text);
    ///
    /// let error = Breakpoint::parse("before-turn double in math").unwrap_err();
    /// assert!(error.to_string().starts_with("column 20: found `in`, expected by ACTIVITY"));
    /// ```
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        parse::breakpoint(text)
    }

    /// The patterns of the operations that it mentions.
    pub(crate) fn patterns(&self) -> Vec<&Pattern> {
        match &self.what {
            What::Operation(pattern) => vec![pattern],
            What::Temporal(temporal) => temporal.patterns().collect(),
        }
    }

    /// The lines at which the program has to stop for it.
    pub(crate) fn lines(&self) -> impl Iterator<Item = u32> {
        let all = self.patterns().into_iter();
        all.filter(|pattern| pattern.kind == PatternKind::Line)
            .filter_map(|pattern| pattern.line)
    }
}

impl Pattern {
    /// The kinds of operations that can match.
    pub fn operations(&self) -> &'static [OperationKind] {
        match self.kind {
            PatternKind::Kind(kind) => kind.operations,
            PatternKind::Line => &[OperationKind::Local],
        }
    }

    /// Returns whether it matches pending operations rather than performed ones.
    pub fn is_before(&self) -> bool {
        match self.kind {
            PatternKind::Kind(kind) => kind.is_before,
            PatternKind::Line => true,
        }
    }

    /// The line of the sends, if it matches the receipt of what is sent from one line.
    pub(crate) fn sent_from(&self) -> Option<u32> {
        match self.kind {
            PatternKind::Kind(kind) if kind.is_by_sender => self.line,
            _ => None,
        }
    }

    /// Returns whether it matches an operation. Operations of the kinds `at_lines` arrive at a line. Names are computed
    /// last.
    pub(crate) fn fits(
        &self,
        operation: &Operation<'_>,
        at_lines: &[OperationKind],
        name: &dyn Fn(Activity) -> String,
    ) -> bool {
        let kinds = match self.kind {
            PatternKind::Kind(kind) => kind.operations,
            PatternKind::Line => at_lines,
        };
        let site = match self.kind {
            PatternKind::Kind(kind) if kind.is_by_sender => operation.sent_at,
            _ => operation.site,
        };
        kinds.contains(&operation.kind)
            && (self.line.is_none() || self.line == site.map(|site| site.line))
            && self
                .method
                .as_ref()
                .is_none_or(|method| *method == operation.subject)
            && self
                .by
                .as_ref()
                .is_none_or(|by| *by == name(operation.activity))
            && self
                .to
                .as_ref()
                .is_none_or(|to| operation.with.is_some_and(|with| *to == name(with)))
    }
}

impl fmt::Display for Breakpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Operation(pattern) => write!(out, "{pattern}")?,
            What::Temporal(temporal) => write!(out, "temporal {temporal}")?,
        }
        match &self.condition {
            Some(condition) => write!(out, " if {condition}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written = |name: &str| match is_plain_name(name) && !parse::is_reserved(name) {
            true => name.to_owned(),
            false => quote(name, '"'),
        };
        match self.kind {
            PatternKind::Kind(kind) => out.write_str(kind.name)?,
            PatternKind::Line => write!(out, "line {}", self.line.unwrap_or(0))?,
        }
        if let Some(method) = &self.method {
            write!(out, " {}", written(method))?;
        }
        if let Some(by) = &self.by {
            write!(out, " by {}", written(by))?;
        }
        if let Some(to) = &self.to {
            write!(out, " to {}", written(to))?;
        }
        match (self.kind, self.line) {
            (PatternKind::Kind(_), Some(line)) => write!(out, " at {line}"),
            _ => Ok(()),
        }
    }
}
