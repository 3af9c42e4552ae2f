//! The text of a program, positions in it, and syntax errors.
//!
//! In both languages of this crate, the parser and the checks after it report a [`SyntaxError`]. It carries the text,
//! so that its [report](SyntaxError::report) shows the line and a caret.

use std::{ops::Range, sync::Arc};

use annotate_snippets::{AnnotationKind, Group, Level, Snippet};
use reenact_multiverse::Site;

/// A part of the text, as byte offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The offset of its first byte.
    pub start: u32,
    /// The offset after its last byte.
    pub end: u32,
}

impl Span {
    /// Returns the span from the start of this one to the end of the other.
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start,
            end: other.end,
        }
    }

    /// Returns the empty span right after this one.
    pub fn after(self) -> Span {
        Span {
            start: self.end,
            end: self.end,
        }
    }

    /// Returns the byte offsets.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The text of a program, with its name. A clone shares the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source(Arc<Text>);

#[derive(Debug, PartialEq, Eq)]
struct Text {
    name: String,
    text: String,
    /// The offset of each line.
    lines: Vec<u32>,
}

impl Source {
    /// Creates a source with a name for the user, such as the path of the file.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        let text = text.into();
        let begins = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let lines = std::iter::once(0)
            .chain(begins.map(|(at, _)| at as u32 + 1))
            .collect();
        Source(Arc::new(Text {
            name: name.into(),
            text,
            lines,
        }))
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Returns the whole text, if its offsets fit into a [`Span`].
    pub(crate) fn readable(&self) -> Result<&str, SyntaxError> {
        match u32::try_from(self.text().len()) {
            Ok(_) => Ok(self.text()),
            Err(_) => Err(SyntaxError::new(
                Span::default(),
                "a program of 4 GiB and more is too long",
            )),
        }
    }

    /// Returns the line and the column of a byte offset.
    pub fn site(&self, at: u32) -> Site {
        let line = self.0.lines.partition_point(|&begin| begin <= at) - 1;
        let begin = self.0.lines[line] as usize;
        let before = self.text().get(begin..at as usize);
        let column = before.map_or(0, |before| before.chars().count());
        Site {
            line: line as u32 + 1,
            column: column as u32 + 1,
        }
    }

    /// Returns a line by its number, without its line terminator.
    pub fn line(&self, line: u32) -> Option<&str> {
        let begin = *self.0.lines.get((line as usize).checked_sub(1)?)?;
        let rest = &self.text()[begin as usize..];
        let text = rest.split_once('\n').map_or(rest, |(text, _)| text);
        Some(text.strip_suffix('\r').unwrap_or(text))
    }
}

/// An error in the text of a program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.message)]
pub struct SyntaxError(Box<Details>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Details {
    message: String,
    span: Span,
    help: Option<String>,
    related: Option<(Span, &'static str)>,
    source: Option<Source>,
}

impl SyntaxError {
    /// Creates an error with a message for a span.
    pub fn new(span: Span, message: impl Into<String>) -> SyntaxError {
        SyntaxError(Box::new(Details {
            message: message.into(),
            span,
            help: None,
            related: None,
            source: None,
        }))
    }

    /// Adds advice for the user.
    pub fn with_help(mut self, help: impl Into<String>) -> SyntaxError {
        self.0.help = Some(help.into());
        self
    }

    /// Adds a second span, and how it is related.
    pub fn with_related(mut self, span: Span, why: &'static str) -> SyntaxError {
        self.0.related = Some((span, why));
        self
    }

    /// Sets the text that the spans refer to.
    pub fn with_source(mut self, source: &Source) -> SyntaxError {
        self.0.source = Some(source.clone());
        self
    }

    /// Returns the message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns where the error is.
    pub fn span(&self) -> Span {
        self.0.span
    }

    /// Returns the line and the column of the error, if the text is known.
    pub fn site(&self) -> Option<Site> {
        let source = self.0.source.as_ref()?;
        Some(source.site(self.0.span.start))
    }

    /// Returns the text that the spans refer to, if it is known.
    pub fn source_code(&self) -> Option<&Source> {
        self.0.source.as_ref()
    }

    /// Returns the advice for the user.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// Returns the second span and how it is related, such as the brace that is not closed.
    pub fn related(&self) -> Option<(Span, &'static str)> {
        self.0.related
    }

    /// Returns the message with the lines it is about, if the text is known, and the advice: to be printed by an
    /// [`annotate_snippets::Renderer`].
    pub fn report(&self) -> Group<'_> {
        let mut report = Group::with_title(Level::ERROR.primary_title(self.message()));
        if let Some(source) = self.source_code() {
            let here = AnnotationKind::Primary.span(self.span().range());
            let related = self
                .related()
                .map(|(span, why)| AnnotationKind::Context.span(span.range()).label(why));
            let snippet = Snippet::source(source.text())
                .path(source.name())
                .annotation(here.label("here"))
                .annotations(related);
            report = report.element(snippet);
        }
        match self.help() {
            Some(help) => report.element(Level::HELP.message(help)),
            None => report,
        }
    }
}

impl SyntaxError {
    /// Creates the error for a number that is out of range.
    pub(crate) fn too_large(span: Span, is_float: bool) -> SyntaxError {
        let largest = if is_float {
            "the largest number is about 1.8e308".to_owned()
        } else {
            format!("whole numbers go from {} to {}", i64::MIN, i64::MAX)
        };
        SyntaxError::new(span, "this number is too large").with_help(largest)
    }
}

/// Shortens a text for a message.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(24) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_counts_characters() {
        let source = Source::new("text", "a\r\nüb\n");
        let at = |byte| source.site(byte).to_string();
        assert_eq!(
            [at(0), at(3), at(5), at(6), at(7)],
            ["1:1", "2:1", "2:2", "2:3", "3:1"]
        );
    }

    #[test]
    fn a_line_has_no_end() {
        let source = Source::new("text", "a\r\nb\n\nc");
        let lines: Vec<_> = (0..6).map(|line| source.line(line)).collect();
        assert_eq!(
            lines,
            [None, Some("a"), Some("b"), Some(""), Some("c"), None]
        );
    }
}
