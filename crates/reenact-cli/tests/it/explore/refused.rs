//! Programs, expressions and options that are wrong.

use expect_test::{Expect, expect};

use super::explore;

fn check_refused(args: &[&str], expected: Expect) {
    let run = explore(args);
    expected.assert_eq(&run.stderr);
    assert_eq!(run.stdout, "");
    run.assert_status(2);
}

#[test]
fn a_program_that_cannot_be_read_is_refused() {
    check_refused(
        &["none.at"],
        expect![[r#"
        reenact: cannot read none.at: No such file or directory (os error 2)
        help: is the path correct, relative to this directory?
    "#]],
    );
    check_refused(
        &["notes.txt"],
        expect![[r#"
        reenact: cannot tell the language of notes.txt from its extension
        help: use the extension .at for AmbientTalk, and .amb for λ_amb
    "#]],
    );
    check_refused(
        &["binary.at"],
        expect![[r#"
        reenact: binary.at is not valid UTF-8: invalid byte at offset 1
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
        reenact: --break: no operation can stop at line 100
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
            reenact: --step: to-receiver does not apply to math: it must be at a message send or message send to a promise, and is at a first action; what applies: resume, stop, into, over, return, next-turn
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
