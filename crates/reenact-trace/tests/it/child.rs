//! Runs a part of a test in a child process: this test binary, asked for one test that is ignored otherwise.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

const DIRECTORY: &str = "REENACT_TRACE_TEST_CHILD";

/// The command that runs the ignored test `name` as a child, with its files in `directory`.
pub(crate) fn command(name: &str, directory: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args([
            "--exact",
            name,
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(DIRECTORY, directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command
}

/// In a child, its directory. `None` where somebody runs the ignored tests by hand.
pub(crate) fn directory() -> Option<PathBuf> {
    env::var_os(DIRECTORY)
        .as_deref()
        .map(OsStr::new)
        .map(PathBuf::from)
}
