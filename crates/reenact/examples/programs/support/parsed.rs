//! Programs that are given as text, in the language of some generated test.

use std::{fmt::Debug, str::FromStr};

use super::panic_quietly;

/// Parses the first argument, interprets it, and returns true. Panics are part of these programs and say nothing, unless `PANIC_LOUDLY` is
/// set.
pub(crate) fn parse_and_interpret<P>(arguments: &[String], interpret: impl FnOnce(P)) -> bool
where
    P: FromStr + Debug,
    P::Err: Debug,
{
    if std::env::var_os("PANIC_LOUDLY").is_none() {
        panic_quietly();
    }
    match arguments.first().map(|text| text.parse()) {
        Some(Ok(program)) => interpret(program),
        other => {
            eprintln!("the argument is not the text of a program: {other:?}");
            std::process::exit(2);
        }
    }
    true
}
