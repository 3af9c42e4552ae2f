//! Shows where the threads of a process are: what the kernel reports and, if gdb can attach, their stacks.

use std::{
    fmt::Write,
    fs,
    io::Read,
    path::Path,
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use crate::process::{SIGKILL, send};

/// How long to wait for gdb, which reads all symbols of the program.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn of(process: u32) -> String {
    let directory = format!("/proc/{process}");
    let directory = Path::new(&directory);
    let arguments = fs::read(directory.join("cmdline")).unwrap_or_default();
    let arguments = String::from_utf8_lossy(&arguments).replace('\0', " ");
    let mut text = format!("\nprocess {process}: {}\n", arguments.trim());
    for task in fs::read_dir(directory.join("task"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let file = |name| fs::read_to_string(task.path().join(name)).unwrap_or_default();
        let _ = writeln!(
            text,
            "  thread {} ({}) in {}, system call {}",
            task.file_name().display(),
            file("comm").trim(),
            file("wchan").trim(),
            file("syscall").trim()
        );
    }
    text.push_str(
        &backtraces(process).unwrap_or_else(|| "  no stacks: gdb printed none\n".to_owned()),
    );
    text
}

/// Returns the stacks of all threads, from gdb.
fn backtraces(process: u32) -> Option<String> {
    let mut gdb = Command::new("gdb")
        .args(["-nx", "-batch", "-p", &process.to_string()])
        .args([
            "-ex",
            "set pagination off",
            "-ex",
            "thread apply all backtrace 40",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut output = gdb.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        let _ = output.read_to_end(&mut text);
        sender.send(String::from_utf8_lossy(&text).into_owned())
    });
    let text = receiver.recv_timeout(PATIENCE).ok();
    if text.is_none() {
        send(gdb.id(), SIGKILL);
    }
    // The main thread waits for all children, so that it may have reaped this one already.
    let _ = gdb.try_wait();
    text.filter(|text| text.contains("#0"))
}
