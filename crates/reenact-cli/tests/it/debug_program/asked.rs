//! What passes between the command and a program, and whether the universes are all there are.

use std::{
    collections::HashMap,
    io::Write,
    os::unix::net::{UnixListener, UnixStream},
    process::{Child, Command, Stdio},
};

use reenact_engine::explore::protocol::{
    ActivityStatus, Hello, PathElement, Reply, UniverseReport, receive, send,
};
use reenact_explore::{Activity, Step};

use super::debug;
use crate::{program::example, run::Directory};

/// A program that is asked without the command.
struct Asked {
    program: Child,
    stream: UnixStream,
}

impl Drop for Asked {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

impl Asked {
    fn new(directory: &Directory, program: &str) -> Asked {
        let socket = directory.path("socket");
        let listener = UnixListener::bind(&socket).unwrap();
        let program = Command::new(example("universes"))
            .arg(program)
            .env("REENACT", "explore")
            .env("REENACT_EXPLORE", format!("serve={}", socket.display()))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let hello: Hello = receive(&mut stream).unwrap();
        assert_eq!((hello.path, hello.divergence), (Vec::new(), None));
        assert!(!hello.are_releases_steps);
        Asked { program, stream }
    }

    fn ask(&mut self, steps: &[Step]) -> Reply {
        let path: Vec<_> = steps.iter().copied().map(PathElement::Step).collect();
        send(&mut self.stream, &path).unwrap();
        receive(&mut self.stream).unwrap()
    }

    /// Sends bytes that need not be a request.
    fn ask_bytes(&mut self, bytes: &[u8]) -> Reply {
        let length = (bytes.len() as u32).to_le_bytes();
        self.stream
            .write_all(&[&length[..], bytes].concat())
            .unwrap();
        receive(&mut self.stream).unwrap()
    }

    /// Follows every schedule, to the end. What is reported of a universe is the same however it came about.
    fn follow_all(
        &mut self,
        schedule: &mut Vec<Step>,
        universes: &mut HashMap<u128, UniverseReport>,
    ) -> usize {
        let report = self.ask(schedule).unwrap();
        let steps: Vec<Step> = report
            .activities
            .iter()
            .filter_map(|activity| match &activity.status {
                ActivityStatus::Pending(operation) if operation.is_enabled => {
                    let choices = 0..operation.choices;
                    Some(choices.map(|choice| step(activity.number, choice)))
                }
                _ => None,
            })
            .flatten()
            .collect();
        let known = universes
            .entry(report.fingerprint)
            .or_insert_with(|| report.clone());
        assert_eq!(*known, report);
        let mut schedules = usize::from(steps.is_empty());
        for step in steps {
            schedule.push(step);
            schedules += self.follow_all(schedule, universes);
            schedule.pop();
        }
        schedules
    }
}

fn step(activity: u32, choice: u32) -> Step {
    Step {
        activity: Activity(activity),
        choice,
    }
}

/// How many universes, ends and ways to these the command finds.
fn found(program: &str) -> (usize, usize) {
    let run = debug(&Directory::new(), &[program], "ends\n");
    let universes = run.stdout.split_once("From the start: ").unwrap().1;
    let universes = universes.split(' ').next().unwrap().parse().unwrap();
    let ways = run.stdout.lines().filter_map(|line| {
        let (_, ways) = line.split_once("reached in ")?;
        ways.split(' ')
            .next()?
            .replace(',', "")
            .parse::<usize>()
            .ok()
    });
    (universes, ways.sum())
}

#[test]
fn as_many_universes_are_found_as_by_following_every_schedule() {
    for (program, expected) in [
        ("deposits", (25, 6)),
        ("transfers", (10, 4)),
        ("counter", (119, 90)),
        ("panic", (5, 2)),
        ("abort", (5, 2)),
    ] {
        let mut universes = HashMap::new();
        let mut asked = Asked::new(&Directory::new(), program);
        let schedules = asked.follow_all(&mut Vec::new(), &mut universes);
        assert_eq!((universes.len(), schedules), expected, "{program}");
        assert_eq!(found(program), expected, "{program}");
    }
}

#[test]
fn requests_that_make_no_sense_are_answered() {
    let mut asked = Asked::new(&Directory::new(), "deposits");
    for request in [
        &b""[..],
        b"what?",
        b"\xff\xfe",
        // A list of one element that is missing, unknown or incomplete.
        b"\x01",
        b"\x01\x07",
        b"\x01\x00\x01",
        // A number that is too large.
        b"\x01\x00\xff\xff\xff\xff\xff\x01\x00",
        // As many elements as no list can have.
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    ] {
        let reply = asked.ask_bytes(request);
        assert!(reply.is_err(), "{request:?}: {reply:?}");
    }
    for steps in [
        &[step(0, 0)][..],
        &[step(7, 0)],
        &[step(1, 1)],
        &[step(1, 0), step(1, 0), step(1, 0)],
        &[step(u32::MAX, 0)],
    ] {
        let reply = asked.ask(steps);
        assert!(reply.is_err(), "{steps:?}: {reply:?}");
    }
    assert!(asked.ask(&[step(1, 0)]).is_ok());
}
