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

use crate::{args::Command, replay::DIVERGED, suggest::did_you_mean};

/// Why a command failed. No field is a `source`: the messages already contain what a chain of causes would repeat.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A trace cannot be read or completed.
    #[error("{error}")]
    Trace { error: TraceError, help: String },
    /// The output path of a recording exists and is not a recording.
    #[error("{} is there already, and it is not a recording", path.display())]
    Taken { path: PathBuf },
    /// The recording cannot be created at its output path.
    #[error("cannot create a recording in {}: {}", directory.display(), reason(error))]
    Place {
        directory: PathBuf,
        error: io::Error,
    },
    /// A process is still writing the recording.
    #[error("{} is still being recorded by process {pid}", path.display())]
    StillRecording { path: PathBuf, pid: u32 },
    /// A program cannot be started.
    #[error("cannot run {}: {error}", program.display())]
    Start { program: OsString, error: io::Error },
    /// A program was started, but waiting for it failed.
    #[error("lost sight of the program that was started: {0}")]
    Wait(io::Error),
    /// The recorded program is not at its path any more.
    #[error("the recorded program is not at {}: {error}", executable.display())]
    ProgramGone {
        executable: PathBuf,
        trace: PathBuf,
        error: io::Error,
    },
    /// The program, when it is explored, does not do what was recorded.
    #[error("the recording cannot be explored: {0}")]
    Unfit(String),
    /// The program has changed since it was recorded.
    #[error("{} is not the program that was recorded: it was rebuilt or replaced since", executable.display())]
    Rebuilt { executable: PathBuf, trace: PathBuf },
    /// No activity has this name.
    #[error("no activity of {} is called {name}", trace.display())]
    NoSuchActivity {
        trace: PathBuf,
        name: String,
        known: String,
    },
    /// The demo's program did not fail.
    #[error("the demo's program went well {runs} times in a row, which is a pity for a demo")]
    DemoWentWell { runs: u32 },
    /// The demo cannot continue.
    #[error("the demo cannot go on: {what}")]
    DemoBroken { what: String },
    /// A temporary file cannot be created or read.
    #[error("cannot use a temporary file: {0}")]
    Scratch(io::Error),
    /// The log of a replay cannot be written to the path that the user gave.
    #[error("cannot write the log to {}: {error}", path.display())]
    Log { path: PathBuf, error: io::Error },
    /// The program to be explored cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Program { path: PathBuf, error: io::Error },
    /// The extension of a file is not that of a known language.
    #[error("{} is in no language that can be explored, judging by its name", path.display())]
    Language { path: PathBuf },
    /// The input is not valid UTF-8.
    #[error("{what} is not text: byte {at} is not part of any character in UTF-8")]
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
    /// The program refuses to explore itself with these options.
    #[error("{} cannot be explored: {error}", program.display())]
    Exploration { program: OsString, error: String },
    /// The program ended without having explored itself.
    #[error("{} did not explore itself: it {}", program.display(), ended(*exit))]
    NotExplored { program: OsString, exit: Exit },
    /// A schedule cannot be written.
    #[error("cannot write the schedule to {}: {error}", path.display())]
    Schedule { path: PathBuf, error: io::Error },
    /// Commands cannot be read from standard input.
    #[error("cannot read commands: {0}")]
    Input(io::Error),
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(io::Error),
}

impl Failure {
    /// Returns the exit status for this failure. A command that passes on the status of a program uses the same numbers
    /// as `env`, `timeout` and `docker run` for its own failures.
    pub(crate) fn status(&self, command: &Command) -> i32 {
        match (self, command) {
            (Failure::Start { error, .. }, _) if error.kind() == io::ErrorKind::NotFound => 127,
            (Failure::Start { .. }, _) => 126,
            (Failure::Unfit(_), _) => DIVERGED,
            (_, Command::Record(_) | Command::Replay(_)) => 125,
            _ => 2,
        }
    }
}

impl Failure {
    /// Returns the advice for the user.
    pub(crate) fn help(&self) -> Option<String> {
        let help = match self {
            Failure::Trace { help, .. } => help.clone(),
            Failure::Taken { .. } => "move it away, or say another place with -o FILE".to_owned(),
            Failure::Place { .. } => {
                "say another place with -o FILE, in a directory that exists and that you may write to"
                    .to_owned()
            }
            Failure::StillRecording { pid, .. } => {
                format!("end that process first (kill {pid}); nothing that it has done is lost")
            }
            Failure::Start { program, error } => advice_on_start(error, program),
            Failure::ProgramGone { trace, .. } => {
                let trace = trace.display();
                format!("say where it is now: reenact replay {trace} -- PROGRAM")
            }
            Failure::Rebuilt { trace, .. } => {
                let trace = trace.display();
                format!(
                    "replay with the program as it was, by its path: reenact replay {trace} -- PROGRAM; or try with \
                     this one: reenact replay {trace} --force"
                )
            }
            Failure::NoSuchActivity { known, .. } => format!("there are: {known}"),
            Failure::DemoWentWell { .. } => {
                "it needs some other work on the machine, or a second core: try again".to_owned()
            }
            Failure::DemoBroken { .. } => {
                "this should not happen; please report it, with what is printed above".to_owned()
            }
            Failure::Scratch(_) => {
                "is there room in the directory for temporary files? TMPDIR names another one"
                    .to_owned()
            }
            Failure::Log { .. } => {
                "say another place with --log=FILE, or --log alone to see it here".to_owned()
            }
            Failure::Program { .. } => "is the path right, seen from this directory?".to_owned(),
            Failure::Language { .. } => {
                "name it .at if it is in AmbientTalk, and .amb if it is in λ_amb".to_owned()
            }
            Failure::NotAProgram(error) => error.help()?.to_owned(),
            Failure::Question { help, .. } => help.clone()?,
            Failure::NotExplored { .. } => {
                "does it use reenact, on Linux? A program that does not is run once, as ever; a script has to name \
                 the program itself"
                    .to_owned()
            }
            Failure::Schedule { .. } => "say another place with -o FILE".to_owned(),
            Failure::Wait(_)
            | Failure::Unfit(_)
            | Failure::NotText { .. }
            | Failure::Exploration { .. }
            | Failure::Input(_)
            | Failure::Output(_) => return None,
        };
        Some(help)
    }

    /// Returns the text that the failure is about, with the name of its file, and where in it.
    pub(crate) fn excerpt(&self) -> Option<(Option<&str>, &str, Range<usize>)> {
        match self {
            Failure::NotAProgram(error) => {
                let source = error.source_code()?;
                Some((Some(source.name()), source.text(), error.span().range()))
            }
            Failure::Question { text, span, .. } => Some((None, text, span.clone()?)),
            _ => None,
        }
    }

    /// Returns what a terminal shows: the message, the lines it is about, and the advice.
    pub(crate) fn report(&self) -> Group<'_> {
        if let Failure::NotAProgram(error) = self {
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

impl Failure {
    /// Creates the failure for a text that is not a valid program.
    pub(crate) fn not_a_program(text: &Source, error: SyntaxError) -> Failure {
        Failure::NotAProgram(error.with_source(text))
    }

    /// Creates the failure for an option that is not valid. `known` are the words that it may begin with.
    pub(crate) fn question(
        what: &'static str,
        text: &str,
        error: impl Into<SessionError>,
        known: &[&str],
    ) -> Failure {
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
        Failure::Question {
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

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Failure {
        let help = match &error {
            TraceError::Io { path, source, .. } => match source.kind() {
                io::ErrorKind::NotFound => {
                    "recordings end in .reenact; make one with: reenact record -- CMD...".to_owned()
                }
                io::ErrorKind::PermissionDenied => format!(
                    "a recording can be read by who made it; ask them, or use: sudo chmod +r {}",
                    path.display()
                ),
                _ => "is the disk there, and whole?".to_owned(),
            },
            TraceError::NotATrace { .. } => {
                "recordings end in .reenact; make one with: reenact record -- CMD...".to_owned()
            }
            TraceError::Version { .. } => "reenact --version says which one this is".to_owned(),
            TraceError::Damaged { path, .. }
            | TraceError::NoData { path, .. }
            | TraceError::BrokenData { path, .. } => beside(path),
        };
        Failure::Trace { error, help }
    }
}

/// Returns the advice for a trace that cannot be read at all.
fn beside(path: &Path) -> String {
    format!(
        "was the file copied whole, and with {} if there was one?",
        live_path(path).display()
    )
}

/// Returns why a directory cannot be written to.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such directory".to_owned(),
        io::ErrorKind::NotADirectory => "that is not a directory".to_owned(),
        io::ErrorKind::PermissionDenied => "you may not write there".to_owned(),
        kind => kind.to_string(),
    }
}

fn advice_on_start(error: &io::Error, program: &OsString) -> String {
    let path = Path::new(program);
    let bare = path.components().count() == 1 && !program.to_string_lossy().contains('/');
    match error.kind() {
        io::ErrorKind::NotFound if bare && path.exists() => {
            format!("a program in this directory is run as ./{}", path.display())
        }
        io::ErrorKind::NotFound if bare => "is it installed, and in a directory of PATH?".into(),
        io::ErrorKind::NotFound => "is the path right, seen from this directory?".into(),
        io::ErrorKind::PermissionDenied => "is it a program, and executable?".into(),
        _ => "does it run without reenact?".into(),
    }
}
