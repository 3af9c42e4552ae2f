//! Generated terms. `cargo xtask hunt` tries others; `REENACT_CASES=5000` for more of them.

use std::collections::BTreeSet;

use proptest::{collection::vec, prelude::*};
use reenact_ambient::{
    Source, Span,
    amb::{Program, Term, debugger::Debugger, parse},
};
use reenact_testing::generated;

use crate::Found;

fn any_term() -> impl Strategy<Value = Term> {
    let number = (-9..10i64).prop_map(Term::Number);
    number.prop_recursive(4, 12, 3, |term| {
        let parts = vec(term, 1..4);
        prop_oneof![
            parts.clone().prop_map(|parts| Term::Add(parts.into())),
            parts.prop_map(|parts| Term::Amb(parts.into())),
        ]
    })
}

/// All values that a term can have, by what it means rather than by steps.
fn meaning(term: &Term) -> BTreeSet<i64> {
    match term {
        Term::Number(number) => [*number].into(),
        Term::Amb(parts) => parts.iter().flat_map(meaning).collect(),
        Term::Add(parts) => parts.iter().map(meaning).fold([0].into(), |sums, values| {
            let values = &values;
            let sums = sums
                .iter()
                .flat_map(|sum| values.iter().map(move |value| sum + value));
            sums.collect()
        }),
    }
}

proptest! {
    #![proptest_config(generated::config(256))]

    #[test]
    fn the_ends_are_what_the_term_means(term in any_term()) {
        let program = Program::from(term.clone());
        let outcomes = Found::all(&program).outcomes(&program);
        let meant: BTreeSet<_> = meaning(&term).iter().map(i64::to_string).collect();
        prop_assert_eq!(outcomes, meant);
    }

    #[test]
    fn the_debugger_adds_nothing_and_hides_nothing(term in any_term()) {
        let program = Program::from(term);
        let debugger = Debugger(program.clone());
        let (plain, debugged) = (Found::all(&program), Found::all(&debugger));
        let seen: BTreeSet<_> = debugged.states.keys().map(|state| state.base.to_string()).collect();
        let there: BTreeSet<_> = plain.states.keys().map(Term::to_string).collect();
        prop_assert_eq!(seen, there);
        prop_assert_eq!(debugged.states.len(), 2 * plain.states.len() - 1);
        prop_assert_eq!(debugged.endings(&debugger), plain.endings(&program));
    }

    #[test]
    fn what_is_printed_is_read_as_the_same(term in any_term()) {
        let text = term.to_string();
        prop_assert_eq!(parse(&Source::new("printed", text)), Ok(term));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[ ()+amb0-9;\\n-]{0,30}|\\PC{0,20}") {
        if let Err(error) = parse(&Source::new("any", text.as_str())) {
            let there = |span: Span| text.get(span.start as usize..span.end as usize);
            prop_assert!(there(error.span()).is_some());
            prop_assert!(error.related().is_none_or(|(span, _)| there(span).is_some()));
        }
    }
}
