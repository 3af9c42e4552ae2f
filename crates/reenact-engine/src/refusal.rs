//! Refuses to explore the program of this process.
//!
//! The reason is text in a file beside the report, so that a build without exploration, which cannot write reports, can
//! give it, too.

use std::{fs, path::Path};

/// The extension of the file beside the report that contains the reason.
const EXTENSION: &str = "refused";

/// The exit status of a process that refuses.
const REFUSED: i32 = 2;

/// Tells the command that started this process that its program cannot be explored, and ends the process before the
/// program begins. Without a command, the user is told.
pub(crate) fn refuse(report: Option<&Path>, why: &str) -> ! {
    let written = report.map(|report| fs::write(report.with_extension(EXTENSION), why));
    if !matches!(written, Some(Ok(()))) {
        eprintln!("reenact: this program cannot be explored: {why}");
    }
    // SAFETY: `_exit` only ends the process.
    unsafe { libc::_exit(REFUSED) }
}

/// Returns why a process refused to explore its program, if it did.
#[cfg(feature = "explore")]
pub fn refusal(report: &Path) -> Option<String> {
    let why = fs::read(report.with_extension(EXTENSION)).ok()?;
    Some(String::from_utf8_lossy(&why).into_owned())
}
