//! The parser of AmbientTalk.

mod dump;
mod errors;
mod generated;
mod printer;
mod programs;
mod robust;
mod syntax;

use reenact_ambient::Source;

/// The tree of a text, or what is wrong with it: `line:column: message [the text there]` and the help below.
fn parsed(text: &str) -> String {
    let source = Source::new("test.at", text);
    match reenact_ambient::at::parse(&source) {
        Ok(statements) => statements
            .iter()
            .map(|statement| dump::statement(statement) + "\n")
            .collect(),
        Err(error) => {
            let site = source.site(error.span().start);
            let there = &text[error.span().start as usize..error.span().end as usize];
            let mut shown = format!("{site}: {} [{there}]\n", error.message());
            if let Some((span, why)) = error.related() {
                let there = &text[span.start as usize..span.end as usize];
                shown += &format!("  {}: {why} [{there}]\n", source.site(span.start));
            }
            if let Some(help) = error.help() {
                shown += &format!("  help: {help}\n");
            }
            shown
        }
    }
}

/// Compares the tree of a text, or its error, with what is expected.
fn check(text: &str, expected: expect_test::Expect) {
    expected.assert_eq(&parsed(text));
}
