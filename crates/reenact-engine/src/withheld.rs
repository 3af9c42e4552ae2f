//! Data that the user asked to keep out of the trace: `header:authorization`, `env:TOKEN`.
//!
//! An entry is a kind and a name. The list is in the trace, so that a replay can say what is missing.

use std::sync::OnceLock;

/// The environment variable with the list, separated by commas.
pub(crate) const VARIABLE: &str = "REENACT_REDACT";

/// Returns the list, as the user gave it.
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

/// Returns whether the item of this kind and name is to be kept out of the trace, as in `is_withheld("header",
/// "authorization")`. Case does not matter.
pub fn is_withheld(kind: &str, name: &str) -> bool {
    list().iter().any(|withheld| names(withheld, kind, name))
}

/// What is missing in the trace that is replayed.
static MISSING: OnceLock<Vec<String>> = OnceLock::new();

/// Sets what is missing in this replay.
pub(crate) fn set_missing(missing: &[String]) {
    let _ = MISSING.set(missing.to_vec());
}

/// Returns whether this item is missing in the trace.
pub(crate) fn is_missing(kind: &str, name: &str) -> bool {
    let missing = MISSING.get().map_or(&[][..], Vec::as_slice);
    missing.iter().any(|withheld| names(withheld, kind, name))
}

/// Returns whether an entry of a list means this item.
fn names(withheld: &str, kind: &str, name: &str) -> bool {
    withheld
        .split_once(':')
        .is_some_and(|(k, n)| k.eq_ignore_ascii_case(kind) && n.eq_ignore_ascii_case(name))
}
