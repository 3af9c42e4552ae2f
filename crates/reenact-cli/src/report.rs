//! How progress, notes and failures are shown: on standard error, in colour and in motion only on a terminal.

use std::{
    collections::BTreeMap,
    fmt::Display,
    io::{IsTerminal, Write},
    path::Path,
    time::Duration,
};

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use miette::{Diagnostic, MietteHandlerOpts};
use reenact_trace::Exit;
use serde::{Serialize, Serializer};

use crate::error::Failure;

/// Sets up how failures look on a terminal.
pub(crate) fn install() {
    // Fails only if something else was installed before, and then that is as good.
    let _ = miette::set_hook(Box::new(|_| {
        Box::new(MietteHandlerOpts::new().wrap_lines(false).build())
    }));
}

/// Says why a command failed.
pub(crate) fn failure(failure: Failure) {
    if std::io::stderr().is_terminal() {
        let _ = write!(anstream::stderr(), "{:?}", miette::Report::new(failure));
        return;
    }
    note(&failure);
    if let Some(help) = failure.help() {
        let _ = writeln!(anstream::stderr(), "help: {help}");
    }
}

/// One line of ours among the output of a program.
pub(crate) fn note(text: impl Display) {
    // If standard error is closed, there is nobody to tell.
    let _ = writeln!(anstream::stderr(), "reenact: {text}");
}

/// Something that may take long, with a known end. Not shown in a pipe.
pub(crate) fn bar(length: u64, what: &'static str) -> ProgressBar {
    styled(
        ProgressBar::new(length),
        "{prefix} {wide_bar} {human_pos}/{human_len}",
        what,
    )
}

/// Something that may take long, and nobody knows how long. Not shown in a pipe.
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

fn styled(bar: ProgressBar, template: &str, what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is well-formed");
    bar.with_style(style).with_prefix(what)
}

/// A number of things, in words.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        HumanCount(count),
        if count == 1 { one } else { many }
    )
}

/// A path as one types it into a shell.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// An exit in JSON: `{"status":101}` or `{"signal":9}`.
pub(crate) fn exit<S: Serializer>(exit: &Exit, serializer: S) -> Result<S::Ok, S::Error> {
    optional_exit(&Some(*exit), serializer)
}

/// An exit in JSON, null if it is not known.
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
