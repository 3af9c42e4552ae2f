//! `reenact explore`: its report for people and its report for programs.

mod breakpoints;
mod refused;

use std::fs;

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::run::{Directory, Run};

/// An oracle that answers with a future, which nobody resolves.
const WAITING: &str = "\
def makeOracle() { actor: { def ask() { makeFuture()[1] } } };
def oracle := makeOracle();
when: oracle<-ask()@FutureMessage becomes: { |answer| system.println(answer) };
";

/// Two actors that send the same message to each other.
const PING_PONG: &str = "\
def makePlayer() { actor: { def play(other) { other<-play(this) } } };
def ping := makePlayer();
def pong := makePlayer();
ping<-play(pong);
";

const WRONG: &str = "\
def x := 1;
x.foo();
";

fn explore(args: &[&str]) -> Run {
    let directory = Directory::new();
    directory.example("listing1.at");
    directory.example("philosophers.at");
    for (name, text) in [
        ("choice.amb", "(+ (amb 1 2) (amb 3 4))"),
        ("waiting.at", WAITING),
        ("ping-pong.at", PING_PONG),
        ("wrong.at", WRONG),
        ("typo.at", "def x := 1;\ndef y := ;\n"),
        ("notes.txt", "Roses are red"),
    ] {
        fs::write(directory.path(name), text).unwrap();
    }
    fs::write(directory.path("binary.at"), [b'd', 0xff]).unwrap();
    directory.reenact(&[&["explore"], args].concat())
}

/// What is printed, but for how much memory it took.
fn check(args: &[&str], status: i32, expected: Expect) {
    let run = explore(args).without_memory();
    expected.assert_eq(&run.stdout);
    assert_eq!(run.stderr, "");
    assert_eq!(run.status.code(), Some(status));
}

#[test]
fn every_outcome_is_reported_with_a_shortest_way_to_it() {
    check(
        &["listing1.at"],
        0,
        expect![[r#"
            listing1.at: 270 universes, 579 steps between them
            Coverage: complete
            Memory: … per universe

            3 outcomes

            1.  math.result = 24
                client1 prints 24
                1 end, reached in 40,992 ways, the shortest of 24 steps:
                   1. main begins (line 1)
                   2. main creates the actor math (line 2)
                   3. main creates the actor client1 (line 9)
                   4. main creates the actor client2 (line 17)
                   5. main sends start() to client1 (line 23)
                   6. main sends start() to client2 (line 24)
                   7. math begins; result := 0 (line 3)
                   8. client1 begins (line 10)
                   9. client1 processes start() from main (line 10)
                  10. client2 begins (line 18)
                  11. client2 processes start() from main (line 18)
                  12. client2 sends double(33) to math (line 18)
                  13. math processes double(33) from client2; result := 66 (line 4)
                  14. client1 sends double(12) to math (line 11)
                  15. math processes double(12) from client1; result := 24 (line 4)
                  16. client1 sends getResult() to math (line 12)
                  17. math processes getResult() from client1 (line 5)
                  18. math answers client1 with 24
                  19. client1 registers the block of line 12 with the answer to getResult (line 12)
                  20. client1 receives 24 from math
                  21. client1 lets the block of line 12 wait for the answer to getResult
                  22. client1 wakes the block of line 12 with 24 (line 12)
                  23. client1 runs the block of line 12 with 24; prints 24 (line 12)
                  24. client1 resolves its future with null

            2.  math.result = 66
                client1 prints 24
                1 end, reached in 6,432,999 ways, the shortest of 24 steps:
                   1. main begins (line 1)
                   2. main creates the actor math (line 2)
                   3. main creates the actor client1 (line 9)
                   4. main creates the actor client2 (line 17)
                   5. main sends start() to client1 (line 23)
                   6. main sends start() to client2 (line 24)
                   7. math begins; result := 0 (line 3)
                   8. client1 begins (line 10)
                   9. client1 processes start() from main (line 10)
                  10. client1 sends double(12) to math (line 11)
                  11. math processes double(12) from client1; result := 24 (line 4)
                  12. client1 sends getResult() to math (line 12)
                  13. math processes getResult() from client1 (line 5)
                  14. math answers client1 with 24
                  15. client1 registers the block of line 12 with the answer to getResult (line 12)
                  16. client1 receives 24 from math
                  17. client1 lets the block of line 12 wait for the answer to getResult
                  18. client1 wakes the block of line 12 with 24 (line 12)
                  19. client1 runs the block of line 12 with 24; prints 24 (line 12)
                  20. client1 resolves its future with null
                  21. client2 begins (line 18)
                  22. client2 processes start() from main (line 18)
                  23. client2 sends double(33) to math (line 18)
                  24. math processes double(33) from client2; result := 66 (line 4)

            3.  math.result = 66
                client1 prints 66
                1 end, reached in 68,328 ways, the shortest of 24 steps:
                   1. main begins (line 1)
                   2. main creates the actor math (line 2)
                   3. main creates the actor client1 (line 9)
                   4. main creates the actor client2 (line 17)
                   5. main sends start() to client1 (line 23)
                   6. main sends start() to client2 (line 24)
                   7. math begins; result := 0 (line 3)
                   8. client1 begins (line 10)
                   9. client1 processes start() from main (line 10)
                  10. client1 sends double(12) to math (line 11)
                  11. math processes double(12) from client1; result := 24 (line 4)
                  12. client2 begins (line 18)
                  13. client2 processes start() from main (line 18)
                  14. client2 sends double(33) to math (line 18)
                  15. math processes double(33) from client2; result := 66 (line 4)
                  16. client1 sends getResult() to math (line 12)
                  17. math processes getResult() from client1 (line 5)
                  18. math answers client1 with 66
                  19. client1 registers the block of line 12 with the answer to getResult (line 12)
                  20. client1 receives 66 from math
                  21. client1 lets the block of line 12 wait for the answer to getResult
                  22. client1 wakes the block of line 12 with 66 (line 12)
                  23. client1 runs the block of line 12 with 66; prints 66 (line 12)
                  24. client1 resolves its future with null
        "#]],
    );
}

#[test]
fn choices_are_counted_as_by_hand() {
    check(
        &["choice.amb"],
        0,
        expect![[r#"
        choice.amb: 10 universes, 10 steps between them
        Coverage: complete
        Memory: … per universe

        3 outcomes

        1.  4
            1 end, reached in 1 way, the shortest of 3 steps:
              1. main chooses 1 of (amb 1 2)
              2. main chooses 3 of (amb 3 4)
              3. main reduces (+ 1 3) to 4

        2.  5
            1 end, reached in 2 ways, the shortest of 3 steps:
              1. main chooses 1 of (amb 1 2)
              2. main chooses 4 of (amb 3 4)
              3. main reduces (+ 1 4) to 5

        3.  6
            1 end, reached in 1 way, the shortest of 3 steps:
              1. main chooses 2 of (amb 1 2)
              2. main chooses 4 of (amb 3 4)
              3. main reduces (+ 2 4) to 6
    "#]],
    );
}

#[test]
fn a_deadlock_is_set_apart_and_says_who_waits() {
    check(
        &["philosophers.at", "--no-stories"],
        1,
        expect![[r#"
        philosophers.at: 27,038 universes, 98,407 steps between them
        Coverage: complete
        Memory: … per universe

        1 outcome

        1.  fork1.isTaken = false
            fork1.next = null
            fork2.isTaken = false
            fork2.next = null
            fork3.isTaken = false
            fork3.next = null
            philosopher1.forks = 2
            philosopher1.meals = 1
            philosopher2.forks = 2
            philosopher2.meals = 1
            philosopher3.forks = 2
            philosopher3.meals = 1
            1 end, reached in 16,342,816,215,343,052,851,406,282,595 ways, the shortest of 67 steps

        1 deadlock

        2.  fork1.isTaken = true
            fork2.isTaken = true
            fork3.isTaken = true
            philosopher1.forks = 1
            philosopher1.meals = 0
            philosopher2.forks = 1
            philosopher2.meals = 0
            philosopher3.forks = 1
            philosopher3.meals = 0
            philosopher1 waits for the future of line 27 (line 36)
            philosopher2 waits for the future of line 27 (line 36)
            philosopher3 waits for the future of line 27 (line 36)
            1 end, reached in 98,812,352,337,672,945 ways, the shortest of 37 steps
    "#]],
    );
    check(
        &["waiting.at"],
        1,
        expect![[r#"
        waiting.at: 23 universes, 30 steps between them
        Coverage: complete
        Memory: … per universe

        It has no normal end.

        1 deadlock

        1.  main waits for the answer to ask (line 3)
            1 end, reached in 18 ways, the shortest of 11 steps:
               1. main begins (line 1)
               2. main creates the actor oracle (line 1)
               3. main sends ask() to oracle (line 3)
               4. main registers the block of line 3 with the answer to ask (line 3)
               5. main lets the block of line 3 wait for the answer to ask
               6. oracle begins (line 1)
               7. oracle processes ask() from main (line 1)
               8. oracle answers main with a future
               9. main receives a future of oracle from oracle
              10. main subscribes to a future of oracle (line 3)
              11. oracle links the future of line 1 to another
    "#]],
    );
}

#[test]
fn an_error_that_nobody_catches_is_set_apart() {
    check(
        &["wrong.at"],
        1,
        expect![[r#"
        wrong.at: 2 universes, 1 step between them
        Coverage: complete
        Memory: … per universe

        It has no normal end.

        1 uncaught error

        1.  main.x = 1
            error: main: line 2: 1 has no method `foo`
            1 end, reached in 1 way, the shortest of 1 step:
              1. main begins; x := 1; fails: line 2: 1 has no method `foo` (line 1)
    "#]],
    );
}

#[test]
fn a_livelock_is_reported_with_the_way_in_and_the_cycle() {
    check(
        &["ping-pong.at"],
        1,
        expect![[r#"
        ping-pong.at: 19 universes, 27 steps between them
        Coverage: complete
        Memory: … per universe

        It has no normal end.

        1 livelock

        1.  4 universes that lead only to each other
            The shortest path into it has 8 steps:
              1. main begins (line 1)
              2. main creates the actor player (line 1)
              3. main creates the actor player (line 1)
              4. main sends play(pong) to ping (line 4)
              5. ping begins (line 1)
              6. ping processes play(pong) from main (line 1)
              7. ping sends play(ping) to pong (line 1)
              8. pong begins (line 1)
            Then, again and again:
              1. pong processes play(ping) from ping (line 1)
              2. pong sends play(pong) to ping (line 1)
              3. ping processes play(pong) from pong (line 1)
              4. ping sends play(ping) to pong (line 1)
    "#]],
    );
}

#[test]
fn a_livelock_is_not_claimed_if_something_was_not_seen() {
    check(
        &["ping-pong.at", "--max-depth", "4", "--no-stories"],
        3,
        expect![[r#"
            ping-pong.at: 8 universes, 8 steps between them
            Coverage: stopped after 4 steps in a row; 3 universes were seen and not expanded
                      there may be other outcomes, deadlocks and errors
                      whether there are livelocks is not known
            Memory: … per universe

            No normal end was seen.
        "#]],
    );
    check(
        &["ping-pong.at", "--reduced"],
        0,
        expect![[r#"
        ping-pong.at: 12 universes, 12 steps between them
        Coverage: complete; reduced: every end, not every universe
                  whether there are livelocks is not known
        Memory: … per universe

        It has no normal end.
    "#]],
    );
}

#[test]
fn a_bounded_search_says_so() {
    check(
        &["listing1.at", "--max-states", "100", "--no-stories"],
        3,
        expect![[r#"
            listing1.at: 100 universes, 212 steps between them
            Coverage: stopped at 100 universes; 21 universes were seen and not expanded
                      there may be other outcomes, deadlocks and errors
                      whether there are livelocks is not known
            Memory: … per universe

            No normal end was seen.
        "#]],
    );
}

#[test]
fn every_way_to_search_finds_the_same_ends() {
    let outcomes = |args: &[&str]| {
        let args = [&["listing1.at", "--json"], args].concat();
        let found: Value = serde_json::from_str(&explore(&args).stdout).unwrap();
        let outcomes = found["outcomes"].as_array().unwrap().iter();
        let mut outcomes: Vec<String> = outcomes.map(|one| one["outcome"].to_string()).collect();
        outcomes.sort();
        outcomes
    };
    let expected = outcomes(&[]);
    assert_eq!(expected.len(), 3);
    for args in [
        &["--reduced"][..],
        &["--depth-first"],
        &["--single-step"],
        &["--workers", "2"],
        &["--reduced", "--single-step", "--depth-first"],
    ] {
        assert_eq!(outcomes(args), expected, "{args:?}");
    }
}

#[test]
fn a_reduced_search_says_what_it_leaves_out() {
    check(
        &["listing1.at", "--reduced", "--no-stories"],
        0,
        expect![[r#"
            listing1.at: 84 universes, 87 steps between them
            Coverage: complete; reduced: every end, not every universe
                      whether there are livelocks is not known
            Memory: … per universe

            3 outcomes

            1.  math.result = 24
                client1 prints 24
                1 end, reached in at least 2 ways, the shortest of 24 steps

            2.  math.result = 66
                client1 prints 24
                1 end, reached in at least 2 ways, the shortest of 24 steps

            3.  math.result = 66
                client1 prints 66
                1 end, reached in at least 2 ways, the shortest of 24 steps
        "#]],
    );
}

#[test]
fn a_condition_is_looked_for() {
    check(
        &[
            "listing1.at",
            "--no-stories",
            "--where",
            "math.result == 66",
            "--where",
            "math.result == 67",
        ],
        0,
        expect![[r#"
            listing1.at: 270 universes, 579 steps between them
            Coverage: complete
            Memory: … per universe

            3 outcomes

            1.  math.result = 24
                client1 prints 24
                1 end, reached in 40,992 ways, the shortest of 24 steps

            2.  math.result = 66
                client1 prints 24
                1 end, reached in 6,432,999 ways, the shortest of 24 steps

            3.  math.result = 66
                client1 prints 66
                1 end, reached in 68,328 ways, the shortest of 24 steps

            where math.result == 66
                34 universes, the nearest after 11 steps

            where math.result == 67
                no universe
        "#]],
    );
    let report = explore(&["choice.amb"]).without_memory().stdout;
    let run = explore(&["choice.amb", "--where", "main.value > 5"]).without_memory();
    run.assert_status(0);
    expect![[r#"

        where main.value > 5
            1 universe, the nearest after 3 steps:
              1. main chooses 2 of (amb 1 2)
              2. main chooses 4 of (amb 3 4)
              3. main reduces (+ 2 4) to 6
    "#]]
    .assert_eq(run.stdout.strip_prefix(&report).unwrap());
}

#[test]
fn a_picture_is_all_that_is_printed() {
    let run = explore(&["choice.amb", "--dot"]);
    expect![[r#"
        digraph multiverse {
          node [style=filled, shape=circle, fontname="sans-serif"];
          edge [fontname="sans-serif", fontsize=10];
          label="10 universes, complete";
          0 [fillcolor=lightblue];
          1 [fillcolor=lightblue];
          2 [fillcolor=lightblue];
          3 [fillcolor=lightblue];
          4 [fillcolor=lightblue];
          5 [fillcolor=lightblue];
          6 [fillcolor=lightblue];
          7 [fillcolor=red, fontcolor=white];
          8 [fillcolor=red, fontcolor=white];
          9 [fillcolor=red, fontcolor=white];
          0 -> 1 [label="main chooses 1 of (amb 1 2)"];
          0 -> 2 [label="main chooses 2 of (amb 1 2)"];
          1 -> 3 [label="main chooses 3 of (amb 3 4)"];
          1 -> 4 [label="main chooses 4 of (amb 3 4)"];
          2 -> 5 [label="main chooses 3 of (amb 3 4)"];
          2 -> 6 [label="main chooses 4 of (amb 3 4)"];
          3 -> 7 [label="main reduces (+ 1 3) to 4"];
          4 -> 8 [label="main reduces (+ 1 4) to 5"];
          5 -> 8 [label="main reduces (+ 2 3) to 5"];
          6 -> 9 [label="main reduces (+ 2 4) to 6"];
        }
    "#]]
    .assert_eq(&run.stdout);
    assert!(run.status.success());

    let run = explore(&[
        "listing1.at",
        "--break",
        "message-receiver double at 11",
        "--step",
        "next-turn",
        "--dot",
    ]);
    assert!(run.stdout.starts_with("digraph session {\n"));
    assert!(run.stdout.ends_with("}\n"));
    run.assert_stdout_has("fillcolor=pink");
    run.assert_stdout_has("[label=\"next-turn of math\", style=dashed]");
}

#[test]
fn an_object_is_all_that_is_printed() {
    let run = explore(&[
        "listing1.at",
        "--json",
        "--graph",
        "--where",
        "math.result == 24",
    ]);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["program"], "listing1.at");
    assert_eq!(found["universes"], 270);
    assert_eq!(found["steps"], 579);
    assert_eq!(found["complete"], true);
    assert_eq!(found["livelocks"], Value::Array(Vec::new()));
    assert_eq!(found["nodes"].as_array().unwrap().len(), 270);
    assert_eq!(found["edges"].as_array().unwrap().len(), 579);
    let outcome = &found["outcomes"][2];
    assert_eq!(
        outcome["outcome"],
        serde_json::json!(["math.result = 66", "client1 prints 66"])
    );
    assert_eq!(outcome["ways"], "68328");
    assert_eq!(outcome["story"].as_array().unwrap().len(), 24);
    assert_eq!(outcome["story"][4]["who"], "main");
    assert_eq!(outcome["story"][4]["what"], "sends start() to client1");
    assert_eq!(outcome["story"][4]["site"]["line"], 23);
    assert_eq!(found["where"][0]["condition"], "math.result == 24");
    assert!(found["where"][0]["universes"].as_u64() > Some(0));

    let run = explore(&["ping-pong.at", "--json"]);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["livelocks"].as_array().unwrap().len(), 1);
    run.assert_status(1);
    let run = explore(&["ping-pong.at", "--json", "--max-states", "5"]);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["livelocks"], Value::Null);
    assert_eq!(found["complete"], false);
}

#[test]
fn the_guide_shows_what_is_printed() {
    let guide = include_str!("../../../../docs/multiverse.md");
    let run = explore(&["listing1.at"]);
    let (_, fault) = run.stdout.split_once("\n3.  ").unwrap();
    assert!(guide.contains(fault.trim_end()), "{fault}");
}
