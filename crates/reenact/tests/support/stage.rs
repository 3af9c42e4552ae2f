//! Running a program that these tests are about: off, recorded, replayed; never for longer than a test can wait.

use std::{
    cell::Cell,
    fs,
    io::Read,
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd},
        unix::process::{CommandExt, ExitStatusExt},
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, LazyLock,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use reenact_testing::patience;
use reenact_trace::Trace;
use tempfile::TempDir;

/// Nothing here takes longer than a few seconds of its own time; what takes this long hangs.
const PATIENCE: Duration = Duration::from_secs(100);

/// The binary with the programs, which cargo builds beside the tests.
pub(crate) static PROGRAMS: LazyLock<PathBuf> = LazyLock::new(|| {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    assert!(
        path.ends_with("deps"),
        "tests are in a directory of this name"
    );
    path.pop();
    path.join("examples/programs")
});

/// A directory for one recording and what belongs to it.
pub(crate) struct Stage {
    directory: TempDir,
    reports: Cell<u32>,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        Stage {
            directory: TempDir::new().unwrap(),
            reports: Cell::new(0),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn trace(&self) -> PathBuf {
        self.path("bug.reenact")
    }

    /// The program of this command line.
    pub(crate) fn program(&self, command_line: &str) -> Program<'_> {
        Program {
            stage: self,
            binary: PROGRAMS.clone(),
            arguments: command_line.split(' ').map(str::to_owned).collect(),
            prepare: Vec::new(),
        }
    }

    /// Makes one file of the trace and opens it.
    pub(crate) fn recovered(&self) -> Arc<Trace> {
        reenact_trace::recover(&self.trace()).expect("what a recording leaves can be recovered");
        self.open()
    }

    pub(crate) fn open(&self) -> Arc<Trace> {
        let trace = Arc::new(Trace::open(&self.trace()).unwrap());
        trace.check(|_| {}).expect("a trace is sound");
        trace
    }

    fn new_report(&self) -> PathBuf {
        self.reports.set(self.reports.get() + 1);
        self.path(&format!("report-{}", self.reports.get()))
    }
}

type Preparation = Box<dyn Fn(&mut Command)>;

/// A program and how it is to be started.
pub(crate) struct Program<'a> {
    stage: &'a Stage,
    binary: PathBuf,
    arguments: Vec<String>,
    prepare: Vec<Preparation>,
}

impl Program<'_> {
    pub(crate) fn in_binary(mut self, binary: PathBuf) -> Self {
        self.binary = binary;
        self
    }

    pub(crate) fn with(mut self, prepare: impl Fn(&mut Command) + 'static) -> Self {
        self.prepare.push(Box::new(prepare));
        self
    }

    /// With these arguments after those of the command line.
    pub(crate) fn args<S: AsRef<str>>(mut self, arguments: &[S]) -> Self {
        let arguments = arguments
            .iter()
            .map(|argument| argument.as_ref().to_owned());
        self.arguments.extend(arguments);
        self
    }

    pub(crate) fn env(self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        let (name, value) = (name.to_owned(), value.as_ref().to_owned());
        self.with(move |command| {
            command.env(&name, &value);
        })
    }

    /// On one core of those that the test may use.
    pub(crate) fn on_one_core(self) -> Self {
        self.with(|command| {
            // SAFETY: System calls are allowed between fork and exec; a set of processors is plain numbers.
            unsafe {
                command.pre_exec(|| {
                    let size = size_of::<libc::cpu_set_t>();
                    let mut cores: libc::cpu_set_t = std::mem::zeroed();
                    if libc::sched_getaffinity(0, size, &mut cores) != 0 {
                        return Err(std::io::Error::last_os_error());
                    }
                    let last = (0..libc::CPU_SETSIZE as usize)
                        .rfind(|&core| libc::CPU_ISSET(core, &cores));
                    libc::CPU_ZERO(&mut cores);
                    libc::CPU_SET(last.unwrap_or(0), &mut cores);
                    match libc::sched_setaffinity(0, size, &cores) {
                        0 => Ok(()),
                        _ => Err(std::io::Error::last_os_error()),
                    }
                });
            }
        })
    }

    /// On a machine whose clock shows another time.
    pub(crate) fn on(self, machine: super::machine::OtherMachine) -> Self {
        self.with(move |command| machine.run(command))
    }

    /// Its files cannot grow past this size.
    pub(crate) fn with_files_up_to(self, bytes: u64) -> Self {
        let limit = libc::rlimit {
            rlim_cur: bytes,
            rlim_max: bytes,
        };
        self.with(move |command| {
            // SAFETY: A single system call, which is allowed between fork and exec.
            unsafe {
                command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_FSIZE, &limit) {
                    0 => Ok(()),
                    _ => Err(std::io::Error::last_os_error()),
                });
            }
        })
    }

    /// Runs it off.
    pub(crate) fn run(&self) -> Outcome {
        self.start(&[]).finish()
    }

    /// Runs and records it.
    pub(crate) fn record(&self) -> Outcome {
        self.start_recording().finish()
    }

    /// Records it to a good end, and checks the trace.
    #[track_caller]
    pub(crate) fn record_completely(&self) -> Outcome {
        let outcome = self.record();
        outcome.is_fine();
        let trace = self.stage.recovered();
        assert!(
            trace.is_complete() && trace.stop().is_none(),
            "{outcome:#?}"
        );
        outcome
    }

    pub(crate) fn start_recording(&self) -> Running {
        self.start_recording_to(&self.stage.trace())
    }

    pub(crate) fn start_recording_to(&self, trace: &Path) -> Running {
        self.start(&[("REENACT", Path::new("record")), ("REENACT_TRACE", trace)])
    }

    /// Replays the trace with it.
    pub(crate) fn replay(&self) -> Outcome {
        self.start_replay(&self.stage.trace()).finish()
    }

    /// The same, with a line for each operation in this file.
    pub(crate) fn replay_with_log(&self, log: &Path) -> Outcome {
        let report = self.stage.new_report();
        let mut running = self.start(&[
            ("REENACT", Path::new("replay")),
            ("REENACT_TRACE", &self.stage.trace()),
            ("REENACT_REPORT", &report),
            ("REENACT_LOG", log),
        ]);
        running.report = Some(report);
        running.finish()
    }

    pub(crate) fn start_replay(&self, trace: &Path) -> Running {
        let report = self.stage.new_report();
        let mut running = self.start(&[
            ("REENACT", Path::new("replay")),
            ("REENACT_TRACE", trace),
            ("REENACT_REPORT", &report),
        ]);
        running.report = Some(report);
        running
    }

    fn start(&self, environment: &[(&str, &Path)]) -> Running {
        let mut command = Command::new(&self.binary);
        command
            .arg0("programs")
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .envs(environment.iter().copied());
        for prepare in &self.prepare {
            prepare(&mut command);
        }
        let child = command.spawn().unwrap_or_else(|error| {
            panic!(
                "{} does not start ({error}): `cargo build -p reenact --examples` makes it",
                self.binary.display()
            )
        });
        Running {
            what: format!("{:?} {environment:?}", self.arguments),
            child,
            report: None,
        }
    }
}

/// A program that runs.
pub(crate) struct Running {
    what: String,
    child: Child,
    report: Option<PathBuf>,
}

impl Running {
    /// Returns when the program has written this. Nothing more is taken from the pipe.
    pub(crate) fn wait_for_output(&mut self, expected: &'static str) {
        let mut output = self.child.stdout.take().expect("nobody has taken it");
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let mut written = Vec::new();
            let mut byte = [0];
            while !written.ends_with(expected.as_bytes()) {
                match output.read(&mut byte) {
                    Ok(1) => written.extend(byte),
                    _ => return sender.send(Err(written)),
                }
            }
            sender.send(Ok(output))
        });
        match patience::receive(&receiver, self.child.id(), PATIENCE) {
            Ok(Ok(output)) => self.child.stdout = Some(output),
            Ok(Err(instead)) => {
                panic!("{} says {:?}", self.what, String::from_utf8_lossy(&instead))
            }
            Err(_) => self.give_up(),
        }
    }

    /// Kills it, as with `kill -9`.
    pub(crate) fn kill(mut self) -> Outcome {
        self.child.kill().unwrap();
        self.finish()
    }

    /// Waits for its end, while it runs in short slices of time, between which it is stopped for longer, wherever it is.
    pub(crate) fn finish_in_slices(self) -> Outcome {
        const RUNS: Duration = Duration::from_millis(4);
        const IS_STOPPED: Duration = Duration::from_millis(12);
        // Unlike its number, this names no other process once it has ended.
        // SAFETY: Such a call returns a new descriptor, or -1.
        let process = unsafe { libc::syscall(libc::SYS_pidfd_open, self.child.id(), 0) } as i32;
        assert!(process >= 0, "{}", std::io::Error::last_os_error());
        // SAFETY: It is new and open.
        let process = unsafe { OwnedFd::from_raw_fd(process) };
        let send = move |signal: i32| {
            let no_info = std::ptr::null::<libc::siginfo_t>();
            let descriptor = process.as_raw_fd();
            // SAFETY: The descriptor is open, and there need be no information about the signal.
            unsafe { libc::syscall(libc::SYS_pidfd_send_signal, descriptor, signal, no_info, 0) };
        };
        let (ended, has_ended) = mpsc::channel::<()>();
        let slices = thread::spawn(move || {
            while has_ended.recv_timeout(RUNS) == Err(RecvTimeoutError::Timeout) {
                send(libc::SIGSTOP);
                thread::sleep(IS_STOPPED);
                send(libc::SIGCONT);
            }
        });
        let outcome = self.finish();
        drop(ended);
        slices.join().unwrap();
        outcome
    }

    /// Waits for its end.
    pub(crate) fn finish(mut self) -> Outcome {
        let (sender, receiver) = mpsc::channel();
        let stdout = self.child.stdout.take();
        let stderr = self.child.stderr.take();
        for (which, pipe) in [(0, stdout.map(boxed)), (1, stderr.map(boxed))] {
            let sender = sender.clone();
            thread::spawn(move || {
                let mut text = Vec::new();
                if let Some(mut pipe) = pipe {
                    let _ = pipe.read_to_end(&mut text);
                }
                sender.send((which, String::from_utf8_lossy(&text).into_owned()))
            });
        }
        let mut texts = [String::new(), String::new()];
        for _ in 0..texts.len() {
            match patience::receive(&receiver, self.child.id(), PATIENCE) {
                Ok((which, text)) => texts[which] = text,
                Err(_) => self.give_up(),
            }
        }
        let [stdout, stderr] = texts;
        let outcome = Outcome {
            status: self.child.wait().unwrap(),
            report: self
                .report
                .as_deref()
                .and_then(|path| fs::read_to_string(path).ok()),
            stdout,
            stderr,
            what: self.what,
        };
        let ours = ["reenact-engine/src", "reenact-trace/src", "reenact/src"];
        let panics = outcome
            .stderr
            .lines()
            .filter(|line| line.contains("panicked at"))
            .any(|line| ours.iter().any(|source| line.contains(source)));
        assert!(!panics, "something panics inside reenact: {outcome:#?}");
        outcome
    }

    /// It hangs: says where, and ends it.
    fn give_up(&mut self) -> ! {
        let threads = where_threads_are(self.child.id());
        let _ = self.child.kill();
        panic!("{} hangs:\n{threads}", self.what);
    }
}

fn boxed(pipe: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(pipe)
}

/// Name, kernel function and system call of each thread of a process.
fn where_threads_are(process: u32) -> String {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else {
        return "  it has ended, but somebody else has its pipes\n".to_owned();
    };
    threads
        .flatten()
        .map(|thread| {
            let file = |name| fs::read_to_string(thread.path().join(name)).unwrap_or_default();
            format!(
                "  {} in {} {}\n",
                file("comm").trim(),
                file("wchan").trim(),
                file("syscall").trim()
            )
        })
        .collect()
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) report: Option<String>,
    #[allow(dead_code, reason = "shown when an assertion fails")]
    what: String,
}

impl Outcome {
    /// Ended by itself and well, without a word from us.
    #[track_caller]
    pub(crate) fn is_fine(&self) -> &Self {
        assert!(self.status.success(), "{self:#?}");
        assert_eq!(self.report, None, "{self:#?}");
        assert_eq!(self.remarks(), 0, "{self:#?}");
        self
    }

    /// Ended by itself with this status, as did another run, and with the same output.
    #[track_caller]
    pub(crate) fn is_same_as(&self, other: &Outcome) {
        assert_eq!(self.status, other.status, "{self:#?} and {other:#?}");
        assert_eq!(self.stdout, other.stdout, "{self:#?} and {other:#?}");
        assert_eq!(self.report, None, "{self:#?}");
    }

    /// A replay that came to the end of the trace; what it says about that.
    #[track_caller]
    pub(crate) fn ended(&self) -> &str {
        self.reported("ended", 0)
    }

    /// A replay that went another way; what it says about that.
    #[track_caller]
    pub(crate) fn diverged(&self) -> &str {
        self.reported("diverged", 86)
    }

    /// A replay that printed something else; what it says about that.
    #[track_caller]
    pub(crate) fn printed(&self) -> &str {
        self.reported("printed", 0)
    }

    #[track_caller]
    fn reported(&self, first_line: &str, status: i32) -> &str {
        let report = self
            .report
            .as_deref()
            .unwrap_or_else(|| panic!("no report: {self:#?}"));
        let (first, rest) = report.split_once('\n').unwrap_or_default();
        // A program that goes another way may have printed something else before.
        let (rest, _) = rest.split_once("Before that, ").unwrap_or((rest, ""));
        assert_eq!(first, first_line, "{self:#?}");
        assert_eq!(self.status.code(), Some(status), "{self:#?}");
        assert!(
            self.stderr.contains(rest),
            "said on standard error too: {self:#?}"
        );
        rest
    }

    /// How many lines on standard error are ours.
    pub(crate) fn remarks(&self) -> usize {
        self.stderr
            .lines()
            .filter(|line| line.starts_with("reenact: "))
            .count()
    }

    pub(crate) fn signal(&self) -> Option<i32> {
        self.status.signal()
    }
}

/// A report without its backtrace, and with nothing of a source file but its name: `lock at file.rs:_`.
pub(crate) fn without_places(report: &str) -> String {
    let lines = report
        .lines()
        // Without the stack, which begins with a frame of the program or, without one, with folded frames.
        .take_while(|line| {
            !["0: ", "…"]
                .iter()
                .any(|start| line.trim_start().starts_with(start))
        });
    // `lock at some/file.rs:1:2 (mutex@some/file.rs:3)`
    let without_place = |part: &str| match part.split_once(".rs:") {
        Some((path, rest)) => {
            let file = path.rsplit('/').next().unwrap_or_default();
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
            format!("{file}.rs:_{rest}")
        }
        None => part.to_owned(),
    };
    lines
        .map(|line| {
            let parts = line.split_inclusive([' ', '@']).map(without_place);
            parts.collect::<String>() + "\n"
        })
        .collect()
}
