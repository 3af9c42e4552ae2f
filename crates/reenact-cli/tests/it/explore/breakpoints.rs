//! With breakpoints: a session without a user.

use expect_test::expect;
use serde_json::Value;

use super::{check, explore};

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
        3,
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
