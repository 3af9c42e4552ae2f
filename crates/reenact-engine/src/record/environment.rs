//! Which variables of the environment are in a trace.
//!
//! A few are always recorded: those that change how text is shown, and harm nobody. All others are recorded when the
//! program asks for them by name ([`note`]), with the value that they had when the recording began. If the name or the
//! value looks like a secret, only the name is recorded, and a replay takes the value from its own environment.
//!
//! The user can name further ones ([`VARIABLE`]), and variables that must not be recorded ([`is_withheld`]).

use std::{
    collections::BTreeSet,
    ffi::{CStr, OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    sync::{Mutex, OnceLock, PoisonError},
};

use reenact_trace::{Variable, VariableValue};

use super::RECORDER;
use crate::{Map, external::untracked, is_withheld, mode};

/// The environment variable with the names of variables that are recorded in any case, separated by commas. `*` at the
/// end of a name stands for any end.
pub(crate) const VARIABLE: &str = "REENACT_ENV";

/// Variables that are always recorded: language, time zone, the kind of terminal and its colours.
const ALWAYS: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "COLORTERM",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
];

/// What the name of a secret contains.
const SECRET: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASS",
    "PWD",
    "KEY",
    "CRED",
    "AUTH",
    "COOKIE",
    "SESSION",
    "PRIVATE",
    "CERT",
    "DSN",
    "CONNECTION_STRING",
    "SIGNATURE",
    "WEBHOOK",
    "JWT",
    "BEARER",
    "SALT",
];

/// Names that only look so.
const NO_SECRET: &[&str] = &["PWD", "OLDPWD", "KEYBOARD", "XDG_SESSION_TYPE"];

/// How many different names a program may ask for; further ones are not recorded.
const MOST: usize = 10_000;

/// Returns whether a name matches a pattern of these.
fn is_among<'a>(name: &str, patterns: impl IntoIterator<Item = &'a str>) -> bool {
    let is_meant = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    };
    patterns.into_iter().any(is_meant)
}

/// Returns whether a variable may be a secret: a password, a key, or an address that contains one.
fn may_be_secret(name: &str, value: &OsStr) -> bool {
    let upper = name.to_ascii_uppercase();
    let by_name = !is_among(&upper, NO_SECRET.iter().copied())
        && SECRET.iter().any(|part| upper.contains(part));
    by_name || has_credentials(&value.to_string_lossy())
}

/// Returns whether the text contains an address with a user and a password: `postgres://me:secret@host`.
fn has_credentials(text: &str) -> bool {
    text.split("://").skip(1).any(|rest| {
        let host = rest.split(['/', '?', '#', ' ', ',']).next();
        host.is_some_and(|host| host.contains('@'))
    })
}

/// The environment when the recording began.
struct AtStart {
    values: Map<OsString, OsString>,
    /// The names that are in the description of the program, or were recorded since.
    recorded: Mutex<BTreeSet<OsString>>,
    /// What the user has named.
    named: Vec<String>,
}

static AT_START: OnceLock<AtStart> = OnceLock::new();

impl AtStart {
    /// Whether the user has named it exactly, so that it is recorded even if it looks like a secret.
    fn is_wanted(&self, name: &str) -> bool {
        self.named.iter().any(|wanted| wanted == name)
    }

    fn is_always_recorded(&self, name: &str, value: &OsStr) -> bool {
        let named = self.named.iter().map(String::as_str);
        let is_allowed = is_among(name, ALWAYS.iter().copied().chain(named));
        is_allowed && (self.is_wanted(name) || !may_be_secret(name, value))
    }
}

/// Returns the variables that are recorded whether the program reads them or not. The others of `all` are kept in memory,
/// for [`note`].
pub(super) fn begin(all: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let named = std::env::var(VARIABLE).unwrap_or_default();
    let at_start = AT_START.get_or_init(|| AtStart {
        values: all.iter().cloned().collect(),
        recorded: Mutex::default(),
        named: named
            .split(',')
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect(),
    });
    let mut recorded = at_start
        .recorded
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    all.into_iter()
        .filter(|(name, value)| {
            let text = name.to_string_lossy();
            let is_ours = text.starts_with("REENACT");
            let is_recorded = match is_ours {
                true => text == mode::STRATEGY,
                false => !is_withheld("env", &text) && at_start.is_always_recorded(&text, value),
            };
            if is_recorded || is_ours {
                recorded.insert(name.clone());
            }
            is_recorded
        })
        .collect()
}

/// Returns whether a text contains the value of a variable that is not recorded because it may be a secret: a program may
/// print what it has read.
pub(super) fn has_secret(text: &[u8]) -> bool {
    /// A shorter value is found by chance.
    const SHORTEST: usize = 6;
    static SECRETS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    let Some(at_start) = AT_START.get() else {
        return false;
    };
    let secrets = SECRETS.get_or_init(|| {
        let is_secret = |(name, value): &(&OsString, &OsString)| {
            let name = name.to_string_lossy();
            value.len() >= SHORTEST && may_be_secret(&name, value) && !at_start.is_wanted(&name)
        };
        let secrets = at_start.values.iter().filter(is_secret);
        secrets
            .map(|(_, value)| value.as_bytes().to_vec())
            .collect()
    });
    secrets.iter().any(|secret| {
        // SAFETY: Both ranges are those of slices.
        let found = unsafe {
            libc::memmem(
                text.as_ptr().cast(),
                text.len(),
                secret.as_ptr().cast(),
                secret.len(),
            )
        };
        !found.is_null()
    })
}

/// Records that the program has asked for a variable.
#[cold]
pub(crate) fn note(name: &CStr) {
    let (Some(at_start), Some(recorder)) = (AT_START.get(), RECORDER.get()) else {
        return;
    };
    let name = OsStr::from_bytes(name.to_bytes());
    let text = name.to_string_lossy();
    if name.is_empty() || text.contains('=') || text.starts_with("REENACT") {
        return;
    }
    // An allocator that asks for a variable on our behalf does not come here again.
    untracked(|| {
        let value = at_start.values.get(name);
        let mut recorded = at_start
            .recorded
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if recorded.len() >= MOST || !recorded.insert(name.to_owned()) {
            return;
        }
        drop(recorded);
        // A replay that needs it cannot continue: it says so by the list of what is withheld.
        if is_withheld("env", &text) {
            return;
        }
        let value = match value {
            None => VariableValue::Unset,
            Some(value) if may_be_secret(&text, value) && !at_start.is_wanted(&text) => {
                VariableValue::Withheld
            }
            Some(value) => VariableValue::Value(value.clone()),
        };
        let variable = Variable {
            name: OsString::from_vec(name.as_bytes().to_vec()),
            value,
        };
        recorder.writer.variable(0, &variable);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_secret_is_known() {
        for name in [
            "TOKEN",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "DB_PASSWORD",
            "PGPASSWORD",
            "MYSQL_PWD",
            "api_key",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "AUTHORIZATION",
            "SESSION_ID",
            "SSH_PRIVATE",
        ] {
            assert!(may_be_secret(name, "x".as_ref()), "{name}");
        }
        for name in [
            "HOME",
            "PWD",
            "OLDPWD",
            "LANG",
            "CONFIG",
            "DATABASE_URL",
            "PORT",
        ] {
            assert!(!may_be_secret(name, "http://host/a@b".as_ref()), "{name}");
        }
        for value in ["postgres://me:hunter2@db/x", "a,redis://:p@h:1"] {
            assert!(may_be_secret("DATABASE_URL", value.as_ref()), "{value}");
        }
    }

    #[test]
    fn patterns_end_with_a_star() {
        assert!(is_among("LC_ALL", ["LC_*"]) && is_among("X", ["*"]));
        assert!(!is_among("LCALL", ["LC_*"]) && !is_among("LANGX", ["LANG"]));
    }
}
