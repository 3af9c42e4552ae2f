//! What people type and read: conditions, breakpoints, observations.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use reenact_multiverse::{Breakpoint, Expression, Observation};
use reenact_testing::generated;

fn record(fields: &[(&str, Observation)]) -> Observation {
    Observation::Record(
        fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect(),
    )
}

fn text(text: &str) -> Observation {
    Observation::Text(text.to_owned())
}

fn seen() -> Observation {
    record(&[
        (
            "math",
            record(&[
                ("result", Observation::Int(24)),
                ("ratio", Observation::Float(0.5)),
                (
                    "inbox",
                    Observation::List(vec![
                        record(&[("name", text("double"))]),
                        record(&[("name", text("getResult"))]),
                    ]),
                ),
                ("tags", Observation::List(vec![text("a"), text("b")])),
                ("ok", Observation::Bool(true)),
                ("none", Observation::Null),
            ]),
        ),
        ("client-1", record(&[("x", Observation::Int(-3))])),
    ])
}

#[test]
fn conditions_hold_where_they_should() {
    let holds = [
        "math.result == 24",
        "math.result == 24.0",
        "math.result != 25 && math.ok",
        "math.result >= 24 && math.result <= 24 && !(math.result < 24) && !(math.result > 24)",
        "math.inbox[1].name == \"getResult\"",
        "math.inbox.length == 2 && length(math.inbox) == 2 && length('abc') == 3",
        "contains(math.tags, 'b') && !contains(math.tags, 'c')",
        "contains('getResult', 'Res') && contains(math, 'ok')",
        "1 + 2 * 3 == 7 && (1 + 2) * 3 == 9 && 7 % 4 == 3 && 10 - 2 - 3 == 5",
        "7 / 2 == 3.5 && 8 / 2 == 4",
        "-math.result == 0 - 24",
        "`client-1`.x == -3",
        "math.none == null && nobody.at[3].all == null && !nobody.there",
        "'a' + 'b' == 'ab' && 'a' < 'b'",
        "true || 1 / 0 == 3",
        "9223372036854775807 + 1 > 0",
    ];
    let does_not = [
        "math.result",
        "nobody.result == 24",
        "nobody.result < 1",
        "math.result < 'x'",
        "math < 3 || math.inbox > 2",
        "1 / 0 == 1 / 0 + 1 && false",
        "math.inbox[2].name == 'x'",
        "math.result && true",
        "length(3) == 1",
    ];
    for (texts, expected) in [(&holds[..], true), (&does_not[..], false)] {
        for text in texts {
            let condition = Expression::parse(text).unwrap();
            assert_eq!(condition.holds(&seen()), expected, "{text}");
            assert_eq!(condition.to_string(), *text);
        }
    }
}

fn wrong<T: std::fmt::Debug>(
    parse: impl Fn(&str) -> Result<T, reenact_multiverse::SyntaxError>,
    text: &str,
    expected: Expect,
) {
    expected.assert_eq(&parse(text).unwrap_err().to_string());
}

#[test]
fn a_wrong_condition_is_reported_where_and_why() {
    let parse = Expression::parse;
    wrong(
        parse,
        "",
        expect![
            "column 1: found the end, expected a path such as math.result, a number, a text in quotes, true, false, null, contains(…), length(…) or `(`"
        ],
    );
    wrong(
        parse,
        "math.result = 3",
        expect!["column 13: `=` means nothing here, equal is `==`"],
    );
    wrong(
        parse,
        "math.result == ",
        expect![
            "column 16: found the end, expected a path such as math.result, a number, a text in quotes, true, false, null, contains(…), length(…) or `(`"
        ],
    );
    wrong(
        parse,
        "(a == 3",
        expect!["column 8: found the end, expected `)`"],
    );
    wrong(
        parse,
        "a b",
        expect![
            "column 3: found `b`, expected an operator (== != < <= > >= && || + - * / %) or the end"
        ],
    );
    wrong(parse, "'abc", expect!["column 1: no closing '"]);
    wrong(
        parse,
        "a[x]",
        expect!["column 3: found `x`, expected the number of an item, from 0"],
    );
    wrong(
        parse,
        "größe.3",
        expect!["column 7: found `3`, expected a name"],
    );
    wrong(
        parse,
        "size(a)",
        expect!["column 5: there is no function `size`, only contains and length"],
    );
    wrong(
        parse,
        &"(".repeat(100_000),
        expect!["column 65: a condition can be nested 64 deep at most"],
    );
    wrong(
        parse,
        &"1+".repeat(100_000),
        expect!["column 1026: a condition can have 512 operators at most"],
    );
}

#[test]
fn a_breakpoint_reads_back_as_it_was_written() {
    let texts = [
        "message-sender",
        "message-receiver double by math if math.result == 24",
        "before-turn double by client1 to math at 12",
        "line 12",
        "line 12 by math if true",
        "message-sender \"by\" by \"an actor\" to \"say \\\"x\\\"\"",
        "temporal (message-sender getResult) after (before-turn double) without (before-turn reset)",
        "temporal any* (line 3 | before-turn x), not (after-turn)+ resolver? if a == 1",
    ];
    for text in texts {
        let breakpoint = Breakpoint::parse(text).unwrap();
        assert_eq!(breakpoint.to_string(), text);
        let spaced = format!("  {}  ", text.replace(' ', "   "));
        if !text.contains('"') && !text.contains("temporal") && !text.contains("if") {
            assert_eq!(Breakpoint::parse(&spaced).unwrap(), breakpoint);
        }
    }
}

#[test]
fn a_wrong_breakpoint_is_reported_where_and_why() {
    let parse = Breakpoint::parse;
    wrong(
        parse,
        "",
        expect![
            "column 1: found the end, expected a kind of breakpoint: line, message-sender, message-receiver, before-turn, after-turn, resolver, resolution, before-channel-send, after-channel-send, before-channel-receive, after-channel-receive, before-select, after-select, before-channel-close, after-channel-close, creation, after-creation, begin, after-begin, before-end, after-end, before-join, after-join, before-transaction, before-commit, after-commit, before-lock, after-lock, before-unlock, after-unlock, before-wait, after-wait, before-wake, after-wake, before-notify, after-notify, before-atomic-read, after-atomic-read, before-atomic-write, after-atomic-write, before-barrier, after-barrier, before-question, after-question, before-external, after-external, before-choice, after-choice, temporal"
        ],
    );
    wrong(
        parse,
        "message-sendr double",
        expect![
            "column 1: found `message-sendr`, expected a kind of breakpoint: line, message-sender, message-receiver, before-turn, after-turn, resolver, resolution, before-channel-send, after-channel-send, before-channel-receive, after-channel-receive, before-select, after-select, before-channel-close, after-channel-close, creation, after-creation, begin, after-begin, before-end, after-end, before-join, after-join, before-transaction, before-commit, after-commit, before-lock, after-lock, before-unlock, after-unlock, before-wait, after-wait, before-wake, after-wake, before-notify, after-notify, before-atomic-read, after-atomic-read, before-atomic-write, after-atomic-write, before-barrier, after-barrier, before-question, after-question, before-external, after-external, before-choice, after-choice, temporal"
        ],
    );
    wrong(
        parse,
        "line twelve",
        expect!["column 6: found `twelve`, expected the number of a line"],
    );
    wrong(
        parse,
        "before-turn double by",
        expect!["column 22: found the end, expected the name of an activity"],
    );
    wrong(
        parse,
        "before-turn double in math",
        expect![
            "column 20: found `in`, expected by ACTIVITY, to ACTIVITY, at LINE, if CONDITION or the end"
        ],
    );
    wrong(
        parse,
        "before-turn if a ==",
        expect![
            "column 20: found the end, expected a path such as math.result, a number, a text in quotes, true, false, null, contains(…), length(…) or `(`"
        ],
    );
    wrong(
        parse,
        "temporal (any",
        expect!["column 14: found the end, expected `)`"],
    );
    wrong(
        parse,
        "temporal not (any any)",
        expect![
            "column 23: what comes after `not` must be one operation, or several with `|` between them"
        ],
    );
    wrong(
        parse,
        "temporal any* after resolver",
        expect![
            "column 15: what comes before `after` must be one operation, or several with `|` between them"
        ],
    );
    wrong(
        parse,
        &format!("temporal {}", "any ".repeat(64)),
        expect!["column 266: a temporal breakpoint can have 63 operations at most"],
    );
    wrong(
        parse,
        &format!("temporal {}", "any|".repeat(9999)),
        expect!["column 1034: a temporal breakpoint can have 256 parts at most"],
    );
    wrong(
        parse,
        &format!("temporal {}", "(".repeat(9999)),
        expect!["column 42: a temporal breakpoint can be nested 32 deep at most"],
    );
}

#[test]
fn observations_are_read_on_one_line_or_many() {
    expect![[r#"{math: {result: 24, ratio: 0.5, inbox: [{name: "double"}, {name: "getResult"}], tags: ["a", "b"], ok: true, none: null}, client-1: {x: -3}}"#]].assert_eq(&seen().to_string());
    expect![[r#"
        math:
          result: 24
          ratio: 0.5
          inbox:
            - {name: "double"}
            - {name: "getResult"}
          tags: ["a", "b"]
          ok: true
          none: null
        client-1:
          x: -3"#]]
    .assert_eq(&format!("{:#}", seen()));
}

#[test]
fn observations_are_found_by_path_and_compared() {
    let mut after = seen();
    assert_eq!(seen().get("math.inbox[0].name"), Some(text("double")));
    assert_eq!(seen().get("math.inbox.length"), Some(Observation::Int(2)));
    assert_eq!(seen().get("math.outbox"), None);
    assert_eq!(seen().get("1 + 1"), None);
    assert_eq!(seen().diff(&after), []);
    let Observation::Record(actors) = &mut after else {
        unreachable!("it is a record")
    };
    actors[1].1 = record(&[("y", Observation::Null)]);
    let Observation::Record(math) = &mut actors[0].1 else {
        unreachable!("it is a record")
    };
    math[0].1 = Observation::Int(66);
    math[2].1 = Observation::List(vec![record(&[("name", text("getResult"))])]);
    let shown: Vec<_> = seen()
        .diff(&after)
        .iter()
        .map(ToString::to_string)
        .collect();
    expect![[r#"
        math.result: 24 → 66
        math.inbox[0].name: "double" → "getResult"
        math.inbox[1]: {name: "getResult"} → nothing
        `client-1`.x: -3 → nothing
        `client-1`.y: nothing → null"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn a_record_is_a_map_for_programs() {
    expect![[r#"{"math":{"result":24,"ratio":0.5,"inbox":[{"name":"double"},{"name":"getResult"}],"tags":["a","b"],"ok":true,"none":null},"client-1":{"x":-3}}"#]].assert_eq(&serde_json::to_string(&seen()).unwrap());
}

proptest! {
    #![proptest_config(generated::config(512))]

    #[test]
    fn no_text_whatever_breaks_the_parsers(anything in any::<String>()) {
        let _ = Expression::parse(&anything).map(|one| one.holds(&seen()));
        let _ = Breakpoint::parse(&anything);
        let _ = seen().get(&anything);
    }

    #[test]
    fn what_looks_like_a_text_does_not_either(
        words in proptest::collection::vec(proptest::sample::select(vec![
            "temporal", "message-sender", "line", "12", "by", "to", "at", "if", "after", "without",
            "any", "not", "(", ")", "*", "+", "?", "|", ",", "x", "\"q\"", "`b`", "==", "&&", "!",
            "-", "a.b[0]", "[", "1.5", "contains", "length", "null", "'", "ä",
        ]), 0..12),
        at in 0..12usize,
    ) {
        let all = words.join(" ");
        if let Ok(breakpoint) = Breakpoint::parse(&all) {
            prop_assert_eq!(Breakpoint::parse(&breakpoint.to_string()), Ok(breakpoint));
        }
        let _ = Expression::parse(&all).map(|one| one.holds(&seen()));
        let glued = words[at.min(words.len())..].concat();
        let _ = Breakpoint::parse(&glued);
        let _ = Expression::parse(&glued);
    }
}
