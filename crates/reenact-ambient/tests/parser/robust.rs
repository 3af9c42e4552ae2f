//! Texts that are no programs: the parser says so, and nothing breaks.

use proptest::{collection::vec, prelude::*};
use reenact_ambient::{Source, Span, at::parse};
use reenact_testing::generated;

const LISTING: &str = include_str!("../../../../examples/ambient/listing1.at");

/// Pieces of programs, to be put together at random.
const PIECES: &[&str] = &[
    "def ",
    "x",
    " y ",
    ":=",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "|",
    "||",
    "&&",
    "<-",
    "->",
    ".",
    ",",
    ";",
    "@",
    "FutureMessage",
    "if: ",
    "then: ",
    "else: ",
    "when: ",
    "becomes: ",
    "actor: ",
    "object: ",
    "try: ",
    "catch: ",
    "at: ",
    "1",
    "-",
    "2.5",
    "1e",
    "\"",
    "\"a\"",
    "\\",
    "//",
    "/*",
    "*/",
    "\n",
    "+",
    "==",
    "=",
    "!",
    ":",
    "this",
    "ü",
    "9223372036854775808",
    "?",
    "\u{2028}",
    "\r\n",
    "\0",
];

/// Parses, and checks what an error says about places.
fn check(text: &str) -> Result<(), TestCaseError> {
    let source = Source::new("text.at", text);
    let Err(error) = parse(&source) else {
        return Ok(());
    };
    let there = |span: Span| text.get(span.start as usize..span.end as usize);
    prop_assert!(there(error.span()).is_some(), "{:?}", error);
    if let Some((span, _)) = error.related() {
        prop_assert!(there(span).is_some(), "{:?}", error);
    }
    let site = error.site().expect("the text is known");
    prop_assert!(source.line(site.line).is_some());
    let shown = annotate_snippets::Renderer::plain().render(&[error.report()]);
    prop_assert!(shown.contains("error: "), "{}", shown);
    Ok(())
}

proptest! {
    #![proptest_config(generated::config(512))]

    #[test]
    fn any_text(text in any::<String>()) {
        check(&text)?;
    }

    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..100)) {
        check(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn any_pieces(pieces in vec(proptest::sample::select(PIECES), 0..40)) {
        check(&pieces.concat())?;
    }

    #[test]
    fn a_program_with_a_part_replaced(
        from in any::<proptest::sample::Index>(),
        length in 0..20usize,
        pieces in vec(proptest::sample::select(PIECES), 0..4),
    ) {
        let from = from.index(LISTING.len());
        let to = (from + length).min(LISTING.len());
        check(&[&LISTING[..from], &pieces.concat(), &LISTING[to..]].concat())?;
    }
}

#[test]
fn every_beginning_of_a_program() {
    for end in 0..LISTING.len() {
        check(&LISTING[..end]).unwrap();
    }
}
