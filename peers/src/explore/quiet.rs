//! Keeps a library from explaining each bug that is found.
//!
//! What is written on the error stream for each failed execution cannot be turned off in shuttle, and would be tens of
//! thousands of lines. Where the panic of an execution is no failure of the round, nobody wants to read it.

use std::{fs::File, io};

use rustix::stdio::dup2_stderr;

/// Does `work` with the error stream of the process closed to all.
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> io::Result<T> {
    let stderr = rustix::io::dup(io::stderr())?;
    dup2_stderr(File::options().write(true).open("/dev/null")?)?;
    let result = work();
    dup2_stderr(stderr)?;
    Ok(result)
}
