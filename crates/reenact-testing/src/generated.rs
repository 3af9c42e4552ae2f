//! The configuration of generated tests: how many cases they try, and with which seed.
//!
//! The seed is the same in every run, so that a test fails or passes because of a change and not by chance.
//! `cargo xtask hunt` looks for new cases; a failure that it finds becomes a named test.

use proptest::test_runner::{Config, RngSeed};

/// How long a failing case is shrunk, in milliseconds.
const SHRINK_MS: u32 = 60_000;

/// Returns the configuration of a test that tries `usual` cases, or the number in `REENACT_CASES`.
pub fn config(usual: u32) -> Config {
    Config {
        cases: cases(usual),
        rng_seed: RngSeed::Fixed(seed()),
        max_shrink_time: SHRINK_MS,
        failure_persistence: None,
        ..Config::default()
    }
}

/// Returns one configuration for each of several threads, which share the cases. Each thread tries different ones.
pub fn shares(usual: u32, threads: u32) -> impl Iterator<Item = Config> {
    let share = cases(usual).div_ceil(threads);
    (0..threads).map(move |thread| Config {
        cases: share,
        rng_seed: RngSeed::Fixed(seed().wrapping_add(u64::from(thread) << 48)),
        ..config(usual)
    })
}

/// Returns the number of cases to try: `REENACT_CASES` if it is set, otherwise `usual`.
pub fn cases(usual: u32) -> u32 {
    number("REENACT_CASES").unwrap_or(usual)
}

/// Returns the seed of this run: `REENACT_TEST_SEED` if it is set, otherwise 0.
pub fn seed() -> u64 {
    number("REENACT_TEST_SEED").unwrap_or(0)
}

/// Returns the number in an environment variable, if it is set.
fn number<N: std::str::FromStr>(variable: &str) -> Option<N> {
    let text = std::env::var(variable).ok()?;
    let number = text.parse().ok();
    assert!(number.is_some(), "{variable} is a number, not {text:?}");
    number
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use proptest::{prelude::*, test_runner::TestRunner};

    use super::*;

    fn tried(config: Config) -> Vec<u64> {
        let tried = RefCell::default();
        let all = TestRunner::new(config).run(&any::<u64>(), |number| {
            Vec::push(&mut tried.borrow_mut(), number);
            Ok(())
        });
        all.unwrap();
        tried.into_inner()
    }

    #[test]
    fn a_test_tries_the_same_in_every_run() {
        assert_eq!(tried(config(20)), tried(config(20)));
    }

    #[test]
    fn threads_try_different_cases() {
        let tried: Vec<_> = shares(20, 2).map(tried).collect();
        assert_eq!(tried[0].len(), tried[1].len());
        assert!(tried[0].iter().all(|number| !tried[1].contains(number)));
    }
}
