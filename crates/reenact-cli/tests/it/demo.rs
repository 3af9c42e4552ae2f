use crate::run::{Directory, Run};

/// Runs a demo, which finds this failure and replays it. It leaves nothing behind and says nothing on standard error.
#[track_caller]
fn demo(arguments: &[&str], failure: &str) -> Run {
    let directory = Directory::new();
    let mut command = directory.command(arguments);
    let run = directory.finish(command.env("TMPDIR", directory.path("")));
    run.assert_status(0);
    assert_eq!(directory.files(), [""; 0], "it leaves nothing behind");
    run.assert_stdout_has(&format!(" failed: {failure}\n"));
    run.assert_stdout_has(&format!("    replay 5 of 5: {failure}\n"));
    assert_eq!(run.stderr, "");
    run
}

#[test]
fn the_demo_catches_the_bug_replays_it_and_shows_the_order() {
    let run = demo(&["demo"], "the account is overdrawn: -100");
    // Which of the two asked first differs from run to run; that both asked before either took does not.
    assert_eq!(
        marked(&run.stdout),
        [
            "is there enough?",
            "is there enough?",
            "takes the money",
            "takes the money"
        ],
        "{}",
        run.stdout
    );
    run.assert_stdout_has("reenact demo actors\n");
}

#[test]
fn the_demo_of_actors_catches_the_message_that_comes_in_between() {
    let run = demo(&["demo", "actors"], "client 1 doubled 12 and got 66");
    assert_eq!(
        marked(&run.stdout),
        ["double(12)", "double(33)", "get_result()"],
        "{}",
        run.stdout
    );
}

#[test]
fn a_story_that_nobody_knows_is_refused_with_those_there_are() {
    let run = Directory::new().reenact(&["demo", "fibers"]);
    run.assert_status(2);
    run.assert_stderr_has("[possible values: threads, actors]");
}

/// What is marked in the diagram, from top to bottom.
fn marked(shown: &str) -> Vec<&str> {
    shown
        .lines()
        .filter_map(|line| Some(line.split_once('●')?.1.split("  ").next()?.trim()))
        .collect()
}
