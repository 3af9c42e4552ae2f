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
    outside::{HandleName, SystemCall, blocking, ops},
};

/// A program to start: [`std::process::Command`].
pub struct Command {
    raw: std::process::Command,
    name: HandleName,
    /// Whether standard input, output and error are piped.
    is_piped: [bool; 3],
}

impl Command {
    /// Creates a command for this program.
    pub fn new<S: AsRef<OsStr>>(program: S) -> Command {
        Command {
            raw: std::process::Command::new(&program),
            name: HandleName::new("process", program.as_ref().display()),
            is_piped: [false; 3],
        }
    }

    /// Adds an argument.
    pub fn arg<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Command {
        self.raw.arg(arg);
        self
    }

    /// Adds arguments.
    pub fn args<I, S>(&mut self, args: I) -> &mut Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.raw.args(args);
        self
    }

    /// Sets an environment variable.
    pub fn env<K, V>(&mut self, key: K, val: V) -> &mut Command
    where
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.raw.env(key, val);
        self
    }

    /// Sets environment variables.
    pub fn envs<I, K, V>(&mut self, vars: I) -> &mut Command
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.raw.envs(vars);
        self
    }

    /// Removes an environment variable.
    pub fn env_remove<K: AsRef<OsStr>>(&mut self, key: K) -> &mut Command {
        self.raw.env_remove(key);
        self
    }

    /// Removes all environment variables.
    pub fn env_clear(&mut self) -> &mut Command {
        self.raw.env_clear();
        self
    }

    /// Sets the working directory.
    pub fn current_dir<P: AsRef<Path>>(&mut self, dir: P) -> &mut Command {
        self.raw.current_dir(dir);
        self
    }

    /// Sets its standard input.
    pub fn stdin<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        let stdio = cfg.into();
        self.is_piped[0] = stdio.is_piped;
        self.raw.stdin(stdio.raw);
        self
    }

    /// Sets its standard output.
    pub fn stdout<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        let stdio = cfg.into();
        self.is_piped[1] = stdio.is_piped;
        self.raw.stdout(stdio.raw);
        self
    }

    /// Sets its standard error.
    pub fn stderr<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        let stdio = cfg.into();
        self.is_piped[2] = stdio.is_piped;
        self.raw.stderr(stdio.raw);
        self
    }

    /// Returns the program.
    #[must_use]
    pub fn get_program(&self) -> &OsStr {
        self.raw.get_program()
    }

    /// Returns the arguments.
    pub fn get_args(&self) -> CommandArgs<'_> {
        self.raw.get_args()
    }

    /// Returns the variables that were set or removed.
    pub fn get_envs(&self) -> CommandEnvs<'_> {
        self.raw.get_envs()
    }

    /// Returns the working directory, if one was set.
    #[must_use]
    pub fn get_current_dir(&self) -> Option<&Path> {
        self.raw.get_current_dir()
    }

    /// Starts the program.
    #[track_caller]
    pub fn spawn(&mut self) -> io::Result<Child> {
        let mut inner = None;
        let id = SystemCall::new(ops::START, &self.name)
            .asking(asked(&self.raw))
            .number(|| {
                let child = self.raw.spawn()?;
                let id = child.id();
                inner = Some(child);
                Ok(id.into())
            })?;
        Ok(Child::new(inner, id as u32, &self.name, self.is_piped))
    }

    /// Runs the program to its end and returns what it printed.
    #[track_caller]
    pub fn output(&mut self) -> io::Result<Output> {
        let call = SystemCall::new(ops::RUN, &self.name).asking(asked(&self.raw));
        output_of(&self.name, call, || blocking(|| self.raw.output()))
    }

    /// Runs the program to its end and returns its exit status.
    #[track_caller]
    pub fn status(&mut self) -> io::Result<ExitStatus> {
        let word = SystemCall::new(ops::RUN, &self.name)
            .asking(asked(&self.raw))
            .number(|| blocking(|| self.raw.status()).map(word_of))?;
        Ok(status_of(word))
    }
}

/// Returns what a replay compares of a command.
fn asked(command: &std::process::Command) -> Asked {
    let mut parts = vec![command.get_program().as_encoded_bytes()];
    parts.extend(command.get_args().map(OsStr::as_encoded_bytes));
    // Separates variables from arguments.
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

/// Configures a standard stream of a program: [`std::process::Stdio`].
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

    /// Creates a pipe to this program.
    #[must_use]
    pub fn piped() -> Stdio {
        Stdio {
            raw: std::process::Stdio::piped(),
            is_piped: true,
        }
    }

    /// Inherits the stream of this program.
    #[must_use]
    pub fn inherit() -> Stdio {
        Stdio::other(std::process::Stdio::inherit())
    }

    /// Ignores the stream (`/dev/null`).
    #[must_use]
    pub fn null() -> Stdio {
        Stdio::other(std::process::Stdio::null())
    }
}

macro_rules! passed_on {
    ($($handle:ident)*) => {$(
        impl From<$handle> for Stdio {
            /// Passes on the real handle. In a replay there is none, and no program is started.
            fn from(handle: $handle) -> Stdio {
                let real = handle.into_inner();
                Stdio::other(real.map_or_else(std::process::Stdio::null, Into::into))
            }
        }
    )*};
}

passed_on! { File ChildStdin ChildStdout ChildStderr }

impl fmt::Debug for Stdio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}
