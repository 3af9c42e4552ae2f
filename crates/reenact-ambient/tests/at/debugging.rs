//! The debugger on programs: every breakpoint and every step of the catalogue for actors.

use std::fmt::Write;

use expect_test::{Expect, expect};
use reenact_multiverse::{Breakpoint, Limits, Session, Universes, Who, breakpoints, steps};

use crate::program;

/// Sets breakpoints, runs, takes steps (`STEP [ACTOR] [COUNT]`), and says how all universes stand after each.
#[track_caller]
fn check(text: &str, breaks: &[&str], script: &[&str], expected: Expect) {
    let mut session = Session::new(program(text), Limits::default());
    for one in breaks {
        session.add_breakpoint(one).expect("it is a breakpoint");
    }
    let mut transcript = format!("{}\n", session.start());
    for line in script {
        let mut words = line.split(' ');
        let step = words.next().expect("a line has a word");
        let who = words.next().map_or(Who::Stopped, Who::Name);
        let count = words
            .next()
            .map_or(1, |count| count.parse().expect("it is a number"));
        let _ = writeln!(transcript, "> {line}");
        match session.command(step, who, count, Universes::All) {
            Ok(summary) => writeln!(transcript, "{summary}").expect("a text can be written to"),
            Err(error) => writeln!(transcript, "{error}").expect("a text can be written to"),
        }
    }
    expected.assert_eq(&transcript);
}

const LISTING1: &str = include_str!("../../../../examples/ambient/listing1.at");

/// main asks math and waits for the answer; there is one way to go but for main's own register message.
const ASK: &str = "def makeMath() { actor: { def double(x) { x + x } } };
def math := makeMath();
def it := 0;
when: math<-double(4)@FutureMessage becomes: { |x|
    it := x
};
";

#[test]
fn a_session_about_the_bad_interleaving() {
    check(
        LISTING1,
        &["message-receiver by math"],
        &["next-turn", "next-turn", "resume"],
        expect![[r#"
            27 universes (0–1, 3–5, 7–10, 12–19, 21–25, 27–29, 31–32) paused at breakpoint 1 (message-receiver by math): math next processes double(12) from client1; result := 24
            7 universes (2, 6, 11, 20, 26, 30, 33) paused at breakpoint 1 (message-receiver by math): math next processes double(33) from client2; result := 66
            > next-turn
            18 universes (0–10, 13–16, 19–20, 23) paused by next-turn: math next processes getResult() from client1
            4 universes (11, 17, 21, 24) paused by next-turn: math next processes double(33) from client2; result := 66
            4 universes (12, 18, 22, 25) paused by next-turn: math next processes double(12) from client1; result := 24
            > next-turn
            6 universes (0–5) paused by next-turn: math next processes getResult() from client1
            10 universes (6–15) paused by next-turn: math next processes double(33) from client2; result := 66
            > resume
            universe 0 ended: math.result = 66; client1 prints 24
            universe 1 ended: math.result = 66; client1 prints 66
            universe 2 ended: math.result = 24; client1 prints 24
        "#]],
    );
}

#[test]
fn message_sender() {
    check(
        ASK,
        &["message-sender double"],
        &["resume"],
        expect![[r#"
            universe 0 paused at breakpoint 1 (message-sender double): main next sends double(4) to math
            > resume
            universe 0 ended: main.it = 8
        "#]],
    );
}

#[test]
fn message_receiver_by_the_line_of_the_send() {
    check(
        LISTING1,
        &["message-receiver at 18"],
        &[],
        expect![[r#"
        21 universes (0–20) paused at breakpoint 1 (message-receiver at 18): math next processes double(33) from client2; result := 66
    "#]],
    );
}

#[test]
fn before_and_after_a_turn() {
    check(
        ASK,
        &["before-turn double"],
        &["resume"],
        expect![[r#"
            3 universes (0–2) paused at breakpoint 1 (before-turn double): math next processes double(4) from main
            > resume
            universe 0 ended: main.it = 8
        "#]],
    );
    check(
        ASK,
        &["after-turn double"],
        &["resume"],
        expect![[r#"
            3 universes (0–2) paused at breakpoint 1 (after-turn double): math
            > resume
            universe 0 ended: main.it = 8
        "#]],
    );
}

#[test]
fn future_resolver() {
    check(
        ASK,
        &["resolver double"],
        &["resume"],
        expect![[r#"
            3 universes (0–2) paused at breakpoint 1 (resolver double): math next answers main with 8
            > resume
            universe 0 ended: main.it = 8
        "#]],
    );
}

#[test]
fn future_resolution() {
    check(
        ASK,
        &["resolution"],
        &["resume"],
        expect![[r#"
            universe 0 paused at breakpoint 1 (resolution): main next runs the block of line 4 with 8; it := 8
            > resume
            universe 0 ended: main.it = 8
        "#]],
    );
}

#[test]
fn actor_creation() {
    check(
        ASK,
        &["creation"],
        &["resume"],
        expect![[r#"
            universe 0 paused at breakpoint 1 (creation): main next creates the actor math; it := 0
            > resume
            universe 0 ended: main.it = 8
        "#]],
    );
    check(
        ASK,
        &["begin"],
        &["resume"],
        expect![[r#"
        universe 0 paused at breakpoint 1 (begin): main next begins
        > resume
        universe 0 paused at breakpoint 1 (begin): math next begins
    "#]],
    );
}

#[test]
fn a_line() {
    check(
        ASK,
        &["line 5"],
        &["resume"],
        expect![[r#"
            universe 0 paused at breakpoint 1 (line 5): main next goes on in line 5; it := 8
            > resume
            universe 0 ended: main.it = 8
        "#]],
    );
}

#[test]
fn a_condition() {
    check(
        LISTING1,
        &["before-turn by math if math.result == 66"],
        &["resume"],
        expect![[r#"
            4 universes (0–1, 3, 5) paused at breakpoint 1 (before-turn by math if math.result == 66): math next processes double(12) from client1; result := 24
            3 universes (2, 4, 6) paused at breakpoint 1 (before-turn by math if math.result == 66): math next processes getResult() from client1
            universe 7 ended: math.result = 66; client1 prints 24
            > resume
            universe 0 ended: math.result = 66; client1 prints 24
            universe 1 ended: math.result = 66; client1 prints 66
            universe 2 ended: math.result = 24; client1 prints 24
        "#]],
    );
}

#[test]
fn a_history() {
    check(
        LISTING1,
        &[
            "temporal (before-turn getResult) after (message-receiver at 18) without (message-receiver at 11)",
        ],
        &[],
        expect![[r#"
            3 universes (0–2) paused at breakpoint 1 (temporal (before-turn getResult) after (message-receiver at 18) without (message-receiver at 11)): math next answers client1 with 66
            universe 3 ended: math.result = 66; client1 prints 24
            universe 4 ended: math.result = 24; client1 prints 24
        "#]],
    );
}

#[test]
fn to_the_receiver_of_a_message() {
    check(
        ASK,
        &["message-sender double"],
        &["to-receiver", "resume"],
        expect![[r#"
            universe 0 paused at breakpoint 1 (message-sender double): main next sends double(4) to math
            > to-receiver
            universe 0 paused by to-receiver: math next processes double(4) from main
            > resume
            universe 0 ended: main.it = 8
        "#]],
    );
}

#[test]
fn to_the_resolver_of_its_future() {
    check(
        ASK,
        &["message-sender double"],
        &["to-resolver", "resume"],
        expect![[r#"
            universe 0 paused at breakpoint 1 (message-sender double): main next sends double(4) to math
            > to-resolver
            universe 0 paused by to-resolver: math next answers main with 8
            > resume
            universe 0 ended: main.it = 8
        "#]],
    );
}

#[test]
fn to_the_resolution_of_its_future() {
    check(
        ASK,
        &["message-sender double"],
        &["to-resolution", "resume"],
        expect![[r#"
            universe 0 paused at breakpoint 1 (message-sender double): main next sends double(4) to math
            > to-resolution
            universe 0 paused by to-resolution: main next runs the block of line 4 with 8; it := 8
            > resume
            universe 0 ended: main.it = 8
        "#]],
    );
}

#[test]
fn to_the_end_of_a_turn_from_within() {
    let text = "def log := 0;
def a() { this<-b(); log := 1; this<-b() };
def b() { log := log + 1 };
this<-a();
";
    check(
        text,
        &["message-sender b"],
        &["end-of-turn", "resume", "end-of-turn"],
        expect![[r#"
            universe 0 paused at breakpoint 1 (message-sender b): main next sends b() to itself; log := 1
            > end-of-turn
            universe 0 paused at breakpoint 1 (message-sender b): main next sends b() to itself
            > resume
            universe 0 paused by end-of-turn: main next processes b() from main; log := 2
            > end-of-turn
            end-of-turn does not apply to main: it is not in a turn; what applies: resume, stop, into, over, return, next-turn
        "#]],
    );
}

#[test]
fn from_a_turn_to_the_resolution() {
    let text =
        "def makeMath() { actor: { def double(x) { this<-note(); x + x }; def note() { 0 } } };
def math := makeMath();
def it := 0;
when: math<-double(4)@FutureMessage becomes: { |x| it := x };
";
    check(
        text,
        &["message-sender note"],
        &["return-to-resolution", "resume"],
        expect![[r#"
            3 universes (0–2) paused at breakpoint 1 (message-sender note): math next sends note() to itself
            > return-to-resolution
            2 universes (0–1) paused by return-to-resolution: main next runs the block of line 4 with 8; it := 8
            > resume
            universe 0 ended: main.it = 8
        "#]],
    );
}

#[test]
fn from_an_answer_that_is_about_to_be_sent_to_the_resolution() {
    check(
        ASK,
        &["resolver double"],
        &["return-to-resolution", "resume"],
        expect![[r#"
            3 universes (0–2) paused at breakpoint 1 (resolver double): math next answers main with 8
            > return-to-resolution
            universe 0 paused by return-to-resolution: main next runs the block of line 4 with 8; it := 8
            > resume
            universe 0 ended: main.it = 8
        "#]],
    );
}

#[test]
fn several_turns_at_once() {
    let text = "def n := 0;
def go() { n := n + 1; if: n < 5 then: { this<-go() } };
this<-go();
";
    check(
        text,
        &["before-turn go if main.n == 0"],
        &["next-turn main 3", "resume"],
        expect![[r#"
            universe 0 paused at breakpoint 1 (before-turn go if main.n == 0): main next processes go() from main; n := 1
            > next-turn main 3
            universe 0 paused by next-turn: main next processes go() from main; n := 4
            > resume
            universe 0 ended: main.n = 5
        "#]],
    );
}

#[test]
fn a_step_that_does_not_apply_says_so() {
    check(
        ASK,
        &["before-turn double"],
        &["to-receiver", "pause", "stop"],
        expect![[r#"
            3 universes (0–2) paused at breakpoint 1 (before-turn double): math next processes double(4) from main
            > to-receiver
            to-receiver does not apply to math: it must be at a message send or message send to a promise, and is at a turn; what applies: resume, stop, into, over, return, next-turn
            > pause
            pause does not apply to math: all activities are paused already; what applies: resume, stop, into, over, return, next-turn
            > stop
            3 universes (0–2) stopped
        "#]],
    );
}

#[test]
fn a_paused_actor_still_receives() {
    let mut session = Session::new(program(LISTING1), Limits::default());
    session
        .add_breakpoint("before-turn start by client1")
        .expect("it is a breakpoint");
    session
        .add_breakpoint("before-turn double by math")
        .expect("it is a breakpoint");
    session.start();
    // In some universe client1 stands before its first turn and math, where client2 has got to, has a message.
    let is_it = |universe: usize| {
        let seen = session.observe(universe).expect("it is a universe");
        let length = |path: &str| {
            seen.get(path)
                .and_then(|one| one.length())
                .unwrap_or_default()
        };
        length("client1.inbox") == 1 && length("math.inbox") == 1
    };
    assert!((0..session.universes().len()).any(is_it));
}

#[test]
fn the_catalogue_of_actors() {
    let program = program("1");
    let mut text = String::new();
    for kind in breakpoints(&program) {
        let _ = writeln!(text, "break {}: {}", kind.name, kind.label);
    }
    for kind in steps(&program) {
        let _ = writeln!(text, "{}: {}", kind.name, kind.label);
    }
    expect![[r#"
        break message-sender: before a message is sent
        break message-receiver: before a message is processed, by where it was sent
        break before-turn: before the turn of a method
        break after-turn: after the turn of a method
        break resolver: before a promise is resolved
        break resolution: before a callback runs because its promise is resolved
        break creation: before an activity is created
        break after-creation: after an activity was created
        break begin: before the first action of an activity
        break after-begin: after the first action of an activity
        resume: run to the next breakpoint
        pause: pause all activities
        stop: stop running this universe
        into: to the next operation of this activity
        over: …that is not deeper in calls
        return: …that is less deep in calls
        into-activity: to the first action of what is created
        to-receiver: to where the message is processed
        to-resolver: to where its promise is resolved
        to-resolution: to the callback that waits for its promise
        next-turn: to the next turn of this activity
        end-of-turn: to the end of this turn
        return-to-resolution: to the callback that waits for what this turn answers
    "#]]
    .assert_eq(&text);
}

#[test]
fn the_patterns_of_the_guide_are_patterns() {
    let guide = include_str!("../../../../docs/multiverse.md");
    let patterns: Vec<&str> = guide
        .lines()
        .filter(|line| line.starts_with("temporal "))
        .collect();
    assert_eq!(patterns.len(), 2);
    for pattern in patterns {
        Breakpoint::parse(pattern).expect(pattern);
    }
}
