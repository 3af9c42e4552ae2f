use std::fs;

use expect_test::expect;
use reenact_trace::Exit;

use crate::run::Directory;

fn directory_with_trace() -> Directory {
    let directory = Directory::new();
    directory.trace_of_shell("bug.reenact", "exit 3", Some(Exit::Status(3)));
    directory
}

#[test]
fn show_lists_events_by_activity() {
    let run = directory_with_trace().reenact(&["trace", "show", "bug.reenact"]);
    assert!(run.status.success());
    expect![[r#"
        sh -c 'exit 3': exited with status 3

        main
               5  take 3  after 4 as predicted
              96  take after looks 7 2  after 90 as predicted
             100  check 0000abcd  after 4 as predicted
             100  the recording ends

        main.0 (worker)
               1  take 1
               3  declined 0  after 1 as predicted
              10  end  after 7 as predicted
    "#]]
    .assert_eq(&run.stdout);
}

#[test]
fn show_finds_an_activity_by_family_or_by_name() {
    let directory = directory_with_trace();
    let run = directory.reenact(&["trace", "show", "bug.reenact", "--activity", "worker"]);
    expect![[r#"
        sh -c 'exit 3': exited with status 3

        main.0 (worker)
               1  take 1
               3  declined 0  after 1 as predicted
              10  end  after 7 as predicted
    "#]]
    .assert_eq(&run.stdout);
    let by_family = directory.reenact(&["trace", "show", "bug.reenact", "--activity", "main.0"]);
    assert_eq!(by_family.stdout, run.stdout);
}

#[test]
fn show_stops_at_the_limit() {
    let run = directory_with_trace().reenact(&["trace", "show", "bug.reenact", "--limit", "1"]);
    expect![[r#"
        sh -c 'exit 3': exited with status 3

        main
               5  take 3  after 4 as predicted
                  …

        main.0 (worker)
               1  take 1
                  …
    "#]]
    .assert_eq(&run.stdout);
}

#[test]
fn show_says_in_words_whose_messages_came() {
    let directory = Directory::new();
    directory.trace_of_actors("bug.reenact");
    let run = directory.reenact(&["trace", "show", "bug.reenact"]);
    expect![[r#"
        sh: how it ended is not known

        main
               1  reserves the number 1 for the next actor it creates
               2  reserves the numbers 2 to 3 for the next actors or processes it creates
               2  the recording ends

        main.a0
               3  receives a message from main.a1  after 2 as predicted
               4  receives a message from main
              10  receives a continuation of its own  after 5 as predicted
              11  receives a continuation of its own, 3 ahead of the one that was next
              12  receives a message that main.a1 sent to a promise, 2 ahead of the one that was next
              13  receives a message that main.a1 sent to a promise, 2 behind the one that was next
              13  the recording ends
    "#]].assert_eq(&run.stdout);
}

#[test]
fn stats_are_for_people() {
    let run = directory_with_trace().reenact(&["trace", "stats", "bug.reenact"]);
    assert!(run.status.success());
    // The build id and the lengths of paths are the machine's.
    let fixed: String = run
        .stdout
        .lines()
        .filter(|line| {
            !["build id", "size", "bytes per op"]
                .iter()
                .any(|name| line.starts_with(name))
        })
        .map(|line| format!("{line}\n"))
        .collect();
    expect![[r#"
        program       /bin/sh
        command line  sh -c 'exit 3'
        directory     DIR
        end           exited with status 3
        activities    2
        operations    110
        as predicted  96.36 %
        events        4
                      declined           1
                      take               2
                      take after looks   1
        checks        1
    "#]]
    .assert_eq(&fixed);
}

#[test]
fn stats_are_for_programs() {
    let run = directory_with_trace().reenact(&["trace", "stats", "bug.reenact", "--json"]);
    let stats: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(stats["activities"], 2);
    assert_eq!(stats["operations"], 110);
    assert_eq!(stats["events"], 4);
    assert_eq!(stats["events_by_kind"]["take"], 2);
    assert_eq!(stats["checks"], 1);
    assert_eq!(stats["exit"]["status"], 3);
    assert_eq!(stats["complete"], true);
    assert_eq!(stats["damage"], serde_json::Value::Null);
    let size = fs::metadata(directory_with_trace().path("bug.reenact"))
        .unwrap()
        .len();
    assert_eq!(stats["size_bytes"], size);
    // What is read back from text may differ in the last digit.
    let per_operation = stats["bytes_per_operation"].as_f64().unwrap();
    assert!((per_operation - size as f64 / 110.0).abs() < 1e-9);
}

#[test]
fn check_finds_nothing_wrong_with_a_good_trace() {
    let run = directory_with_trace().reenact(&["trace", "check", "bug.reenact"]);
    assert!(run.status.success());
    expect![[r#"
        bug.reenact: intact, 110 operations of 2 activities
    "#]]
    .assert_eq(&run.stdout);
}

#[test]
fn check_says_where_the_damage_is_and_what_is_left() {
    let directory = directory_with_trace();
    let path = directory.path("bug.reenact");
    let good = fs::read(&path).unwrap();
    for at in 16..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 0x10;
        fs::write(&path, bytes).unwrap();
        let run = directory.reenact(&["trace", "check", "bug.reenact"]);
        run.assert_status(1);
        assert!(
            run.stdout.contains("damaged, ") && run.stdout.contains(" at byte "),
            "byte {at}: {}",
            run.stdout
        );
    }
}

#[test]
fn check_knows_a_trace_that_was_cut() {
    let directory = directory_with_trace();
    let path = directory.path("bug.reenact");
    let good = fs::read(&path).unwrap();
    fs::write(&path, &good[..good.len() - 1]).unwrap();
    let run = directory.reenact(&["trace", "check", "bug.reenact"]);
    run.assert_status(1);
    let run = directory.reenact(&["trace", "check", "bug.reenact", "--json"]);
    run.assert_status(1);
    let verdict: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(verdict["sound"], false);
    assert_eq!(verdict["operations"], 110);
    assert_eq!(verdict["damage"]["what"], "a section is cut short");
}

#[test]
fn output_into_a_closed_pipe_is_no_failure() {
    let directory = directory_with_trace();
    let script = format!(
        "{} trace show bug.reenact | true; exit ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_reenact")
    );
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .current_dir(directory.path(""))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
}
