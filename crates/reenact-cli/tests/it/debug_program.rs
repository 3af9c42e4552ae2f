//! Sessions with Rust programs, as transcripts.

mod actors;
mod asked;

use std::{fs, process::Command};

use expect_test::{Expect, expect};

use crate::{
    program::{example, example_of},
    run::{Place, Run},
};

/// A session with one of the programs of `examples/universes.rs`.
fn debug(place: &Place, program: &[&str], script: &str) -> Run {
    let universes = example("universes");
    let args = [&["debug", "--", universes], program].concat();
    without_memory(place.reenact_reading(&args, script))
}

fn without_memory(mut run: Run) -> Run {
    let lines = run.stdout.lines().map(|line| match line {
        line if line.starts_with("Memory: ") => "Memory: … per universe\n".to_owned(),
        line => format!("{line}\n"),
    });
    run.stdout = lines.collect();
    run
}

/// A session in which every command is understood.
fn check(program: &str, script: &str, expected: Expect) {
    let run = debug(&Place::new(), &[program], script);
    expected.assert_eq(&run.stdout);
    assert_eq!(run.stderr, "");
    assert_eq!(run.status.code(), Some(0));
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
            How universe 0 came about
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
            How universe 2 came about
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
            How universe 0 came about
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
    let place = Place::new();
    let args = [
        "debug",
        "--unlocks",
        "--",
        example("universes"),
        "transfers",
    ];
    let run = place.reenact_reading(&args, "break after-unlock by main.0\nrun\n");
    expect![[r#"
        > break after-unlock by main.0
        Breakpoint 1: after-unlock by main.0

        > run
        1 universe ended in a deadlock
          [0] a = "<locked>"; b = "<locked>"; main waits for the end of main.0; main.0 waits for mutex@60#2, which main.1 has since line 65 (line 66); main.1 waits for mutex@60, which main.0 has since line 65 (line 66)
        2 universes paused at breakpoint 1 (after-unlock by main.0)
          [1–2] next, main.0 unlocks mutex@60

    "#]].assert_eq(&run.stdout);
    let run = debug(&place, &["transfers"], "break before-unlock\n");
    expect![[r#"
        > break before-unlock
        Breakpoint 1: before-unlock

    "#]]
    .assert_eq(&run.stdout);
}

#[test]
fn the_way_to_a_universe_is_followed_again_elsewhere() {
    let place = Place::new();
    let run = debug(
        &place,
        &["transfers"],
        "run\nschedule bad.schedule 0\nschedule good.schedule 1\n",
    );
    assert_eq!(run.status.code(), Some(0), "{}", run.stdout);
    let follow = |file: &str| {
        place.reenact(&[
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
    assert_eq!(bad.status.code(), Some(1));
    let good = follow("good.schedule");
    assert!(
        good.stdout.starts_with("nothing fails\n"),
        "{}",
        good.stdout
    );
    assert_eq!(good.status.code(), Some(0));
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
    let place = Place::new();
    let run = place.reenact(&[
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
    assert_eq!(run.status.code(), Some(0), "{}", run.stderr);
}

#[test]
fn a_program_that_does_not_do_the_same_twice_is_reported() {
    let run = debug(&Place::new(), &["flaky", "count"], "ends\n");
    assert!(
        run.stdout
            .contains("error: the program does not do the same twice: "),
        "{}",
        run.stdout
    );
}

#[test]
fn a_program_that_cannot_be_debugged_is_reported() {
    let place = Place::new();
    let check = |args: &[&str], status: i32, expected: Expect| {
        let run = place.reenact(&[&["debug"], args].concat());
        expected.assert_eq(&run.stderr);
        assert_eq!((run.status.code(), &*run.stdout), (Some(status), ""));
    };
    check(
        &["--", "./missing"],
        127,
        expect![[r#"
        reenact: cannot run ./missing: No such file or directory (os error 2)
        help: is the path right, seen from this directory?
    "#]],
    );
    check(
        &["--", "/bin/sh", "-c", "exit 3"],
        2,
        expect![[r#"
        reenact: /bin/sh did not explore itself: it exited with status 3
        help: does it use reenact, on Linux? A program that does not is run once, as ever; a script has to name the program itself
    "#]],
    );
    check(
        &["--", "/bin/sh", "-c", "kill -9 $$"],
        2,
        expect![[r#"
        reenact: /bin/sh did not explore itself: it was killed by signal 9
        help: does it use reenact, on Linux? A program that does not is run once, as ever; a script has to name the program itself
    "#]],
    );
    check(
        &[],
        2,
        expect![[r#"
        error: the following required arguments were not provided:
          <FILE>

        Usage: reenact debug <FILE> [-- <CMD>...]

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn a_program_that_goes_away_is_reported() {
    // One that says nothing but that it is there.
    let script = r#"import os, socket
path = os.environ["REENACT_EXPLORE"].split("=", 1)[1].split("\n")[0]
stream = socket.socket(socket.AF_UNIX)
stream.connect(path)
stream.sendall(b"\x03\0\0\0" b"\0\0\0")
"#;
    let place = Place::new();
    fs::write(place.path("gone.py"), script).unwrap();
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let run = place.reenact(&["debug", "--", "python3", "gone.py"]);
    assert!(
        run.stderr
            .contains("the process that explores the program is gone"),
        "{}",
        run.stderr
    );
    assert_eq!(run.status.code(), Some(2));
    // One that goes on, and says what nobody understands.
    let greeting = r#"b"\0\0\0")"#;
    assert!(script.contains(greeting));
    let nonsense = script.replace(greeting, r#"b"\0\0\0" b"\x01\0\0\0\xff")"#);
    let nonsense = nonsense + "while stream.recv(4096): pass\n";
    fs::write(place.path("nonsense.py"), nonsense).unwrap();
    let run = place.reenact(&["debug", "--", "python3", "nonsense.py"]);
    assert!(
        run.stderr.contains("the reply of the program is malformed"),
        "{}",
        run.stderr
    );
}

#[test]
fn the_guide_shows_what_is_printed() {
    let guide = include_str!("../../../../docs/multiverse.md");
    let place = Place::new();
    for program in ["deposits", "listing1"] {
        let command = format!("reenact debug -- target/debug/examples/{program}");
        let (_, session) = guide
            .split_once(&format!("{command}\n```\n\n```text\n"))
            .unwrap();
        let (session, _) = session.split_once("```").unwrap();
        let commands = session.lines().filter_map(|line| line.strip_prefix("> "));
        let script: String = commands.map(|line| format!("{line}\n")).collect();
        let printed = place.reenact_reading(&["debug", "--", example(program)], script);
        let report = Run {
            stdout: session.to_owned(),
            ..place.reenact(&["--version"])
        };
        let [printed, report] = [printed, report].map(without_memory);
        assert_eq!(printed.stdout.trim_end(), report.stdout.trim_end());
    }
    let text = include_str!("../../examples/deposits.rs");
    let (_, text) = text.split_once("\n\n").unwrap();
    assert!(guide.contains(text.trim_end()));
}

#[test]
fn a_model_from_outside_is_debugged_in_its_own_words() {
    let place = Place::new();
    let parties = example_of("phaser", "parties");
    let script = "ends\nbreak before-barrier by main.0\nrun\nshow\ninto\nstory\n";
    let run = without_memory(place.reenact_reading(&["debug", "--", parties], script));
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
        How universe 0 came about
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
fn every_kind_of_operation_can_be_stopped_at() {
    let place = Place::new();
    let operations = example("operations");
    let mut report = String::new();
    for (program, kinds) in [
        (
            "actor",
            "message-sender message-receiver before-turn after-turn resolver creation",
        ),
        (
            "atomic",
            "before-atomic-read after-atomic-read before-atomic-write after-atomic-write",
        ),
        (
            "barrier",
            "before-barrier after-barrier before-wait before-wake before-notify",
        ),
        (
            "channel",
            "before-channel-send after-channel-send before-channel-receive after-channel-receive before-channel-close after-channel-close",
        ),
        ("choice", "before-choice after-choice"),
        (
            "condvar",
            "before-wait after-wait before-wake after-wake before-notify after-notify",
        ),
        ("external", "before-external after-external"),
        ("mutex", "before-lock after-lock before-unlock after-unlock"),
        ("park", "before-wait before-wake before-notify"),
        (
            "process",
            "creation after-creation begin after-begin before-end after-end before-join after-join",
        ),
        ("question", "before-question after-question"),
        ("select", "before-select after-select"),
        (
            "thread",
            "creation after-creation begin after-begin before-end after-end before-join after-join",
        ),
        ("transaction", "before-commit after-commit"),
    ] {
        report += &format!("{program}\n");
        for kind in kinds.split(' ') {
            let script = format!("break {kind}\nrun\n");
            let run = place.reenact_reading(&["debug", "--", operations, program], script);
            let stop = run.stdout.split_once("> run\n").unwrap().1;
            let stops = stop
                .lines()
                .filter_map(|line| line.trim().strip_prefix('['))
                .filter_map(|line| Some(line.split_once("] ")?.1));
            let stops: Vec<&str> = stops.collect();
            report += &format!("  {kind}: {}\n", stops.join("; "));
        }
    }
    expect![[r#"
        actor
          message-sender: next, main sends add(1) to main.a0
          message-receiver: next, main.a0 handles add(1) from main
          before-turn: next, main.a0 handles add(1) from main
          after-turn: main.a0 has nothing to do
          resolver: next, main.a0 resolves promise@45
          creation: next, main spawns a task (main.a0)
        atomic
          before-atomic-read: next, main loads atomic@49
          after-atomic-read: next, main stores atomic@49
          before-atomic-write: next, main stores atomic@49
          after-atomic-write: main has nothing to do
        barrier
          before-barrier: next, main arrives at barrier@54; next, main.0 arrives at barrier@54
          after-barrier: next, main waits at a barrier (queue@54); next, main.0 waits at a barrier (queue@54)
          before-wait: next, main waits at a barrier (queue@54); next, main.0 waits at a barrier (queue@54)
          before-wake: next, main passes a barrier (queue@54); next, main.0 passes a barrier (queue@54)
          before-notify: next, main.0 opens a barrier (queue@54); next, main opens a barrier (queue@54)
        channel
          before-channel-send: next, main sends to channel@61
          after-channel-send: next, main receives from channel@61
          before-channel-receive: next, main receives from channel@61
          after-channel-receive: next, main drops a sender (channel@61)
          before-channel-close: next, main drops a sender (channel@61)
          after-channel-close: next, main drops a receiver (channel@61)
        choice
          before-choice: next, main chooses, way 1 of 2 or chooses, way 2 of 2
          after-choice: main has nothing to do
        condvar
          before-wait: next, main waits for condvar@68; ends as it should
          after-wait: main has nothing to do; ends as it should
          before-wake: ends as it should; next, main wakes from condvar@68
          after-wake: ends as it should; main has nothing to do
          before-notify: next, main.0 notifies condvar@68
          after-notify: main.0 has nothing to do
        external
          before-external: next, main asks for the available parallelism
          after-external: main has nothing to do
        mutex
          before-lock: next, main locks mutex@80
          after-lock: main has nothing to do
          before-unlock: next, main unlocks mutex@80
          after-unlock: main has nothing to do
        park
          before-wait: next, main.0 parks this thread (parker)
          before-wake: ends as it should; next, main.0 wakes after being unparked (queue)
          before-notify: next, main unparks a thread (parker)
        process
          creation: next, main spawns a task (main.a0)
          after-creation: main has nothing to do
          begin: next, main.a0 begins
          after-begin: next, main.a0 ends
          before-end: next, main.a0 ends
          after-end: main.a0 has nothing to do
          before-join: next, main joins main.a0
          after-join: main has nothing to do
        question
          before-question: next, main asks whether a thread is finished
          after-question: main has nothing to do
        select
          before-select: next, main selects channel@97, way 1 of 2 or selects channel@97, way 2 of 2
          after-select: next, main drops a sender (channel@97#2)
        thread
          creation: next, main spawns main.0
          after-creation: main has nothing to do
          begin: next, main.0 begins
          after-begin: next, main.0 ends
          before-end: next, main.0 ends
          after-end: main.0 has nothing to do
          before-join: next, main joins main.0
          after-join: main has nothing to do
        transaction
          before-commit: next, main runs a transaction
          after-commit: main has nothing to do
    "#]].assert_eq(&report);
}

#[test]
fn steps_over_and_out_of_calls_are_refused() {
    let script = "break before-lock\nrun\nover\nreturn\ninto\n";
    let run = debug(&Place::new(), &["deposits"], script);
    expect![[r#"
        > break before-lock
        Breakpoint 1: before-lock

        > run
        1 universe paused at breakpoint 1 (before-lock)
          [0] next, main.0 locks mutex@40; next, main.1 locks mutex@40

        > over
        error in line 3: over is about calls, and the calls of this program are not followed: only what activities do to each other is seen. To go to the next of these operations: into; to stop at a line: break line LINE

        > return
        error in line 4: return is about calls, and the calls of this program are not followed: only what activities do to each other is seen. To go to the next of these operations: into; to stop at a line: break line LINE

        > into
        1 universe paused after into
          [0] next, main.0 locks mutex@40
        1 universe paused at breakpoint 1 (before-lock)
          [1] next, main.1 locks mutex@40

    "#]]
    .assert_eq(&run.stdout);
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
            How universe 0 came about
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
