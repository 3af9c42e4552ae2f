//! `std::io`, with standard input recorded.
//!
//! Everything in [`std::io`], and a [`stdin`] whose input is recorded. A replay does not read standard input.
//!
//! ```no_run
//! use reenact::io::{self, BufRead};
//!
//! for line in io::stdin().lines() {
//!     println!("{}", line?.to_uppercase());
//! }
//! # Ok::<(), io::Error>(())
//! ```
//!
//! # Nondeterminism
//!
//! - *What can go more than one way*: the input and how it is split into pieces; which of several readers is next.
//! - *What is recorded*: the bytes, as the reader got them from the system; which reader was next, as the order of a
//!   lock.
//! - *What replay waits for*: the lock.
//! - *What exploration branches on*: which reader takes the lock first.
//! - *What is dependent*: two acquisitions of the lock.

use std::fmt;
pub use std::io::*;

use crate::{
    outside::{SystemCall, blocking, ops},
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

/// The input that has been taken from the system and not been read yet.
static INPUT: LazyLock<Mutex<BufReader<System>>> =
    LazyLock::new(|| Mutex::new(BufReader::new(System)));

/// The standard input of the system.
struct System;

impl Read for System {
    #[track_caller]
    fn read(&mut self, buf: &mut [u8]) -> Result<usize> {
        SystemCall::new(ops::READ_INPUT, &"")
            .fill(buf, |buf| blocking(|| std::io::stdin().read(buf)))
    }
}

/// Returns a handle to standard input: [`std::io::stdin`].
#[must_use]
pub fn stdin() -> Stdin {
    Stdin(())
}

/// Standard input: [`std::io::Stdin`], recorded.
pub struct Stdin(());

impl Stdin {
    /// Locks standard input for exclusive use.
    #[track_caller]
    #[must_use]
    pub fn lock(&self) -> StdinLock<'static> {
        StdinLock(INPUT.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads a line and appends it, including its line ending.
    #[track_caller]
    pub fn read_line(&self, buf: &mut String) -> Result<usize> {
        self.lock().read_line(buf)
    }

    /// Locks standard input and returns an iterator over its lines.
    #[track_caller]
    #[must_use]
    pub fn lines(self) -> Lines<StdinLock<'static>> {
        self.lock().lines()
    }
}

impl Read for &Stdin {
    #[track_caller]
    fn read(&mut self, buf: &mut [u8]) -> Result<usize> {
        self.lock().read(buf)
    }

    #[track_caller]
    fn read_to_end(&mut self, buf: &mut Vec<u8>) -> Result<usize> {
        self.lock().read_to_end(buf)
    }

    #[track_caller]
    fn read_to_string(&mut self, buf: &mut String) -> Result<usize> {
        self.lock().read_to_string(buf)
    }
}

crate::outside::forward!(Read for Stdin);

impl fmt::Debug for Stdin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stdin").finish_non_exhaustive()
    }
}

/// Exclusive access to standard input: [`std::io::StdinLock`].
pub struct StdinLock<'a>(MutexGuard<'a, BufReader<System>>);

impl Read for StdinLock<'_> {
    #[track_caller]
    fn read(&mut self, buf: &mut [u8]) -> Result<usize> {
        self.0.read(buf)
    }

    #[track_caller]
    fn read_to_end(&mut self, buf: &mut Vec<u8>) -> Result<usize> {
        self.0.read_to_end(buf)
    }

    #[track_caller]
    fn read_to_string(&mut self, buf: &mut String) -> Result<usize> {
        self.0.read_to_string(buf)
    }
}

impl BufRead for StdinLock<'_> {
    #[track_caller]
    fn fill_buf(&mut self) -> Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.0.consume(amount);
    }
}

impl fmt::Debug for StdinLock<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdinLock").finish_non_exhaustive()
    }
}
