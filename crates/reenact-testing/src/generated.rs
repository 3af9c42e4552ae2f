//! Generated tests: how many cases they try, with which seed, and how a failure is reported.
//!
//! The seed is the same in every run, so that a test fails or passes because of a change and not by chance.
//! `cargo xtask hunt` looks for new cases; a failure that it finds becomes a named test.

use std::{
    fmt::{Debug, Display},
    panic::{AssertUnwindSafe, catch_unwind},
    str::FromStr,
};

use proptest::{
    prelude::*,
    test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner},
};

use crate::behaviours::message_of;

/// How many threads share the cases: as many as there are cores where there are few.
const THREADS: u32 = 2;
/// How often each recording of a generated program is replayed.
pub const REPLAYS: usize = 10;
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
fn shares(usual: u32, threads: u32) -> impl Iterator<Item = Config> {
    let share = cases(usual).div_ceil(threads);
    (0..threads).map(move |thread| Config {
        cases: share,
        rng_seed: RngSeed::Fixed(seed().wrapping_add(u64::from(thread) << 48)),
        ..config(usual)
    })
}

/// Calls `check` on each of a few threads, with the configurations of `shares`.
pub fn on_threads(usual: u32, check: impl Fn(Config) + Sync) {
    std::thread::scope(|scope| {
        for config in shares(usual, THREADS) {
            let check = &check;
            scope.spawn(move || check(config));
        }
    });
}

/// Checks that `holds` returns for every generated value, and panics with the smallest value for which it does not.
///
/// A failing value is shrunk in `shrinks` steps at most, because each step of a test that records runs several processes.
#[track_caller]
pub fn check<S: Strategy>(
    config: Config,
    shrinks: u32,
    values: &S,
    holds: impl Fn(&S::Value),
    describe: impl Fn(&S::Value) -> String,
) {
    let config = Config {
        max_shrink_iters: shrinks,
        ..config
    };
    let result = TestRunner::new(config).run(values, |value| {
        catch_unwind(AssertUnwindSafe(|| holds(&value)))
            .map_err(|panic| TestCaseError::fail(message_of(&*panic)))
    });
    match result {
        Ok(()) => {}
        Err(TestError::Abort(why)) => panic!("{why}"),
        Err(TestError::Fail(why, value)) => panic!("{why}\n{}", describe(&value)),
    }
}

/// Checks that parsing the text of a generated value gives the same value.
#[track_caller]
pub fn survives_printing<S>(values: &S)
where
    S: Strategy,
    S::Value: Display + FromStr + PartialEq,
    <S::Value as FromStr>::Err: Debug + PartialEq,
{
    TestRunner::new(config(256))
        .run(values, |value| {
            prop_assert_eq!(value.to_string().parse(), Ok(value));
            Ok(())
        })
        .unwrap();
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

    #[test]
    fn a_failure_names_the_smallest_value() {
        let check = || {
            check(
                config(50),
                100,
                &(0..1000u32),
                |&number| assert!(number < 10, "too large"),
                |number| format!("the number {number}"),
            )
        };
        let panic = catch_unwind(check).unwrap_err();
        assert_eq!(message_of(&*panic), "too large\nthe number 10");
    }

    #[test]
    fn numbers_survive_printing() {
        survives_printing(&any::<i64>());
    }
}
