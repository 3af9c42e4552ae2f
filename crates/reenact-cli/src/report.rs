//! Prints progress, notes and errors to standard error; with colour and animation only on a terminal.

use std::{
    collections::BTreeMap,
    fmt::Display,
    io::{IsTerminal, Write},
    path::Path,
    time::Duration,
};

use annotate_snippets::Renderer;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use reenact_trace::{Exit, printable};
use serde::{Serialize, Serializer};

use crate::{error::Error, screen};

/// Prints an error.
pub(crate) fn error(error: Error) {
    if std::io::stderr().is_terminal() {
        // Colours are removed where they are not wanted.
        let shown = Renderer::styled().render(&[error.report()]);
        let _ = writeln!(screen::stderr(), "{shown}");
        return;
    }
    for line in plain(&error) {
        let _ = writeln!(screen::stderr(), "{line}");
    }
    if let Some(help) = error.help() {
        let _ = writeln!(screen::stderr(), "help: {help}");
    }
}

/// Number of characters of a line that are shown on each side of a position.
const NEAR: usize = 100;

/// Formats an error without its help, as lines: the message and, if it concerns a text, the position in it.
fn plain(error: &Error) -> Vec<String> {
    let excerpt = error.excerpt();
    let split = excerpt.and_then(|(name, text, span)| {
        let (before, after) = text.split_at_checked(span.start)?;
        Some((name, before, after, span.len()))
    });
    let Some((name, before, after, length)) = split else {
        return vec![format!("reenact: {error}")];
    };
    let line = before.matches('\n').count() + 1;
    let before = before.rsplit('\n').next().unwrap_or_default();
    let after = after.lines().next().unwrap_or_default();
    let column = before.chars().count() + 1;
    // Shorten a very long line.
    let skipped = column.saturating_sub(NEAR);
    let before: String = before.chars().skip(skipped).collect();
    let after: String = after.chars().take(NEAR).collect();
    let file = name.map(|name| format!("{name}:{line}:{column}: "));
    // Keep tabs, so that the caret is aligned.
    let blank = |letter| if letter == '\t' { '\t' } else { ' ' };
    let blank: String = before.chars().map(blank).collect();
    let marked = after.char_indices().take_while(|(at, _)| *at < length);
    let carets = "^".repeat(marked.count().max(1));
    vec![
        format!("reenact: {}{error}", file.unwrap_or_default()),
        format!("  | {before}{}", after.trim_end()),
        format!("  | {blank}{carets}"),
    ]
}

/// Prints a line among the output of a program.
pub(crate) fn note(text: impl Display) {
    // If standard error is closed, the note is lost.
    let _ = writeln!(screen::stderr(), "reenact: {text}");
}

/// Returns a progress bar for work of known length. It is not shown in a pipe.
pub(crate) fn bar(length: u64, what: &'static str) -> ProgressBar {
    styled(
        ProgressBar::new(length),
        "{prefix} {wide_bar} {human_pos}/{human_len}",
        what,
    )
}

/// Returns a spinner with a counter, for work of unknown length. It is not shown in a pipe.
pub(crate) fn spinner(what: &'static str, unit: &'static str) -> ProgressBar {
    let spinner = styled(
        ProgressBar::new_spinner(),
        "{spinner} {prefix}: {human_pos} {msg}",
        what,
    )
    .with_message(unit);
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

/// Returns a spinner with the elapsed time, for work without measurable progress. It is not shown in a pipe.
pub(crate) fn waiting(what: &'static str) -> ProgressBar {
    let spinner = styled(
        ProgressBar::new_spinner(),
        "{spinner} {prefix} for {elapsed}",
        what,
    );
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

fn styled(bar: ProgressBar, template: &str, what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is well-formed");
    bar.with_style(style).with_prefix(what)
}

/// Formats a number with the singular or plural of a noun.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        HumanCount(count),
        if count == 1 { one } else { many }
    )
}

/// Formats a path for people.
pub(crate) fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}

/// Formats a path for a shell, with quotes if necessary.
pub(crate) fn quoted(path: &Path) -> String {
    let text = shown(path);
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Serializes an exit: `{"status":101}` or `{"signal":9}`.
pub(crate) fn exit<S: Serializer>(exit: &Exit, serializer: S) -> Result<S::Ok, S::Error> {
    optional_exit(&Some(*exit), serializer)
}

/// Serializes an exit, or null if it is not known.
pub(crate) fn optional_exit<S: Serializer>(
    exit: &Option<Exit>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let named = exit.map(|exit| match exit {
        Exit::Status(status) => BTreeMap::from([("status", status)]),
        Exit::Signal(signal) => BTreeMap::from([("signal", signal)]),
    });
    named.serialize(serializer)
}
