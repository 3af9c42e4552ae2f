//! Traces that somebody has made to do harm, and people who do harm to a trace.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    process::{Command, Stdio},
};

use reenact_testing::executable;
use reenact_trace::{
    Event, Exit, Kind, Origin, Program, Storage, TracePosition, Writer, append_exit, identify,
    is_unprintable, live_path,
};

use crate::{
    program::scenarios,
    run::{Directory, Run, program},
};

/// Sets the title of a terminal, clears it, and turns the direction of the text around.
const HOSTILE: &str = "x\u{1b}]0;pwned\u{7}\u{9b}2J\u{1b}[8m\u{202e}\u{2066}\r\u{7f}y";

/// A trace of a shell script in which every text is hostile.
fn hostile_trace(directory: &Directory, script: &str) -> Program {
    let shell = format!("sh{HOSTILE}");
    executable::copy("/bin/sh", directory.path(&shell));
    let folder = directory.path(HOSTILE);
    fs::create_dir_all(&folder).unwrap();
    let program = Program {
        environment: vec![
            (HOSTILE.into(), HOSTILE.into()),
            ("REENACT_STRATEGY".into(), HOSTILE.into()),
        ],
        withheld: vec![format!("env:{HOSTILE}")],
        ..program(
            directory.path(&shell),
            identify(&directory.path(&shell)).unwrap(),
            &["sh", "-c", script, HOSTILE],
            folder,
        )
    };
    let path = directory.path("bug.reenact");
    let writer = Writer::create(&path, &program, Storage::File, |_| ()).unwrap();
    let variable = |name: &str, value| reenact_trace::Variable {
        name: name.into(),
        value,
    };
    use reenact_trace::VariableValue::{Value, Withheld};
    writer.variable(0, &variable(HOSTILE, Withheld));
    writer.variable(
        0,
        &variable(&format!("LD_{HOSTILE}"), Value(HOSTILE.into())),
    );
    let mut appender = writer.appender(0).unwrap();
    let [mut main, mut child] = <[TracePosition; 2]>::default();
    assert!(appender.start(&mut main, 0, Origin::Main.code(), 0, HOSTILE));
    assert!(appender.start(&mut child, 1, Origin::Foreign.code(), 0, HOSTILE));
    for (position, activity) in [(&mut main, 0), (&mut child, 1)] {
        let event = Event {
            silent: 0,
            kind: Kind::RECEIVE,
            number: 2,
            second: 0,
        };
        assert!(appender.event(position, activity, &event));
    }
    drop(appender);
    writer.finish().unwrap();
    append_exit(&path, Exit::Status(0)).unwrap();
    program
}

#[track_caller]
fn is_harmless(what: &str, run: &Run) {
    for (stream, text) in [("output", &run.stdout), ("errors", &run.stderr)] {
        let raw = text
            .chars()
            .find(|&c| c != '\n' && c != '\t' && is_unprintable(c));
        assert_eq!(raw, None, "{what}: {stream}: {text:?}");
    }
    assert!(!run.stderr.contains("panicked"), "{what}: {}", run.stderr);
}

/// What the engine would write, with hostile text in every field.
fn hostile_script(report: &str) -> String {
    format!(
        ": >$REENACT_REPORT.claim; {report}; \
         [ -z \"$REENACT_LOG\" ] || printf '%s\\t%s\\t%s\\t%s\\t%s\\t%s\\n' \"$0\" \"$0\" \"$0\" \"$0\" \"$0\" \"$0\" >\"$REENACT_LOG\""
    )
}

#[test]
fn nothing_in_a_trace_controls_the_terminal() {
    let directory = Directory::new();
    let reports = ["printf 'diverged\\n%s\\n' \"$0\" >\"$REENACT_REPORT\"", ":"];
    for report in reports {
        hostile_trace(&directory, &hostile_script(report));
        for arguments in [
            &["trace", "show", "bug.reenact"][..],
            &["trace", "show", "bug.reenact", "--activity", HOSTILE],
            &["trace", "show", "bug.reenact", "--activity", "nobody"],
            &["trace", "stats", "bug.reenact"],
            &["trace", "stats", "bug.reenact", "--json"],
            &["trace", "check", "bug.reenact"],
            &["trace", "check", "bug.reenact", "--json"],
            &["replay", "bug.reenact", "--log"],
            &["replay", "bug.reenact", "--times", "2"],
            &["replay", "bug.reenact", "--json"],
            &["replay", "bug.reenact", "--force", "--", "/bin/true"],
            &["explore", "bug.reenact"],
            &["explore", "bug.reenact", "--json"],
            &["debug", "bug.reenact"],
        ] {
            is_harmless(&arguments.join(" "), &directory.reenact(arguments));
            if arguments.contains(&"--json") && arguments[0] != "explore" {
                let json = directory.reenact(arguments).stdout;
                serde_json::from_str::<serde_json::Value>(&json).unwrap();
            }
        }
        let _ = directory.reenact(&["replay", "bug.reenact", "--log=kept"]);
        let kept = fs::read_to_string(directory.path("kept")).unwrap_or_default();
        assert!(
            !kept
                .chars()
                .any(|c| c != '\n' && c != '\t' && is_unprintable(c)),
            "{kept:?}"
        );
    }
    let elsewhere = Directory::new();
    let path = directory.path("bug.reenact");
    let mut command = elsewhere.command_as_is(&["replay", path.to_str().unwrap()]);
    let run = elsewhere.finish(&mut command);
    run.assert_status(125);
    run.assert_stderr_has("did not start ");
    is_harmless("replay elsewhere", &run);
    // A file by that name, too.
    fs::copy(&path, directory.path(HOSTILE).join(HOSTILE)).unwrap();
    let name = format!("{HOSTILE}/{HOSTILE}");
    for arguments in [
        &["trace", "check", &name][..],
        &["replay", &name],
        &["replay", &format!("{name}-not")],
    ] {
        is_harmless(&arguments.join(" "), &directory.reenact(arguments));
    }
}

#[test]
fn a_pipe_is_no_recording_and_nobody_waits_for_it() {
    let directory = Directory::new();
    let made = Command::new("mkfifo")
        .arg(directory.path("pipe.reenact"))
        .status();
    assert!(made.unwrap().success());
    directory.trace_of_shell("bug.reenact", "exit 0", None);
    let made = Command::new("mkfifo")
        .arg(directory.path("bug.reenact.live"))
        .status();
    assert!(made.unwrap().success());
    for file in ["pipe.reenact", "/dev/zero", "bug.reenact"] {
        for command in [
            &["replay"][..],
            &["trace", "show"],
            &["trace", "stats"],
            &["trace", "check"],
        ] {
            let run = directory.reenact(&[command, &[file]].concat());
            assert!(!run.status.success());
            run.assert_stderr_has("it is a pipe, a socket or a device, not a file");
        }
    }
}

/// Writes a trace, as a killed process leaves it, which says that 4,294,967,295 activities have ended. It takes a
/// megabyte.
fn claims_four_billion(directory: &Directory, arguments: &[&str]) {
    const SLAB: usize = 1 << 20;
    const CHUNK: usize = 16 << 10;
    const ROOM: usize = CHUNK - 64;
    let program = program(
        scenarios(),
        identify(scenarios().as_ref()).unwrap(),
        arguments,
        directory.path(""),
    );
    let path = directory.path("bug.reenact");
    drop(Writer::create(&path, &program, Storage::File, |_| ()).unwrap());
    let mut live = b"RNCTLIVE".to_vec();
    live.extend(3u32.to_le_bytes());
    live.resize(64, 0);
    live.push(1);
    live.resize(4096 + SLAB, 0);
    let mut next = 0u64;
    for sequence in 0.. {
        let mut payload = Vec::new();
        while next < u64::from(u32::MAX) && payload.len() + 20 < ROOM {
            let count = (u64::from(u32::MAX) - next).min(u16::MAX.into()) as u16;
            payload.push(0x65);
            let mut first = next;
            while first >= 0x80 {
                payload.push(first as u8 | 0x80);
                first >>= 7;
            }
            payload.push(first as u8);
            // No operation, in one byte or two; then the hash.
            match payload.len() % 2 {
                0 => payload.extend([0x80, 0]),
                _ => payload.push(0),
            }
            payload.extend([0; 4]);
            payload.extend(count.to_le_bytes());
            next += u64::from(count);
        }
        let chunk = &mut live[4096 + sequence * CHUNK..][..CHUNK];
        chunk[..4].copy_from_slice(b"RChk");
        chunk[4..8].copy_from_slice(&1u32.to_le_bytes());
        chunk[8..16].copy_from_slice(&(sequence as u64).to_le_bytes());
        chunk[32..36].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        chunk[36..40].copy_from_slice(&1u32.to_le_bytes());
        chunk[64..][..payload.len()].copy_from_slice(&payload);
        if next == u64::from(u32::MAX) {
            break;
        }
    }
    fs::write(live_path(&path), live).unwrap();
}

#[test]
fn a_trace_that_claims_four_billion_activities_takes_as_much_memory_as_it_is_long() {
    let directory = Directory::new();
    for arguments in [
        &["trace", "show", "bug.reenact"][..],
        &["trace", "show", "bug.reenact", "--activity", "?77"],
        &["trace", "show", "bug.reenact", "--activity", "nobody"],
        &["trace", "stats", "bug.reenact"],
        &["trace", "check", "bug.reenact"],
        &["replay", "bug.reenact"],
        &["replay", "bug.reenact", "--log"],
        &["explore", "bug.reenact"],
        &["debug", "bug.reenact"],
    ] {
        claims_four_billion(&directory, &["scenarios", "race"]);
        let mut command = directory.command(arguments);
        let limit = libc::rlimit {
            rlim_cur: 3 << 30,
            rlim_max: 3 << 30,
        };
        // SAFETY: A single system call, which is allowed between fork and exec.
        unsafe {
            command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_AS, &limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            });
        }
        let run = directory.finish(&mut command);
        assert!(
            run.status.code().is_some(),
            "{arguments:?}: {:?} {}",
            run.status,
            run.stderr
        );
        for words in ["panicked", "memory allocation"] {
            assert!(!run.stderr.contains(words), "{arguments:?}: {}", run.stderr);
        }
        if arguments[1] == "stats" {
            run.assert_stdout_has("activities    4,294,967,295\n");
        }
    }
}

#[test]
fn a_program_whose_live_file_is_truncated_goes_on() {
    for length in [0, 4096, 5000] {
        let directory = Directory::new();
        let options = [
            "record",
            "-o",
            "run.reenact",
            "--",
            scenarios(),
            "until-told",
        ];
        let mut child = directory
            .command(&options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "counting\n");
        let live = live_path(&directory.path("run.reenact"));
        let live = File::options().write(true).open(live).unwrap();
        live.set_len(length).unwrap();
        child.stdin.take().unwrap().write_all(b"go on\n").unwrap();
        line.clear();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "done\n");
        let run = directory.finish_child(child);
        run.assert_status(0);
        let ours = "reenact: recording ends here, the program goes on: the live file was truncated";
        assert_eq!(run.stderr.matches(ours).count(), 1, "{}", run.stderr);
        for arguments in [
            &["trace", "show", "run.reenact", "--limit", "3"][..],
            &["trace", "stats", "run.reenact"],
            &["trace", "check", "run.reenact"],
            &["replay", "run.reenact"],
        ] {
            let run = directory.command(arguments).output().unwrap();
            let errors = String::from_utf8_lossy(&run.stderr);
            assert!(
                run.status.code().is_some() && !errors.contains("panicked"),
                "{errors}"
            );
        }
    }
}
