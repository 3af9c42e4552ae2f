//! Where each kind of breakpoint stops, and where it does not.

use expect_test::{Expect, expect};
use reenact_multiverse::{Activity, Debugger, DebuggerMode, Semantics, StepSize, all_breakpoints};

use crate::{
    actors::{Actor, Actors, Do, at},
    breakpoints, command, listing, places, run,
    script::Script,
    stops,
};

fn check(base: &impl Semantics, texts: &[&str], expected: Expect) {
    expected.assert_eq(&stops(base, texts).join("\n"));
}

/// `a` creates `b`, asks it, sends it something through a promise, and gets the answer.
pub(crate) fn everything() -> Actors {
    let a = vec![
        (
            "go",
            vec![
                at(1, Do::Create(1)),
                at(2, Do::Ask(1, "ask", "answer")),
                at(3, Do::Forward(1, "later")),
            ],
        ),
        ("answer", vec![at(4, Do::Set(1))]),
    ];
    let b = vec![("ask", vec![at(5, Do::Set(2))]), ("later", vec![])];
    Actors {
        actors: vec![
            Actor::new("a", vec!["go"], a),
            Actor {
                exists: false,
                ..Actor::new("b", vec![], b)
            },
        ],
    }
}

#[test]
fn a_sender_is_stopped_before_it_sends() {
    check(
        &everything(),
        &["message-sender"],
        expect!["#1: a (message send ask to b)"],
    );
    check(
        &everything(),
        &["message-sender later"],
        expect!["#1: a (message send to a promise later)"],
    );
    check(&everything(), &["message-sender to a"], expect!["the end"]);
    check(
        &everything(),
        &["message-sender at 3"],
        expect!["#1: a (message send to a promise later)"],
    );
}

#[test]
fn a_receiver_is_stopped_before_it_processes() {
    check(
        &everything(),
        &["message-receiver by b"],
        expect!["#1: b (turn ask)"],
    );
    check(
        &everything(),
        &["message-receiver at 2"],
        expect!["#1: b (turn ask)"],
    );
    check(
        &everything(),
        &["message-receiver later at 3"],
        expect!["#1: b (turn later)"],
    );
    check(
        &everything(),
        &["message-receiver at 4"],
        expect!["the end"],
    );
}

#[test]
fn a_turn_is_stopped_before_and_after() {
    check(
        &everything(),
        &["before-turn ask"],
        expect!["#1: b (turn ask)"],
    );
    check(
        &everything(),
        &["after-turn ask"],
        expect![[r#"
            #1: b (idle)
            #1: b (turn later)"#]],
    );
    check(
        &everything(),
        &["after-turn go"],
        expect![[r#"
            #1: a (callback answer)
            #1: a (idle)"#]],
    );
    check(
        &everything(),
        &["after-turn later by a"],
        expect!["the end"],
    );
}

#[test]
fn a_promise_is_stopped_at_both_ends() {
    check(
        &everything(),
        &["resolver"],
        expect!["#1: b (resolution ask to a)"],
    );
    check(
        &everything(),
        &["resolution"],
        expect!["#1: a (callback answer)"],
    );
}

#[test]
fn an_activity_is_stopped_at_its_birth() {
    check(&everything(), &["creation"], expect!["#1: a (creation b)"]);
    check(&everything(), &["begin"], expect!["#1: b (first action)"]);
}

#[test]
fn a_line_is_stopped_at() {
    check(&everything(), &["line 5"], expect!["#1: b (local step)"]);
    check(&everything(), &["line 5 by a"], expect!["the end"]);
    check(&everything(), &["line 6"], expect!["the end"]);
}

#[test]
fn a_condition_decides() {
    // The answer is asked for when math has doubled 33 last: the bug of the paper, and the other way round.
    let faulty = &["before-turn getResult if math.number == 66"];
    check(
        &listing(),
        faulty,
        expect![[r#"
            #1: math (turn getResult)
            the end"#]],
    );
    check(
        &listing(),
        &["before-turn getResult if math.number == 5"],
        expect!["the end"],
    );
    check(
        &listing(),
        &["before-turn getResult if nobody.number == 5 || math < 3"],
        expect!["the end"],
    );
}

#[test]
fn a_history_is_stopped_when_it_has_the_shape() {
    let text = "temporal (before-turn getResult) after (before-turn double33) without (before-turn double12)";
    check(
        &listing(),
        &[text],
        expect![[r#"
            #1: math (resolution getResult to client1)
            the end"#]],
    );
    check(
        &listing(),
        &["temporal any before-turn"],
        expect!["the end"],
    );
    check(
        &listing(),
        &["temporal before-turn any any"],
        expect![[r#"
            #1: client1 (message send double12 to math)
            #1: main (idle)"#]],
    );
    check(
        &listing(),
        &["temporal any* after-turn double12"],
        expect![[r#"
            #1: math (idle)
            #1: math (turn double33)
            #1: math (turn getResult)"#]],
    );
}

#[test]
fn two_breakpoints_at_one_place_stop_once() {
    let breakpoints = breakpoints(&["message-receiver by math", "before-turn by math"]);
    let base = listing();
    let debugger = Debugger::new(&base, &breakpoints, StepSize::Macro);
    let mut universes = run(&debugger, debugger.initial());
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(places(&base, &universes).join(" | "));
        universes = command(&debugger, universes, "resume", 0, 1);
    }
    expect![[r#"
        #1: math (turn double12) | #1: math (turn double33)
        #1: math (turn double12) | #1: math (turn double33) | #1: math (turn getResult)
        #1: math (turn double33) | #1: math (turn getResult)
        the end"#]]
    .assert_eq(&seen.join("\n"));
    assert!(universes.iter().all(|one| one.mode == DebuggerMode::Run));
}

#[test]
fn whom_a_breakpoint_has_stopped_it_stops_again_when_he_comes_back() {
    let base = Actors {
        actors: vec![Actor::new(
            "a",
            vec!["twice"],
            vec![(
                "twice",
                vec![at(1, Do::Send(0, "x")), at(1, Do::Send(0, "x"))],
            )],
        )],
    };
    let breakpoints = breakpoints(&["message-sender at 1"]);
    let debugger = Debugger::new(&base, &breakpoints, StepSize::Macro);
    let mut universes = run(&debugger, debugger.initial());
    for sent in 0..2 {
        assert_eq!(places(&base, &universes), ["#1: a (message send x to a)"]);
        assert_eq!(universes[0].base.inbox(0), sent);
        universes = command(&debugger, universes, "resume", 0, 1);
    }
    assert_eq!(places(&base, &universes), ["the end"]);
}

#[test]
fn a_receiver_saved_for_a_line_stops_for_every_message_from_there() {
    let send = |to, method| vec![at(7, Do::Send(to, method)), at(7, Do::Send(to, method))];
    let base = Actors {
        actors: vec![
            Actor::new("a", vec!["go"], vec![("go", send(1, "x"))]),
            Actor::new("b", vec![], vec![]),
        ],
    };
    let breakpoints = breakpoints(&["message-receiver x at 7"]);
    let debugger = Debugger::new(&base, &breakpoints, StepSize::Macro);
    let mut universes = run(&debugger, debugger.initial());
    for _ in 0..2 {
        assert_eq!(places(&base, &universes), ["#1: b (turn x)"]);
        universes = command(&debugger, universes, "resume", 0, 1);
    }
    assert_eq!(places(&base, &universes), ["the end"]);
}

#[test]
fn a_paused_activity_takes_no_step_and_still_receives() {
    let base = listing();
    let breakpoints = breakpoints(&["message-receiver by math"]);
    let debugger = Debugger::new(&base, &breakpoints, StepSize::Macro);
    let mut paused = run(&debugger, debugger.initial()).swap_remove(0);
    // The universe runs on, without math.
    paused.mode = DebuggerMode::Run;
    let ends = run(&debugger, vec![paused]);
    assert!(!ends.is_empty());
    for end in ends {
        assert_eq!(end.paused().collect::<Vec<_>>(), [Activity(1)]);
        assert_eq!((end.base.inbox(1), end.base.number(1)), (3, 0));
    }
}

#[test]
fn every_kind_of_the_catalogue_stops_somewhere() {
    let script = Script::parse(&[
        "create t1, channel-send c, join t1",
        "begin, channel-receive c, lock l, transaction-start, transaction-commit, unlock l, local, select c, channel-close c, wait v, wake v, notify v, atomic-read n, atomic-write n, barrier b, question, external, choice, end",
    ]);
    let mut all = String::new();
    for kind in all_breakpoints() {
        let stops = match kind
            .operations
            .iter()
            .any(|one| script.kinds().contains(one))
        {
            true => stops(&script, &[kind.name]),
            false => stops(&everything(), &[kind.name]),
        };
        assert!(stops.iter().all(|stop| stop != "the end"), "{}", kind.name);
        all += &format!("{}: {}\n", kind.name, stops.join(" | "));
    }
    expect![[r#"
        message-sender: #1: a (message send ask to b)
        message-receiver: #1: a (turn go)
        before-turn: #1: a (turn go)
        after-turn: #1: a (idle) | #1: b (idle)
        resolver: #1: b (resolution ask to a)
        resolution: #1: a (callback answer)
        before-channel-send: #1: t0 (channel send c)
        after-channel-send: #1: t0 (idle)
        before-channel-receive: #1: t1 (channel receive c)
        after-channel-receive: #1: t1 (lock l)
        before-select: #1: t1 (selection c)
        after-select: #1: t1 (channel close c)
        before-channel-close: #1: t1 (channel close c)
        after-channel-close: #1: t1 (wait v)
        creation: #1: t0 (creation t1)
        after-creation: #1: t0 (channel send c)
        begin: #1: t1 (first action )
        after-begin: #1: t1 (channel receive c) | #1: t1 (idle)
        before-end: #1: t1 (end )
        after-end: #1: t1 (idle)
        before-join: #1: t0 (join t1)
        after-join: #1: t0 (idle)
        before-transaction: #1: t1 (transaction start )
        before-commit: #1: t1 (transaction commit )
        after-commit: #1: t1 (unlock l)
        before-lock: #1: t1 (lock l)
        after-lock: #1: t1 (transaction start )
        before-unlock: #1: t1 (unlock l)
        after-unlock: #1: t1 (local step )
        before-wait: #1: t1 (wait v)
        after-wait: #1: t1 (wake v)
        before-wake: #1: t1 (wake v)
        after-wake: #1: t1 (notification v)
        before-notify: #1: t1 (notification v)
        after-notify: #1: t1 (atomic read n)
        before-atomic-read: #1: t1 (atomic read n)
        after-atomic-read: #1: t1 (atomic write n)
        before-atomic-write: #1: t1 (atomic write n)
        after-atomic-write: #1: t1 (barrier b)
        before-barrier: #1: t1 (barrier b)
        after-barrier: #1: t1 (question )
        before-question: #1: t1 (question )
        after-question: #1: t1 (external call )
        before-external: #1: t1 (external call )
        after-external: #1: t1 (choice )
        before-choice: #1: t1 (choice )
        after-choice: #1: t1 (end )
    "#]]
    .assert_eq(&all);
}
