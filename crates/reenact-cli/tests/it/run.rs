//! Running the command in a directory of its own, and making traces for it without running a program.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
};

use reenact_trace::{Event, Exit, Kind, Origin, Program, Storage, Writer, append_exit, identify};
use tempfile::TempDir;

/// A directory, in which commands are run.
pub(crate) struct Directory {
    directory: TempDir,
}

/// A program without an environment.
pub(crate) fn program(
    executable: impl AsRef<Path>,
    build_id: u64,
    arguments: &[&str],
    directory: impl AsRef<Path>,
) -> Program {
    Program {
        executable: executable.as_ref().into(),
        build_id,
        arguments: arguments.iter().map(OsString::from).collect(),
        directory: directory.as_ref().into(),
        environment: Vec::new(),
        withheld: Vec::new(),
    }
}

/// A command that has run.
pub(crate) struct Run {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Checks the exit status.
    #[track_caller]
    pub(crate) fn assert_status(&self, status: i32) {
        let Run { stdout, stderr, .. } = self;
        assert_eq!(self.status.code(), Some(status), "{stdout}\n{stderr}");
    }

    /// The same without how much memory it took.
    pub(crate) fn without_memory(mut self) -> Run {
        let lines = self.stdout.lines().map(|line| match line {
            line if line.starts_with("Memory: ") => "Memory: … per universe\n".to_owned(),
            line => format!("{line}\n"),
        });
        self.stdout = lines.collect();
        self
    }

    #[track_caller]
    pub(crate) fn assert_stdout_has(&self, text: &str) {
        assert!(self.stdout.contains(text), "{text} in: {}", self.stdout);
    }

    #[track_caller]
    pub(crate) fn assert_stderr_has(&self, text: &str) {
        assert!(self.stderr.contains(text), "{text} in: {}", self.stderr);
    }
}

impl Directory {
    pub(crate) fn new() -> Directory {
        Directory {
            directory: TempDir::new().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The names of the files that are there.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// A command that will run here, the same everywhere. Recordings are of programs elsewhere, which are trusted.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let own = args.split(|&arg| arg == "--").next().unwrap_or_default();
        let of_recording = match own.first() {
            Some(&("replay" | "refine")) => true,
            Some(&("explore" | "debug")) => own.iter().any(|arg| arg.ends_with(".reenact")),
            _ => false,
        };
        match args.split_first() {
            Some((subcommand, rest)) if of_recording && !rest.contains(&"--help") => {
                self.command_as_is(&[&[*subcommand, "--trust"], rest].concat())
            }
            _ => self.command_as_is(args),
        }
    }

    /// A command with these arguments and no others.
    pub(crate) fn command_as_is(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reenact"));
        command
            .args(args)
            .current_dir(self.directory.path())
            .env_remove("COLUMNS")
            .env_remove("CLICOLOR_FORCE")
            .env_remove("FORCE_COLOR")
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn reenact(&self, args: &[&str]) -> Run {
        self.finish(&mut self.command(args))
    }

    /// A file of `examples/ambient`, copied to here.
    pub(crate) fn example(&self, name: &str) {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ambient");
        fs::copy(examples.join(name), self.path(name)).unwrap();
    }

    /// Runs a command to its end, which reads a text.
    pub(crate) fn reenact_reading(&self, args: &[&str], text: impl AsRef<[u8]>) -> Run {
        fs::write(self.path("input"), text).unwrap();
        let input = fs::File::open(self.path("input")).unwrap();
        self.finish(self.command(args).stdin(input))
    }

    /// Runs a command to its end.
    pub(crate) fn finish(&self, command: &mut Command) -> Run {
        self.run_of(command.output().unwrap())
    }

    /// Waits for the end of a command that was started with pipes.
    pub(crate) fn finish_child(&self, child: Child) -> Run {
        self.run_of(child.wait_with_output().unwrap())
    }

    fn run_of(&self, output: Output) -> Run {
        // The directory has another name each time.
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes)
                .replace(&self.directory.path().display().to_string(), "DIR")
        };
        Run {
            status: output.status,
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Makes a trace of a shell command that was never recorded: two activities, some events. In a replay the command
    /// can do what the engine would: write a report, exit.
    pub(crate) fn trace_of_shell(&self, name: &str, script: &str, exit: Option<Exit>) -> PathBuf {
        let shell = Path::new("/bin/sh");
        self.trace_of(
            name,
            &Program {
                environment: vec![
                    ("PATH".into(), "/usr/bin:/bin".into()),
                    ("GREETING".into(), "hello".into()),
                    ("REENACT".into(), "record".into()),
                ],
                ..program(
                    shell,
                    identify(shell).unwrap(),
                    &["sh", "-c", script],
                    self.directory.path(),
                )
            },
            exit,
        )
    }

    /// Makes a trace of actors: main makes three, of which the first has messages of all kinds.
    pub(crate) fn trace_of_actors(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let program = program("/bin/sh", 0, &["sh"], self.directory.path());
        let writer = Writer::create(&path, &program, Storage::File, |_| ()).unwrap();
        let mut appender = writer.appender(0).unwrap();
        let event = |silent, kind, number, second| Event {
            silent,
            kind,
            number,
            second,
        };
        let [mut main, mut actor] = <[reenact_trace::TracePosition; 2]>::default();
        assert!(appender.start(&mut main, 0, Origin::Main.code(), 0, ""));
        for (first, count) in [(1, 1), (2, 2)] {
            let event = event(0, Kind::CHILDREN, first, count);
            assert!(appender.event(&mut main, 0, &event));
        }
        // Senders by their distance from the receiver, which is number 1: to main, to the next actor, to itself.
        let (main, next, own) = (1 << 1, 2 << 1, 0);
        let numbered = 1;
        for event in [
            event(2, Kind::RECEIVE, next, 0),
            event(0, Kind::RECEIVE, main, 0),
            event(5, Kind::RECEIVE, own | numbered, 0),
            event(0, Kind::PIPELINED, own | numbered, 6),
            event(0, Kind::PIPELINED, next | numbered, 4),
            event(0, Kind::PIPELINED, next | numbered, 3),
        ] {
            assert!(appender.event(&mut actor, 1, &event));
        }
        drop(appender);
        writer.finish().unwrap();
        path
    }

    pub(crate) fn trace_of(&self, name: &str, program: &Program, exit: Option<Exit>) -> PathBuf {
        let path = self.path(name);
        let writer = Writer::create(&path, program, Storage::File, |_| ()).unwrap();
        let mut appender = writer.appender(0).unwrap();
        let event = |silent, kind, number| Event {
            silent,
            kind,
            number,
            second: if kind == Kind::TAKE_AFTER_LOOKS { 2 } else { 0 },
        };
        let [mut main, mut child] = <[reenact_trace::TracePosition; 2]>::default();
        assert!(appender.start(&mut main, 0, Origin::Main.code(), 0, ""));
        assert!(appender.start(&mut child, 1, Origin::Child(0).code(), 0, "worker"));
        assert!(appender.event(&mut main, 0, &event(4, Kind::TAKE, 3)));
        assert!(appender.event(&mut child, 1, &event(0, Kind::TAKE, 1)));
        assert!(appender.event(&mut child, 1, &event(1, Kind::DECLINED, 0)));
        assert!(appender.event(&mut main, 0, &event(90, Kind::TAKE_AFTER_LOOKS, 7)));
        assert!(appender.tick(&mut main, 0, 4, 0xabcd));
        assert!(appender.end(&mut child, 1, 7, 0x1234));
        drop(appender);
        writer.finish().unwrap();
        if let Some(exit) = exit {
            append_exit(&path, exit).unwrap();
        }
        path
    }
}
