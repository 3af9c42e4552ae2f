//! How programs are written, and what is said about texts that are none.

use expect_test::{Expect, expect};
use reenact_ambient::{Source, amb::parse};

/// The terms of the texts, or what is wrong with them.
fn check(texts: &[&str], expected: Expect) {
    let mut all = String::new();
    for text in texts {
        let source = Source::new("term", *text);
        all += &match parse(&source) {
            Ok(term) => format!("{term}\n"),
            Err(error) => {
                let span = error.span();
                let there = &text[span.start as usize..span.end as usize];
                let site = source.site(span.start);
                let help = error.help().map(|help| format!("; {help}"));
                format!("{site}: {error} [{there}]{}\n", help.unwrap_or_default())
            }
        };
    }
    expected.assert_eq(&all);
}

#[test]
fn terms() {
    check(
        &[
            "12",
            "-12",
            "(+ (amb 1 2)\n (amb 3 4))",
            "( + 1(amb 2 3) ) ; a comment",
            "; first\n(amb 1)",
            "-9223372036854775808",
        ],
        expect![[r#"
            12
            -12
            (+ (amb 1 2) (amb 3 4))
            (+ 1 (amb 2 3))
            (amb 1)
            -9223372036854775808
        "#]],
    );
}

#[test]
fn errors() {
    check(
        &[
            "",
            "  ; nothing\n",
            "(",
            "(+",
            "(+ 1 (amb 2 3)  \n\n",
            "(+ 1) 2",
            ")",
            "(+)",
            "(amb )",
            "(- 1 2)",
            "()",
            "(1 2)",
            "x",
            "(+ 1 amb)",
            "amb",
            "9223372036854775808",
            "1.5",
            "--1",
            "-",
            "(+ ü)",
            "(grüß 1)",
        ],
        expect![[r#"
            1:1: expected a term, found the end of the program []
            1:12: expected a term, found the end of the program []
            1:2: expected `)`, found the end of the program []; nothing closes this `(`
            1:3: expected `)`, found the end of the program []; nothing closes this `(`
            1:15: expected `)`, found the end of the program []; nothing closes this `(`
            1:7: expected the end of the program, found `2` [2]; a program is one term, such as `(+ (amb 1 2) 3)`
            1:1: expected a term, found `)` [)]
            1:3: expected a term after `+` [)]
            1:6: expected a term after `amb` [)]
            1:2: expected an operation, found `-` [-]; there are `(+ e …)` and `(amb e …)`
            1:2: expected an operation, found `)` [)]; there are `(+ e …)` and `(amb e …)`
            1:2: expected an operation, found `1` [1]; there are `(+ e …)` and `(amb e …)`
            1:1: expected a term, found `x` [x]; a term is a number, `(+ e …)` or `(amb e …)`
            1:6: expected a term, found `amb` [amb]; an operation is in parentheses, and its name comes first: `(amb 1 2)`
            1:1: expected a term, found `amb` [amb]; an operation is in parentheses, and its name comes first: `(amb 1 2)`
            1:1: this number is too large [9223372036854775808]; whole numbers go from -9223372036854775808 to 9223372036854775807
            1:1: expected a term, found `1.5` [1.5]; a term is a number, `(+ e …)` or `(amb e …)`
            1:1: expected a term, found `--1` [--1]; a term is a number, `(+ e …)` or `(amb e …)`
            1:1: expected a term, found `-` [-]; a term is a number, `(+ e …)` or `(amb e …)`
            1:4: expected a term, found `ü` [ü]; a term is a number, `(+ e …)` or `(amb e …)`
            1:2: expected an operation, found `grüß` [grüß]; there are `(+ e …)` and `(amb e …)`
        "#]],
    );
}

#[test]
fn deep_nesting_is_an_error() {
    for (levels, is_right) in [(100, true), (101, false), (100_000, false)] {
        let text = format!("{}1{}", "(+ ".repeat(levels), ")".repeat(levels));
        assert_eq!(parse(&Source::new("deep", text)).is_ok(), is_right);
    }
}
