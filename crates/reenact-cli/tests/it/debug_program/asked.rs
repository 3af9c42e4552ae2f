//! What passes between the command and a program, and whether the universes are all there are.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    os::unix::net::{UnixListener, UnixStream},
    process::{Child, Command, Stdio},
};

use super::debug;
use crate::{program::example, run::Directory};

/// A program that is asked without the command.
struct Asked {
    program: Child,
    answers: BufReader<UnixStream>,
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
        let (stream, _) = listener.accept().unwrap();
        let answers = BufReader::new(stream);
        let mut asked = Asked { program, answers };
        assert_eq!(asked.answer(), ["releases\t0"]);
        asked
    }

    fn answer(&mut self) -> Vec<String> {
        let lines = (&mut self.answers).lines().map(Result::unwrap);
        lines.take_while(|line| line != "end").collect()
    }

    fn ask(&mut self, question: impl AsRef<[u8]>) -> Vec<String> {
        let line = [question.as_ref(), b"\n"].concat();
        self.answers.get_mut().write_all(&line).unwrap();
        self.answer()
    }

    /// Follows every schedule, to the end. What is reported of a universe is the same however it came about.
    fn follow_all(
        &mut self,
        schedule: &mut Vec<String>,
        universes: &mut HashMap<String, Vec<String>>,
    ) -> usize {
        let report = self.ask(format!("state {}", schedule.join(" ")).trim_end());
        let steps: Vec<String> = report
            .iter()
            .filter_map(|line| {
                let fields: Vec<&str> = line.split('\t').collect();
                (fields[0] == "does" && fields[5] == "1").then(|| {
                    let ways: u32 = fields[6].parse().unwrap();
                    (0..ways)
                        .map(|way| format!("{}:{way}", fields[1]))
                        .collect::<Vec<_>>()
                })
            })
            .flatten()
            .collect();
        let fingerprint = report[0].clone();
        let known = universes
            .entry(fingerprint)
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
fn questions_that_make_no_sense_are_answered() {
    let mut asked = Asked::new(&Directory::new(), "deposits");
    for question in [
        &b""[..],
        b"what?",
        b"\xff\xfe",
        b"state 1",
        b"state 1:x",
        b"state 0:0",
        b"state 7:0",
        b"state 1:1",
        b"state 1:0 1:0 1:0",
        b"state 99999999999:0",
    ] {
        let answer = asked.ask(question);
        assert!(
            matches!(&answer[..], [line] if line.starts_with("error\t")),
            "{answer:?}"
        );
    }
    assert!(asked.ask("state 1:0")[0].starts_with("fingerprint\t"));
}
