//! Programs that are given as text, in the language of some generated test.

use std::{fmt::Debug, str::FromStr};

use crate::workers::panic_quietly;

/// Parses the first argument and interprets it. Panics are part of these programs and say nothing, unless `PANIC_LOUDLY` is
/// set.
pub(crate) fn interpret<P>(usage: &str, arguments: &[String], interpret: impl FnOnce(P))
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
            eprintln!("programs {usage} TEXT: {other:?}");
            std::process::exit(2);
        }
    }
}
