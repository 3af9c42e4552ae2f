//! Opens and reads whatever it is given as a trace, as a live file, and as both; see `any_bytes` for how, and
//! `bounded_fuzz` beside it for the same in the normal tests.
//!
//! ```text
//! cargo +nightly fuzz run read_trace -- -malloc_limit_mb=64 -timeout=10
//! ```

#![no_main]

#[path = "../../crates/reenact-trace/tests/it/any_bytes.rs"]
mod any_bytes;
#[path = "../../crates/reenact-trace/tests/it/sections.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod sections;

libfuzzer_sys::fuzz_target!(|input: &[u8]| any_bytes::any_bytes_are_read_or_refused(input));
