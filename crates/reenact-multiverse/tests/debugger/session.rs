//! A session as a person has it.

use std::collections::HashSet;

use expect_test::expect;
use reenact_multiverse::{
    Activity, Expression, Limits, Overview, Session, SessionError, StepSize, UniverseStatus,
    Universes, Who,
};

use crate::{actors::Actors, breakpoints::everything, listing};

fn session(of: Actors, breakpoints: &[&str]) -> Session<Actors> {
    let mut session = Session::new(of, Limits::default());
    for text in breakpoints {
        session.add_breakpoint(text).unwrap();
    }
    session
}

fn all(session: &mut Session<Actors>, name: &str, who: Who<'_>) -> Result<Overview, SessionError> {
    session.command(name, who, 1, Universes::All)
}

fn lines<T: ToString>(all: &[T]) -> String {
    let all: Vec<_> = all.iter().map(ToString::to_string).collect();
    all.join("\n")
}

#[test]
fn the_session_of_the_paper() {
    let mut session = session(listing(), &["message-receiver double12 by math"]);
    expect!["5 universes (0–4) paused at breakpoint 1 (message-receiver double12 by math): math next turn double12"].assert_eq(&session.start().to_string());
    let summary = all(&mut session, "next-turn", Who::Stopped).unwrap();
    expect![[r#"
        5 universes (0–3, 5) paused by next-turn: math next turn getResult
        2 universes (4, 6) paused by next-turn: math next turn double33"#]]
    .assert_eq(&summary.to_string());
    // A universe in which double33 has come between, and how that was.
    let text = "math.inbox[0].name == 'double33'";
    let found = session.find(&Expression::parse(text).unwrap(), Universes::All);
    assert!(found.unwrap().states > 0);
    let between = (0..session.universes().len())
        .find(|one| {
            session
                .observe(*one)
                .unwrap()
                .get("math.inbox[0].name")
                .unwrap()
                .to_string()
                == "\"double33\""
        })
        .unwrap();
    session.select(between).unwrap();
    assert_eq!(session.selected(), between);
    expect![[r#"
        main:
          number: 0
          inbox: []
        math:
          number: 24
          inbox:
            - {name: "double33"}
        client1:
          number: 0
          inbox: []
        client2:
          number: 0
          inbox: []"#]]
    .assert_eq(&format!("{:#}", session.observe(between).unwrap()));
    expect![[r#"
        main turn run
        main message send start to client1
        main message send start to client2
        client1 turn start
        client2 turn start
        client1 message send double12 to math
        — next-turn of math
        math turn double12
        math local step
        client2 message send double33 to math"#]]
    .assert_eq(&lines(&session.story(between).unwrap()));
    let other = (between + 1) % session.universes().len();
    expect![[r#"
        math.inbox[0].name: "double33" → "getResult"
        math.inbox[1]: nothing → {name: "double33"}"#]]
    .assert_eq(&lines(&session.diff(between, other).unwrap()));
    let summary = all(&mut session, "resume", Who::Stopped).unwrap();
    expect![[r#"
        universe 0 ended: main = 0; math = 24; client1 = 1; client2 = 0
        universe 1 ended: main = 0; math = 66; client1 = 1; client2 = 0"#]]
    .assert_eq(&summary.to_string());
}

#[test]
fn back_undoes_the_last_command() {
    let mut session = session(listing(), &["before-turn by math"]);
    let start = session.start();
    let second = all(&mut session, "resume", Who::Stopped).unwrap();
    assert_ne!(second.groups, start.groups);
    assert_ne!(
        all(&mut session, "next-turn", Who::Name("math"))
            .unwrap()
            .groups,
        second.groups
    );
    assert_eq!(session.back().unwrap(), second);
    assert_eq!(session.back().unwrap(), start);
    assert_eq!(session.back(), Err(SessionError::NothingToUndo));
    // What was undone can be done again, to the same effect.
    assert_eq!(all(&mut session, "resume", Who::Stopped).unwrap(), second);
}

#[test]
fn universes_that_end_in_the_same_state_are_one() {
    let mut session = session(listing(), &["before-turn double33"]);
    session.start();
    // One of them looks for a third turn in vain, the others are just resumed.
    session
        .command("next-turn", Who::Stopped, 3, Universes::One(0))
        .unwrap();
    all(&mut session, "resume", Who::Stopped).unwrap();
    let ended: Vec<_> = session.universes().map(|one| &one.base).collect();
    let distinct: HashSet<_> = ended.iter().collect();
    assert_eq!((ended.len(), distinct.len()), (2, 2));
}

#[test]
fn one_universe_goes_on_and_the_others_wait() {
    let mut session = session(listing(), &["before-turn by math"]);
    let count = session
        .start()
        .groups
        .iter()
        .map(|group| group.universes.len())
        .sum::<usize>();
    assert!(count > 1);
    let before: Vec<_> = session.universes().cloned().collect();
    session
        .command("resume", Who::Stopped, 1, Universes::One(1))
        .unwrap();
    let after: Vec<_> = session.universes().cloned().collect();
    assert!(!after.contains(&before[1]));
    assert!(
        before
            .iter()
            .enumerate()
            .all(|(at, one)| at == 1 || after.contains(one))
    );
    assert_eq!(session.selected(), 1);
}

#[test]
fn breakpoints_come_and_go() {
    let mut session = session(everything(), &["creation"]);
    expect!["universe 0 paused at breakpoint 1 (creation): a next creation b"]
        .assert_eq(&session.start().to_string());
    // It stands there already: it is not stopped again.
    assert_eq!(session.add_breakpoint("creation b"), Ok(2));
    assert_eq!(session.add_breakpoint("line 5"), Ok(3));
    assert_eq!(session.add_breakpoint("before-turn ask"), Ok(4));
    assert_eq!(
        session.remove_breakpoint(4).unwrap().to_string(),
        "before-turn ask"
    );
    assert_eq!(
        session.remove_breakpoint(4).unwrap_err(),
        SessionError::NoBreakpoint(4)
    );
    let listed: Vec<_> = session
        .breakpoints()
        .iter()
        .map(|(number, one)| format!("{number} {one}"))
        .collect();
    expect![[r#"
        1 creation
        2 creation b
        3 line 5"#]]
    .assert_eq(&lines(&listed));
    expect!["2 universes (0–1) paused at breakpoint 3 (line 5): b next local step"].assert_eq(
        &all(&mut session, "resume", Who::Stopped)
            .unwrap()
            .to_string(),
    );
    // What is under way already is caught by a breakpoint for the line it was sent from.
    session.back().unwrap();
    session.remove_breakpoint(3).unwrap();
    assert_eq!(session.add_breakpoint("resolver"), Ok(5));
    all(&mut session, "resume", Who::Stopped).unwrap();
    assert_eq!(session.add_breakpoint("message-receiver at 3"), Ok(6));
    expect!["universe 0 paused at breakpoint 6 (message-receiver at 3): b next turn later"]
        .assert_eq(
            &all(&mut session, "resume", Who::Stopped)
                .unwrap()
                .to_string(),
        );
}

#[test]
fn what_cannot_be_done_is_reported_with_what_can() {
    let mut session = session(everything(), &["message-sender ask"]);
    session.start();
    let errors = [
        session.add_breakpoint("line 99").unwrap_err(),
        session.add_breakpoint("temporal any* line 99").unwrap_err(),
        session.add_breakpoint("before-lock").unwrap_err(),
        session.add_breakpoint("before-lick").unwrap_err(),
        session.select(7).unwrap_err(),
        all(&mut session, "fly", Who::Stopped).unwrap_err(),
        all(&mut session, "end-of-turn", Who::Name("b")).unwrap_err(),
        all(&mut session, "end-of-turn", Who::Name("c")).unwrap_err(),
        all(&mut session, "end-of-turn", Who::Activity(Activity(9))).unwrap_err(),
    ];
    expect![[r#"
        no operation can stop at line 99
        no operation can stop at line 99
        no program in this language can stop at before-lock; there are message-sender, message-receiver, before-turn, after-turn, resolver, resolution, creation, after-creation, begin, after-begin, before-choice, after-choice
        column 1: found `before-lick`, expected a kind of breakpoint: line, message-sender, message-receiver, before-turn, after-turn, resolver, resolution, before-channel-send, after-channel-send, before-channel-receive, after-channel-receive, before-select, after-select, before-channel-close, after-channel-close, creation, after-creation, begin, after-begin, before-end, after-end, before-join, after-join, before-transaction, before-commit, after-commit, before-lock, after-lock, before-unlock, after-unlock, before-wait, after-wait, before-wake, after-wake, before-notify, after-notify, before-atomic-read, after-atomic-read, before-atomic-write, after-atomic-write, before-barrier, after-barrier, before-question, after-question, before-external, after-external, before-choice, after-choice, temporal
        there is no universe 7, only 0 to 0
        there is no step fly; there are resume, pause, stop, into, over, return, into-activity, to-receiver, to-resolver, to-resolution, next-turn, end-of-turn, return-to-resolution
        end-of-turn does not apply to b: it is not in a turn; what applies: resume, stop, into, over, return, next-turn
        there is no c in any of these universes; there are a, b
        end-of-turn does not apply to activity 9: there is no such activity in this universe; what applies: resume, stop"#]].assert_eq(&lines(&errors));
    all(&mut session, "resume", Who::Stopped).unwrap();
    assert_eq!(
        all(&mut session, "resume", Who::Stopped),
        Err(SessionError::NothingPaused)
    );
}

#[test]
fn what_applies_is_listed_from_the_catalogue() {
    let mut session = session(everything(), &["message-sender ask"]);
    session.start();
    let shown = session.applicable(0).unwrap().into_iter().map(|one| {
        let steps: Vec<_> = one.steps.iter().map(|step| step.name).collect();
        let kinds: Vec<_> = one.breakpoints.iter().map(|kind| kind.name).collect();
        format!(
            "{} {} next {}\n  break {}\n  {}",
            one.who,
            one.is_paused,
            one.next.join(" or "),
            kinds.join(", "),
            steps.join(", ")
        )
    });
    expect![[r#"
        a true next message send ask to b
          break message-sender
          resume, stop, into, over, return, to-receiver, to-resolver, to-resolution, next-turn, end-of-turn, return-to-resolution
        b false next first action
          break begin, after-begin
          resume, stop, into, over, return, next-turn"#]].assert_eq(&lines(&shown.collect::<Vec<_>>()));
}

#[test]
fn conditions_are_looked_for_in_all_that_can_be_reached() {
    let session = Session::new(listing(), Limits::default());
    let find = |text: &str| {
        session
            .find(&Expression::parse(text).unwrap(), Universes::All)
            .unwrap()
    };
    let found = find("math.number == 66 && math.inbox.length == 0 && client1.number == 1");
    assert!(found.is_complete);
    expect!["1 of 82"].assert_eq(&format!("{} of {}", found.states, found.of));
    let nearest = found.nearest.unwrap();
    assert_eq!(nearest.universe, 0);
    expect![[r#"
        main turn run
        main message send start to client1
        main message send start to client2
        client1 turn start
        client1 message send double12 to math
        math turn double12
        math local step
        client1 message send getResult to math
        math turn getResult
        math resolution getResult to client1
        client1 callback print
        client1 local step
        client2 turn start
        client2 message send double33 to math
        math turn double33
        math local step"#]]
    .assert_eq(&lines(&nearest.story));
    let none = find("math.number == 1");
    assert_eq!((none.states, none.nearest), (0, None));
}

#[test]
fn a_limit_leaves_universes_that_go_on_when_asked() {
    let few = Limits {
        states: 10,
        time: None,
    };
    let mut session = Session::new(listing(), few);
    let summary = session.start();
    assert!(
        summary
            .groups
            .iter()
            .any(|group| group.how == UniverseStatus::Running)
    );
    let paused = all(&mut session, "pause", Who::Stopped).unwrap();
    assert!(
        paused
            .groups
            .iter()
            .all(|group| matches!(group.how, UniverseStatus::Paused { .. }))
    );
    session.set_limits(Limits::default());
    let ended = all(&mut session, "resume", Who::Stopped).unwrap();
    assert!(
        ended
            .groups
            .iter()
            .all(|group| matches!(group.how, UniverseStatus::Ended(_)))
    );
    // Without a pause in between, it is enough to resume; and both come to the same ends.
    let mut other = Session::new(listing(), few);
    other.start();
    other.set_limits(Limits::default());
    assert_eq!(
        all(&mut other, "resume", Who::Stopped)
            .unwrap()
            .groups
            .len(),
        ended.groups.len()
    );
}

#[test]
fn a_universe_can_be_left_alone() {
    let mut session = session(everything(), &["message-sender ask"]);
    session.start();
    let summary = all(&mut session, "stop", Who::Stopped).unwrap();
    assert_eq!(summary.groups[0].how, UniverseStatus::Stopped);
    assert_eq!(
        all(&mut session, "resume", Who::Stopped),
        Err(SessionError::NothingPaused)
    );
    session.back().unwrap();
    assert!(all(&mut session, "resume", Who::Stopped).is_ok());
}

#[test]
fn both_granularities_show_a_person_the_same() {
    let texts = ["before-turn by math", "message-sender at 11"];
    let mut coarse = session(listing(), &texts);
    let mut fine = session(listing(), &texts).with_step_size(StepSize::Rule);
    let groups = |summary: Overview| {
        let mut all: Vec<_> = summary
            .groups
            .iter()
            .map(|group| format!("{} {}", group.universes.len(), group.how))
            .collect();
        all.sort();
        all
    };
    assert_eq!(groups(coarse.start()), groups(fine.start()));
    for name in ["resume", "into", "next-turn", "resume"] {
        let [a, b] =
            [&mut coarse, &mut fine].map(|one| groups(all(one, name, Who::Stopped).unwrap()));
        assert_eq!(a, b);
    }
}

#[test]
fn the_same_session_twice_is_the_same() {
    let run = || {
        let mut session = session(listing(), &["before-turn by math"]);
        let mut text = vec![session.start().to_string()];
        for name in ["resume", "next-turn", "resume"] {
            text.push(all(&mut session, name, Who::Stopped).unwrap().to_string());
            let stories =
                (0..session.universes().len()).map(|one| lines(&session.story(one).unwrap()));
            text.extend(stories);
        }
        text
    };
    assert_eq!(run(), run());
}
