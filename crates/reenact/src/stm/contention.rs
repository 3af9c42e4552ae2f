//! Contention management: a transaction that has failed waits a little, and finally makes the others wait.

use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Relaxed, Release},
};

/// After this many failures a transaction yields to other threads before it tries again.
const YIELDS: u32 = 6;
/// After this many failures it makes the others wait.
const INSISTS: u32 = 24;

/// Closed by a transaction that has failed too often: others do not begin to commit until it has committed. Each of
/// those that have begun already can make it fail once more; after that none can.
///
/// # State
///
/// | value | meaning | set by | cleared by |
/// |---|---|---|---|
/// | false | all transactions may commit | | |
/// | true | only the one that closed it commits; all others wait before they lock anything | `failed` | the one that set it, when it has committed, sleeps or unwinds |
static CLOSED: AtomicBool = AtomicBool::new(false);

/// The contention that a transaction has met.
#[derive(Default)]
pub(super) struct Contention {
    failures: u32,
    insists: bool,
}

impl Contention {
    /// Notes that an attempt has failed.
    #[cold]
    pub(super) fn failed(&mut self) {
        self.failures += 1;
        if self.failures < YIELDS {
            (0..1 << self.failures).for_each(|_| std::hint::spin_loop());
        } else {
            std::thread::yield_now();
        }
        if self.failures >= INSISTS && !self.insists {
            // Acquire: makes the writes of the previous holder visible. Pairs with the Release in `relent`.
            self.insists = CLOSED
                .compare_exchange(false, true, Acquire, Relaxed)
                .is_ok();
        }
    }

    /// Waits while another transaction insists. It need not be seen at once, hence Relaxed.
    #[inline(always)]
    pub(super) fn give_way(&self) {
        if CLOSED.load(Relaxed) {
            self.wait_for_opening();
        }
    }

    #[cold]
    fn wait_for_opening(&self) {
        while !self.insists && CLOSED.load(Relaxed) {
            std::thread::yield_now();
        }
    }

    /// Resets the failures, and lets others commit again.
    #[inline(always)]
    pub(super) fn relent(&mut self) {
        if self.insists {
            CLOSED.store(false, Release);
        }
        self.failures = 0;
        self.insists = false;
    }
}

impl Drop for Contention {
    #[inline(always)]
    fn drop(&mut self) {
        self.relent();
    }
}

/// How long to wait for a variable that is about to be written: its commit is short.
pub(super) struct Backoff {
    spins: u32,
    yields: u32,
}

impl Backoff {
    /// For a transaction that holds nothing that others may wait for.
    pub(super) fn long() -> Backoff {
        Backoff {
            spins: 100,
            yields: 10,
        }
    }

    /// For a transaction that the ones it waits for may wait for.
    pub(super) fn short() -> Backoff {
        Backoff {
            spins: 20,
            yields: 0,
        }
    }

    /// Waits a little. Returns false if that has happened too often.
    #[cold]
    pub(super) fn wait(&mut self) -> bool {
        if self.spins > 0 {
            self.spins -= 1;
            std::hint::spin_loop();
        } else if self.yields > 0 {
            self.yields -= 1;
            std::thread::yield_now();
        } else {
            return false;
        }
        true
    }
}
