//! The environment of a replay.
//!
//! A replay starts with an empty environment. It gets the recorded variables, except those by which a stranger's recording
//! could decide what is loaded or run: these come from the environment of this command, as they would for any program.

use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
};

use reenact_trace::{Trace, VariableValue, printable};

/// Variables that affect what is loaded or executed, or where a library of the system looks for files. A recording does
/// not decide them. The only such table: `*` stands for any end.
const NOT_FROM_A_RECORDING: &[&str] = &[
    // The loader and the C library: what is loaded, how memory is allocated, where tables and hosts are looked up.
    "LD_*",
    "DYLD_*",
    "GLIBC_*",
    "MALLOC_*",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "TZDIR",
    "GETCONF_DIR",
    "HOSTALIASES",
    "LOCALDOMAIN",
    "RES_OPTIONS",
    "RESOLV_*",
    "NIS_PATH",
    "TMPDIR",
    "TERMINFO*",
    "TERMCAP",
    // Allocators, sanitizers, profilers.
    "*MALLOC_CONF*",
    "JEMALLOC*",
    "MIMALLOC*",
    "TCMALLOC*",
    "*SAN_OPTIONS",
    "LLVM_*",
    "OMP_*",
    // Which programs are found, and what shells do before their script.
    "PATH",
    "IFS",
    "ENV",
    "BASH*",
    "SHELL*",
    "CDPATH",
    "PS4",
    "PROMPT_COMMAND",
    "ZDOTDIR",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
    "LESS*",
    "GIT_*",
    "SSH_*",
    // Languages and their runtimes.
    "RUST*",
    "CARGO",
    "PYTHON*",
    "PERL*",
    "RUBY*",
    "GEM_*",
    "NODE_*",
    "JAVA_*",
    "_JAVA_*",
    "JDK_*",
    "LUA_*",
    "PHP*",
    "DOTNET_*",
    // Modules that libraries load, and files that they write secrets to.
    "OPENSSL_*",
    "SSLKEYLOGFILE",
    "PKCS11*",
    "KRB5*",
    "SASL_*",
    "VK_*",
    "LIBGL_*",
    "__EGL_*",
    "GTK_*",
    "GIO_*",
    "QT_*",
    "QML*",
];

/// Exceptions: plain data for the program. They are applied if the program has read them.
const HARMLESS: &[&str] = &["RUST_LOG", "RUST_LOG_STYLE", "RUST_TEST_*"];

/// Returns whether a name matches one of the patterns.
fn is_among(name: &[u8], patterns: &[&str]) -> bool {
    patterns.iter().any(|pattern| {
        let (from_start, pattern) = match pattern.strip_prefix('*') {
            None => (true, *pattern),
            Some(rest) => (false, rest),
        };
        let (to_end, part) = match pattern.strip_suffix('*') {
            None => (true, pattern.as_bytes()),
            Some(part) => (false, part.as_bytes()),
        };
        match (from_start, to_end) {
            (true, true) => name == part,
            (true, false) => name.starts_with(part),
            (false, true) => name.ends_with(part),
            (false, false) => name.windows(part.len()).any(|window| window == part),
        }
    })
}

/// Whether the C library looks for a file by this value: what selects a language or time zone may be a path.
fn is_path(name: &[u8], value: &[u8]) -> bool {
    (name.starts_with(b"LC_") || [&b"LANG"[..], b"LANGUAGE", b"TZ", b"TERM"].contains(&name))
        && (value.starts_with(b"/")
            || value.starts_with(b":")
            || value.windows(2).any(|pair| pair == b".."))
}

/// Where a variable comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Recording,
    Here,
}

fn origin(name: &OsStr, value: &OsStr, was_read: bool) -> Origin {
    let (name, value) = (name.as_bytes(), value.as_bytes());
    let is_harmless = was_read && is_among(name, HARMLESS);
    match (is_among(name, NOT_FROM_A_RECORDING) && !is_harmless) || is_path(name, value) {
        true => Origin::Here,
        false => Origin::Recording,
    }
}

/// The environment that a replay starts with.
pub(super) struct Environment {
    variables: Vec<(OsString, OsString)>,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
}

impl Environment {
    /// Returns the environment for a replay of this trace.
    pub(super) fn of(trace: &Trace) -> Environment {
        let mut environment = Environment {
            variables: env::vars_os()
                .filter(|(name, _)| origin(name, OsStr::new(""), false) == Origin::Here)
                .collect(),
            notes: Vec::new(),
        };
        for (name, value) in &trace.program().environment {
            if configures_the_engine(name, value) || is_plain(name) {
                environment.apply(name, value, false);
            }
        }
        for variable in trace.variables() {
            let name = &variable.name;
            if !is_plain(name) {
                continue;
            }
            match &variable.value {
                VariableValue::Value(value) => environment.apply(name, value, true),
                VariableValue::Withheld => environment.take_from_here(name),
                VariableValue::Unset => {}
            }
        }
        environment
    }

    pub(super) fn variables(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.variables.iter().map(|(name, value)| (name, value))
    }

    fn set(&mut self, name: &OsStr, value: &OsStr) {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    fn apply(&mut self, name: &OsStr, value: &OsStr, was_read: bool) {
        if origin(name, value, was_read) == Origin::Recording {
            self.set(name, value);
        } else if was_read && env::var_os(name).as_deref() != Some(value) {
            self.notes.push(format!(
                "the program read {}={}, which a replay does not take from a recording; set it if the replay differs",
                text(name),
                text(value)
            ));
        }
    }

    /// Takes a variable whose value is not in the recording from our own environment.
    fn take_from_here(&mut self, name: &OsStr) {
        match env::var_os(name) {
            Some(value) => self.set(name, &value),
            None => self.notes.push(format!(
                "the program read {}, which is not in the recording because it may be a secret; set it for the replay, \
                 or record with --env {0}",
                text(name)
            )),
        }
    }
}

fn text(text: &OsStr) -> String {
    printable(&text.to_string_lossy()).into_owned()
}

/// Whether this is a variable of the program: variables of Reenact configure the engine.
fn is_plain(name: &OsStr) -> bool {
    let name = name.as_bytes();
    !name.is_empty() && !name.starts_with(b"REENACT") && !name.contains(&b'=') && !name.contains(&0)
}

/// Whether this is the variable of the engine that a replay takes from the recording: which side recorded the order of
/// messages.
fn configures_the_engine(name: &OsStr, value: &OsStr) -> bool {
    name == "REENACT_STRATEGY" && (value == "sender" || value == "receiver")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_does_not_decide_what_is_loaded_or_run() {
        for name in [
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "PATH",
            "RUST_BACKTRACE",
            "RUSTFLAGS",
            "GLIBC_TUNABLES",
            "_RJEM_MALLOC_CONF",
            "MALLOC_CONF",
            "MALLOC_ARENA_MAX",
            "MIMALLOC_VERBOSE",
            "ASAN_OPTIONS",
            "BASH_ENV",
            "IFS",
            "PYTHONPATH",
            "PERL5LIB",
            "NODE_OPTIONS",
            "HOSTALIASES",
            "GCONV_PATH",
            "RES_OPTIONS",
            "TMPDIR",
        ] {
            for was_read in [false, true] {
                assert_eq!(
                    origin(name.as_ref(), "x".as_ref(), was_read),
                    Origin::Here,
                    "{name}"
                );
            }
        }
        for (name, value) in [
            ("TZ", ":/tmp/x"),
            ("LC_ALL", "../../tmp/x"),
            ("LANG", "/tmp"),
        ] {
            assert_eq!(
                origin(name.as_ref(), value.as_ref(), true),
                Origin::Here,
                "{name}"
            );
        }
    }

    #[test]
    fn a_recording_decides_what_is_data_for_the_program() {
        for (name, value) in [
            ("HOME", "/home/me"),
            ("TZ", "Europe/Brussels"),
            ("LANG", "C.UTF-8"),
            ("RUSTY", "x"),
            ("PATHS", "x"),
            ("ENVIRONMENT", "test"),
            ("RUST_LOG", "debug"),
            ("RUST_TEST_THREADS", "1"),
        ] {
            let expected = match name {
                "RUSTY" => Origin::Here,
                _ => Origin::Recording,
            };
            assert_eq!(
                origin(name.as_ref(), value.as_ref(), true),
                expected,
                "{name}"
            );
        }
        assert_eq!(
            origin("RUST_LOG".as_ref(), "x".as_ref(), false),
            Origin::Here
        );
    }
}
