//! Creates executables for tests to start.
//!
//! A test must not write an executable itself. While the test has the file open for writing, another thread of the test
//! process may fork. The new child has the file open too until it execs, so that starting the executable fails with
//! "Text file busy" although the test has closed it. Here a child process writes the file, and no other process
//! inherits its descriptors.

use std::{ffi::OsStr, path::Path, process::Command};

/// Copies an executable and makes the copy executable for all users.
#[track_caller]
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let (from, to) = (from.as_ref(), to.as_ref());
    shell(r#"cp "$0" "$1" && chmod 755 "$1""#, from, to);
}

/// Writes a script and makes it executable for all users.
#[track_caller]
pub fn write(path: impl AsRef<Path>, text: &str) {
    shell(
        r#"printf %s "$1" > "$0" && chmod 755 "$0""#,
        path.as_ref(),
        text,
    );
}

/// Appends some text to an executable, so that its content differs but its behaviour does not.
#[track_caller]
pub fn append(path: impl AsRef<Path>, text: &str) {
    shell(r#"printf %s "$1" >> "$0""#, path.as_ref(), text);
}

#[track_caller]
fn shell(script: &str, first: impl AsRef<OsStr>, second: impl AsRef<OsStr>) {
    let status = Command::new("/bin/sh")
        .args(["-c", script])
        .args([first.as_ref(), second.as_ref()])
        .status()
        .expect("there is a shell");
    assert!(
        status.success(),
        "{script} of {:?} and {:?}: {status}",
        first.as_ref(),
        second.as_ref()
    );
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        path::PathBuf,
        process,
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    use super::*;

    /// A directory that is removed on drop.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new() -> Scratch {
            let name = format!("reenact-testing-{}", process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir(&path).unwrap();
            Scratch(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// ```text
    /// test    ── copy ── start ── write ── start ── append ── start ── …
    /// others  ── fork ── fork ── fork ── …
    /// ```
    #[test]
    fn what_was_made_can_be_started_while_others_fork() {
        let scratch = Scratch::new();
        let done = AtomicBool::new(false);
        let output = |path: &Path| Command::new(path).arg("said").output().unwrap().stdout;
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        Command::new("/bin/true").status().unwrap();
                    }
                });
            }
            for n in 0..40 {
                let copied = scratch.0.join(format!("echo-{n}"));
                copy("/bin/echo", &copied);
                assert_eq!(output(&copied), b"said\n");
                append(&copied, "rebuilt");
                assert_eq!(output(&copied), b"said\n");
                let written = scratch.0.join(format!("script-{n}"));
                write(&written, "#!/bin/sh\necho \"$1\" and done\n");
                assert_eq!(output(&written), b"said and done\n");
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}
