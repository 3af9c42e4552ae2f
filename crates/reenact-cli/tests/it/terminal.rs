//! A person at a terminal, who types, thinks again, and leaves.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read, Write},
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::Path,
    process::{Child, Command, Stdio},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
};

use crate::run::Directory;

/// A command and the other end of its terminal.
struct Terminal {
    person: File,
    command: Child,
    seen: String,
}

impl Terminal {
    fn open(directory: &Directory, args: &[&str]) -> Terminal {
        Terminal::run(&mut directory.command_as_is(args), directory)
    }

    fn run(command: &mut Command, directory: &Directory) -> Terminal {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let name = ptsname(&person, Vec::new()).unwrap();
        let name = Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
        let side = || -> Stdio {
            let side: OwnedFd = OpenOptions::new()
                .read(true)
                .write(true)
                .open(name)
                .unwrap()
                .into();
            side.into()
        };
        let command = command
            .env("TERM", "xterm")
            .env("XDG_STATE_HOME", directory.path("state"))
            .stdin(side())
            .stdout(side())
            .stderr(side())
            .spawn()
            .unwrap();
        Terminal {
            person: person.into(),
            command,
            seen: String::new(),
        }
    }

    fn type_in(&mut self, keys: &str) {
        self.person.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until something is shown that was not there before.
    fn wait_for(&mut self, text: &str) {
        let mut bytes = [0; 4096];
        while !self.seen.contains(text) {
            let patience = Timespec {
                tv_sec: 60,
                tv_nsec: 0,
            };
            let mut ready = [PollFd::new(&self.person, PollFlags::IN)];
            let is_ready = poll(&mut ready, Some(&patience)).is_ok_and(|count| count > 0);
            let count = match is_ready {
                true => self.person.read(&mut bytes).unwrap_or(0),
                false => 0,
            };
            if count == 0 {
                let _ = self.command.kill();
                panic!("no {text:?} in {:?}", self.seen);
            }
            self.seen
                .push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        let end = self.seen.find(text).unwrap() + text.len();
        self.seen.drain(..end);
    }
}

#[test]
fn a_person_can_think_again_be_helped_and_leave() {
    let directory = Directory::new();
    directory.example("listing1.at");
    let mut terminal = Terminal::open(&directory, &["debug", "listing1.at"]);
    terminal.wait_for("listing1.at is loaded");
    terminal.wait_for("> ");

    // Ctrl-C gives the line up, and a prompt comes back.
    terminal.type_in("some nonsense");
    terminal.wait_for("nonsense");
    terminal.type_in("\x03");
    terminal.wait_for("> ");

    // Tab completes a command, a kind of breakpoint and the name of an actor.
    terminal.type_in("brea\t message-rec\tby ");
    terminal.wait_for("message-receiver ");
    terminal.type_in("main\r");
    terminal.wait_for("Breakpoint 1: message-receiver by main");
    terminal.type_in("fly\r");
    terminal.wait_for("there is no command fly");
    terminal.type_in("run\r");
    terminal.wait_for("3 universes ended");
    terminal.wait_for("0 of 3> ");
    terminal.type_in("show cl\t1.pri\t\r");
    terminal.wait_for("[\"24\"]");
    terminal.wait_for("0 of 3> ");

    // Ctrl-D is a farewell, and what failed is no matter to a person.
    terminal.type_in("\x04");
    assert_eq!(terminal.command.wait().unwrap().code(), Some(0));
    let history = fs::read_to_string(directory.path("state/reenact/debug-history")).unwrap();
    assert!(history.contains("break message-receiver by main\n"));
}

#[test]
fn a_person_is_asked_before_a_stranger_s_program_is_started() {
    let directory = Directory::new();
    directory.trace_of_shell("bug.reenact", "echo begun >begun; exit 3 # \u{202e}", None);
    for (answer, is_started) in [
        ("\r", false),
        ("n\r", false),
        ("sure\r", false),
        ("y\r", true),
    ] {
        let mut terminal = Terminal::open(&directory, &["replay", "bug.reenact"]);
        terminal
            .wait_for("bug.reenact starts this program, and it is not below the current directory");
        terminal.wait_for("program    /");
        terminal.wait_for(r"arguments  sh -c 'echo begun >begun; exit 3 # \u{202e}'");
        terminal.wait_for("Start it? [y/N] ");
        assert!(!directory.path("begun").exists());
        terminal.type_in(answer);
        terminal.wait_for(if is_started {
            "was not replayed"
        } else {
            "did not start"
        });
        assert_eq!(terminal.command.wait().unwrap().code(), Some(125));
        assert_eq!(directory.path("begun").exists(), is_started);
    }
}

#[test]
fn a_person_can_leave_instead_of_answering() {
    let directory = Directory::new();
    directory.trace_of_shell("bug.reenact", "echo begun >begun", None);
    let mut command = directory.command_as_is(&["replay", "bug.reenact"]);
    let mut terminal = Terminal::run(&mut command, &directory);
    terminal.wait_for("Start it? [y/N] ");
    let process = rustix::process::Pid::from_child(&terminal.command);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    terminal.command.wait().unwrap();
    assert!(!directory.path("begun").exists());
}
