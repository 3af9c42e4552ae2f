//! What is said about a text that is not a program.

use expect_test::{Expect, expect};

use crate::{check, parsed};

/// All of the errors, each below its text.
fn check_all(texts: &[&str], expected: Expect) {
    let shown: Vec<_> = texts
        .iter()
        .map(|text| format!("| {}\n{}", text.replace('\n', "\n| "), parsed(text)))
        .collect();
    expected.assert_eq(&shown.join("\n"));
}

#[test]
fn what_is_not_closed_is_pointed_at() {
    check(
        "def a() {\n  if: c then: {\n    1;\n}\n\n\n",
        expect![[r#"
        4:2: expected `}`, found the end of the program []
          1:9: what is not closed begins here [{]
          help: nothing closes this `{`
    "#]],
    );
    check_all(
        &[
            "f(1; 2)",
            "f(1 2)",
            "[1, 2",
            "x := (1 + 2;",
            "l[1;",
            "{ |x, y }",
            "def m(a b) {}",
            "\"abc\ndef",
            "/* comment",
            "x }",
            ")",
            "f(1,)",
            "def m(a,) {}",
            "a + || b",
            "{ 1 + }",
            "{ 1 ) }",
            "{",
        ],
        expect![[r#"
            | f(1; 2)
            1:4: expected `,` or `)`, found `;` [;]
              1:2: what is not closed begins here [(]

            | f(1 2)
            1:5: expected `,` or `)`, found `2` [2]
              1:2: what is not closed begins here [(]

            | [1, 2
            1:6: expected `,` or `]`, found the end of the program []
              1:1: what is not closed begins here [[]
              help: nothing closes this `[`

            | x := (1 + 2;
            1:12: expected `)`, found `;` [;]
              1:6: what is not closed begins here [(]

            | l[1;
            1:4: expected `]`, found `;` [;]
              1:2: what is not closed begins here [[]

            | { |x, y }
            1:9: expected `,` or `|`, found `}` [}]
              1:3: what is not closed begins here [|]
              help: the `|` has to be closed before

            | def m(a b) {}
            1:9: expected `,` or `)`, found `b` [b]
              1:6: what is not closed begins here [(]

            | "abc
            | def
            1:1: this text is not closed ["abc]
              help: a text ends with `"` on the line on which it begins; a new line in it is written `\n`

            | /* comment
            1:1: this comment is not closed [/*]
              help: a comment that begins with `/*` ends with `*/`

            | x }
            1:3: expected a statement, found `}` [}]
              help: nothing is open here that this closes

            | )
            1:1: expected a statement, found `)` [)]
              help: nothing is open here that this closes

            | f(1,)
            1:5: expected an expression, found `)` [)]

            | def m(a,) {}
            1:9: expected a name, found `)` [)]

            | a + || b
            1:5: expected an expression, found `||` [||]

            | { 1 + }
            1:7: expected an expression, found `}` [}]

            | { 1 ) }
            1:5: expected `;`, found `)` [)]
              help: nothing is open here that this closes

            | {
            1:2: expected `}`, found the end of the program []
              1:1: what is not closed begins here [{]
              help: nothing closes this `{`
        "#]],
    );
}

#[test]
fn a_missing_semicolon_is_recognised() {
    check(
        "def x := 1\ndef y := 2",
        expect![[r#"
        2:1: expected `;`, found `def` [def]
          1:10: a `;` is missing after this [1]
          help: statements are separated by `;`
    "#]],
    );
    check(
        "a.b()\nc.d()",
        expect![[r#"
        2:1: expected `;`, found `c` [c]
          1:5: a `;` is missing after this [)]
          help: statements are separated by `;`
    "#]],
    );
    check(
        "if: a then: { 1 }\n  b",
        expect![[r#"
        2:3: expected `;`, found `b` [b]
          1:17: a `;` is missing after this [}]
          help: statements are separated by `;`
    "#]],
    );
}

#[test]
fn signs_of_other_languages() {
    check_all(
        &[
            "x = 1",
            "def x = 1",
            "x === y",
            "a->b()",
            "x => y",
            "a & b",
            "a | b",
            "'a'",
            "# a",
            "a : b",
            "a \\ b",
            "a ? b",
            "x <-1",
            "x<-(1)",
        ],
        expect![[r#"
            | x = 1
            1:3: `=` neither assigns nor compares [=]
              help: did you mean `:=` or `==`?

            | def x = 1
            1:7: `=` neither assigns nor compares [=]
              help: did you mean `:=` or `==`?

            | x === y
            1:3: there is no operator `===` [===]
              help: two values are compared with `==`

            | a->b()
            1:2: there is no operator `->` [->]
              help: a message is sent with `<-`: `receiver<-message()`

            | x => y
            1:3: there is no operator `=>` [=>]
              help: at least is written `>=`, a block `{ |x| … }`

            | a & b
            1:3: there is no operator `&` [&]
              help: both of two conditions is written `&&`

            | a | b
            1:3: expected `;`, found `|` [|]
              help: a block begins with its parameters: `{ |x| … }`; one of two conditions is written `||`

            | 'a'
            1:1: found a single quote [']
              help: a text is written in double quotes: "text"

            | # a
            1:1: found a `#` [#]
              help: a comment is written `// …` or `/* … */`

            | a : b
            1:3: found a `:` on its own [:]
              help: a keyword and its colon belong together: `if: c then: { … }`; a value is assigned with `:=`

            | a \ b
            1:3: `\\` means nothing here [\]

            | a ? b
            1:3: `?` means nothing here [?]

            | x <-1
            1:5: expected the name of a message after `<-`, found `1` [1]
              help: to compare with what is negative, write `< -`

            | x<-(1)
            1:4: expected the name of a message after `<-`, found `(` [(]
              help: to compare with what is negative, write `< -`
        "#]],
    );
}

#[test]
fn definitions_that_are_none() {
    check_all(
        &[
            "def",
            "def := 1",
            "def 1 := 1",
            "def this := 1",
            "def x.y := 1",
            "def m { 1 }",
            "def m()",
            "def m() 1",
            "def [a, 1] := l",
            "def [a]",
            "def at: 1 {}",
            "f(def x := 1)",
            "def m(self) {}",
        ],
        expect![[r#"
            | def
            1:4: expected a name after `def`, found the end of the program []

            | def := 1
            1:5: expected a name after `def`, found `:=` [:=]
              help: a variable is written `def x := 1`

            | def 1 := 1
            1:5: expected a name after `def`, found `1` [1]

            | def this := 1
            1:5: expected a name after `def`, found `this` [this]
              help: `this` has a meaning of its own

            | def x.y := 1
            1:6: expected `(` or `:=`, found `.` [.]
              help: a field is defined in the braces of its object

            | def m { 1 }
            1:7: expected `(` or `:=`, found `{` [{]
              help: a method without parameters is written `def m() { … }`

            | def m()
            1:8: expected `{` and what the method does, found the end of the program []

            | def m() 1
            1:9: expected `{` and what the method does, found `1` [1]

            | def [a, 1] := l
            1:9: expected a name, found `1` [1]

            | def [a]
            1:8: expected `:=` and a list, found the end of the program []

            | def at: 1 {}
            1:9: expected the name of a parameter, found `1` [1]

            | f(def x := 1)
            1:3: expected an expression, found `def` [def]
              help: a definition is a statement; in the place of a value, write `{ def … }`

            | def m(self) {}
            1:7: expected a name, found `self` [self]
              help: `self` has a meaning of its own
        "#]],
    );
}

#[test]
fn what_cannot_be_assigned() {
    check_all(
        &[
            "1 := 2",
            "m() := 1",
            "a + b := 1",
            "this := 1",
            "o.at: 1 := 2",
            "if: a then: x := 1",
        ],
        expect![[r#"
            | 1 := 2
            1:1: `1` cannot be assigned [1]
              help: what can be assigned is a variable `x`, a field `o.x`, an element `l[i]`

            | m() := 1
            1:1: `m()` cannot be assigned [m()]
              help: what can be assigned is a variable `x`, a field `o.x`, an element `l[i]`

            | a + b := 1
            1:1: `a + b` cannot be assigned [a + b]
              help: what can be assigned is a variable `x`, a field `o.x`, an element `l[i]`

            | this := 1
            1:1: `this` cannot be assigned [this]
              help: what can be assigned is a variable `x`, a field `o.x`, an element `l[i]`

            | o.at: 1 := 2
            1:1: `o.at: 1` cannot be assigned [o.at: 1]
              help: what can be assigned is a variable `x`, a field `o.x`, an element `l[i]`

            | if: a then: x := 1
            1:15: expected `;`, found `:=` [:=]
              help: what can be assigned is a variable `x`, a field `o.x`, an element `l[i]`
        "#]],
    );
}

#[test]
fn messages_that_are_none() {
    check_all(
        &[
            "o.",
            "o.1",
            "o<-",
            "o<-m",
            "o<-m;",
            "o<-m()@",
            "o<-m()@Due",
            "o.m()@FutureMessage",
            "when: a@FutureMessage becomes: { }",
            "o at: 1",
            "1 + if: a then: { 1 }",
            "o.self",
            "f()(1)",
            "{ 1 }(2)",
        ],
        expect![[r#"
            | o.
            1:3: expected a name after `.`, found the end of the program []

            | o.1
            1:3: expected a name after `.`, found `1` [1]

            | o<-
            1:4: expected the name of a message after `<-`, found the end of the program []

            | o<-m
            1:5: expected `(` after the name of a message, found the end of the program []
              help: a message without arguments is sent with `<-m()`

            | o<-m;
            1:5: expected `(` after the name of a message, found `;` [;]
              help: a message without arguments is sent with `<-m()`

            | o<-m()@
            1:8: expected the name of an annotation after `@`, found the end of the program []

            | o<-m()@Due
            1:8: there is no annotation `Due` [Due]
              help: there are `@FutureMessage`, `@TwoWayMessage`, `@OneWayMessage`

            | o.m()@FutureMessage
            1:6: expected `;`, found `@` [@]
              help: an annotation comes right after a message that is sent: `o<-m()@FutureMessage`

            | when: a@FutureMessage becomes: { }
            1:8: expected a keyword, found `@` [@]
              help: an annotation comes right after a message that is sent: `o<-m()@FutureMessage`

            | o at: 1
            1:3: expected `;`, found `at:` [at:]
              help: a message with keywords has a `.` or `<-` before it, or is alone, or in parentheses

            | 1 + if: a then: { 1 }
            1:5: expected an expression, found `if:` [if:]
              help: a message with keywords has a `.` or `<-` before it, or is alone, or in parentheses

            | o.self
            1:3: expected a name after `.`, found `self` [self]
              help: `self` has a meaning of its own

            | f()(1)
            1:4: expected `;`, found `(` [(]
              help: what is called has a name; a block is called with `.apply(…)`

            | { 1 }(2)
            1:6: expected `;`, found `(` [(]
              help: what is called has a name; a block is called with `.apply(…)`
        "#]],
    );
}

#[test]
fn control_structures_that_are_none() {
    check_all(
        &[
            "if: a",
            "if: a else: { 1 }",
            "while: { a }",
            "when: a",
            "try: { 1 }",
            "try: { 1 } catch: XType using: { |e| e }",
            "actor: x",
            "object: { |x| 1 }",
            "isolate: 1",
            "if: then: { 1 }",
            "raise:",
            "actor: x.m()",
        ],
        expect![[r#"
            | if: a
            1:1: there is no `if:` [if:]
              help: there is `if:then:`, `if:then:else:`; an argument that has keywords itself takes all that follow, unless it is in parentheses

            | if: a else: { 1 }
            1:1: there is no `if:else:` [if:]
              help: there is `if:then:`, `if:then:else:`; an argument that has keywords itself takes all that follow, unless it is in parentheses

            | while: { a }
            1:1: there is no `while:` [while:]
              help: there is `while:do:`; an argument that has keywords itself takes all that follow, unless it is in parentheses

            | when: a
            1:1: there is no `when:` [when:]
              help: there is `when:becomes:`, `when:becomes:catch:`; an argument that has keywords itself takes all that follow, unless it is in parentheses

            | try: { 1 }
            1:1: there is no `try:` [try:]
              help: there is `try:catch:`; an argument that has keywords itself takes all that follow, unless it is in parentheses

            | try: { 1 } catch: XType using: { |e| e }
            1:1: there is no `try:catch:using:` [try:]
              help: exceptions have no types here, and all of them are caught: `catch: { |e| … }`

            | actor: x
            1:8: expected a block after `actor:` [x]
              help: to go on with what it makes, put it into parentheses: `(actor: { … }).m()`

            | object: { |x| 1 }
            1:12: an object takes no parameters [x]
              help: it sees the variables around it; an actor and an isolate do not

            | isolate: 1
            1:10: expected a block after `isolate:` [1]
              help: to go on with what it makes, put it into parentheses: `(isolate: { … }).m()`

            | if: then: { 1 }
            1:1: there is no `if:` [if:]
              help: there is `if:then:`, `if:then:else:`; an argument that has keywords itself takes all that follow, unless it is in parentheses

            | raise:
            1:7: expected an expression, found the end of the program []

            | actor: x.m()
            1:8: expected a block after `actor:` [x.m()]
              help: to go on with what it makes, put it into parentheses: `(actor: { … }).m()`
        "#]],
    );
}

#[test]
fn numbers_and_texts_that_are_none() {
    check_all(
        &[
            "9223372036854775808",
            "-9223372036854775809",
            "99999999999999999999999",
            "1e999",
            "12abc",
            "1.5.5",
            "1.",
            "\"\\x\"",
            "\"\\",
            "1 2",
            "-9223372036854775808.abs()",
        ],
        expect![[r#"
            | 9223372036854775808
            1:1: this number is too large [9223372036854775808]
              help: whole numbers go from -9223372036854775808 to 9223372036854775807

            | -9223372036854775809
            1:1: this number is too large [-9223372036854775809]
              help: whole numbers go from -9223372036854775808 to 9223372036854775807

            | 99999999999999999999999
            1:1: this number is too large [99999999999999999999999]
              help: whole numbers go from -9223372036854775808 to 9223372036854775807

            | 1e999
            1:1: this number is too large [1e999]
              help: the largest number is about 1.8e308

            | 12abc
            1:1: the number `12` goes on with `abc` [12abc]
              help: a name begins with a letter or `_`

            | 1.5.5
            1:5: expected a name after `.`, found `5` [5]

            | 1.
            1:3: expected a name after `.`, found the end of the program []

            | "\x"
            1:2: `\x` means nothing in a text [\x]
              help: there are `\n`, `\t`, `\r`, `\"` and `\\`

            | "\
            1:1: this text is not closed ["]
              help: a text ends with `"` on the line on which it begins; a new line in it is written `\n`

            | 1 2
            1:3: expected `;`, found `2` [2]
              1:1: a `;` is missing after this [1]
              help: statements are separated by `;`

            | -9223372036854775808.abs()
            1:2: this number is too large [9223372036854775808]
              help: whole numbers go from -9223372036854775808 to 9223372036854775807
        "#]],
    );
}

#[test]
fn deep_nesting_is_an_error() {
    for (open, inner, close) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{", "1", "}"),
        ("f(", "1", ")"),
        ("!", "a", ""),
        ("- ", "a", ""),
        ("1 + ", "1", ""),
        ("", "1", " + 1"),
        ("a && ", "a", ""),
        ("(", "1", " + 1 + 1 + 1)"),
        ("", "o", ".m"),
        ("", "o", "<-m()"),
        ("", "o", "[1]"),
        ("o[", "1", "]"),
        ("x := ", "1", ""),
        ("raise: ", "1", ""),
        ("o.at: ", "1", ""),
        ("def m() { ", "1", " }"),
        ("actor: { ", "1", " }"),
        ("if: a then: { ", "1", " }"),
        ("def x := { |y| ", "1", " }"),
        ("o.m(", "1", ").m()"),
    ] {
        let nested = |levels| format!("{}{inner}{}", open.repeat(levels), close.repeat(levels));
        let text = nested(20);
        assert!(!parsed(&text).contains("nested"), "{}", parsed(&text));
        for levels in [50, 99, 200, 1000, 100_000] {
            let shown = parsed(&nested(levels));
            assert!(
                levels < 200 || shown.contains("nested more than 100"),
                "{open}{close}"
            );
        }
    }
}

#[test]
fn the_first_error_is_the_one_that_is_reported() {
    check(
        "x y = 3",
        expect![[r#"
        1:3: expected `;`, found `y` [y]
          1:1: a `;` is missing after this [x]
          help: statements are separated by `;`
    "#]],
    );
}

#[test]
fn a_diagnostic_shows_the_line() {
    let text = "def a() {\n    o<-m(1\n};\n";
    let source = reenact_ambient::Source::new("program.at", text);
    let error = reenact_ambient::at::parse(&source).unwrap_err();
    let shown = annotate_snippets::Renderer::plain().render(&[error.report()]);
    expect![[r#"
        error: expected `,` or `)`, found `}`
         --> program.at:3:1
          |
        2 |     o<-m(1
          |         - what is not closed begins here
        3 | };
          | ^ here
          |
          = help: the `(` has to be closed before
    "#]]
    .assert_eq(&format!("{shown}\n"));
}
