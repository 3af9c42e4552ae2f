//! Sessions with Rust programs, as transcripts.

mod actors;
mod asked;
mod kinds;
mod refused;

use expect_test::{Expect, expect};

use crate::{
    program::{example, example_of},
    run::{Directory, Run},
};

/// A session with one of the programs of `examples/universes.rs`.
fn debug(directory: &Directory, program: &[&str], script: &str) -> Run {
    let universes = example("universes");
    let args = [&["debug", "--", universes], program].concat();
    directory.reenact_reading(&args, script).without_memory()
}

/// A session in which every command is understood.
fn check(program: &str, script: &str, expected: Expect) {
    let run = debug(&Directory::new(), &[program], script);
    expected.assert_eq(&run.stdout);
    assert_eq!(run.stderr, "");
    run.assert_status(0);
}

#[test]
fn a_lost_update_is_found_and_looked_at() {
    check(
        "deposits",
        "ends\nbreak after-lock by main.0 if balance == 100\nrun\nshow\ninto\nstory\nends here\n",
        expect![[r#"
            > ends
            From the start: 25 universes, 24 steps between them
            Coverage: complete
            Memory: … per universe

            2 outcomes

            1.  prints 150
                balance = 150
                4 ends, reached in 4 ways, the shortest of 5 steps

            2.  prints 200
                balance = 200
                2 ends, reached in 2 ways, the shortest of 5 steps

            > break after-lock by main.0 if balance == 100
            Breakpoint 1: after-lock by main.0 if balance == 100

            > run
            2 universes paused at breakpoint 1 (after-lock by main.0 if balance == 100)
              [0–1] next, main.0 locks mutex@40
            1 universe ended
              [2] prints 200; balance = 200

            > show
            main:
              does: "waits for the end of main.0"
            main.0:
              thread: "alice"
              does: "locks mutex@40"
              line: 44
            main.1:
              thread: "bob"
              does: "locks mutex@40"
              line: 43
            balance: 100

            > into
            6 universes ended
              2 of them [0, 3] prints 200; balance = 200
              4 of them [1–2, 4–5] prints 150; balance = 150

            > story
            The steps to universe 0
              1. main.1 locks mutex@40 (line 43)
              2. main.1 locks mutex@40 (line 44)
              3. main.0 locks mutex@40 (line 43)
              4. main.0 locks mutex@40 (line 44)
              5. main locks mutex@40 (line 55)

            > ends here
            From universe 0: 1 universe, 0 steps between them
            Coverage: complete
            Memory: … per universe

            1 outcome

            1.  prints 200
                balance = 200
                1 end, reached in 1 way, the shortest of 0 steps

        "#]],
    );
}

#[test]
fn a_deadlock_says_who_has_what() {
    check(
        "transfers",
        "ends\nbreak line 66\nrun\nsteps\ninto main.1\nshow locks in 0\ndiff 0 1\n",
        expect![[r#"
            > ends
            From the start: 10 universes, 10 steps between them
            Coverage: complete
            Memory: … per universe

            1 outcome

            1.  a = 100
                b = 100
                2 ends, reached in 2 ways, the shortest of 4 steps

            1 deadlock

            2.  a = "<locked>"
                b = "<locked>"
                main waits for the end of main.0
                main.0 waits for mutex@60#2, which main.1 has since line 65 (line 66)
                main.1 waits for mutex@60, which main.0 has since line 65 (line 66)
                1 end, reached in 2 ways, the shortest of 2 steps

            > break line 66
            Breakpoint 1: line 66

            > run
            2 universes paused at breakpoint 1 (line 66)
              [0] next, main.0 locks mutex@60#2
              [1] next, main.1 locks mutex@60

            > steps
            main has nothing to do
              resume, stop, into, return-from-activity, to-commit, after-commit, next-turn
            main.0 (stopped) locks mutex@60#2
              resume, stop, into, return-from-activity, to-commit, after-commit, next-turn
            main.1 locks mutex@60#2
              resume, stop, into, return-from-activity, to-commit, after-commit, next-turn

            > into main.1
            1 universe ended in a deadlock
              [0] a = "<locked>"; b = "<locked>"; main waits for the end of main.0; main.0 waits for mutex@60#2, which main.1 has since line 65 (line 66); main.1 waits for mutex@60, which main.0 has since line 65 (line 66)
            1 universe paused after into
              [1] next, main.1 locks mutex@60
            1 universe paused at breakpoint 1 (line 66)
              [2] next, main.0 locks mutex@60#2

            > show locks in 0
            mutex@60:
              by: "main.0"
              since: "line 65"
            mutex@60#2:
              by: "main.1"
              since: "line 65"

            > diff 0 1
            From universe 0 to 1
              main.does: "waits for the end of main.0" → "waits for the end of main.1"
              `main.0`.does: "waits to lock mutex@60#2, which main.1 has since line 65" → "has ended"
              `main.0`.line: 66 → nothing
              `main.0`.has: ["mutex@60"] → nothing
              `main.1`.does: "waits to lock mutex@60, which main.0 has since line 65" → "locks mutex@60"
              locks.`mutex@60`: {by: "main.0", since: "line 65"} → nothing
              a: "<locked>" → 90

        "#]],
    );
}

#[test]
fn what_is_sent_is_followed_to_who_receives_it() {
    check(
        "channel",
        "break before-channel-send by main.1\nrun\ndelete 1\nto-channel-receiver\nuniverse 2\nshow received\nstory\nback\nwhere received.length == 2 && received[1] == 3\n",
        expect![[r#"
            > break before-channel-send by main.1
            Breakpoint 1: before-channel-send by main.1

            > run
            1 universe paused at breakpoint 1 (before-channel-send by main.1)
              [0] next, main.1 sends to channel@81

            > delete 1
            Removed 1: before-channel-send by main.1

            > to-channel-receiver
            9 universes paused after to-channel-receiver
              [0–8] next, main receives from channel@81

            > universe 2
            Universe 2 paused after to-channel-receiver
              next, main receives from channel@81

            > show received
            []

            > story
            The steps to universe 2
                 > remove breakpoint 1
                 > to-channel-receiver of main.1
              1. main.1 sends to channel@81 (line 87)
              2. main.0 sends to channel@81 (line 87)
              3. main.0 sends to channel@81 (line 88)
              4. main drops a sender (channel@81) (line 91)

            > back
            1 universe paused at breakpoint 1 (removed)
              [0] next, main.1 sends to channel@81

            > where received.length == 2 && received[1] == 3
            25 universes of the 394 that can be reached from here; the nearest after 7 steps from universe 0:
              1. main drops a sender (channel@81) (line 91)
              2. main.0 sends to channel@81 (line 87)
              3. main receives from channel@81 (line 92)
              4. main locks mutex@82 (line 93)
              5. main.1 sends to channel@81 (line 87)
              6. main receives from channel@81 (line 92)
              7. main locks mutex@82 (line 93)

        "#]],
    );
}

#[test]
fn messages_of_actors_have_senders_receivers_and_turns() {
    check(
        "actors",
        "ends\nbreak message-sender by main.1\nrun\nto-resolver\ndelete 1\nend-of-turn main.a0\nbreak message-receiver at 122\nrun\nnext-turn main.a0\nstory 0\n",
        expect![[r#"
            > ends
            From the start: 85 universes, 108 steps between them
            Coverage: complete
            Memory: … per universe

            2 outcomes

            1.  prints 150
                4 ends, reached in 120 ways, the shortest of 13 steps

            2.  prints 200
                2 ends, reached in 8 ways, the shortest of 13 steps

            > break message-sender by main.1
            Breakpoint 1: message-sender by main.1

            > run
            1 universe paused at breakpoint 1 (message-sender by main.1)
              [0] next, main.1 sends balance() to main.a0

            > to-resolver
            5 universes paused after to-resolver
              2 of them [0–1] next, main.a0 resolves promise@122
              3 of them [2–4] next, main.a0 resolves promise@122#2

            > delete 1
            Removed 1: message-sender by main.1

            > end-of-turn main.a0
            5 universes paused after end-of-turn
              3 of them [0, 2, 4] main.a0 has nothing to do
              [1] next, main.a0 handles balance() from main.0
              [3] next, main.a0 handles set(150) from main.0

            > break message-receiver at 122
            Breakpoint 2: message-receiver at 122

            > run
            2 universes paused at breakpoint 2 (message-receiver at 122)
              [0] next, main.a0 handles balance() from main.0
              [1] next, main.a0 handles balance() from main.1

            > next-turn main.a0
            4 universes paused after next-turn
              [0] next, main.a0 handles set(150) from main.0
              [1] next, main.a0 handles balance() from main.1
              [2] next, main.a0 handles balance() from main.0
              [3] next, main.a0 handles set(150) from main.1

            > story 0
            The steps to universe 0
              1. main.0 sends balance() to main.a0 (line 122)
                 > next-turn of main.a0
              2. main.a0 handles balance() from main.0
              3. main.a0 resolves promise@122
              4. main.0 sends set(150) to main.a0 (line 123)

        "#]],
    );
}

#[test]
fn releases_are_steps_where_somebody_tries_or_asks() {
    check(
        "try",
        "ends\nbreak before-unlock\nrun\n",
        expect![[r#"
            > ends
            From the start: 13 universes, 12 steps between them
            Coverage: complete
            Memory: … per universe

            2 outcomes

            1.  count = 1
                2 ends, reached in 2 ways, the shortest of 3 steps

            2.  count = 2
                2 ends, reached in 2 ways, the shortest of 4 steps

            > break before-unlock
            Breakpoint 1: before-unlock

            > run
            2 universes paused at breakpoint 1 (before-unlock)
              [0] next, main.0 unlocks mutex@165
              [1] next, main.1 unlocks mutex@165

        "#]],
    );
    let args = ["debug", "--", example("try_late")];
    let run = Directory::new().reenact_reading(&args, "ends\n");
    assert_eq!(run.stderr, "");
    run.assert_stdout_has("Coverage: complete");
    run.assert_stdout_has("2 outcomes");
    let directory = Directory::new();
    let args = [
        "debug",
        "--unlocks",
        "--",
        example("universes"),
        "transfers",
    ];
    let run = directory.reenact_reading(&args, "break after-unlock by main.0\nrun\n");
    expect![[r#"
        > break after-unlock by main.0
        Breakpoint 1: after-unlock by main.0

        > run
        1 universe ended in a deadlock
          [0] a = "<locked>"; b = "<locked>"; main waits for the end of main.0; main.0 waits for mutex@60#2, which main.1 has since line 65 (line 66); main.1 waits for mutex@60, which main.0 has since line 65 (line 66)
        2 universes paused at breakpoint 1 (after-unlock by main.0)
          [1–2] next, main.0 unlocks mutex@60

    "#]].assert_eq(&run.stdout);
    let run = debug(&directory, &["transfers"], "break before-unlock\n");
    expect![[r#"
        > break before-unlock
        Breakpoint 1: before-unlock

    "#]]
    .assert_eq(&run.stdout);
}

#[test]
fn the_way_to_a_universe_is_followed_again_elsewhere() {
    let directory = Directory::new();
    let run = debug(
        &directory,
        &["transfers"],
        "run\nschedule bad.schedule 0\nschedule good.schedule 1\n",
    );
    run.assert_status(0);
    let follow = |file: &str| {
        directory.reenact(&[
            "explore",
            "--schedule",
            file,
            "--",
            example("universes"),
            "transfers",
        ])
    };
    let bad = follow("bad.schedule");
    assert!(bad.stdout.starts_with("deadlock\n"), "{}", bad.stdout);
    bad.assert_status(1);
    let good = follow("good.schedule");
    assert!(
        good.stdout.starts_with("nothing fails\n"),
        "{}",
        good.stdout
    );
    good.assert_status(0);
}

#[test]
fn panics_and_signals_are_errors() {
    check(
        "panic",
        "ends\n",
        expect![[r#"
            > ends
            From the start: 5 universes, 4 steps between them
            Coverage: complete
            Memory: … per universe

            It has no normal end.

            2 uncaught errors

            1.  error: main panicked at crates/reenact-cli/examples/universes.rs:195:23: called `Result::unwrap()` on an `Err` value: Any { .. }
                error: main.0 panicked at crates/reenact-cli/examples/universes.rs:191:13: assertion `left == right` failed: somebody was here before left: 2 right: 1
                error: exits with status 101
                1 end, reached in 1 way, the shortest of 2 steps

            2.  error: main panicked at crates/reenact-cli/examples/universes.rs:195:23: called `Result::unwrap()` on an `Err` value: Any { .. }
                error: main.1 panicked at crates/reenact-cli/examples/universes.rs:191:13: assertion `left == right` failed: somebody was here before left: 2 right: 1
                error: exits with status 101
                1 end, reached in 1 way, the shortest of 2 steps

        "#]],
    );
    check(
        "abort",
        "ends\n",
        expect![[r#"
        > ends
        From the start: 5 universes, 4 steps between them
        Coverage: complete
        Memory: … per universe

        It has no normal end.

        1 uncaught error

        1.  error: is killed by signal 6
            2 ends, reached in 2 ways, the shortest of 2 steps

    "#]],
    );
}

#[test]
fn breakpoints_need_no_session() {
    let directory = Directory::new();
    let run = directory.reenact(&[
        "explore",
        "--break",
        "after-lock at 65",
        "--step",
        "into",
        "--where",
        "a == 90",
        "--",
        example("universes"),
        "transfers",
    ]);
    // The first line names the source, or the program if that is not to be found.
    let (_, report) = run.stdout.split_once('\n').unwrap();
    expect![[r#"
        Breakpoint 1: after-lock at 65

        Run, 4 universes passed so far
        2 universes paused at breakpoint 1 (after-lock at 65)
          [0] next, main.0 locks mutex@60#2
          [1] next, main.1 locks mutex@60

        After into, 14 universes passed so far
        4 universes paused at breakpoint 1 (after-lock at 65)
          [0] main.1 has nothing to do
          [1] main.0 has nothing to do
          [2] next, main.1 locks mutex@60
          [3] next, main.0 locks mutex@60#2

        where a == 90
            1 universe of the 5 that can be reached from here; universe 2 is one
    "#]]
    .assert_eq(report);
    run.assert_status(0);
}

#[test]
fn the_guide_shows_what_is_printed() {
    let guide = include_str!("../../../../docs/multiverse.md");
    let directory = Directory::new();
    for program in ["deposits", "listing1"] {
        let command = format!("reenact debug -- target/debug/examples/{program}");
        let (_, session) = guide
            .split_once(&format!("{command}\n```\n\n```text\n"))
            .unwrap();
        let (session, _) = session.split_once("```").unwrap();
        let commands = session.lines().filter_map(|line| line.strip_prefix("> "));
        let script: String = commands.map(|line| format!("{line}\n")).collect();
        let printed = directory.reenact_reading(&["debug", "--", example(program)], script);
        let report = Run {
            stdout: session.to_owned(),
            ..directory.reenact(&["--version"])
        };
        let [printed, report] = [printed, report].map(Run::without_memory);
        assert_eq!(printed.stdout.trim_end(), report.stdout.trim_end());
    }
    let text = include_str!("../../examples/deposits.rs");
    let (_, text) = text.split_once("\n\n").unwrap();
    assert!(guide.contains(text.trim_end()));
}

#[test]
fn a_model_from_outside_is_debugged_in_its_own_words() {
    let directory = Directory::new();
    let parties = example_of("phaser", "parties");
    let script = "ends\nbreak before-barrier by main.0\nrun\nshow\ninto\nstory\n";
    let run = directory
        .reenact_reading(&["debug", "--", parties], script)
        .without_memory();
    expect![[r#"
        > ends
        From the start: 19 universes, 20 steps between them
        Coverage: complete
        Memory: … per universe

        2 outcomes

        1.  last = 0
            2 ends, reached in 3 ways, the shortest of 7 steps

        2.  last = 1
            2 ends, reached in 3 ways, the shortest of 7 steps

        > break before-barrier by main.0
        Breakpoint 1: before-barrier by main.0

        > run
        1 universe paused at breakpoint 1 (before-barrier by main.0)
          [0] next, main.0 arrives at phaser@9

        > show
        main:
          does: "waits for the end of main.0"
        main.0:
          does: "arrives at phaser@9"
          line: 16
        main.1:
          does: "arrives at phaser@9"
          line: 16
        last: null

        > into
        2 universes paused after into
          [0] next, main.0 leaves phaser@9 in examples/phaser/src/party.rs
          [1] next, main.0 locks mutex@7

        > story
        The steps to universe 0
          1. main registers with phaser@9 (line 10)
          2. main registers with phaser@9 (line 10)
             > into of main.0
          3. main.0 arrives at phaser@9 (line 16)
          4. main.1 arrives at phaser@9 (line 16)

    "#]]
    .assert_eq(&run.stdout);
    assert_eq!((run.stderr.as_str(), run.status.code()), ("", Some(0)));
}

#[test]
fn a_thread_is_followed_from_its_creation_to_who_joins_it() {
    check(
        "deposits",
        "break creation\nrun\ninto-activity\ndelete 1\nbreak before-end by main.0\nresume\nreturn-from-activity here\nstory\n",
        expect![[r#"
            > break creation
            Breakpoint 1: creation

            > run
            1 universe paused at breakpoint 1 (creation)
              [0] next, main spawns main.0

            > into-activity
            1 universe paused at breakpoint 1 (creation)
              [0] next, main spawns main.1

            > delete 1
            Removed 1: creation

            > break before-end by main.0
            Breakpoint 2: before-end by main.0

            > resume
            1 universe paused after into-activity
              [0] next, main.0 begins

            > return-from-activity here
            11 universes paused at breakpoint 2 (before-end by main.0)
              [0–10] next, main.0 ends

            > story
            The steps to universe 0
                 > into-activity of main
              1. main spawns main.0 (line 50)
                 > remove breakpoint 1
                 > break before-end by main.0
                 > resume
                 > return-from-activity of main.0
              2. main.0 begins (line 50)
              3. main.0 locks mutex@40 (line 43)
              4. main.0 locks mutex@40 (line 44)

        "#]],
    );
}
