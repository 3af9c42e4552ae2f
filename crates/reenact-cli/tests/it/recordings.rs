//! A recording of any program is a path through all that it could have done, to explore from and to debug.

use std::{fs, process::Command};

use serde_json::Value;

use crate::{
    program::{example, example_of},
    run::{Place, Run},
};

/// Each is recorded so often. What happens differs from run to run, so more find more, and take longer.
const TIMES: usize = 1;

fn explore(place: &Place, options: &[&str]) -> Run {
    let limits = ["--json", "--executions", "20", "-o", "near"];
    place.reenact(&[&["explore", "run.reenact"], options, &limits[..]].concat())
}

/// Explores from a recording: the first outcome is what was recorded.
fn check_explored(place: &Place, name: &str, options: &[&str], printed: Option<&str>) {
    let run = explore(place, options);
    let told: Value = serde_json::from_str(&run.stdout)
        .unwrap_or_else(|error| panic!("{name} {options:?}: {error}: {}", run.stderr));
    let log = || place.reenact(&["replay", "run.reenact", "--log"]).stdout;
    assert!(
        told["divergence"].is_null(),
        "{name} {options:?}: {told}\n{}",
        log()
    );
    let first = &told["outcomes"][0];
    assert_eq!(first["distance"], 0, "{name} {options:?}: {told}");
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

fn check(place: &Place, name: &str, printed: Option<&str>) {
    for options in [
        &["--near", "1"][..],
        &["--near", "1", "--from", "2"],
        &["--other-outcomes"],
    ] {
        check_explored(place, name, options, printed);
    }
    let debugged = place.reenact_reading(&["debug", "run.reenact"], "universes\nback\nquit\n");
    assert!(
        debugged.status.success(),
        "{name}: {}{}",
        debugged.stdout,
        debugged.stderr
    );
    assert!(
        debugged
            .stdout
            .starts_with("at the end of what was recorded"),
        "{name}: {}",
        debugged.stdout
    );
}

fn record(place: &Place, command: &[&str]) -> Run {
    let _ = fs::remove_file(place.path("run.reenact"));
    let options = ["record", "-o", "run.reenact", "--"];
    place.reenact(&[&options[..], command].concat())
}

#[test]
fn every_primitive_is_explored_and_debugged_from_a_recording() {
    let program = example("primitives");
    let names = Command::new(program).output().unwrap().stdout;
    let names = String::from_utf8(names).unwrap();
    assert!(names.lines().count() >= 25, "{names}");
    let place = Place::new();
    for name in names.lines() {
        for _ in 0..TIMES {
            let recorded = record(&place, &[program, name]);
            check(&place, name, Some(&recorded.stdout));
        }
    }
}

#[test]
fn a_whole_system_is_explored_from_a_recording() {
    let program = example_of("reenact", "sales");
    let place = Place::new();
    let recorded = record(&place, &[program, "4", "2", "2", "2"]);
    check(&place, "sales", Some(&recorded.stdout));
}

#[test]
fn a_recording_that_does_not_fit_is_said_not_to_and_nothing_else() {
    let place = Place::new();
    record(&place, &[example("primitives"), "mutex"]);
    // Another program, whatever it does.
    let options = ["--force", "--", example("primitives"), "mpsc"];
    let run = place.reenact(&[&["explore", "run.reenact"], &options[..]].concat());
    assert_eq!(run.status.code(), Some(86), "{}{}", run.stdout, run.stderr);
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
    let run = place.reenact(&[&["explore", "run.reenact"], &json[..]].concat());
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(told["divergence"].is_string(), "{told}");
    assert_eq!(told["outcomes"].as_array().map(Vec::len), Some(0), "{told}");
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
    let place = Place::new();
    for _ in 0..TIMES {
        let options = ["--exact", test, "--ignored", "--test-threads=1"];
        let recorded = record(&place, &[&[binary], &options[..]].concat());
        assert!(recorded.status.success(), "{}", recorded.stderr);
        check(&place, test, None);
    }
}
