//! What the user asked to keep out of the trace: `header:authorization`, `env:TOKEN`.
//!
//! A name is a kind of thing and which one it is. The list is in the trace, so that a replay can say what is missing.

use std::sync::OnceLock;

/// The variable of the environment that has the list, with commas between.
pub(crate) const VARIABLE: &str = "REENACT_REDACT";

/// The list, as the user gave it.
pub(crate) fn list() -> &'static [String] {
    static LIST: OnceLock<Vec<String>> = OnceLock::new();
    LIST.get_or_init(|| {
        std::env::var(VARIABLE)
            .unwrap_or_default()
            .split(',')
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect()
    })
}

/// Whether this one of these things is to be kept out of the trace, as in `is_withheld("header", "authorization")`. Case
/// does not matter.
pub fn is_withheld(kind: &str, name: &str) -> bool {
    list().iter().any(|withheld| names(withheld, kind, name))
}

/// What a trace that is replayed does not have.
static MISSING: OnceLock<Vec<String>> = OnceLock::new();

/// In this replay, these are missing.
pub(crate) fn set_missing(missing: &[String]) {
    let _ = MISSING.set(missing.to_vec());
}

/// Whether this is one of them.
pub(crate) fn is_missing(kind: &str, name: &str) -> bool {
    let missing = MISSING.get().map_or(&[][..], Vec::as_slice);
    missing.iter().any(|withheld| names(withheld, kind, name))
}

/// Whether an entry of a list means this.
fn names(withheld: &str, kind: &str, name: &str) -> bool {
    withheld
        .split_once(':')
        .is_some_and(|(k, n)| k.eq_ignore_ascii_case(kind) && n.eq_ignore_ascii_case(name))
}
