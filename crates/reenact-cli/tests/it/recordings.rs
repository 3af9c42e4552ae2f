//! A recording of any program is a path through all that it could have done, to explore from and to debug.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::{
    program::{example, example_of},
    run::{Directory, Run},
    sites::check_lines,
};

/// Each is recorded so often. What happens differs from run to run, so more find more, and take longer.
const TIMES: usize = 1;

fn explore(directory: &Directory, options: &[&str]) -> Run {
    let limits = ["--json", "--executions", "20", "-o", "near"];
    directory.reenact(&[&["explore", "run.reenact"], options, &limits[..]].concat())
}

/// Explores from a recording: the first outcome is what was recorded.
fn check_explored(directory: &Directory, name: &str, options: &[&str], printed: Option<&str>) {
    let run = explore(directory, options);
    let report: Value = serde_json::from_str(&run.stdout)
        .unwrap_or_else(|error| panic!("{name} {options:?}: {error}: {}", run.stderr));
    let log = || {
        directory
            .reenact(&["replay", "run.reenact", "--log"])
            .stdout
    };
    assert!(
        report["divergence"].is_null(),
        "{name} {options:?}: {report}\n{}",
        log()
    );
    check_lines(name, &run.stdout);
    let first = &report["outcomes"][0];
    assert_eq!(first["distance"], 0, "{name} {options:?}: {report}");
    if let Some(printed) = printed {
        let outcome = first["outcome"].as_str().unwrap();
        for line in printed.lines() {
            assert!(
                outcome.contains(line),
                "{name} {options:?}: {line} in {outcome}\n{}",
                log()
            );
        }
    }
}

fn check(directory: &Directory, name: &str, printed: Option<&str>) {
    for options in [
        &["--near", "1"][..],
        &["--near", "1", "--from", "2"],
        &["--other-outcomes"],
    ] {
        check_explored(directory, name, options, printed);
    }
    let debugged = directory.reenact_reading(
        &["debug", "run.reenact"],
        "universes\nstory\nshow\nback\nshow\nquit\n",
    );
    debugged.assert_status(0);
    check_lines(name, &debugged.stdout);
    assert!(
        debugged.stdout.starts_with("at the end of the recording"),
        "{name}: {}",
        debugged.stdout
    );
}

fn record(directory: &Directory, command: &[&str]) -> Run {
    let _ = fs::remove_file(directory.path("run.reenact"));
    let options = ["record", "-o", "run.reenact", "--"];
    directory.reenact(&[&options[..], command].concat())
}

/// Checks the programs of which this is the remainder of the number. There are several tests, because all programs
/// together take longer than a test may on a loaded machine.
fn check_primitives(remainder: usize) {
    let program = example("primitives");
    let names = Command::new(program).output().unwrap().stdout;
    let names = String::from_utf8(names).unwrap();
    assert!(names.lines().count() >= 25, "{names}");
    let directory = Directory::new();
    for name in names.lines().skip(remainder).step_by(PARTS) {
        for _ in 0..TIMES {
            let recorded = record(&directory, &[program, name]);
            check(&directory, name, Some(&recorded.stdout));
        }
        let log = directory
            .reenact(&["replay", "run.reenact", "--log"])
            .stdout;
        check_lines(name, &log);
        // Every operation that releases an object has a line.
        for line in log.lines().filter(|line| line.starts_with("main")) {
            let releases = [" unlock", " drop a", " leave a"];
            if releases.iter().any(|what| line.contains(what)) {
                assert!(line.contains("examples/primitives.rs:"), "{name}: {line}");
            }
        }
    }
}

/// The number of tests below.
const PARTS: usize = 8;

macro_rules! every_primitive_is_explored_and_debugged_from_a_recording {
    ($($name:ident $remainder:literal)*) => {
        $(
            #[test]
            fn $name() {
                check_primitives($remainder);
            }
        )*

        #[test]
        fn every_primitive_is_in_one_of_the_tests() {
            assert_eq!([$($remainder),*], std::array::from_fn::<usize, PARTS, _>(|part| part));
        }
    };
}

every_primitive_is_explored_and_debugged_from_a_recording! {
    primitives_0_are_explored_and_debugged_from_a_recording 0
    primitives_1_are_explored_and_debugged_from_a_recording 1
    primitives_2_are_explored_and_debugged_from_a_recording 2
    primitives_3_are_explored_and_debugged_from_a_recording 3
    primitives_4_are_explored_and_debugged_from_a_recording 4
    primitives_5_are_explored_and_debugged_from_a_recording 5
    primitives_6_are_explored_and_debugged_from_a_recording 6
    primitives_7_are_explored_and_debugged_from_a_recording 7
}

#[test]
fn a_whole_system_is_explored_from_a_recording() {
    let program = example_of("reenact", "sales");
    let directory = Directory::new();
    let recorded = record(&directory, &[program, "4", "2", "2", "2"]);
    check(&directory, "sales", Some(&recorded.stdout));
}

#[test]
fn a_recording_that_takes_longer_than_the_time_limit_is_not_explored() {
    let directory = Directory::new();
    record(&directory, &[example("primitives"), "mutex"]);
    let run = explore(&directory, &["--max-time", "0"]);
    assert!(!run.status.success());
    assert_eq!(run.stdout, "");
    run.assert_stderr_has("the time limit passed after 0 of the");
}

#[test]
fn a_recording_that_does_not_fit_is_said_not_to_and_nothing_else() {
    let directory = Directory::new();
    record(&directory, &[example("primitives"), "mutex"]);
    // Another program, whatever it does.
    let options = ["--force", "--", example("primitives"), "mpsc"];
    let run = directory.reenact(&[&["explore", "run.reenact"], &options[..]].concat());
    run.assert_status(86);
    assert!(
        run.stdout.starts_with("the recording cannot be explored: "),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.ends_with("nothing was explored\n"),
        "{}",
        run.stdout
    );
    let json = ["--json", "--force", "--", example("primitives"), "mpsc"];
    let run = directory.reenact(&[&["explore", "run.reenact"], &json[..]].concat());
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(report["divergence"].is_string(), "{report}");
    assert_eq!(
        report["outcomes"].as_array().map(Vec::len),
        Some(0),
        "{report}"
    );
}

#[test]
fn a_recording_that_is_longer_than_executions_may_be_is_a_path() {
    let directory = Directory::new();
    let recorded = record(&directory, &[example("primitives"), "mutex"]);
    let options = ["--near", "1", "--max-steps", "2"];
    check_explored(&directory, "mutex", &options, Some(&recorded.stdout));
}

#[test]
fn a_recording_of_a_program_that_was_killed_is_a_path_up_to_there() {
    let directory = Directory::new();
    let options = ["record", "-o", "run.reenact", "--"];
    let mut record =
        directory.command(&[&options[..], &[example("primitives"), "endless"]].concat());
    let mut recorded = record.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(recorded.stdout.take().unwrap()).lines();
    let process = lines.next().unwrap().unwrap();
    lines.next().unwrap().unwrap();
    let killed = Command::new("kill").args(["-9", &process]).status();
    assert!(killed.unwrap().success());
    // What it prints must not fill the pipe.
    lines.for_each(drop);
    recorded.wait().unwrap();

    let limits = [
        "--json",
        "--executions",
        "1",
        "--max-steps",
        "300",
        "-o",
        "near",
    ];
    let run = directory.reenact(&[&["explore", "run.reenact"], &limits[..]].concat());
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(report["divergence"].is_null(), "{report}");
    let outcome = report["outcomes"][0]["outcome"].as_str().unwrap();
    assert!(
        outcome.starts_with("had not ended when it was stopped"),
        "{outcome}"
    );
    let log = directory
        .reenact(&["replay", "run.reenact", "--log"])
        .stdout;
    let most = log.lines().count();
    let debugged = directory.reenact_reading(&["debug", "run.reenact"], "quit\n");
    let steps = debugged
        .stdout
        .strip_prefix("at the end of the recording, ")
        .and_then(|rest| rest.split(' ').next()?.replace(',', "").parse().ok());
    let steps: usize = steps.unwrap_or_else(|| panic!("{}", debugged.stdout));
    assert!(steps <= most, "{steps} steps, {most} operations: {log}");
}

#[test]
fn a_path_that_does_not_end_as_recorded_does_not_fit() {
    let directory = Directory::new();
    let recorded = record(&directory, &[example("primitives"), "third-run"]);
    recorded.assert_status(0);
    let run = directory.reenact(&["explore", "run.reenact"]);
    run.assert_status(86);
    assert_eq!(
        run.stdout,
        "the recording cannot be explored: the recorded program exited with status 0, but here no activity can continue\n\
         nothing was explored\n"
    );
}

#[test]
fn a_time_limit_that_no_clock_comes_to_does_not_expire_beside_a_recorded_run() {
    let directory = Directory::new();
    record(&directory, &[example("primitives"), "mpsc-endless-timeout"]).assert_status(0);
    let run = explore(&directory, &["--near", "1"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(report["divergence"].is_null(), "{report}");
    let outcomes = report["outcomes"].as_array().unwrap();
    assert!(!outcomes.is_empty(), "{report}");
    for outcome in outcomes {
        let ended = outcome["outcome"].as_str().unwrap();
        assert!(ended.starts_with("ended as it should"), "{report}");
    }
}

/// A test that fails under some schedules only, which the next test explores.
#[test]
#[ignore = "it is the subject of another test"]
fn a_test_that_loses_an_update() {
    use reenact::{
        sync::{
            Arc,
            atomic::{AtomicU32, Ordering::SeqCst},
        },
        thread,
    };
    let counter = Arc::new(AtomicU32::new(0));
    let threads = [(); 2].map(|()| {
        let counter = Arc::clone(&counter);
        thread::spawn(move || counter.store(counter.load(SeqCst) + 1, SeqCst))
    });
    threads.into_iter().for_each(|thread| {
        thread.join().unwrap();
    });
    assert_eq!(counter.load(SeqCst), 2, "an update is lost");
}

#[test]
fn a_flaky_test_is_explored_in_its_binary() {
    let binary = std::env::current_exe().unwrap();
    let test = "recordings::a_test_that_loses_an_update";
    for one_by_one in [&["--test-threads=1"][..], &["--test-threads", "1"]] {
        let directory = Directory::new();
        let explore = [
            "explore",
            "-o",
            "flaky.schedule",
            "--",
            binary.to_str().unwrap(),
        ];
        let test = ["--exact", test, "--ignored"];
        let run = directory.reenact(&[&explore[..], one_by_one, &test].concat());
        run.assert_status(1);
        let why = format!("foreign0({}) panicked at ", test[1]);
        assert!(run.stdout.starts_with(&why), "{}", run.stdout);
        run.assert_stdout_has("an update is lost");
        run.assert_stdout_has("with 3 switches from one to another:");
        assert_eq!(directory.files(), ["flaky.schedule"]);
    }
}

/// What is recorded in the next test: two threads that a test starts, and a test that starts none of its own before that.
#[test]
#[ignore = "it is the subject of another test"]
fn threads_of_a_test() {
    use reenact::{
        sync::{
            Arc,
            atomic::{AtomicU32, Ordering::SeqCst},
        },
        thread,
    };
    let counter = Arc::new(AtomicU32::new(0));
    let threads = [(); 2].map(|()| {
        let counter = Arc::clone(&counter);
        thread::spawn(move || counter.fetch_add(1, SeqCst))
    });
    threads.into_iter().for_each(|thread| {
        thread.join().unwrap();
    });
    assert_eq!(counter.load(SeqCst), 2);
}

#[test]
fn a_test_is_explored_from_a_recording_of_its_binary() {
    let binary = std::env::current_exe().unwrap();
    let binary = binary.to_str().unwrap();
    let test = "recordings::threads_of_a_test";
    let directory = Directory::new();
    for _ in 0..TIMES {
        let options = ["--exact", test, "--ignored", "--test-threads=1"];
        let recorded = record(&directory, &[&[binary], &options[..]].concat());
        recorded.assert_status(0);
        check(&directory, test, None);
    }
}
