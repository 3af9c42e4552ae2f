//! `Command`.

use std::{
    ffi::OsStr,
    fmt, io,
    path::Path,
    process::{CommandArgs, CommandEnvs, ExitStatus, Output},
};

use reenact_engine::Asked;

use super::{
    Child, ChildStderr, ChildStdin, ChildStdout,
    child::{output_of, status_of, word_of},
};
use crate::{
    fs::File,
    outside::{Name, Question, blocking, ops},
};

/// A program to be started: [`std::process::Command`].
pub struct Command {
    raw: std::process::Command,
    name: Name,
    /// Whether there is to be a pipe for input, output and errors.
    is_piped: [bool; 3],
}

impl Command {
    /// The program of this name.
    pub fn new<S: AsRef<OsStr>>(program: S) -> Command {
        Command {
            raw: std::process::Command::new(&program),
            name: Name::new("process", program.as_ref().display()),
            is_piped: [false; 3],
        }
    }

    /// One more argument.
    pub fn arg<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Command {
        self.raw.arg(arg);
        self
    }

    /// More arguments.
    pub fn args<I, S>(&mut self, args: I) -> &mut Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.raw.args(args);
        self
    }

    /// A variable of its environment.
    pub fn env<K, V>(&mut self, key: K, val: V) -> &mut Command
    where
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.raw.env(key, val);
        self
    }

    /// Variables of its environment.
    pub fn envs<I, K, V>(&mut self, vars: I) -> &mut Command
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.raw.envs(vars);
        self
    }

    /// Without this variable.
    pub fn env_remove<K: AsRef<OsStr>>(&mut self, key: K) -> &mut Command {
        self.raw.env_remove(key);
        self
    }

    /// Without any variable that this program has.
    pub fn env_clear(&mut self) -> &mut Command {
        self.raw.env_clear();
        self
    }

    /// The directory it is started in.
    pub fn current_dir<P: AsRef<Path>>(&mut self, dir: P) -> &mut Command {
        self.raw.current_dir(dir);
        self
    }

    /// Where its input comes from.
    pub fn stdin<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        let stdio = cfg.into();
        self.is_piped[0] = stdio.is_piped;
        self.raw.stdin(stdio.raw);
        self
    }

    /// Where its output goes to.
    pub fn stdout<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        let stdio = cfg.into();
        self.is_piped[1] = stdio.is_piped;
        self.raw.stdout(stdio.raw);
        self
    }

    /// Where its errors go to.
    pub fn stderr<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        let stdio = cfg.into();
        self.is_piped[2] = stdio.is_piped;
        self.raw.stderr(stdio.raw);
        self
    }

    /// The program.
    #[must_use]
    pub fn get_program(&self) -> &OsStr {
        self.raw.get_program()
    }

    /// The arguments.
    pub fn get_args(&self) -> CommandArgs<'_> {
        self.raw.get_args()
    }

    /// The variables that were set or removed.
    pub fn get_envs(&self) -> CommandEnvs<'_> {
        self.raw.get_envs()
    }

    /// The directory, if one was set.
    #[must_use]
    pub fn get_current_dir(&self) -> Option<&Path> {
        self.raw.get_current_dir()
    }

    /// Starts it.
    #[track_caller]
    pub fn spawn(&mut self) -> io::Result<Child> {
        let mut inner = None;
        let id = Question::new(ops::START, &self.name)
            .asking(asked(&self.raw))
            .number(|| {
                let child = self.raw.spawn()?;
                let id = child.id();
                inner = Some(child);
                Ok(id.into())
            })?;
        Ok(Child::new(inner, id as u32, &self.name, self.is_piped))
    }

    /// Starts it and waits for its end; what it printed.
    #[track_caller]
    pub fn output(&mut self) -> io::Result<Output> {
        let question = Question::new(ops::RUN, &self.name).asking(asked(&self.raw));
        output_of(&self.name, question, || blocking(|| self.raw.output()))
    }

    /// Starts it and waits for its end; how it ended.
    #[track_caller]
    pub fn status(&mut self) -> io::Result<ExitStatus> {
        let word = Question::new(ops::RUN, &self.name)
            .asking(asked(&self.raw))
            .number(|| blocking(|| self.raw.status()).map(word_of))?;
        Ok(status_of(word))
    }
}

/// All that makes a command what it is.
fn asked(command: &std::process::Command) -> Asked {
    let mut parts = vec![command.get_program().as_encoded_bytes()];
    parts.extend(command.get_args().map(OsStr::as_encoded_bytes));
    // So that a variable is no argument.
    parts.push(&[0]);
    for (key, value) in command.get_envs() {
        parts.push(key.as_encoded_bytes());
        parts.push(value.map_or(&[0], OsStr::as_encoded_bytes));
    }
    if let Some(directory) = command.get_current_dir() {
        parts.push(&[0]);
        parts.push(directory.as_os_str().as_encoded_bytes());
    }
    Asked::parts(parts)
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}

/// Where the input of a program comes from, or its output goes to: [`std::process::Stdio`].
pub struct Stdio {
    raw: std::process::Stdio,
    is_piped: bool,
}

impl Stdio {
    fn other(raw: std::process::Stdio) -> Stdio {
        Stdio {
            raw,
            is_piped: false,
        }
    }

    /// A pipe to this program.
    #[must_use]
    pub fn piped() -> Stdio {
        Stdio {
            raw: std::process::Stdio::piped(),
            is_piped: true,
        }
    }

    /// Where that of this program comes from, or goes to.
    #[must_use]
    pub fn inherit() -> Stdio {
        Stdio::other(std::process::Stdio::inherit())
    }

    /// Nowhere.
    #[must_use]
    pub fn null() -> Stdio {
        Stdio::other(std::process::Stdio::null())
    }
}

/// What is behind a handle. In a replay that is nothing, and nothing is started.
fn given<T: Into<std::process::Stdio>>(inner: Option<T>) -> Stdio {
    Stdio::other(inner.map_or_else(std::process::Stdio::null, Into::into))
}

impl From<File> for Stdio {
    fn from(file: File) -> Stdio {
        given(file.into_inner())
    }
}

impl From<ChildStdin> for Stdio {
    fn from(pipe: ChildStdin) -> Stdio {
        given(pipe.inner)
    }
}

impl From<ChildStdout> for Stdio {
    fn from(pipe: ChildStdout) -> Stdio {
        given(pipe.inner)
    }
}

impl From<ChildStderr> for Stdio {
    fn from(pipe: ChildStderr) -> Stdio {
        given(pipe.inner)
    }
}

impl fmt::Debug for Stdio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}
