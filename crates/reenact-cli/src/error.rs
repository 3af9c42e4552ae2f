//! The errors of the command itself, with advice for the user.

use std::{
    ffi::OsString,
    io,
    ops::Range,
    path::{Path, PathBuf},
};

use annotate_snippets::{AnnotationKind, Group, Level, Snippet};
use reenact_ambient::{Source, SyntaxError};
use reenact_multiverse::SessionError;
use reenact_trace::{Exit, TraceError, live_path};

use crate::{
    args::Subcommand, replay::DIVERGED, report::shown, suggest::did_you_mean, trust::Doubt,
};

/// Why a command failed. No field is a `source`: the messages already contain what a chain of causes would repeat.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A trace cannot be read or completed.
    #[error("{error}")]
    Trace { error: TraceError, help: String },
    /// The output path of a recording exists and is not a recording.
    #[error("{} already exists and is not a recording", shown(path))]
    NotReplaceable { path: PathBuf },
    /// The recording cannot be created at its output path.
    #[error("cannot create a recording in {}: {}", shown(directory), reason(error))]
    Destination {
        directory: PathBuf,
        error: io::Error,
    },
    /// A process is still writing the recording.
    #[error("{} is still being recorded by process {pid}", shown(path))]
    StillRecording { path: PathBuf, pid: u32 },
    /// A program cannot be started.
    #[error("cannot run {}: {error}", shown(Path::new(program)))]
    Start { program: OsString, error: io::Error },
    /// A program was started, but waiting for it failed.
    #[error("cannot wait for the program that was started: {0}")]
    Wait(io::Error),
    /// The recorded program is not at its path any more.
    #[error("the recorded program is not at {}: {error}", shown(executable))]
    ProgramGone {
        executable: PathBuf,
        trace: PathBuf,
        error: io::Error,
    },
    /// The program, when it is explored, does not do what was recorded.
    #[error("the recording cannot be explored: {0}")]
    Unfit(String),
    /// The program has changed since it was recorded.
    #[error(
        "{} is not the program that was recorded: it was rebuilt or replaced since",
        shown(executable)
    )]
    Rebuilt { executable: PathBuf, trace: PathBuf },
    /// The user has not confirmed that the program of a recording may be started.
    #[error(
        "did not start {}: {doubt}, and nobody has confirmed it",
        shown(executable)
    )]
    NotConfirmed {
        executable: PathBuf,
        /// Formatted for people.
        arguments: String,
        directory: PathBuf,
        doubt: Doubt,
    },
    /// The executable is not the file any more that was checked.
    #[error("{} was changed while it was being checked", shown(executable))]
    Replaced { executable: PathBuf },
    /// The program ran without the engine.
    #[error("{} was not replayed: it {} without starting Reenact", shown(executable), ended(*exit))]
    NotReplayed { executable: PathBuf, exit: Exit },
    /// No activity has this name.
    #[error("no activity of {} is called {name}", shown(trace))]
    NoSuchActivity {
        trace: PathBuf,
        name: String,
        known: String,
    },
    /// The demo's program did not fail.
    #[error("the demo's program did not fail in {runs} runs")]
    DemoWentWell { runs: u32 },
    /// The demo cannot continue.
    #[error("the demo cannot continue: {what}")]
    DemoBroken { what: String },
    /// A temporary file cannot be created or read.
    #[error("cannot use a temporary file: {0}")]
    Scratch(io::Error),
    /// The executable of a recording cannot be looked into.
    #[error("{0}")]
    Refine(String),
    /// The log of a replay cannot be written to the path that the user gave.
    #[error("cannot write the log to {}: {error}", shown(path))]
    Log { path: PathBuf, error: io::Error },
    /// The program to be explored cannot be read.
    #[error("cannot read {}: {error}", shown(path))]
    Program { path: PathBuf, error: io::Error },
    /// The extension of a file is not that of a known language.
    #[error("cannot tell the language of {} from its extension", shown(path))]
    Language { path: PathBuf },
    /// The input is not valid UTF-8.
    #[error("{what} is not valid UTF-8: invalid byte at offset {at}")]
    NotText { what: String, at: usize },
    /// The text is not a valid program.
    #[error("{0}")]
    NotAProgram(SyntaxError),
    /// A breakpoint, step or condition is not valid.
    #[error("{what}: {message}")]
    Question {
        what: &'static str,
        message: String,
        text: String,
        span: Option<Range<usize>>,
        help: Option<String>,
    },
    /// An option does not apply to what is explored.
    #[error("{option} does not apply to {subject}: for {others}")]
    Inapplicable {
        option: &'static str,
        subject: &'static str,
        others: String,
    },
    /// No execution came to its end.
    #[error("nothing was explored: {0}")]
    NothingExplored(String),
    /// The program refuses to explore itself with these options.
    #[error("{} cannot be explored: {error}", shown(Path::new(program)))]
    Exploration { program: OsString, error: String },
    /// The program ended without having explored itself.
    #[error("{} did not explore itself: it {}", shown(Path::new(program)), ended(*exit))]
    NotExplored { program: OsString, exit: Exit },
    /// A schedule cannot be written.
    #[error("cannot write the schedule to {}: {error}", shown(path))]
    Schedule { path: PathBuf, error: io::Error },
    /// Commands cannot be read from standard input.
    #[error("cannot read commands: {0}")]
    Input(io::Error),
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(io::Error),
}

impl Error {
    /// Returns the exit status for this error. A command that passes on the status of a program uses the same numbers
    /// as `env`, `timeout` and `docker run` for its own errors.
    pub(crate) fn status(&self, command: &Subcommand) -> i32 {
        match (self, command) {
            (Error::Start { error, .. }, _) if error.kind() == io::ErrorKind::NotFound => 127,
            (Error::Start { .. }, _) => 126,
            (Error::Unfit(_), _) => DIVERGED,
            (_, Subcommand::Record(_) | Subcommand::Replay(_) | Subcommand::Refine(_)) => 125,
            _ => 2,
        }
    }
}

impl Error {
    /// Returns the advice for the user.
    pub(crate) fn help(&self) -> Option<String> {
        let help = match self {
            Error::Trace { help, .. } => help.clone(),
            Error::NotReplaceable { .. } => "move it away, or choose another file with -o FILE".to_owned(),
            Error::Destination { .. } => {
                "choose another file with -o FILE, in a directory that exists and that you can write to"
                    .to_owned()
            }
            Error::StillRecording { pid, .. } => {
                format!("end that process first (kill {pid}); nothing that it has recorded is lost")
            }
            Error::Start { program, error } => advice_on_start(error, program),
            Error::ProgramGone { trace, .. } => {
                let trace = shown(trace);
                format!("give its new path: reenact replay {trace} -- PROGRAM")
            }
            Error::Rebuilt { trace, .. } => {
                let trace = shown(trace);
                format!(
                    "replay with the recorded build, by its path: reenact replay {trace} -- PROGRAM; or try with \
                     this one: reenact replay {trace} --force"
                )
            }
            Error::NotConfirmed {
                arguments,
                directory,
                ..
            } => format!(
                "it would run, in {}: {arguments}; if you trust the recording, add --trust",
                shown(directory)
            ),
            Error::Replaced { .. } => "try again".to_owned(),
            Error::NotReplayed { .. } => {
                "is the program built with reenact, and not a script that starts it without its environment?".to_owned()
            }
            Error::NoSuchActivity { known, .. } => format!("its activities are: {known}"),
            Error::DemoWentWell { .. } => {
                "try again, with a second core or some other work on the machine".to_owned()
            }
            Error::DemoBroken { .. } => {
                "this should not happen; please report it, with what is printed above".to_owned()
            }
            Error::Scratch(_) => {
                "is there space in the directory for temporary files? TMPDIR selects another one"
                    .to_owned()
            }
            Error::Log { .. } => {
                "choose another file with --log=FILE, or use --log alone to print it".to_owned()
            }
            Error::Program { .. } => "is the path correct, relative to this directory?".to_owned(),
            Error::Language { .. } => {
                "use the extension .at for AmbientTalk, and .amb for λ_amb".to_owned()
            }
            Error::NotAProgram(error) => error.help()?.to_owned(),
            Error::Question { help, .. } => help.clone()?,
            Error::NotExplored { .. } => {
                "does it use reenact with its feature `explore`, which is on by default, on Linux? A program that does \
                 not is run once, as ever; a script has to name the program itself"
                    .to_owned()
            }
            Error::Schedule { .. } => "choose another file with -o FILE".to_owned(),
            Error::Wait(_)
            | Error::Refine(_)
            | Error::Unfit(_)
            | Error::NotText { .. }
            | Error::Exploration { .. }
            | Error::Inapplicable { .. }
            | Error::NothingExplored(_)
            | Error::Input(_)
            | Error::Output(_) => return None,
        };
        Some(help)
    }

    /// Returns the text that the error is about, with the name of its file, and where in it.
    pub(crate) fn excerpt(&self) -> Option<(Option<&str>, &str, Range<usize>)> {
        match self {
            Error::NotAProgram(error) => {
                let source = error.source_code()?;
                Some((Some(source.name()), source.text(), error.span().range()))
            }
            Error::Question { text, span, .. } => Some((None, text, span.clone()?)),
            _ => None,
        }
    }

    /// Returns what a terminal shows: the message, the lines it is about, and the advice.
    pub(crate) fn report(&self) -> Group<'_> {
        if let Error::NotAProgram(error) = self {
            return error.report();
        }
        let mut report = Group::with_title(Level::ERROR.primary_title(self.to_string()));
        if let Some((name, text, span)) = self.excerpt() {
            let here = AnnotationKind::Primary.span(span).label("here");
            report = report.element(Snippet::source(text).path(name).annotation(here));
        }
        match self.help() {
            Some(help) => report.element(Level::HELP.message(help)),
            None => report,
        }
    }
}

impl Error {
    /// Creates the error for a text that is not a valid program.
    pub(crate) fn not_a_program(text: &Source, error: SyntaxError) -> Error {
        Error::NotAProgram(error.with_source(text))
    }

    /// Creates the error for an option that is not valid. `known` are the words that it may begin with.
    pub(crate) fn question(
        what: &'static str,
        text: &str,
        error: impl Into<SessionError>,
        known: &[&str],
    ) -> Error {
        let error = error.into();
        let is_unknown = match &error {
            SessionError::Syntax(error) => error.span.start == 0,
            SessionError::NoStep { .. } => true,
            _ => false,
        };
        let first = text.split_whitespace().next().unwrap_or_default();
        let help = match is_unknown {
            true => did_you_mean(first, known.iter().copied()),
            false => None,
        };
        let span = match &error {
            SessionError::Syntax(error) => Some(error.span.clone()),
            _ => None,
        };
        let message = match error {
            SessionError::Syntax(error) => error.message,
            error => error.to_string(),
        };
        Error::Question {
            what,
            message,
            // The blank is marked if the text ends too early.
            text: format!("{text} "),
            span,
            help,
        }
    }
}

fn ended(exit: Exit) -> String {
    match exit {
        Exit::Status(status) => format!("exited with status {status}"),
        Exit::Signal(signal) => format!("was killed by signal {signal}"),
    }
}

impl From<TraceError> for Error {
    fn from(error: TraceError) -> Error {
        let help = match &error {
            TraceError::Io { path, source, .. } => match source.kind() {
                io::ErrorKind::NotFound => {
                    "recordings end in .reenact; make one with: reenact record -- CMD...".to_owned()
                }
                io::ErrorKind::PermissionDenied => format!(
                    "only its owner can read a recording; ask them, or use: sudo chmod +r {}",
                    shown(path)
                ),
                _ => "is the disk mounted and intact?".to_owned(),
            },
            TraceError::NotATrace { .. } => {
                "recordings end in .reenact; make one with: reenact record -- CMD...".to_owned()
            }
            TraceError::Version { .. } => {
                "reenact --version prints the version of this command".to_owned()
            }
            TraceError::Damaged { path, .. }
            | TraceError::NoData { path, .. }
            | TraceError::BrokenData { path, .. } => beside(path),
        };
        Error::Trace { error, help }
    }
}

/// Returns the advice for a trace that cannot be read at all.
fn beside(path: &Path) -> String {
    format!(
        "was the file copied completely, together with {} if that existed?",
        shown(&live_path(path))
    )
}

/// Returns why a directory cannot be written to.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such directory".to_owned(),
        io::ErrorKind::NotADirectory => "it is not a directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        kind => kind.to_string(),
    }
}

fn advice_on_start(error: &io::Error, program: &OsString) -> String {
    let path = Path::new(program);
    let bare = path.components().count() == 1 && !program.to_string_lossy().contains('/');
    match error.kind() {
        io::ErrorKind::NotFound if bare && path.exists() => {
            format!(
                "to run a program in this directory, write ./{}",
                shown(path)
            )
        }
        io::ErrorKind::NotFound if bare => "is it installed, and in a directory of PATH?".into(),
        io::ErrorKind::NotFound => "is the path correct, relative to this directory?".into(),
        io::ErrorKind::PermissionDenied => "is it an executable program?".into(),
        _ => "does it run without reenact?".into(),
    }
}
