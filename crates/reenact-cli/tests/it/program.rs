//! From a program that is built with reenact to its replay.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Mutex,
};

use expect_test::expect;
use reenact_testing::executable;

use crate::run::{Directory, Run};

/// The program `examples/scenarios.rs`.
pub(crate) fn scenarios() -> &'static str {
    example("scenarios")
}

/// A program of `examples`.
pub(crate) fn example(name: &'static str) -> &'static str {
    example_of("reenact-cli", name)
}

/// A program of the examples of a package. Cargo builds examples along with the tests, unless asked for these alone.
pub(crate) fn example_of(package: &str, name: &'static str) -> &'static str {
    static PATHS: Mutex<BTreeMap<&str, &str>> = Mutex::new(BTreeMap::new());
    let mut paths = PATHS.lock().unwrap();
    paths.entry(name).or_insert_with(|| {
        let directory = Path::new(env!("CARGO_BIN_EXE_reenact")).parent().unwrap();
        let path: PathBuf = directory.join("examples").join(name);
        if !path.exists() {
            let profile = match directory.file_name().unwrap().to_str().unwrap() {
                "debug" => "dev",
                other => other,
            };
            let status = Command::new(env!("CARGO"))
                .args(["build", "--package", package, "--example", name])
                .args(["--profile", profile, "--target-dir"])
                .arg(directory.parent().unwrap())
                .status()
                .unwrap();
            assert!(status.success());
        }
        path.to_str().unwrap().to_owned().leak()
    })
}

pub(crate) fn record(directory: &Directory, scenario: &str) -> Run {
    directory.reenact(&["record", "-o", "run.reenact", "--", scenarios(), scenario])
}

/// Records a scenario, and replays it: same status, same output, every time.
fn check(scenario: &str) -> Run {
    let directory = Directory::new();
    let recorded = record(&directory, scenario);
    assert!(
        recorded.stderr.contains("reenact: recorded run.reenact ("),
        "{}",
        recorded.stderr
    );
    assert_eq!(directory.files(), ["run.reenact"]);
    let replayed = directory.reenact(&["replay", "run.reenact"]);
    replayed.assert_stderr_has("reenact: replay 1 of 1: same end: ");
    assert_eq!(replayed.status, recorded.status, "{}", replayed.stderr);
    assert_eq!(replayed.stdout, recorded.stdout);
    let often = directory.reenact(&["replay", "run.reenact", "--times", "10", "-v"]);
    often.assert_status(0);
    assert_eq!(often.stdout, recorded.stdout.repeat(10));
    let check = directory.reenact(&["trace", "check", "run.reenact"]);
    check.assert_status(0);
    recorded
}

#[test]
fn a_race_goes_the_same_way_every_time() {
    check("race");
}

#[test]
fn a_panic_that_poisons_a_lock_comes_again() {
    assert_eq!(check("poison").status.code(), Some(101));
}

#[test]
fn an_exit_while_threads_run_comes_at_the_same_point() {
    check("exit");
}

#[test]
fn an_abort_while_threads_run_comes_again() {
    assert_eq!(check("abort").status.signal(), Some(6));
}

#[test]
fn timeouts_and_failed_attempts_go_the_same_way() {
    check("timeouts");
}

#[test]
fn messages_come_in_the_same_order() {
    check("actors");
}

#[test]
fn a_log_says_which_messages_are_sent_and_handled() {
    for strategy in ["receiver", "sender"] {
        let directory = Directory::new();
        let program = example("listing1");
        let options = ["record", "--strategy", strategy, "-o", "run.reenact"];
        let recorded = directory.reenact(&[&options[..], &["--", program]].concat());
        recorded.assert_status(0);
        let log = directory
            .reenact(&["replay", "run.reenact", "--log"])
            .stdout;
        let source = "crates/reenact-cli/examples/listing1.rs";
        let lines: Vec<Vec<&str>> = log
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        let has = |line: &str| lines.iter().any(|one| one.join(" ").ends_with(line));
        for (who, message, to, at) in [
            ("main", "start()", "main.a1", "50:13"),
            ("main", "start()", "main.a2", "51:13"),
            ("main.a1", "double(12)", "main.a0", "29:19"),
            ("main.a1", "get_result()", "main.a0", "30:32"),
            ("main.a2", "double(33)", "main.a0", "42:19"),
        ] {
            let sent = format!("{who} send a message {to} {source}:{at} {message}");
            assert!(has(&sent), "{sent}\n{log}");
            let from = who.split(' ').next().unwrap();
            let handled = format!("{to} handle a message {message} from {from} at {source}:{at}");
            assert!(has(&handled), "{handled}\n{log}");
        }
        let continued = format!(
            "main.a1 handle a message start::closure continuation 0 of its own at {source}:31:16"
        );
        assert!(has(&continued), "{continued}\n{log}");
    }
}

#[test]
fn either_side_of_a_message_may_record_it_and_a_replay_knows_which() {
    for strategy in ["receiver", "sender"] {
        let directory = Directory::new();
        let recorded = directory.reenact(&[
            "record",
            "--strategy",
            strategy,
            "-o",
            "run.reenact",
            "--",
            scenarios(),
            "actors",
        ]);
        recorded.assert_status(0);
        // The recording decides, not the environment of the replay.
        for other in ["receiver", "sender"] {
            let replayed = directory.finish(
                directory
                    .command(&["replay", "run.reenact"])
                    .env("REENACT_STRATEGY", other),
            );
            replayed.assert_status(0);
            assert_eq!(replayed.stdout, recorded.stdout);
        }
        let stats = directory.reenact(&["trace", "stats", "run.reenact", "--json"]);
        let stats: serde_json::Value = serde_json::from_str(&stats.stdout).unwrap();
        assert_eq!(stats["strategy"], strategy);
        assert_eq!(stats["actors"], 4);
        assert_eq!(stats["activities"], 5);
    }
}

#[test]
fn the_number_of_workers_is_that_of_the_recording() {
    let directory = Directory::new();
    let recorded = directory.finish(
        directory
            .command(&["record", "-o", "run.reenact", "--", scenarios(), "crowd"])
            .env("REENACT_WORKERS", "3"),
    );
    assert_eq!(recorded.stdout, "3 workers\n", "{}", recorded.stderr);
    let replayed = directory.reenact(&["replay", "run.reenact"]);
    assert_eq!(replayed.stdout, "3 workers\n", "{}", replayed.stderr);
}

#[test]
fn a_crowd_of_actors_is_shown_as_one() {
    let directory = Directory::new();
    let recorded = record(&directory, "crowd");
    recorded.assert_status(0);
    let stats = directory.reenact(&["trace", "stats", "run.reenact"]);
    stats.assert_stdout_has("activities    1,001 (1 thread, 1,000 actors or processes)\n");
    let shown = directory.reenact(&["trace", "show", "run.reenact"]);
    shown.assert_stdout_has("\nmain.a19\n");
    assert!(!shown.stdout.contains("\nmain.a20\n"), "{}", shown.stdout);
    let last = shown.stdout.lines().last().unwrap();
    assert_eq!(
        last,
        "and 980 activities more in which everything went as predicted, 1,960 operations in all"
    );
    let one = directory.reenact(&["trace", "show", "run.reenact", "--activity", "main.a999"]);
    one.assert_stdout_has("\nmain.a999\n");
}

#[test]
fn a_message_too_many_or_too_few_is_a_difference() {
    let directory = Directory::new();
    fs::write(directory.path("times"), "5").unwrap();
    let recorded = record(&directory, "file");
    recorded.assert_status(0);
    let replayed = directory.reenact(&["replay", "run.reenact"]);
    assert_eq!(replayed.stdout, recorded.stdout, "{}", replayed.stderr);
    for (times, difference) in [
        ("6", "  program:   handles a message from main.a"),
        ("4", "  main.a0 waits for a message from main.a"),
    ] {
        fs::write(directory.path("times"), times).unwrap();
        let run = directory.reenact(&["replay", "run.reenact"]);
        run.assert_status(86);
        assert!(run.stderr.contains(difference), "{times}: {}", run.stderr);
    }
}

#[test]
fn a_log_says_which_messages_were_handled() {
    let directory = Directory::new();
    record(&directory, "actors");
    let run = directory.reenact(&["replay", "run.reenact", "--log"]);
    for (sender, letter) in [("main.a1", 'a'), ("main.a2", 'b'), ("main.a3", 'c')] {
        let line = format!("main.a0 handle a message note({letter:?}) from {sender} at ");
        let count = run
            .stdout
            .lines()
            .filter(|shown| {
                let words: Vec<_> = shown.split_whitespace().collect();
                words.join(" ").starts_with(&line)
            })
            .count();
        assert_eq!(count, 50, "{}", run.stdout);
    }
}

#[test]
fn a_program_that_does_nothing_leaves_nothing() {
    let directory = Directory::new();
    let run = record(&directory, "silence");
    assert!(run.status.success());
    run.assert_stderr_has("nothing was recorded");
    assert_eq!(directory.files(), [""; 0]);
}

#[test]
fn a_program_runs_on_where_nothing_can_be_written() {
    // Too little room for any of the files, then for the live file only.
    for blocks in [1, 100] {
        let directory = Directory::new();
        let script = format!("ulimit -f {blocks}; exec {} poison", scenarios());
        let run = directory.reenact(&["record", "-o", "run.reenact", "--", "bash", "-c", &script]);
        run.assert_status(101);
        run.assert_stderr_has("nothing was recorded");
    }
}

#[test]
fn a_child_gets_a_recording_of_its_own() {
    let directory = Directory::new();
    let run = record(&directory, "child");
    run.assert_status(0);
    assert_eq!(directory.files(), ["run.2.reenact", "run.reenact"]);
    assert!(run.stderr.contains("recorded run.2.reenact ("));
    // The recording does not say how the child ended, but its replay shows it.
    let (output, parent_says) = run.stdout.split_once('\n').unwrap();
    let child = directory.reenact(&["replay", "run.2.reenact"]);
    assert_eq!(child.stdout.trim(), output);
    assert_eq!(
        parent_says.trim(),
        format!("the child ended with {}", child.status.code().unwrap())
    );
}

#[test]
fn a_shell_around_the_program_does_not_lend_it_its_exit_status() {
    let directory = Directory::new();
    let script = format!("{} race; echo done; exit 42", scenarios());
    let run = directory.reenact(&["record", "-o", "run.reenact", "--", "sh", "-c", &script]);
    run.assert_status(42);
    assert!(!run.stderr.contains("42"), "{}", run.stderr);
    let replayed = directory.reenact(&["replay", "run.reenact"]);
    assert_eq!(format!("{}done\n", replayed.stdout), run.stdout);
    assert_ne!(replayed.status.code(), Some(86), "{}", replayed.stderr);
    // But one that makes way for it does.
    let script = format!("exec {} poison", scenarios());
    let run = directory.reenact(&["record", "-o", "run.reenact", "--", "sh", "-c", &script]);
    assert!(
        run.stderr.contains("exited with status 101)"),
        "{}",
        run.stderr
    );
}

/// What the command says of replays, without what the engine says in them.
fn verdicts(run: &Run) -> String {
    run.stderr
        .lines()
        .filter(|line| line.starts_with("reenact: replay ") || line.contains(" replays "))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// A program that goes on until it is killed: at the latest when the test is over.
struct Forever {
    pid: String,
}

impl Forever {
    fn kill(&self) {
        kill("-KILL", &self.pid);
    }
}

impl Drop for Forever {
    fn drop(&mut self) {
        let _ = Command::new("kill")
            .args(["-KILL", &self.pid])
            .stderr(Stdio::null())
            .status();
    }
}

/// Starts a recording of the program that goes on forever, and waits until it says who it is.
fn start_forever(directory: &Directory) -> (Child, Forever) {
    let mut recorder = directory
        .command(&["record", "-o", "run.reenact", "--", scenarios(), "forever"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut pid = String::new();
    BufReader::new(recorder.stdout.take().unwrap())
        .read_line(&mut pid)
        .unwrap();
    let pid = pid.trim().to_owned();
    (recorder, Forever { pid })
}

fn kill(signal: &str, pid: &str) {
    let status = Command::new("kill").args([signal, pid]).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_killed_program_is_replayed_to_where_it_was_killed() {
    let directory = Directory::new();
    let (mut recorder, program) = start_forever(&directory);
    program.kill();
    assert_eq!(recorder.wait().unwrap().signal(), Some(9));
    assert_eq!(directory.files(), ["run.reenact"]);
    let run = directory.reenact(&["replay", "run.reenact", "--times", "3"]);
    run.assert_status(0);
    expect![[r#"
        reenact: replay 1 of 3: reached the end of the recording: the program was ended by signal 9 (SIGKILL)
        reenact: replay 2 of 3: reached the end of the recording: the program was ended by signal 9 (SIGKILL)
        reenact: replay 3 of 3: reached the end of the recording: the program was ended by signal 9 (SIGKILL)
        reenact: 3 of 3 replays ended as recorded
    "#]].assert_eq(&verdicts(&run));
}

#[test]
fn a_killed_recorder_loses_nothing() {
    let directory = Directory::new();
    let (mut recorder, program) = start_forever(&directory);
    let pid = program.pid.as_str();
    kill("-KILL", &recorder.id().to_string());
    recorder.wait().unwrap();
    // The program knows nothing of it and goes on recording: its files are to be left alone.
    let before = directory.files();
    assert_eq!(before, ["run.reenact", "run.reenact.live"]);
    let run = directory.reenact(&["replay", "run.reenact"]);
    run.assert_status(125);
    assert_eq!(
        run.stderr.replace(pid, "PID"),
        "reenact: run.reenact is still being recorded by process PID\n\
         help: end that process first (kill PID); nothing that it has recorded is lost\n"
    );
    let run = record(&directory, "race");
    run.assert_status(125);
    assert_eq!(directory.files(), before);

    program.kill();
    // It is nobody's child any more, so wait until it is gone.
    while fs::read_to_string(format!("/proc/{pid}/maps")).is_ok_and(|maps| !maps.is_empty()) {
        std::thread::yield_now();
    }
    let run = directory.reenact(&["replay", "run.reenact"]);
    run.assert_status(0);
    expect![[r#"
        reenact: replay 1 of 1: reached the end of the recording
    "#]]
    .assert_eq(&verdicts(&run));
    assert_eq!(directory.files(), ["run.reenact"]);
}

#[test]
fn a_rebuilt_program_is_refused() {
    let directory = Directory::new();
    let program = directory.path("program");
    executable::copy(scenarios(), &program);
    let program = program.to_str().unwrap();
    let run = directory.reenact(&["record", "-o", "run.reenact", "--", program, "race"]);
    let recorded = run.status.code();
    // As good as a rebuild: some more bytes at the end.
    executable::append(program, "rebuilt");
    let run = directory.reenact(&["replay", "run.reenact"]);
    run.assert_status(125);
    run.assert_stderr_has("it was rebuilt or replaced since");
    let run = directory.reenact(&["replay", "run.reenact", "--force"]);
    assert_eq!(run.status.code(), recorded, "{}", run.stderr);
}

#[test]
fn a_log_says_who_did_what_in_order() {
    let directory = Directory::new();
    record(&directory, "poison");
    let run = directory.reenact(&["replay", "run.reenact", "--log"]);
    let actions: Vec<String> = run
        .stdout
        .lines()
        .map(|line| {
            line.split_whitespace()
                .take(2)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    assert!(
        actions.iter().any(|action| action == "main.0 lock"),
        "{}",
        run.stdout
    );
}
