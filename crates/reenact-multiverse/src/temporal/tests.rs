//! Tests the automaton against brute force: all short words, and generated patterns.

use proptest::prelude::*;
use reenact_testing::generated;

use super::{Letter, PerformedStep, START, Shape, Temporal};
use crate::{
    Activity, Breakpoint, Operation, OperationKind, Pattern, PatternKind, What, catalogue,
};

const NAMES: [&str; 3] = ["a", "b", "c"];

/// A step is named by the method it sends.
fn step(name: &'static str) -> Operation<'static> {
    Operation {
        kind: OperationKind::MessageSend,
        activity: Activity(0),
        subject: name.into(),
        with: None,
        site: None,
        sent_at: None,
        depth: 0,
        marked: false,
    }
}

/// Whether the automaton accepts each nonempty prefix of a word.
fn accepts(automaton: &Temporal, word: &[&'static str]) -> Vec<bool> {
    let mut places = START;
    let after = word.iter().map(|name| {
        let happening = PerformedStep {
            operation: &step(name),
            done: &[],
            at_lines: &[],
            name: &|_| String::new(),
        };
        places = automaton.advance(places, &happening);
        automaton.accepts(places)
    });
    after.collect()
}

fn fits(letter: &Letter, name: &str) -> bool {
    match letter {
        Letter::Any => true,
        Letter::Pattern(pattern) => pattern.method.as_deref() == Some(name),
        Letter::Not(inner) => !fits(inner, name),
        Letter::Or(a, b) => fits(a, name) || fits(b, name),
    }
}

/// The positions where a match of the shape that begins at `at` can end.
fn ends(shape: &Shape, word: &[&str], at: usize) -> Vec<usize> {
    let mut all = match shape {
        Shape::Letter(letter) => match word.get(at) {
            Some(name) if fits(letter, name) => vec![at + 1],
            _ => vec![],
        },
        Shape::Sequence(a, b) => ends(a, word, at)
            .into_iter()
            .flat_map(|middle| ends(b, word, middle))
            .collect(),
        Shape::Or(a, b) => [ends(a, word, at), ends(b, word, at)].concat(),
        Shape::Maybe(inner) => [ends(inner, word, at), vec![at]].concat(),
        Shape::Star(inner) => [many(inner, word, at), vec![at]].concat(),
        Shape::Plus(inner) => many(inner, word, at),
    };
    all.sort_unstable();
    all.dedup();
    all
}

fn many(inner: &Shape, word: &[&str], at: usize) -> Vec<usize> {
    let once = ends(inner, word, at);
    let further = once.iter().filter(|end| **end > at);
    let more: Vec<_> = further.flat_map(|end| many(inner, word, *end)).collect();
    [once, more].concat()
}

fn words(length: usize) -> Vec<Vec<&'static str>> {
    let mut all = vec![vec![]];
    for _ in 0..length {
        let longer = |word: Vec<&'static str>| NAMES.map(|name| [&word[..], &[name]].concat());
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

fn letter() -> impl Strategy<Value = Letter> {
    let named = proptest::sample::select(NAMES.to_vec()).prop_map(|name| {
        Letter::Pattern(Pattern {
            kind: PatternKind::Kind(catalogue::breakpoint("message-sender").expect("it exists")),
            method: Some(name.to_owned()),
            by: None,
            to: None,
            line: None,
        })
    });
    prop_oneof![4 => named, 1 => Just(Letter::Any)].prop_recursive(2, 4, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|one| Letter::Not(Box::new(one))),
            (inner.clone(), inner).prop_map(|(a, b)| Letter::Or(Box::new(a), Box::new(b))),
        ]
    })
}

fn shape() -> impl Strategy<Value = Shape> {
    letter()
        .prop_map(Shape::Letter)
        .prop_recursive(4, 12, 2, |inner| {
            let two = (inner.clone(), inner.clone());
            prop_oneof![
                two.clone()
                    .prop_map(|(a, b)| Shape::Sequence(Box::new(a), Box::new(b))),
                two.prop_map(|(a, b)| Shape::Or(Box::new(a), Box::new(b))),
                inner.clone().prop_map(|one| Shape::Star(Box::new(one))),
                inner.clone().prop_map(|one| Shape::Plus(Box::new(one))),
                inner.prop_map(|one| Shape::Maybe(Box::new(one))),
            ]
        })
}

proptest! {
    #![proptest_config(generated::config(128))]

    #[test]
    fn the_automaton_accepts_what_the_pattern_means(shape in shape()) {
        let automaton = Temporal::new("", &shape).unwrap();
        prop_assert_eq!(automaton.accepts(START), ends(&shape, &[], 0).contains(&0));
        for word in words(4) {
            let expected: Vec<_> = (1..=4)
                .map(|length| ends(&shape, &word[..length], 0).contains(&length))
                .collect();
            prop_assert_eq!(accepts(&automaton, &word), expected);
        }
    }
}

#[test]
fn after_and_without_mean_what_they_say() {
    let parse = |text: &str| match Breakpoint::parse(text).unwrap().what {
        What::Temporal(temporal) => temporal,
        What::Operation(_) => unreachable!("it is temporal"),
    };
    let after = parse("temporal (message-sender a) after (message-sender b)");
    let without =
        parse("temporal message-sender a after message-sender b without message-sender c");
    let written = parse(
        "temporal any* message-sender b not (message-sender a | message-sender c)* message-sender a",
    );
    for word in words(5) {
        let last_is_a = word[4] == "a";
        let since_b = |stops: &[&str]| {
            let earlier = word[..4].iter().rev();
            earlier
                .take_while(|name| !stops.contains(name))
                .any(|name| *name == "b")
        };
        let expected = last_is_a && since_b(&["a"]);
        assert_eq!(accepts(&after, &word)[4], expected, "{word:?}");
        let expected = last_is_a && since_b(&["a", "c"]);
        assert_eq!(accepts(&without, &word)[4], expected, "{word:?}");
        assert_eq!(accepts(&written, &word), accepts(&without, &word));
    }
}

#[test]
fn an_automaton_has_63_positions_at_most() {
    let text = |count: usize| format!("temporal {}", "any ".repeat(count));
    assert!(Breakpoint::parse(&text(63)).is_ok());
    assert!(Breakpoint::parse(&text(64)).is_err());
}
