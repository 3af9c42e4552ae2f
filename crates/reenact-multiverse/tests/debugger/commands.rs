//! Where each step of the catalogue goes.

use expect_test::{Expect, expect};
use reenact_multiverse::{
    Activity, ActivityState, Debugger, DebuggerMode, Semantics, StepSize, all_steps, step,
};

use crate::{
    actors::{Act, Actor, Actors, Do, at},
    breakpoints,
    breakpoints::everything,
    command, describe, listing, places, run,
    script::Script,
};

/// Where universes wait after each of some commands, in both granularities: a line each, the first for the start.
fn check<S: Semantics>(base: &S, texts: &[&str], commands: &[(&str, u32, u32)], expected: Expect) {
    let breakpoints = breakpoints(texts);
    let [fine, coarse] = [StepSize::Rule, StepSize::Macro].map(|step_size| {
        let debugger = Debugger::new(base, &breakpoints, step_size);
        let mut universes = run(&debugger, debugger.initial());
        let mut lines = vec![places(base, &universes).join(" | ")];
        for (name, activity, count) in commands {
            universes = command(&debugger, universes, name, *activity, *count);
            lines.push(places(base, &universes).join(" | "));
        }
        lines.join("\n")
    });
    assert_eq!(fine, coarse);
    expected.assert_eq(&coarse);
}

#[test]
fn the_session_of_the_paper() {
    // Stopped when math is about to process its first message, then at its next turn: two kinds of universes.
    check(
        &listing(),
        &["message-receiver at 11"],
        &[("next-turn", 1, 1), ("resume", 1, 1)],
        expect![[r#"
            #1: math (turn double12)
            next-turn: math (turn double33) | next-turn: math (turn getResult)
            the end"#]],
    );
}

#[test]
fn turns_are_counted() {
    let start = &["message-receiver double12 by math"];
    check(
        &listing(),
        start,
        &[("next-turn", 1, 1)],
        expect![[r#"
        #1: math (turn double12)
        next-turn: math (turn double33) | next-turn: math (turn getResult)"#]],
    );
    check(
        &listing(),
        start,
        &[("next-turn", 1, 2)],
        expect![[r#"
        #1: math (turn double12)
        next-turn: math (turn double33) | next-turn: math (turn getResult) | the end"#]],
    );
    check(
        &listing(),
        start,
        &[("next-turn", 1, 3)],
        expect![[r#"
        #1: math (turn double12)
        the end"#]],
    );
    // From within a turn, the next turn is the one after it.
    check(
        &listing(),
        &["line 4"],
        &[("next-turn", 1, 1)],
        expect![[r#"
            #1: math (local step)
            next-turn: math (turn double12) | next-turn: math (turn double33) | next-turn: math (turn getResult)"#]],
    );
}

#[test]
fn the_turn_is_run_to_its_end() {
    check(
        &listing(),
        &["line 4"],
        &[("end-of-turn", 1, 1)],
        expect![[r#"
            #1: math (local step)
            end-of-turn: math (idle) | end-of-turn: math (turn double12) | end-of-turn: math (turn double33) | end-of-turn: math (turn getResult)"#]],
    );
}

#[test]
fn a_message_is_followed_to_its_receiver() {
    check(
        &listing(),
        &["message-sender getResult"],
        &[("to-receiver", 2, 1)],
        expect![[r#"
            #1: client1 (message send getResult to math)
            to-receiver: math (turn getResult)"#]],
    );
    check(
        &everything(),
        &["message-sender later"],
        &[("to-receiver", 0, 1)],
        expect![[r#"
            #1: a (message send to a promise later)
            to-receiver: b (turn later)"#]],
    );
}

#[test]
fn a_promise_is_followed_to_both_ends() {
    let start = &["message-sender getResult"];
    check(
        &listing(),
        start,
        &[("to-resolver", 2, 1)],
        expect![[r#"
        #1: client1 (message send getResult to math)
        to-resolver: math (resolution getResult to client1)"#]],
    );
    check(
        &listing(),
        start,
        &[("to-resolution", 2, 1)],
        expect![[r#"
        #1: client1 (message send getResult to math)
        to-resolution: client1 (callback print)"#]],
    );
    check(
        &listing(),
        &["resolver by math"],
        &[("return-to-resolution", 1, 1)],
        expect![[r#"
            #1: math (resolution getResult to client1)
            return-to-resolution: client1 (callback print)"#]],
    );
}

#[test]
fn the_sender_is_on_hold_while_its_message_is_followed() {
    let base = Actors {
        actors: vec![
            // It arrives at the breakpoint again, on hold.
            Actor::new(
                "a",
                vec!["go"],
                vec![("go", vec![at(1, Do::Send(1, "x")), at(2, Do::Send(1, "y"))])],
            ),
            Actor::new("b", vec![], vec![]),
        ],
    };
    let breakpoints = breakpoints(&["message-sender"]);
    let debugger = Debugger::new(&base, &breakpoints, StepSize::Macro);
    let universes = run(&debugger, debugger.initial());
    let universes = command(&debugger, universes, "to-receiver", 0, 1);
    let [one] = &universes[..] else {
        panic!("{universes:?}")
    };
    assert_eq!(describe(&base, one), "to-receiver: b (turn x)");
    assert_eq!(one.base.inbox(1), 1);
    let state = |who| one.standing(Activity(who)).unwrap().state;
    assert_eq!(
        (state(0), state(1)),
        (ActivityState::Hold, ActivityState::Pause)
    );
}

/// `a` does something, and `b` is there.
fn alone(acts: &[Do]) -> Actors {
    let acts = (1..).zip(acts).map(|(line, does)| at(line, *does));
    Actors {
        actors: vec![
            Actor::new("a", vec!["go"], vec![("go", acts.collect())]),
            Actor::new("b", vec![], vec![]),
        ],
    }
}

#[test]
fn a_message_to_oneself_is_followed_although_one_is_on_hold() {
    for acts in [&[Do::Send(0, "x"), Do::Set(1)][..], &[Do::Send(0, "x")]] {
        check(
            &alone(acts),
            &["message-sender"],
            &[("to-receiver", 0, 1)],
            expect![[r#"
                #1: a (message send x to a)
                to-receiver: a (turn x)"#]],
        );
    }
}

#[test]
fn who_comes_to_a_breakpoint_on_hold_is_stopped_there_afterwards() {
    let two = alone(&[Do::Send(1, "x"), Do::Send(1, "y")]);
    check(
        &two,
        &["message-sender"],
        &[("to-receiver", 0, 1), ("resume", 0, 1), ("resume", 0, 1)],
        expect![[r#"
            #1: a (message send x to b)
            to-receiver: b (turn x)
            #1: a (message send y to b)
            the end"#]],
    );
    // The same if it is let go because nobody else can go on.
    let none = alone(&[Do::Send(0, "x"), Do::Send(1, "y")]);
    check(
        &none,
        &["message-sender"],
        &[("to-receiver", 0, 1), ("resume", 0, 1), ("resume", 0, 1)],
        expect![[r#"
            #1: a (message send x to a)
            #1: a (message send y to b)
            to-receiver: a (turn x)
            the end"#]],
    );
}

#[test]
fn calls_are_stepped_into_over_and_out_of() {
    let depths = [0, 1, 2, 1, 0];
    let acts = (1..).zip(depths).map(|(line, depth)| Act {
        depth,
        ..at(line, Do::Send(1, ["x", "y"][(line % 2) as usize]))
    });
    let base = Actors {
        actors: vec![
            Actor::new("a", vec!["go", "z"], vec![("go", acts.collect())]),
            Actor::new("b", vec![], vec![]),
        ],
    };
    let line = |commands: &[(&str, u32)]| {
        let breakpoints = breakpoints(&["message-sender at 1"]);
        let debugger = Debugger::new(&base, &breakpoints, StepSize::Macro);
        let mut universes = run(&debugger, debugger.initial());
        for (name, count) in commands {
            universes = command(&debugger, universes, name, 0, *count);
        }
        let mut lines: Vec<_> = universes
            .iter()
            .map(|one| {
                let steps = base.steps(&one.base);
                let next = steps.iter().find(|step| step.0 == Activity(0));
                let operation = base.operation(&one.base, next.expect("a goes on"));
                operation.site.map_or(0, |site| site.line)
            })
            .collect();
        lines.dedup();
        lines
    };
    assert_eq!(line(&[]), [1]);
    assert_eq!(line(&[("into", 1)]), [2]);
    assert_eq!(line(&[("into", 3)]), [4]);
    assert_eq!(line(&[("over", 1)]), [5]);
    assert_eq!(line(&[("into", 1), ("over", 1)]), [4]);
    assert_eq!(line(&[("into", 2), ("return", 1)]), [4]);
    assert_eq!(line(&[("into", 1), ("return", 1)]), [5]);
    // Out of a method is the next turn.
    assert_eq!(line(&[("return", 1)]), [0]);
}

#[test]
fn activities_channels_and_transactions_are_stepped_through() {
    let script = Script::parse(&[
        "local, create t1, channel-send c, join t1, local",
        "begin, channel-receive c, transaction-start, transaction-commit, transaction-start, transaction-commit",
    ]);
    check(
        &script,
        &["creation"],
        &[("into-activity", 0, 1)],
        expect![[r#"
            #1: t0 (creation t1)
            into-activity: t1 (first action )"#]],
    );
    check(
        &script,
        &["begin"],
        &[("return-from-activity", 1, 1)],
        expect![[r#"
            #1: t1 (first action )
            return-from-activity: t0 (local step )"#]],
    );
    check(
        &script,
        &["before-channel-send"],
        &[("to-channel-receiver", 0, 1)],
        expect![[r#"
            #1: t0 (channel send c)
            to-channel-receiver: t1 (channel receive c)"#]],
    );
    check(
        &script,
        &["begin"],
        &[
            ("to-next-transaction", 1, 1),
            ("to-next-transaction", 1, 1),
            ("to-commit", 1, 1),
            ("after-commit", 1, 1),
        ],
        expect![[r#"
            #1: t1 (first action )
            to-next-transaction: t1 (transaction start )
            to-next-transaction: t1 (transaction start )
            to-commit: t1 (transaction commit )
            after-commit: t1 (idle)"#]],
    );
    let script = Script::parse(&[
        "channel-send c, local, channel-send d, channel-send c",
        "channel-receive c",
    ]);
    check(
        &script,
        &["before-channel-receive"],
        &[("to-channel-sender", 1, 1)],
        expect![[r#"
            #1: t1 (channel receive c)
            to-channel-sender: t0 (channel send c)"#]],
    );
}

#[test]
fn a_step_to_others_does_not_stop_at_the_wrong_ones() {
    // Its own send is not what it looks for.
    let script = Script::parse(&["channel-send c", "channel-receive c, channel-send c"]);
    check(
        &script,
        &["before-channel-receive"],
        &[("to-channel-sender", 1, 1)],
        expect![[r#"
            #1: t1 (channel receive c)
            the end"#]],
    );
    // Nor is the end of another activity.
    let script = Script::parse(&["join t2, join t1, local", "begin", "local"]);
    check(
        &script,
        &["begin"],
        &[("return-from-activity", 1, 1)],
        expect![[r#"
            #1: t1 (first action )
            return-from-activity: t0 (local step )"#]],
    );
}

#[test]
fn pause_and_stop_and_resume() {
    let base = listing();
    let none = breakpoints(&[]);
    let debugger = Debugger::new(&base, &none, StepSize::Macro);
    let start = debugger.initial().remove(0);
    let give = |state: &_, name: &str| {
        let mut next = debugger
            .command(state, step(name).unwrap(), Activity(0), 1)
            .unwrap();
        debugger.settle(&mut next);
        next
    };
    let paused = give(&start, "pause");
    assert_eq!(describe(&base, &paused).split(':').next(), Some("pause"));
    assert_eq!(paused.paused().count(), 4);
    assert_eq!(debugger.steps(&paused), []);
    assert_eq!(give(&paused, "resume"), start);
    let stopped = give(&start, "stop");
    assert_eq!(
        (stopped.mode, debugger.steps(&stopped)),
        (DebuggerMode::Stopped, vec![])
    );
    let refused = debugger.command(&stopped, step("resume").unwrap(), Activity(0), 1);
    expect!["resume does not apply to main: this universe was stopped; no step applies"]
        .assert_eq(&refused.unwrap_err().to_string());
}

#[test]
fn a_step_that_does_not_apply_is_refused_with_reasons() {
    let base = everything();
    let refused = |texts: &[&str], name: &str, activity, count| {
        let breakpoints = breakpoints(texts);
        let debugger = Debugger::new(&base, &breakpoints, StepSize::Macro);
        let universe = run(&debugger, debugger.initial()).remove(0);
        let text = debugger.command(&universe, step(name).unwrap(), Activity(activity), count);
        text.unwrap_err().to_string()
    };
    let all = [
        refused(&["before-turn ask"], "to-receiver", 1, 1),
        refused(&["before-turn ask"], "end-of-turn", 1, 1),
        refused(&["before-turn ask"], "pause", 1, 1),
        refused(&["message-sender ask"], "to-receiver", 0, 2),
        refused(&["after-turn ask"], "to-receiver", 1, 1),
        refused(&[], "next-turn", 0, 1),
    ];
    expect![[r#"
        to-receiver does not apply to b: it must be at a message send or message send to a promise, and is at a turn; what applies: resume, stop, into, over, return, next-turn
        end-of-turn does not apply to b: it is not in a turn; what applies: resume, stop, into, over, return, next-turn
        pause does not apply to b: all activities are paused already; what applies: resume, stop, into, over, return, next-turn
        to-receiver does not apply to a: it cannot be repeated 2 times; what applies: resume, stop, into, over, return, to-receiver, to-resolver, to-resolution, next-turn, end-of-turn, return-to-resolution
        to-receiver does not apply to b: it must be at a message send or message send to a promise, and has nothing to do; what applies: resume, stop, into, over, return, next-turn
        next-turn does not apply to a: this universe is not paused; what applies: resume, pause, stop"#]].assert_eq(&all.join("\n"));
}

#[test]
fn a_step_survives_another_breakpoint_and_a_resume_but_not_another_step() {
    let texts = &["message-sender ask", "line 5"];
    check(
        &everything(),
        texts,
        &[("to-resolver", 0, 1), ("resume", 0, 1)],
        expect![[r#"
            #1: a (message send ask to b)
            #2: b (local step)
            to-resolver: b (resolution ask to a)"#]],
    );
    check(
        &everything(),
        texts,
        &[("to-resolver", 0, 1), ("next-turn", 1, 1)],
        expect![[r#"
            #1: a (message send ask to b)
            #2: b (local step)
            next-turn: b (turn later)"#]],
    );
}

#[test]
fn when_a_step_is_over_nothing_of_it_is_left() {
    let base = listing();
    let set = breakpoints(&["message-sender getResult"]);
    let debugger = Debugger::new(&base, &set, StepSize::Macro);
    let universes = run(&debugger, debugger.initial());
    for one in command(&debugger, universes, "to-receiver", 2, 1) {
        assert_eq!(base.unmark(&one.base), one.base);
        assert_eq!(one.points().count(), 1);
        assert!(one.commands.is_empty() && one.done.is_empty());
    }
}

#[test]
fn every_step_of_the_catalogue_is_one_of_these() {
    // The tests above are about all of them.
    assert_eq!(all_steps().len(), 19);
    let source = include_str!("commands.rs");
    for step in all_steps() {
        let quoted = format!("\"{}\"", step.name);
        assert!(source.contains(&quoted), "{}", step.name);
    }
}
