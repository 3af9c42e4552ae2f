//! `refine`: what a replay shows that nobody collected when it was recorded.

use serde_json::Value;

use crate::{
    program::example,
    run::{Directory, Run},
};

fn recorded(name: &'static str) -> (Directory, Run) {
    let directory = Directory::new();
    let run = directory.reenact(&["record", "-o", "run.reenact", "--", example(name)]);
    run.assert_status(0);
    (directory, run)
}

fn refine(directory: &Directory, options: &[&str]) -> Run {
    directory.reenact(&[&["refine", "run.reenact"], options].concat())
}

/// Returns the lines with calls, and those with operations.
fn calls(directory: &Directory, path: &str) -> (Vec<Value>, Vec<Value>) {
    let run = refine(directory, &["--calls", path, "--json"]);
    run.assert_status(0);
    run.assert_stderr_has("same end");
    let lines = run.stdout.lines();
    let lines = lines.map(|line| serde_json::from_str(line).expect(line));
    lines.partition(|line: &Value| line["call"].is_object())
}

/// Shows a call as the example prints it.
fn shown(line: &Value) -> String {
    let call = &line["call"];
    let function = call["function"].as_str().unwrap();
    let function = function.rsplit("::").next().unwrap();
    let arguments = call["arguments"].as_array().unwrap().iter();
    let arguments: Vec<_> = arguments
        .map(|argument| argument["value"].as_str().unwrap())
        .collect();
    let result = call["result"].as_str().unwrap_or("-");
    format!("{function}({}) -> {result}", arguments.join(", "))
}

#[test]
fn calls_have_the_arguments_and_results_that_the_program_prints() {
    let (directory, recorded) = recorded("calls");
    let (calls, _) = calls(&directory, "calls");
    let shown: Vec<_> = calls.iter().map(shown).collect();
    let printed = recorded.stdout.lines();
    for line in printed.filter(|line| line.contains("->")) {
        assert!(
            shown.iter().any(|shown| shown == line),
            "{line} in {shown:#?}"
        );
    }
    // A call that panicked has no result, and the calls after it are not part of it.
    let fails = calls
        .iter()
        .filter(|line| shown_name(line) == "calls::fails");
    let ends: Vec<_> = fails
        .map(|line| {
            (
                line["call"]["outcome"].as_str().unwrap(),
                &line["call"]["depth"],
            )
        })
        .collect();
    assert_eq!(ends[0].0, "did not return");
    assert_eq!(ends[1], ("returned", &Value::from(1)));
    let depths: Vec<_> = calls
        .iter()
        .filter(|line| shown_name(line) == "calls::descend")
        .map(|line| line["call"]["depth"].as_u64().unwrap())
        .collect();
    assert_eq!(depths, [1, 2, 3, 4]);
}

fn shown_name(line: &Value) -> &str {
    line["call"]["function"].as_str().unwrap()
}

#[test]
fn calls_are_between_the_operations_of_their_activity() {
    let (directory, _) = recorded("calls");
    let run = refine(&directory, &["--calls", "calls::pair", "--json"]);
    let lines = run.stdout.lines();
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_first: Vec<_> = lines.filter(|line| line["activity"] == "main.0").collect();
    let what: Vec<_> = of_first
        .iter()
        .map(|line| match line["did"]["what"].as_str() {
            Some(what) => what,
            None => shown_name(line),
        })
        .collect();
    let round = ["lock", "calls::pair", "unlock"];
    let all = [&["begin"], &round[..], &round, &round, &["end"]].concat();
    assert_eq!(what, all);
    let site = of_first[2]["site"].as_str().unwrap();
    assert!(
        site.starts_with("crates/reenact-cli/examples/calls.rs:"),
        "{site}"
    );
}

#[test]
fn what_nobody_calls_so_is_an_error_that_says_what_there_is() {
    let (directory, _) = recorded("calls");
    let run = refine(&directory, &["--calls", "cals"]);
    run.assert_status(125);
    run.assert_stderr_has("no function of the executable is in `cals`");
    run.assert_stderr_has("calls");
    assert_eq!(run.stdout, "");
}

#[test]
fn actors_and_processes_are_looked_into() {
    let (directory, _) = recorded("listing1");
    let (calls, operations) = calls(&directory, "listing1");
    let activities = calls.iter().map(|line| line["activity"].as_str().unwrap());
    assert!(activities.clone().any(|name| name.contains(".a")));
    assert!(activities.into_iter().all(|name| name != "-"));
    assert!(!operations.is_empty());
}

#[test]
fn lanes_show_who_did_what_in_which_order() {
    let (directory, _) = recorded("calls");
    let all = refine(&directory, &["--lanes", "--object", "mutex"]);
    all.assert_status(0);
    let lines: Vec<_> = all.stdout.lines().collect();
    assert!(
        lines[0].contains("main.0") && lines[0].contains("main.1"),
        "{}",
        all.stdout
    );
    // Two threads that lock three times each, and the main thread once.
    assert_eq!(lines.len(), 1 + 2 * 7, "{}", all.stdout);
    assert!(lines[1].starts_with(" 1  "), "{}", all.stdout);
    assert!(
        lines
            .iter()
            .any(|line| line.contains("● lock mutex@calls.rs:"))
    );
    let last = refine(&directory, &["--lanes", "--object", "mutex", "--last", "2"]);
    let ends: Vec<_> = last.stdout.lines().skip(1).collect();
    assert!(
        ends[0].starts_with("13  ") && ends[1].starts_with("14  "),
        "{}",
        last.stdout
    );
    assert!(ends[1].contains("unlock"), "{}", last.stdout);
}
