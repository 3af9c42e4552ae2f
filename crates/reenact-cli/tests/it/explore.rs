//! `reenact explore`: its report for people and its report for programs.

use std::fs;

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::run::{Place, Run};

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
    let place = Place::new();
    place.example("listing1.at");
    place.example("philosophers.at");
    for (name, text) in [
        ("choice.amb", "(+ (amb 1 2) (amb 3 4))"),
        ("waiting.at", WAITING),
        ("ping-pong.at", PING_PONG),
        ("wrong.at", WRONG),
        ("typo.at", "def x := 1;\ndef y := ;\n"),
        ("notes.txt", "Roses are red"),
    ] {
        fs::write(place.path(name), text).unwrap();
    }
    fs::write(place.path("binary.at"), [b'd', 0xff]).unwrap();
    place.reenact(&[&["explore"], args].concat())
}

/// What is printed, but for how much memory it took.
fn check(args: &[&str], status: i32, expected: Expect) {
    let run = explore(args);
    let lines = run.stdout.lines().map(|line| match line {
        line if line.starts_with("Memory: ") => "Memory: … per universe\n".to_owned(),
        line => format!("{line}\n"),
    });
    expected.assert_eq(&lines.collect::<String>());
    assert_eq!(run.stderr, "");
    assert_eq!(run.status.code(), Some(status));
}

fn check_refused(args: &[&str], expected: Expect) {
    let run = explore(args);
    expected.assert_eq(&run.stderr);
    assert_eq!(run.stdout, "");
    assert_eq!(run.status.code(), Some(2));
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

        1.  4 universes that lead to each other and to no end
            The shortest way in is of 8 steps:
              1. main begins (line 1)
              2. main creates the actor player (line 1)
              3. main creates the actor player (line 1)
              4. main sends play(pong) to ping (line 4)
              5. ping begins (line 1)
              6. ping processes play(pong) from main (line 1)
              7. ping sends play(ping) to pong (line 1)
              8. pong begins (line 1)
            From there, again and again:
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
        0,
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
        0,
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
    check(
        &["choice.amb", "--where", "main.value > 5"],
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

            where main.value > 5
                1 universe, the nearest after 3 steps:
                  1. main chooses 2 of (amb 1 2)
                  2. main chooses 4 of (amb 3 4)
                  3. main reduces (+ 2 4) to 6
        "#]],
    );
}

#[test]
fn breakpoints_and_steps_hold_in_all_universes() {
    check(
        &[
            "listing1.at",
            "--break",
            "message-receiver by math",
            "--step",
            "next-turn",
            "--step",
            "resume",
            "--where",
            "contains(client1.printed, \"66\")",
        ],
        0,
        expect![[r#"
            listing1.at
            Breakpoint 1: message-receiver by math

            Run, 115 universes passed so far
            34 universes paused at breakpoint 1 (message-receiver by math)
              27 of them [0–1, 3–5, 7–10, 12–19, 21–25, 27–29, 31–32] next, math processes double(12) from client1; result := 24
              7 of them [2, 6, 11, 20, 26, 30, 33] next, math processes double(33) from client2; result := 66

            After next-turn, 217 universes passed so far
            26 universes paused after next-turn
              18 of them [0–10, 13–16, 19–20, 23] next, math processes getResult() from client1
              4 of them [11, 17, 21, 24] next, math processes double(33) from client2; result := 66
              4 of them [12, 18, 22, 25] next, math processes double(12) from client1; result := 24

            After resume, 355 universes passed so far
            16 universes paused at breakpoint 1 (message-receiver by math)
              6 of them [0–5] next, math processes getResult() from client1
              10 of them [6–15] next, math processes double(33) from client2; result := 66

            where contains(client1.printed, "66")
                2 universes of the 52 that can be reached from here; the nearest after 5 steps from universe 4:
                  1. math processes getResult() from client1 (line 5)
                  2. math answers client1 with 66
                  3. client1 receives 66 from math
                  4. client1 wakes the block of line 12 with 66 (line 12)
                  5. client1 runs the block of line 12 with 66; prints 66 (line 12)
        "#]],
    );
}

#[test]
fn a_step_may_be_that_of_another_activity() {
    check(
        &[
            "listing1.at",
            "--break",
            "message-sender double by client2",
            "--step",
            "next-turn math",
        ],
        0,
        expect![[r#"
            listing1.at
            Breakpoint 1: message-sender double by client2

            Run, 172 universes passed so far
            31 universes paused at breakpoint 1 (message-sender double by client2)
              [0–30] next, client2 sends double(33) to math

            After next-turn math, 318 universes passed so far
            38 universes paused after next-turn
              21 of them [0–1, 3, 6, 11–20, 28, 30–31, 33–34, 36–37] next, math processes double(33) from client2; result := 66
              11 of them [2, 4, 7, 9, 21–22, 24, 26, 29, …] next, math processes double(12) from client1; result := 24
              6 of them [5, 8, 10, 23, 25, 27] next, math processes getResult() from client1
        "#]],
    );
}

#[test]
fn a_session_within_a_bound_says_so() {
    check(
        &["listing1.at", "--break", "after-turn", "--max-states", "4"],
        0,
        expect![[r#"
            listing1.at
            Breakpoint 1: after-turn

            Run, 3 universes passed so far
            1 universe not at an end: a bound was reached before
              [0]
        "#]],
    );
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
    assert!(run.stdout.contains("fillcolor=pink"));
    assert!(
        run.stdout
            .contains("[label=\"next-turn of math\", style=dashed]")
    );
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
    assert_eq!(run.status.code(), Some(1));
    let run = explore(&["ping-pong.at", "--json", "--max-states", "5"]);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["livelocks"], Value::Null);
    assert_eq!(found["complete"], false);
}

#[test]
fn a_session_is_an_object_too() {
    let run = explore(&[
        "listing1.at",
        "--break",
        "message-receiver by math",
        "--step",
        "next-turn math",
        "--where",
        "math.result == 24",
        "--json",
    ]);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["breakpoints"][0], "message-receiver by math");
    let stages = found["stages"].as_array().unwrap();
    assert_eq!(stages[0]["step"], Value::Null);
    assert_eq!(stages[1]["step"], "next-turn math");
    let group = &stages[1]["groups"][0];
    assert_eq!(group["how"]["paused"]["by"], "next-turn");
    assert_eq!(group["how"]["paused"]["stopped"][0]["who"], "math");
    assert_eq!(
        group["how"]["paused"]["stopped"][0]["next"][0],
        "processes getResult() from client1"
    );
    assert_eq!(found["where"][0]["is_complete"], true);
}

#[test]
fn a_program_that_cannot_be_read_is_refused() {
    check_refused(
        &["none.at"],
        expect![[r#"
        reenact: cannot read none.at: No such file or directory (os error 2)
        help: is the path right, seen from this directory?
    "#]],
    );
    check_refused(
        &["notes.txt"],
        expect![[r#"
        reenact: notes.txt is in no language that can be explored, judging by its name
        help: name it .at if it is in AmbientTalk, and .amb if it is in λ_amb
    "#]],
    );
    check_refused(
        &["binary.at"],
        expect![[r#"
        reenact: binary.at is not text: byte 1 is not part of any character in UTF-8
    "#]],
    );
    check_refused(
        &["typo.at"],
        expect![[r#"
        reenact: typo.at:2:10: expected an expression, found `;`
          | def y := ;
          |          ^
    "#]],
    );
}

#[test]
fn a_question_that_makes_no_sense_is_refused_with_the_place() {
    check_refused(
        &["listing1.at", "--where", "math.result == (24"],
        expect![[r#"
            reenact: --where: found the end, expected `)`
              | math.result == (24
              |                   ^
        "#]],
    );
    check_refused(
        &["listing1.at", "--break", "before-trun double"],
        expect![[r#"
            reenact: --break: found `before-trun`, expected a kind of breakpoint: line, message-sender, message-receiver, before-turn, after-turn, resolver, resolution, before-channel-send, after-channel-send, before-channel-receive, after-channel-receive, before-select, after-select, before-channel-close, after-channel-close, creation, after-creation, begin, after-begin, before-end, after-end, before-join, after-join, before-transaction, before-commit, after-commit, before-lock, after-lock, before-unlock, after-unlock, before-wait, after-wait, before-wake, after-wake, before-notify, after-notify, before-atomic-read, after-atomic-read, before-atomic-write, after-atomic-write, before-barrier, after-barrier, before-question, after-question, before-external, after-external, before-choice, after-choice, temporal
              | before-trun double
              | ^^^^^^^^^^^
            help: did you mean before-turn?
        "#]],
    );
    check_refused(
        &["listing1.at", "--break", "before-turn double by"],
        expect![[r#"
            reenact: --break: found the end, expected the name of an activity
              | before-turn double by
              |                      ^
        "#]],
    );
    check_refused(
        &["listing1.at", "--break", "line 100"],
        expect![[r#"
        reenact: --break: there is nothing to stop at in line 100
    "#]],
    );
    check_refused(
        &["listing1.at", "--break", "begin", "--step", "next-trun"],
        expect![[r#"
            reenact: --step: there is no step next-trun; there are resume, pause, stop, into, over, return, into-activity, to-receiver, to-resolver, to-resolution, next-turn, end-of-turn, return-to-resolution
            help: did you mean next-turn?
        "#]],
    );
    check_refused(
        &[
            "listing1.at",
            "--break",
            "begin by math",
            "--step",
            "to-receiver",
        ],
        expect![[r#"
            reenact: --step: to-receiver does not apply to math: it has to be at a message send or message send to a promise, and is at a first action; what applies: resume, stop, into, over, return, next-turn
        "#]],
    );
    check_refused(
        &["listing1.at", "--break", "begin", "--step", "into nobody"],
        expect![[r#"
            reenact: --step: there is no nobody in any of these universes; there are main
        "#]],
    );
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    for args in [
        &["listing1.at", "--step", "resume"][..],
        &["listing1.at", "--break", "begin", "--reduced"],
        &["listing1.at", "--json", "--dot"],
        &["listing1.at", "--graph"],
        &["listing1.at", "--max-states", "0"],
        &["listing1.at", "--max-time", "soon"],
    ] {
        let run = explore(args);
        assert_eq!(run.status.code(), Some(2), "{args:?}");
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn help_for_explore_says_what_the_exit_status_is() {
    let run = Place::new().reenact(&["explore", "-h"]);
    expect![[r#"
        Run a program under every schedule, or as many as you allow

        Usage: reenact explore [OPTIONS] [FILE] [-- <CMD>...]

        Arguments:
          [FILE]  The program, or a recording

        Options:
          -h, --help  Print help (see more with '--help')

        Rust programs and recordings:
              --strategy <NAME>     How to choose executions: portfolio, exhaustive, mixed, urw, walk, 'pct
                                    N', 'pctcp N', pos, 'preemptions N', 'delays N' [default: portfolio]
              --executions <N>      Maximum number of executions
              --max-steps <N>       Maximum number of steps of an execution [default: 20000]
              --seed <N>            Seed of the random strategies [default: 0]
              --cores <N>           With a program (-- CMD): number of cores to use, where the work can be
                                    divided [default: 1]
              --schedule <FILE>     Follow this schedule once, and show what the program prints
          -o, --output <FILE>       File to write schedules to [default: the program's name with .schedule,
                                    in this directory]
              --from <EVENT>        With a recording: keep the recorded schedule up to this operation
              --near <N>            With a recording: maximum number of reorderings [default: 2]
              --other-outcomes      With a recording: find every other outcome, with any number of
                                    reorderings
              --force               With a recording: explore even if the program is not the one that was
                                    recorded
              --break <BREAKPOINT>  Stop at this breakpoint, in every universe; may be given several times
              --step <STEP>         Then take this step in every paused universe, such as next-turn or
                                    'next-turn math'; may be given several times
              --where <EXPR>        Count the universes in which this is true, and print a shortest schedule
                                    to one of them
              --reduced             Find every end, but skip universes that do not lead to another one
              --depth-first         Search depth first, on one core
              --single-step         One step per rule (default: one step up to the next visible action)
              --workers <N>         Number of cores to use [default: all]; for a Rust program, see --cores
              --max-states <N>      Maximum number of universes [default: 5 million; with breakpoints, 1
                                    million]
              --max-time <SECONDS>  Maximum time, in seconds
              --max-depth <N>       Maximum number of steps in a row
              --max-memory <MB>     Maximum memory [default: 2048]
              --stories             Print a schedule for every outcome, however many there are
              --no-stories          Print no schedules
              --dot                 Print only a graph, for Graphviz
              --json                Print only a JSON object
              --graph               With --json: also print every universe, and every step between them
          [CMD]...                  A Rust program that uses reenact, with its arguments

        Examples:
          reenact explore -- ./app --fast                          Try schedules until one fails
          reenact explore --schedule app.schedule -- ./app --fast  Repeat the failure, with its output
          reenact explore bug.reenact                              Try schedules similar to the recorded one
          reenact explore listing1.at                              Find every outcome
          reenact explore listing1.at --where 'math.result == 66'  Find where the result is 66
          reenact explore listing1.at --break 'message-receiver by math' --step next-turn
          reenact explore listing1.at --dot | dot -Tsvg > listing1.svg

        Exit status: 0 if nothing fails; 1 if there is a failure, a deadlock, an uncaught error or a
        livelock; 2 if the program or an option is not valid.
    "#]].assert_eq(&run.stdout);
}

#[test]
fn the_guide_shows_what_is_printed() {
    let guide = include_str!("../../../../docs/multiverse.md");
    let run = explore(&["listing1.at"]);
    let (_, fault) = run.stdout.split_once("\n3.  ").unwrap();
    assert!(guide.contains(fault.trim_end()), "{fault}");
}
