//! Commands and scripts that are wrong, and how a session ends.

use expect_test::{Expect, expect};

use super::debug;

/// A session in which some are not.
fn check_refused(script: &str, expected: Expect) {
    let (_, run) = debug("listing1.at", script);
    expected.assert_eq(&run.stdout);
    run.assert_stderr_has("failed");
    run.assert_status(1);
}

#[test]
fn an_error_says_its_line_and_the_session_goes_on() {
    check_refused(
        "\
# Nothing of this is right.

unvierses
break before-trun double
break before-turn double by
break line 100
next-turn
delete 7
delete
run fast
run
next-turn
universe 9
universe x
story 9
show math.foo
show nobody
show math.result +
where
where math.result ==
diff
diff 0 9
next-turn in
next-turn math 2 3
ends now
list 99
list x
dot
dot none/session.dot
help everything
back
universes
",
        expect![[r#"
            > unvierses
            error in line 3: there is no command unvierses; did you mean universes or universe?

            > break before-trun double
            error in line 4: there is no breakpoint before-trun; did you mean before-turn?
              before-trun double
              ^^^^^^^^^^^

            > break before-turn double by
            error in line 5: found the end, expected the name of an activity
              before-turn double by
                                   ^

            > break line 100
            error in line 6: no operation can stop at line 100

            > next-turn
            error in line 7: the program has not run yet; to run it, type: run; to stop at its start, type: pause

            > delete 7
            error in line 8: there is no breakpoint 7

            > delete
            error in line 9: which one? Give the number of a breakpoint, or all

            > run fast
            error in line 10: run takes no argument

            > run
            3 universes ended
              [0] math.result = 66; client1 prints 24
              [1] math.result = 66; client1 prints 66
              [2] math.result = 24; client1 prints 24

            > next-turn
            error in line 12: no universe is paused; to start over, type: run

            > universe 9
            error in line 13: there is no universe 9, only 0 to 2

            > universe x
            error in line 14: x is not the number of a universe

            > story 9
            error in line 15: there is no universe 9, only 0 to 2

            > show math.foo
            error in line 16: there is no math.foo; in math there are result, does, inbox, printed, errors, waits

            > show nobody
            error in line 17: there is no nobody; there are main, math, client1, client2

            > show math.result +
            error in line 18: found the end, expected a path such as math.result, a number, a text in quotes, true, false, null, contains(…), length(…) or `(`
              math.result +
                           ^

            > where
            error in line 19: which condition? See: help where

            > where math.result ==
            error in line 20: found the end, expected a path such as math.result, a number, a text in quotes, true, false, null, contains(…), length(…) or `(`
              math.result ==
                            ^

            > diff
            error in line 21: which universes? Usage: diff [N] M

            > diff 0 9
            error in line 22: there is no universe 9, only 0 to 2

            > next-turn in
            error in line 23: which universe? Give its number after in

            > next-turn math 2 3
            error in line 24: unexpected 2; usage: next-turn [ACTIVITY] [TIMES] [in UNIVERSE|here]

            > ends now
            error in line 25: unexpected now; expected in UNIVERSE, here or start

            > list 99
            error in line 26: the program has lines 1 to 24

            > list x
            error in line 27: x is not the number of a line

            > dot
            error in line 28: which file? Usage: dot FILE [ahead]

            > dot none/session.dot
            error in line 29: cannot write none/session.dot: No such file or directory (os error 2)

            > help everything
            error in line 30: there is no help on everything; for a list, type: help

            > back
            error in line 31: there is nothing to undo

            > universes
            3 universes ended
              [0] math.result = 66; client1 prints 24
              [1] math.result = 66; client1 prints 66
              [2] math.result = 24; client1 prints 24

        "#]],
    );
}

#[test]
fn how_many_commands_failed_is_said_at_the_end() {
    let (_, run) = debug("listing1.at", "run\nfly\nswim\n");
    assert_eq!(
        run.stderr,
        "reenact: 2 commands failed, the first in line 2\n"
    );
    let (_, run) = debug("listing1.at", "fly");
    assert_eq!(run.stderr, "reenact: 1 command failed, in line 1\n");
}

#[test]
fn an_end_or_a_farewell_ends_it() {
    for script in ["", "\n", "# Nothing", "quit", "q\nfly\n", "exit\nfly"] {
        let (_, run) = debug("listing1.at", script);
        assert_eq!(run.status.code(), Some(0), "{script:?}");
        assert_eq!(run.stderr, "");
    }
}

#[test]
fn a_script_that_is_not_text_is_refused() {
    let (_, run) = debug("listing1.at", b"run\n\xff\n");
    run.assert_status(2);
    expect![[r#"
        reenact: line 2 of standard input is not valid UTF-8: invalid byte at offset 0
    "#]]
    .assert_eq(&run.stderr);
}

#[test]
fn a_script_without_lines_is_refused() {
    let (_, run) = debug("listing1.at", vec![b'x'; 2 << 20]);
    run.assert_status(2);
    assert_eq!(
        run.stderr,
        "reenact: cannot read commands: line 1 is too long\n"
    );
}

#[test]
fn nothing_that_is_typed_makes_it_fail() {
    let words = [
        "break",
        "next-turn",
        "in",
        "here",
        "0",
        "99999999999999999999",
        "-1",
        "\"",
        "\"\"",
        "(",
        "by",
        "if",
        "math",
        "show",
        "🦀",
        "`",
        "\\",
        "\t",
        "diff",
        "list",
        "story",
        "where",
        "run",
        "resume",
        "back",
        "u",
        "delete",
        "steps",
        "ends",
        "into",
        "pause",
        "stop",
    ];
    let mut script = String::new();
    let mut seed = 1_u64;
    for _ in 0..400 {
        for _ in 0..4 {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            script.push_str(words[(seed >> 33) as usize % words.len()]);
            script.push(' ');
        }
        script.push('\n');
    }
    let (_, run) = debug("listing1.at", script);
    run.assert_status(1);
}
