//! How long a test waits for a process that may hang.
//!
//! On a busy machine, a process that works may take any time. So time on the clock counts only while the process waits
//! for something; while it wants to run, the time counts that it runs.

use std::{
    fs,
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::Duration,
};

/// How often to look whether the process runs.
const PERIOD: Duration = Duration::from_millis(500);
/// What the kernel counts the running time of processes in.
const TICK: Duration = Duration::from_millis(10);

/// Receives what a test is to know about the process of this number, which is a child that has not been waited for; a
/// timeout once the process has had this much time.
pub fn receive<T>(
    receiver: &Receiver<T>,
    process: u32,
    patience: Duration,
) -> Result<T, RecvTimeoutError> {
    let mut had = Duration::ZERO;
    let mut ran = running_time(process);
    loop {
        match receiver.recv_timeout(PERIOD) {
            Err(RecvTimeoutError::Timeout) => {}
            received => return received,
        }
        let before = std::mem::replace(&mut ran, running_time(process));
        had += match wants_to_run(process) {
            true => ran.saturating_sub(before).min(PERIOD),
            false => PERIOD,
        };
        if had >= patience {
            return Err(RecvTimeoutError::Timeout);
        }
    }
}

/// Returns the fields of a `stat` file after the name, which is in parentheses and may contain some.
fn fields(path: &str) -> Option<Vec<String>> {
    let stat = fs::read_to_string(path).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

/// Returns how long the threads of a process have run.
fn running_time(process: u32) -> Duration {
    let fields = fields(&format!("/proc/{process}/stat")).unwrap_or_default();
    let ticks = |index: usize| fields.get(index)?.parse::<u32>().ok();
    // In the program, and in the kernel.
    TICK * (ticks(11).unwrap_or(0) + ticks(12).unwrap_or(0))
}

/// Whether a thread of the process runs, or would if it had a processor.
fn wants_to_run(process: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{process}/task"));
    threads.into_iter().flatten().flatten().any(|thread| {
        let stat = thread.path().join("stat");
        let state = fields(&stat.to_string_lossy()).and_then(|fields| fields.into_iter().next());
        matches!(state.as_deref(), Some("R" | "D"))
    })
}

#[cfg(test)]
mod tests {
    use std::{
        process::{Command, Stdio},
        sync::mpsc,
    };

    use super::*;

    #[test]
    fn a_process_that_waits_and_one_that_runs_are_given_up() {
        for script in ["read line", "while :; do :; done"] {
            let mut shell = Command::new("/bin/sh");
            let shell = shell.args(["-c", script]).stdin(Stdio::piped());
            let mut child = shell.spawn().unwrap();
            let (_sender, receiver) = mpsc::channel::<()>();
            let received = receive(&receiver, child.id(), Duration::from_millis(20));
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(received, Err(RecvTimeoutError::Timeout), "{script}");
        }
    }

    #[test]
    fn what_is_sent_is_received() {
        let (sender, receiver) = mpsc::channel();
        sender.send(7).unwrap();
        let received = receive(&receiver, std::process::id(), Duration::ZERO);
        assert_eq!(received, Ok(7));
    }
}
